#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every public header compiles alone, as C11, C17 and C++17, without a warning."""
import pathlib
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
failed = False
for header in sorted((root / "include/weir").glob("*.h")):
    for compiler, language, standard in (
        ("cc", "c", "c11"), ("cc", "c", "c17"), ("c++", "c++", "c++17"),
    ):
        result = subprocess.run(
            [compiler, "-x", language, f"-std={standard}", "-fsyntax-only", "-pedantic", "-Wall",
             "-Wextra", "-Werror", "-I", str(root / "include"), "-"],
            input=f'#include "weir/{header.name}"\n', text=True, capture_output=True)
        if result.returncode:
            print(f"weir/{header.name} as {standard}:\n{result.stderr}")
            failed = True
sys.exit(failed)

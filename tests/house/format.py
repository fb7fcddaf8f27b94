#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clang-format has nothing to change."""
import pathlib
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
files = [str(path) for top in ("include", "src", "apps", "tests", "bench", "examples", "fuzz")
         for path in sorted((root / top).rglob("*.[ch]")) if "node_modules" not in path.parts]
result = subprocess.run(["clang-format", "--dry-run", "--Werror", *files], capture_output=True,
                        text=True)
print(result.stderr)
sys.exit(result.returncode)

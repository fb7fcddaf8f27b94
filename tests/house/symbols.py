#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shared library exports exactly what src/libweir.symbols lists and the public headers declare."""
import pathlib
import re
import subprocess
import sys

library, root = sys.argv[1], pathlib.Path(sys.argv[2])
lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                       capture_output=True).stdout.splitlines()
exported = {line.split()[-1].split("@")[0] for line in lines}
# Sanitizers and coverage bring symbols of their own.
exported = {name for name in exported if not name.startswith(("__", "_init", "_fini", "_edata"))}
listed = set((root / "src/libweir.symbols").read_text().split())
declared = set()
for header in (root / "include/weir").glob("*.h"):
    declared |= set(re.findall(r"WEIR_API[^;{]*?\b(weir_\w+)\s*\(", header.read_text()))

failed = False
for what, names in (
    ("exported but not listed", exported - listed),
    ("listed but not exported", listed - exported),
    ("listed but not declared", listed - declared),
    ("declared but not listed", declared - listed),
):
    for name in sorted(names):
        print(f"{what}: {name}")
        failed = True
sys.exit(failed)

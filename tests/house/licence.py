#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every source file says under which licence it stands."""
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
suffixes = {".c", ".h", ".py", ".build", ".js", ".mjs"}
skip = {"build", "node_modules", ".git"}
missing = []
for path in sorted(root.rglob("*")):
    parts = path.relative_to(root).parts
    if path.suffix in suffixes and path.is_file() and not skip & set(parts):
        head = path.read_text(errors="replace").split("\n", 3)[:3]
        if not any("SPDX-License-Identifier: MIT" in line for line in head):
            missing.append("/".join(parts))
print("\n".join(f"no SPDX line: {path}" for path in missing))
sys.exit(bool(missing))

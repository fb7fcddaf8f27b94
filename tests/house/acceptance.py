#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every test and test program that docs/acceptance.md and docs/security.md name exists."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
text = "".join((root / "docs" / name).read_text() for name in ("acceptance.md", "security.md"))
named = set(re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+){2,})`", text))
defined = set()
for source in (root / "tests").rglob("*.c"):
    defined |= set(re.findall(r"START_TEST\((\w+)\)", source.read_text()))
    defined.add(source.stem.removeprefix("test_"))
for source in (root / "tests").rglob("*.py"):
    defined |= set(re.findall(r"def test_(\w+)\(", source.read_text()))
defined |= {source.stem for source in (root / "fuzz").glob("*.c")}
missing = sorted(named - defined)
print("\n".join(f"docs/acceptance.md or docs/security.md names a test that does not exist: {name}" for name in missing))
sys.exit(bool(missing) or len(named) < 30)

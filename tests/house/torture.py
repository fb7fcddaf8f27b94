#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every program of tests/torture exists and is run by ./test as well; every campaign is part of it."""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
loader = importlib.machinery.SourceFileLoader("torture", str(root / "tests/torture"))
torture = importlib.util.module_from_spec(importlib.util.spec_from_loader("torture", loader))
loader.exec_module(torture)

# What has nothing in its way, what compares policies, what measures.
NO_FAULTS = {"memory.py", "operations.py", "policies.py"}

meson = (root / "tests/meson.build").read_text()
wrong = []
named = {program for part in torture.PARTS for program in part.programs}
for program in sorted(named):
    exists = (root / "tests" / program).exists() if program.endswith(".py") else any(
        (root / "tests").rglob(f"test_{program}.c"))
    word = pathlib.Path(program).stem
    if not exists or not re.search(rf"\b{word}\b", meson):
        wrong.append(f"tests/torture names a program that is not a test: {program}")
campaigns = {path.name for path in (root / "tests/faults").glob("*.py") if "run_tests(sys" in path.read_text()}
wrong += [f"tests/torture leaves out tests/faults/{name}" for name in
          sorted(campaigns - NO_FAULTS - {pathlib.Path(program).name for program in named})]
documented = set(re.findall(r"^\| (\w+) \|", (root / "docs/reliability.md").read_text(), re.M))
wrong += [f"docs/reliability.md does not know the part {part.name}" for part in torture.PARTS
          if part.name not in documented]
print("\n".join(wrong))
sys.exit(bool(wrong) or len(campaigns) < 10)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every program of tests/torture exists and is run by ./test as well; every campaign is part of it. Each part stands in
docs/reliability.md with all of its programs and no other, and what it finds can be had again."""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys
import types

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

def documented():
    """The programs in the last cell of each part's row; a file may be named with its folder or without."""
    rows = re.findall(r"^\| (\w+) \|[^|\n]*\|([^|\n]*)\|$", (root / "docs/reliability.md").read_text(), re.M)
    return {part: {pathlib.Path(name).name for name in re.findall(r"`([\w./]+)`", by)} for part, by in rows}


known = documented()
for part in torture.PARTS:
    programs, told = {pathlib.Path(program).name for program in part.programs}, known.get(part.name, set())
    wrong += [f"docs/reliability.md does not say that {program} is of the part {part.name}"
              for program in sorted(programs - told)]
    wrong += [f"docs/reliability.md says that {program} is of the part {part.name}" for program in
              sorted(told - programs) if not program.endswith(".c")]

# What a program prints when it fails, and the command that has it again.
options = types.SimpleNamespace(build=".", quick=False, seed=None)
for words, test, again in (
        ("csv_fresh\n# WEIR_SEED=12 WEIR_ONLY=csv_fresh", None, "input:csv_fresh --seed 12 --salt x+1"),
        ("../tests/x.c:a_case:a_case: WEIR_SEED=7: lost", None, "input:a_case --seed 7 --salt x+1"),
        ("csv_1\n# AssertionError", None, "input:csv_1 --salt x+1"),
        ("csv_wrong ended with -6 after 3 tests", "", "input --salt x+1")):
    part = next(part for part in torture.PARTS if part.name == "input")
    finding = torture.Finding(torture.name_of(words) if test is None else test, words)
    if torture.Campaign(options).replay(part, finding, "x+1") != "tests/torture --only " + again:
        wrong.append(f"tests/torture does not have it again by {again}")
wrong += ["a turn is not found in its salt"] if torture.split_salt("x+1") != ("x", 1) else []
print("\n".join(wrong))
sys.exit(bool(wrong) or len(campaigns) < 10)

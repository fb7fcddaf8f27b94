#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Every test, test program and file of tests/ that docs/acceptance.md, security.md and reliability.md name exists, and where
they say `program`: `one_test`, `another`, the tests are in that program.
"""
import collections
import pathlib
import re
import sys

DOCUMENTS = ("acceptance.md", "security.md", "reliability.md")
NAME = r"`[\w./]+`"
PAIR = re.compile(rf"({NAME})(?: \([^)]*\))?:\s+({NAME}(?!:)(?:,\s+{NAME}(?!:))*)")

root = pathlib.Path(sys.argv[1])


def tests_of(source):
    """Those whose names stand in it; names that a campaign makes do not."""
    how = r"START_TEST\((\w+)\)" if source.suffix == ".c" else r"def test_(\w+)\("
    return set(re.findall(how, source.read_text()))


def programs():
    """Each under the names that it goes by (its file's, its path, its word for meson) with its tests. Some share a name:
    job is a program and a campaign."""
    found = collections.defaultdict(set)
    for source in [*(root / "tests").rglob("*.c"), *(root / "tests").rglob("*.py")]:
        for name in (source.stem.removeprefix("test_"), source.name, str(source.relative_to(root))):
            found[name] |= tests_of(source)
    meson = (root / "tests/meson.build").read_text()
    for name, path in re.findall(r"test\('(\w+)', python,\s+args: \[files\('([\w/.]+)'", meson):
        found[name] |= tests_of(root / "tests" / path)
    for source in (root / "fuzz").glob("*.c"):
        found[source.stem]
    return found


def wrong_in(document, known):
    text = (root / "docs" / document).read_text()
    defined = set(known).union(*known.values())
    named = set(re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+){2,})`", text))
    wrong = [f"names a test that does not exist: {name}" for name in sorted(named - defined)]
    wrong += [f"names a file that does not exist: {path}" for path in
              sorted(set(re.findall(r"`(tests/[\w./]+)`", text))) if not (root / path).exists()]
    pairs = [(program.strip("`"), test.strip("`")) for program, tests in PAIR.findall(text)
             for test in re.split(r",\s+", tests)]
    wrong += [f"says that {test} is in {program}" for program, test in pairs
              if program in known and test in defined and test not in known and test not in known[program]]
    wrong += [f"names a program that does not exist: {program}" for program in
              sorted({program for program, test in pairs if program not in known and test in named})]
    return [f"docs/{document} {words}" for words in wrong], len(pairs), len(named)


known = programs()
wrong, pairs, named = map(list, zip(*(wrong_in(document, known) for document in DOCUMENTS)))
print("\n".join(sum(wrong, [])))
sys.exit(any(wrong) or sum(pairs) < 200 or sum(named) < 200 or not all(pairs))

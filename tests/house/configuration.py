#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every key that the configuration knows stands in docs/configuration.md, and none that it does not."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
table = (root / "src/config/keys.c").read_text()
paths = re.findall(r'(?:TEXT|BOOL|INT|REAL|DURATION|CHOICE|PLAIN|OF_AIMD|OF_CONNECTION)\("([\w:]+)"', table)
known = {path.split(":")[-1] for path in paths} | set(re.findall(r'\.alias = "(\w+)"', table))
text = (root / "docs/configuration.md").read_text()
rows = "\n".join(line for line in text.split("\n") if line.startswith("|"))
documented = {name.split(":")[-1] for name in re.findall(r"`([A-Z][\w:]*)`", rows)}
problems = [f"not documented: {name}" for name in sorted(known - documented)]
problems += [f"documented, but not a key: {name}" for name in sorted(documented - known)]
print("\n".join(problems))
sys.exit(bool(problems) or len(known) < 40)

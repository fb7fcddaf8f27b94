# SPDX-License-Identifier: MIT
"""
2. The stages of the pipeline alone, MB/s of one core by processor time: bytes to records (CSV beside libcsv, JSON Lines
beside json-c), records to members (beside json-c building and printing the same), answers to reports (beside json-c
parsing them), and memcpy for scale.
"""
import re

from kit import figure, run, say

TITLE = "Stages of the pipeline"
LINE = re.compile(r"^(.{14})  weir +(\d+) MB/s  (\S+) +(\d+) MB/s(.*?) ([\d.]+) times (\S+)$")

GOAL = 400  # MB/s, or so many times the library, whichever is less
TIMES = 5

PROGRAMS = {
    "bench_csv": ("csv", "CSV to records"),
    "bench_jsonl": ("jsonl", "JSON Lines to records"),
    "bench_mapping": ("members", "records to members"),
    "bench_answer": ("answer", "answers to reports"),
}


def figures_of(output, key, text):
    part = ""
    for line in output.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        name, ours, library, theirs, _, ratio, _ = match.groups()
        name = name.strip()
        part = part if name == "with reading" else name
        name = f"{part}, with reading" if name == "with reading" else name
        slug = re.sub(r"\W+", "-", name.lower()).strip("-")
        together = "with reading" in name or key == "answer" or "gzip" in name
        least = None if together else min(GOAL, TIMES * int(theirs))
        yield figure(f"{key}-{slug}", f"{text}: {name}", int(ours), "MB/s", least=least)
        yield figure(f"{key}-{slug}-times", f"… in times {library} ({theirs} MB/s)", float(ratio), "times", better="higher")


def measure(bench):
    figures = []
    for program, (key, text) in PROGRAMS.items():
        output = run([bench.program(program)]).out
        for line in output.splitlines():
            say(line)
        figures += figures_of(output, key, text)
    return figures

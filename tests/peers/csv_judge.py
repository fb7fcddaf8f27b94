#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python's csv module as a judge of weir's reader.

    csv_judge.py CSV_PRINT [FILES [SEED]]

Random files are written in Python's own dialects and by hand, good ones and bad ones, plain and as
gzip, and read by both. Good files must come back cell for cell. In bad ones, weir must find the
records that Python finds when it is strict, up to the first line that Python refuses; that line
weir must reject, and behind it go on as Python does when it is given only the rest of the file.
"""
import csv
import gzip
import io
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

csv.field_size_limit(1 << 30)
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
ATOMS = ["a", "b", "7", " ", '"', '"', "\n", "\r", "\r\n", ",", "\t", ";", "é", "€", "😀", "\u2028", "\x0b",
         "\x0c", "\x1c", "\x85", "'", "\\", "", "word"]
WILD = ["a", ",", ",", '"', '"', '"', "\n", "\n", "\r\n", "x", " ", "é"]


def lines_of(text):
    """Physical lines; str.splitlines() knows too many line ends."""
    found, at = [], 0
    while at < len(text):
        match = LINE.match(text, at)
        found.append(match.group(0))
        at = match.end()
    return found


def strict_records(text, delimiter):
    """Python's records, each with the number of lines it took; None where it refuses."""
    lines = lines_of(text)
    at = 0
    while at < len(lines):
        reader = csv.reader(iter(lines[at:]), delimiter=delimiter, strict=True)
        try:
            row = next(reader)
            used = reader.line_num
        except csv.Error:
            row, used = None, 1
        yield row, used, at
        at += used


def expected(text, delimiter):
    """(line, cells or None) of every record behind the header; None: the header is bad."""
    header = None
    for row, _, line in strict_records(text, delimiter):
        if row == []:
            continue
        if header is None:
            if row is None or any(not name.strip(" \t\r\n") for name in row) or len(set(row)) < len(row):
                yield None
                return
            header = row
            continue
        good = row is not None and len(row) == len(header)
        yield line + 1, row if good else None
    if header is None:
        yield None


def check(program, folder, number, text, delimiter, rng):
    data = text.encode()
    mark = "\ufeff".encode() if rng.random() < 0.2 else b""
    path = folder / f"{number}.csv"
    if rng.random() < 0.3:
        path = folder / f"{number}.csv.gz"
        cut = rng.randrange(len(data) + 1)
        path.write_bytes(gzip.compress(mark + data[:cut]) + gzip.compress(data[cut:]))
    else:
        path.write_bytes(mark + data)
    output = subprocess.run([program, "tsv" if delimiter == "\t" else "csv", path], check=True,
                            capture_output=True).stdout.decode()
    found = [json.loads(line, strict=False) for line in output.split("\n") if line]
    wanted = list(expected(text, delimiter))
    path.unlink()
    if None in wanted:
        assert "broken" in found[-1], (text, found)
        return 0
    assert found.pop() == {"end": True}, (text, found)
    got = [(r["line"], r["cells"] if r["problem"] == "fine" else None) for r in found]
    assert got == wanted, f"{text!r}\nweir:   {got}\npython: {wanted}"
    for record in found:
        raw = data[record["offset"] - len(mark):record["end"] - len(mark)].decode()
        if record["problem"] == "fine":
            row = next(csv.reader(iter(lines_of(raw)), delimiter=delimiter, strict=True))
            assert row == record["cells"], (raw, row)
    return len(found)


def good_file(rng, delimiter):
    columns = rng.randint(1, 7)
    rows = [[f"c{i}" for i in range(columns)]]
    for _ in range(rng.randint(0, 30)):
        rows.append(["".join(rng.choices(ATOMS, k=rng.randint(0, 6))) for _ in range(columns)])
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=rng.choice(["\n", "\r\n", "\r"]),
               quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL,
                                   csv.QUOTE_NONNUMERIC])).writerows(rows)
    text = out.getvalue()
    return text.rstrip("\r\n") if rng.random() < 0.2 and rows[-1][-1:] != [""] else text


def bad_file(rng):
    return "a,b\n" * (rng.random() < 0.9) + "".join(rng.choices(WILD, k=rng.randint(0, 60)))


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    records = 0
    with tempfile.TemporaryDirectory() as name:
        for number in range(count):
            delimiter = rng.choice(",\t") if number % 2 else ","
            text = good_file(rng, delimiter) if number % 2 else bad_file(rng)
            records += check(program, pathlib.Path(name), number, text, delimiter, rng)
    assert records > count, "hardly anything was compared"
    print(f"{count} files, {records} records: weir and Python agree")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Random tables, cell for cell: roundtrip.py WEIR WEIR_SIM

Tables of all types are written as CSV, TSV and JSON Lines, plain and packed, by writers that nobody here wrote (Python's
csv, json and gzip), loaded, and read back through the Web API. Every cell must be there as it was written: quotes, line
ends in cells, any character of Unicode, decimals of 38 digits, negative zero, leading zeros in texts.
"""
import csv
import decimal
import functools
import gzip
import io
import json
import pathlib
import random
import sys
import urllib.request

from campaign import FULL, WEIR, Run, run_tests, seed_of, world, write_config

ROWS = 2000 if FULL else 250
TABLES = 20 if FULL else 3  # of each form

ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz ABC", "0123456789", "\"',;\t|\\/", "\n\r", " \u00a0\u2003", "äöüßéñçø", "日本語漢字かな",
    "עבריתالعربية", "😀🏳️‍🌈👩‍👩‍👧", "\ufeff\u200b\u200e\u2028\u2029", "e\u0301o\u0308", "\x7f\x85", "{}[]:,\"\\u0041",
    "\U00010000\U0010fffd\ud7ff\ue000\ufffd",
]


def text(chance, units):
    """At most that many UTF-16 units, at least one."""
    alphabet = "".join(chance.sample(ALPHABETS, chance.randint(1, 3)))
    out = ""
    for _ in range(chance.choice((1, 3, 10, 40, units))):
        character = chance.choice(alphabet)
        if len((out + character).encode("utf-16-le")) // 2 > units:
            break
        out += character
    return out


def digits(chance, most):
    return str(chance.randint(1, 10 ** chance.randint(1, most) - 1) if chance.random() < 0.9 else 0)


def number(chance, whole, behind):
    """As people write them: signs, zeros in front and behind."""
    sign = chance.choice(("", "", "-"))
    tail = "".join(chance.choice("0123456789") for _ in range(chance.randint(0, behind)))
    return sign + digits(chance, whole) + ("." + tail if tail else "")


def floating(chance):
    if chance.random() < 0.2:
        return chance.choice(("-0.0", "0", "-0", "1e-5", "2.5E3"))
    return repr(round(chance.uniform(-1e6, 1e6), 5))


def date(chance):
    return f"{chance.randint(1753, 9998)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"


def clock(chance):
    return f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}:{chance.randint(0, 59):02}"


# What a cell holds, and what the Web API must say afterwards: the same, unless there is a function.
COLUMNS = {
    "name": lambda chance: text(chance, 160),
    "telephone1": lambda chance: "00" + digits(chance, 12),
    "description": lambda chance: text(chance, 2000),
    "weir_amount": lambda chance: number(chance, 28, 10),
    "weir_score": lambda chance: number(chance, 9, 4),
    "revenue": lambda chance: number(chance, 11, 2).lstrip("-"),
    "weir_measure": floating,
    "numberofemployees": lambda chance: digits(chance, 9),
    "weir_sequence": lambda chance: chance.choice(("", "-")) + digits(chance, 18),
    "donotemail": lambda chance: chance.choice(("true", "false")),
    "weir_founded": date,
    "weir_opening": lambda chance: f"{date(chance)}T{clock(chance)}",
    "lastonholdtime": lambda chance: f"{date(chance)}T{clock(chance)}Z",
}
TEXTS = ("name", "telephone1", "description", "accountnumber")
DATES = ("weir_founded", "weir_opening", "lastonholdtime")


def make_table(chance):
    """Rows as dicts of texts; a cell that is missing is left out of its row."""
    columns = [c for c in COLUMNS if c == "name" or chance.random() < 0.8]
    return [{"accountnumber": f"{number:08d}",
             **{c: COLUMNS[c](chance) for c in columns if c == "name" or chance.random() < 0.85}}
            for number in range(1, ROWS + 1)]


def separated(rows, dialect, line_end, chance):
    """Python quotes a cell with a CR only if the lines end in one."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    chance.shuffle(columns)
    out = io.StringIO()
    quoting = chance.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)) if line_end == "\r\n" else csv.QUOTE_ALL
    writer = csv.DictWriter(out, columns, dialect=dialect, lineterminator=line_end, quoting=quoting)
    writer.writeheader()
    writer.writerows(rows)
    return chance.choice(("", "\ufeff")) + out.getvalue()


class Verbatim(float):
    """A number that json writes as it stands."""

    def __new__(cls, written):
        self = super().__new__(cls, written)
        self.written = written
        return self

    def __repr__(self):
        return self.written


def as_json(column, cell, chance):
    if column in TEXTS or column in DATES or chance.random() < 0.3:
        return cell
    if column == "donotemail":
        return cell == "true"
    return Verbatim(cell)


def json_lines(rows, chance):
    def line(row):
        members = [(c, as_json(c, cell, chance)) for c, cell in row.items()]
        chance.shuffle(members)
        return ("{" + ",".join(
            json.dumps(c) + ":" + (repr(v) if isinstance(v, Verbatim) else
                                   json.dumps(v, ensure_ascii=chance.random() < 0.5))
            for c, v in members) + "}")
    return "\n".join(line(row) for row in rows) + chance.choice(("\n", ""))


FORMS = {
    "csv": lambda rows, chance: separated(rows, csv.excel, chance.choice(("\n", "\r\n")), chance),
    "tsv": lambda rows, chance: separated(rows, csv.excel_tab, chance.choice(("\n", "\r\n")), chance),
    "jsonl": json_lines,
}


def read_back(sim):
    """All accounts by number; numbers as they stand in the answer."""
    rows, path = {}, "/api/data/v9.2/accounts"
    while path:
        url = path if path.startswith("http") else sim.url + path
        request = urllib.request.Request(url, headers={"Authorization": "Bearer " + sim.token,
                                                       "Prefer": "odata.maxpagesize=1000"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            page = json.loads(answer.read(), parse_float=str, parse_int=str)
        rows.update({row["accountnumber"]: row for row in page["value"]})
        path = page.get("@odata.nextLink")
    return rows


def same(column, cell, found):
    if column in TEXTS:
        return cell == found
    if column == "donotemail":
        return found is (cell == "true")
    if column in DATES:
        return found is not None and found.rstrip("Z") == cell.rstrip("Z")
    if column == "weir_measure":
        return found is not None and float(found) == float(cell) and (
            str(float(found))[0] == "-") == (str(float(cell))[0] == "-")
    return found is not None and decimal.Decimal(found) == decimal.Decimal(cell)


def compare(rows, found):
    decimal.getcontext().prec = 60
    assert len(found) == len(rows), (len(found), len(rows))
    wrong = [(row["accountnumber"], c, row.get(c), found[row["accountnumber"]].get(c))
             for row in rows for c in list(COLUMNS)
             if (c in row and not same(c, row[c], found[row["accountnumber"]].get(c))) or
             (c not in row and c != "donotemail" and found[row["accountnumber"]].get(c) is not None)]
    assert not wrong, (len(wrong), wrong[:5])


def round_trip(form, packed, number, folder):
    chance = random.Random(seed_of(f"{form} {packed} {number}"))
    rows = make_table(chance)
    path = pathlib.Path(folder) / ("table." + form + (".gz" if packed else ""))
    content = FORMS[form](rows, chance).encode("utf-8", "surrogatepass")
    path.write_bytes(gzip.compress(content) if packed else content)
    with world(connections=2) as sim:
        config = write_config(folder, sim.config)
        result = Run([WEIR, "create", "account", str(path), "--config", config, "--progress", "none",
                      "--owner", "caller", "--job-dir", str(pathlib.Path(folder) / "job"),
                      "--max-errors", "100%"]).finish()
        errors = pathlib.Path(folder) / "job" / "errors.jsonl"
        assert result.code == 0, (result, errors.exists() and errors.read_text()[:2000])
        compare(rows, read_back(sim))


for each in FORMS:
    for gz in (False, True):
        for table in range(TABLES):
            globals()[f"test_{each}{'_packed' if gz else ''}_{table + 1}"] = functools.partial(
                round_trip, each, gz, table)

if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

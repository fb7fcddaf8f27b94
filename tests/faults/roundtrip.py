#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Random tables, cell for cell: roundtrip.py WEIR WEIR_SIM

Tables of all types are written as CSV, TSV and JSON Lines, plain and packed, by writers that nobody here wrote (Python's
csv, json and gzip), loaded, and read back through the Web API. Every cell must be there as it was written: quotes, line
ends in cells, any character of Unicode, decimals of 38 digits, negative zero, leading zeros in texts, choices by value or
label, lookups by id, by key and by name. Then some of the rows are updated from a second table, whose empty cells clear
what was there or leave it, as --empty says.

Each form has tables that are the same in every run, and one that no run had before (WEIR_SEED=N has it again).
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

from campaign import ACCOUNT, FULL, fresh_seed, run_tests, seed_of, world
from loads import Load, judge_creates, judge_load
from tally import hold

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


INDUSTRIES = {1: "Accounting", 4: "Brokers", 7: "Consulting"}
CHANNELS = {100000000: "Mail", 100000001: "Phone", 100000002: "Web", 100000003: "Partner"}
CURRENCY = "transactioncurrencyid:transactioncurrency(isocurrencycode)"
PARENT = "parentaccountid:account(accountnumber)"
USER = "preferredsystemuserid"


def choice(chance):
    value = chance.choice(list(INDUSTRIES))
    return chance.choice((str(value), INDUSTRIES[value], INDUSTRIES[value].upper()))


def choices(chance):
    some = chance.sample(list(CHANNELS), chance.randint(1, len(CHANNELS)))
    between = chance.choice((",", ";", ", "))
    return between.join(chance.choice((str(value), CHANNELS[value])) for value in some)


def number_of(labels, word):
    return int(word) if word.isdigit() else {label.lower(): value for value, label in labels.items()}[word.lower()]


def numbers_of(cell):
    return {number_of(CHANNELS, word.strip()) for word in cell.replace(";", ",").split(",")}


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
    "industrycode": choice,
    "weir_channels": choices,
    PARENT: lambda chance: f"{chance.randint(1, ROWS):08d}",
    CURRENCY: lambda chance: chance.choice(CURRENCIES)[0],
    USER: lambda chance: chance.choice(USERS),
}
LOOKUPS = (PARENT, CURRENCY, USER)
CURRENCIES, USERS = [], []  # what the world has: (code, id), id
TEXTS = ("name", "telephone1", "description", "accountnumber")
DATES = ("weir_founded", "weir_opening", "lastonholdtime")


def make_table(chance, numbers):
    """Rows as dicts of texts; a cell that is missing is left out of its row. Of objects the first must name lookups."""
    columns = [c for c in COLUMNS if c == "name" or chance.random() < 0.8]
    return [{"accountnumber": f"{number:08d}",
             **{c: COLUMNS[c](chance) for c in columns
                if c == "name" or (place == 0 and c in LOOKUPS) or chance.random() < 0.85}}
            for place, number in enumerate(numbers)]


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
    if column == "industrycode":
        return number_of(INDUSTRIES, cell)
    if column == "weir_channels":
        return chance.choice((sorted(numbers_of(cell)), [word.strip() for word in cell.replace(";", ",").split(",")]))
    return cell if column in LOOKUPS else Verbatim(cell)


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
    "csv": lambda rows, chance: separated(rows, csv.excel, chance.choice(("\n", "\r\n", "\r")), chance),
    "tsv": lambda rows, chance: separated(rows, csv.excel_tab, chance.choice(("\n", "\r\n", "\r")), chance),
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


def same(column, cell, found, accounts):
    if column in TEXTS:
        return cell == found
    if column == "donotemail":
        return found is (cell == "true")
    if column in DATES:
        return found is not None and found.rstrip("Z") == cell.rstrip("Z")
    if column == "industrycode":
        return found is not None and int(found) == number_of(INDUSTRIES, cell)
    if column == "weir_channels":
        return found is not None and {int(value) for value in found.split(",")} == numbers_of(cell)
    if column == PARENT:
        return found == accounts[cell]["accountid"]
    if column == CURRENCY:
        return found == dict(CURRENCIES)[cell]
    if column == USER:
        return found == cell
    if column == "weir_measure":
        return found is not None and float(found) == float(cell) and (
            str(float(found))[0] == "-") == (str(float(cell))[0] == "-")
    return found is not None and decimal.Decimal(found) == decimal.Decimal(cell)


def found_as(column):
    return f"_{column.split(':')[0]}_value" if column in LOOKUPS else column


def compare(rows, found):
    decimal.getcontext().prec = 60
    numbers = {row["accountnumber"] for row in rows}
    hold("LOST", numbers <= set(found), sorted(numbers - set(found))[:5])
    hold("GHOST", set(found) <= numbers, sorted(set(found) - numbers)[:5])
    wrong = []
    for row in rows:
        there = found[row["accountnumber"]]
        for column in COLUMNS:
            value = there.get(found_as(column))
            if column in row and not same(column, row[column], value, found) or (
                    column not in row and column != "donotemail" and value is not None):
                wrong.append((row["accountnumber"], column, row.get(column), value))
    hold("LOST", not wrong, len(wrong), wrong[:5])


def load(sim, folder, name, rows, chance, form, packed, verb, *more):
    path = pathlib.Path(folder) / (name + "." + form + (".gz" if packed else ""))
    content = FORMS[form](rows, chance).encode("utf-8", "surrogatepass")
    path.write_bytes(gzip.compress(content) if packed else content)
    it = Load(sim, folder, name, verb, ACCOUNT)
    result = it.finish(it.start(path, "--max-errors", "100%", *more))
    errors = it.directory / "errors.jsonl"
    assert result.code == 0, (result, errors.exists() and errors.read_text()[:2000])
    return it


def merge(rows, changes, columns, clears):
    """What there is after an update; `clears`: an empty cell of a column that the file has."""
    by_number = {row["accountnumber"]: dict(row) for row in rows}
    for change in changes:
        row = by_number[change["accountnumber"]]
        if clears:
            for column in columns - set(change):
                row.pop(column, None)
        row.update(change)
    return list(by_number.values())


def learn(sim):
    CURRENCIES[:] = [(row["isocurrencycode"], row["transactioncurrencyid"]) for row in sim.api(
        "GET", "transactioncurrencies?$select=isocurrencycode,transactioncurrencyid")["value"]]
    USERS[:] = [row["systemuserid"] for row in sim.api("GET", "systemusers?$select=systemuserid")["value"]]
    assert CURRENCIES and USERS


def round_trip(form, packed, seed, folder):
    chance = random.Random(seed)
    with world(connections=2) as sim:
        learn(sim)  # the same in every world
        rows = make_table(chance, range(1, ROWS + 1))
        first = load(sim, folder, "first", rows, chance, form, packed, "create", "--owner", "caller")
        found = read_back(sim)
        compare(rows, found)
        judge_creates(sim, ACCOUNT, ROWS)
        judge_load(first, ROWS, [found[row["accountnumber"]]["accountid"] for row in rows])
        changes = make_table(chance, chance.sample(range(1, ROWS + 1), ROWS // 5))
        empty = chance.choice(("omit", "null"))
        second = load(sim, folder, "second", changes, chance, form, packed, "update", "--key", "accountnumber",
                      "--empty", empty)
        columns = {column for row in changes for column in row}
        compare(merge(rows, changes, columns, empty == "null" and form != "jsonl"), read_back(sim))
        judge_load(second, len(changes))


def fresh(form, name, folder):
    with fresh_seed(name) as seed:
        round_trip(form, seed % 2 == 1, seed, folder)


for each in FORMS:
    for gz in (False, True):
        for table in range(TABLES):
            globals()[f"test_{each}{'_packed' if gz else ''}_{table + 1}"] = functools.partial(
                round_trip, each, gz, seed_of(f"{each} {gz} {table}"))
    globals()[f"test_{each}_fresh"] = functools.partial(fresh, each, f"{each}_fresh")

if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

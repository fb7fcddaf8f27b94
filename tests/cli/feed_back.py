#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rejects file of a job, fed straight back in once the cause is mended, in every form that an
input may have: feed_back.py WEIR WEIR_SIM"""
import csv
import gzip
import io
import json
import os
import re
import sys
import urllib.request

from harness import run_tests
from job_kit import bad_names, world

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
ROWS = 130
BAD = (1, 2, 50, 77, 101, 130)
ODD = ('plain', 'with "quotes"', 'a, comma', "a\ttab", "two\nlines", "two\r\nlines", " blanks ",
       "Grüße 🌊", "'")


def table(first):
    return [("BAD" if i in BAD else f"Account {i}", f"A{first + i}", ODD[i % len(ODD)])
            for i in range(1, ROWS + 1)]


def separated(line_end, separator=",", quoting=csv.QUOTE_MINIMAL):
    """(the line of the names, that of each row); the last row has no end."""
    def lines(rows):
        for row in [("name", "accountnumber", "description"), *rows]:
            text = io.StringIO(newline="")
            csv.writer(text, delimiter=separator, quoting=quoting,
                       lineterminator=line_end).writerow(row)
            yield text.getvalue().encode()
    return lines


def objects(line_end):
    def lines(rows):
        yield b""
        for name, number, text in rows:
            yield json.dumps({"name": name, "accountnumber": number, "description": text},
                             ensure_ascii=False).encode() + line_end
    return lines


FORMS = {
    "rows.csv": separated("\n"),
    "dos.csv": separated("\r\n"),
    "quoted.csv": separated("\r\n", quoting=csv.QUOTE_ALL),
    "old.csv": separated("\r", quoting=csv.QUOTE_ALL),
    "tabs.tsv": separated("\n", "\t", csv.QUOTE_ALL),
    "dos.tsv": separated("\r\n", "\t"),
    "rows.jsonl": objects(b"\n"),
    "dos.ndjson": objects(b"\r\n"),
    "packed.csv.gz": separated("\r\n"),
    "packed.jsonl.gz": objects(b"\n"),
}


def write(folder, name, lines, end=True):
    text = b"".join(lines)
    text = text if end else text.rstrip(b"\r\n")
    path = folder / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return str(path)


def numbers(it):
    return json.load(urllib.request.urlopen(
        f"{it.url}/sim/ledger?table=account&by=accountnumber"))


def rejects_of(job):
    return next(path for path in job.iterdir() if path.name.startswith("rejects."))


def test_rejects_fed_straight_back_complete_every_form_of_input(folder):
    with world(WEIR, SIM, folder) as it:
        for turn, (name, lines) in enumerate(FORMS.items()):
            rows = list(lines(table(1000 * turn)))
            source = write(it.folder, name, rows, end=turn % 2 == 0)
            job, next_job = it.root / f"first{turn}", it.root / f"again{turn}"
            it.set_faults(bad_names())
            first = it.work("create", "account", source, "--job-dir", str(job))
            assert first.returncode == 1, (name, first)
            it.set_faults()
            # Byte for byte the lines that were there, below the names that were above them.
            rejects = rejects_of(job)
            whole = b"".join([rows[0].replace(b'"', b"")] + [rows[i] for i in BAD])
            assert rejects.read_bytes() in (whole, whole.rstrip(b"\r\n")), (name, rejects)
            said = it.weir("rejects", str(job), text=False).stdout
            assert said.rstrip(b"\r\n") == whole.rstrip(b"\r\n") and said[-1] in b"\r\n", name
            again = it.work("create", "account", str(rejects), "--job-dir", str(next_job))
            assert again.returncode == 0, (name, again)
            summary = json.loads((next_job / "summary.json").read_text())
            assert summary["read"] == summary["done"] == len(BAD), (name, summary)
            book, by_number = it.ledger(), numbers(it)
            assert book["rows"] == by_number["distinct"] == ROWS * (turn + 1), (name, book)
            assert book["duplicates"] == 0 and book["max_writes_per_row"] == 1, (name, book)


def test_of_several_files_without_an_end_the_lines_stay_apart(folder):
    """The last line of the first file has no end, and another file's follows it."""
    with world(WEIR, SIM, folder) as it:
        for turn, (form, end) in enumerate(((separated("\r\n"), b"\r\n"), (separated("\n"), b"\n"))):
            sources = [write(it.folder, f"{turn}{part}.csv", form(table(10_000 * turn + 1000 * part)),
                             end=False) for part in (0, 1)]
            job = it.root / f"j{turn}"
            it.set_faults(bad_names())
            assert it.work("create", "account", *sources, "--job-dir", str(job)).returncode == 1
            it.set_faults()
            text = rejects_of(job).read_bytes()
            assert text.startswith(b"name,accountnumber,description" + end), text
            assert len(list(csv.reader(io.StringIO(text.decode(), newline="")))) == 1 + 2 * len(BAD)
            assert it.work("create", "account", str(rejects_of(job))).returncode == 0
        assert it.ledger()["rows"] == numbers(it)["distinct"] == 4 * ROWS


PARENTS = [("name", "accountnumber", "statecode", "parentaccountid:account(#accountnumber)"),
           ("Root", "P1", "0", ""), ("Lost", "P2", "1", "P9"), ("Child", "P3", "1", "P1")]


def write_parents(it, rows):
    path = it.folder / "parents.csv"
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    return str(path)


def test_rows_that_are_there_without_their_lookups_are_completed_by_an_upsert(folder):
    """A create would skip them; the last lines say what to do instead, and that completes it."""
    with world(WEIR, SIM, folder) as it:
        options = ["--id-from", "accountnumber"]
        job = it.root / "first"
        first = it.work("create", "account", write_parents(it, PARENTS), *options, "--job-dir", str(job))
        assert first.returncode == 1, first
        assert re.search(r"1 of the rejected rows is created .*weir upsert", first.stderr), first
        rejects = rejects_of(job)
        assert rejects.read_text().splitlines()[1:] == ["Lost,P2,1,P9"], rejects
        cause = write_parents(it, [PARENTS[0], ("Found", "P9", "0", "")])
        assert it.work("create", "account", cause, *options).returncode == 0
        skipped = it.work("create", "account", str(rejects), *options)
        assert skipped.returncode == 0 and "1 row was there from an earlier job" in skipped.stderr, skipped
        again = it.work("upsert", "account", str(rejects), "--yes", *options)
        assert again.returncode == 0, again
        rows = {row["accountnumber"]: row for row in it.all("accounts")}
        assert sorted(rows) == ["P1", "P2", "P3", "P9"], rows
        assert rows["P2"]["_parentaccountid_value"] == rows["P9"]["accountid"], rows["P2"]
        assert rows["P2"]["statecode"] == rows["P3"]["statecode"] == 1, rows
        assert it.ledger()["duplicates"] == 0


def test_rows_that_are_there_under_made_ids_are_told_with_their_ids(folder):
    with world(WEIR, SIM, folder) as it:
        path = it.folder / "made.csv"
        path.write_text("name,parentaccountid:account(accountnumber)\none,NOBODY\n")
        job = it.root / "made"
        result = it.work("create", "account", str(path), "--job-dir", str(job))
        assert result.returncode == 1, result
        assert "1 of the rejected rows is created without" in result.stderr, result
        assert "ids of the created rows" in result.stderr and "rejected rows: " not in result.stderr, result
        assert len((job / "ids.csv").read_text().splitlines()) == 2


def test_rows_that_wait_for_a_later_pass_are_told_apart(folder):
    with world(WEIR, SIM, folder) as it:
        path = it.folder / "states.csv"
        path.write_text("name,statecode\n" + "".join(f"A{i},1\n" for i in range(300)))
        job = it.root / "some"
        result = it.work("create", "account", str(path), "--limit", "100", "--job-dir", str(job))
        assert result.returncode == 6, result
        assert "100 of the rows not sent are written" in result.stderr, result
        assert "the input was not read to its end" in result.stderr, result
        shown = it.weir("jobs", "show", str(job)).stdout
        assert re.search(r"not finished +rows .*from 101 on", shown), shown
        assert it.work("resume", str(job)).returncode == 0
        assert [row["statecode"] for row in it.all("accounts")] == [1] * 300


def test_reasons_have_the_line_ends_of_the_input(folder):
    with world(WEIR, SIM, folder) as it:
        source = write(it.folder, "dos.csv", separated("\r\n")(table(0)))
        it.set_faults(bad_names())
        assert it.work("create", "account", source, "--job-dir", str(it.root / "j")).returncode == 1
        said = it.weir("rejects", "j", "--with-reasons", text=False).stdout
        assert said.startswith(b"name,accountnumber,description,reason\r\n"), said
        assert said.endswith(b'"\r\n'), said


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

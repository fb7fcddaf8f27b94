#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir rejects as people use it: rejects.py WEIR WEIR_SIM"""
import csv
import io
import json
import os
import subprocess
import sys
from random import Random

from harness import run, run_tests
from job_kit import bad_names, closed_early, world

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])


def make(it, text, name, *arguments):
    """A job over a file with this text, in which the name BAD is refused."""
    path = it.folder / name
    path.write_text(text)
    it.set_faults(bad_names())
    result = it.work("create", "account", str(path), "--job-dir", str(it.root / "j"), *arguments)
    it.set_faults()
    assert result.returncode == 1, result


def reasons(it):
    lines = (it.root / "j" / "errors.jsonl").read_text().splitlines()
    return {error["row"]: error for error in map(json.loads, lines)}


def test_the_rows_come_as_they_were_and_can_be_fed_in_again(folder):
    with world(WEIR, SIM, folder) as it:
        make(it, 'name,accountnumber\nBAD,"A,1"\r\nGood,A2\nBAD,A3', "rows.csv")
        result = it.weir("rejects", "j")
        assert result.returncode == 0 and result.stderr == "", result
        assert result.stdout == 'name,accountnumber\nBAD,"A,1"\nBAD,A3\n', repr(result.stdout)
        file = (it.root / "j" / "rejects.csv").read_bytes()
        assert b'BAD,"A,1"\r\n' in file
        again = it.work("create", "account", "-", input=result.stdout)
        assert again.returncode == 0, again
        assert it.weir("rejects", str(it.root / "j")).stdout == result.stdout


def test_every_reason_stands_in_a_last_column(folder):
    with world(WEIR, SIM, folder) as it:
        make(it, 'name,accountnumber\nBAD,"A\n""1"\nGood,A2\nBAD,A3\nalone\n"no end,A5\n'
             f'{"x" * 200},A6\n', "rows.csv")
        result = it.weir("rejects", "j", "--with-reasons")
        assert result.returncode == 0 and result.stderr == "", result
        rows = list(csv.reader(io.StringIO(result.stdout)))
        assert rows[0] == ["name", "accountnumber", "reason"], rows
        assert all(len(row) == 3 and row[2] for row in rows), rows
        assert [row[:2] for row in rows[1:]] == [
            ["BAD", 'A\n"1'], ["BAD", "A3"], ["alone", ""], ['"no end,A5', ""],
            ["x" * 200, "A6"]], rows
        why = reasons(it)
        for row, number in zip(rows[1:], sorted(why)):
            assert why[number]["message"] in row[2], (row, why[number])
        assert "(0x80040" in rows[1][2] and rows[5][2].startswith("name: "), rows


def test_any_cells_come_back_with_a_reason_behind_them(folder):
    random = Random(7)
    alphabet = ["a", "é", '"', ",", "\t", "\n", "\r\n", "'", " "]
    with world(WEIR, SIM, folder) as it:
        for suffix, separator in (("csv", ","), ("tsv", "\t")):
            rows = [["BAD", "".join(random.choices(alphabet, k=random.randint(0, 8))), str(number)]
                    for number in range(150)]
            text = io.StringIO()
            writer = csv.writer(text, delimiter=separator, lineterminator="\n")
            writer.writerows([["name", "description", "telephone1"], *rows])
            path = it.folder / f"random.{suffix}"
            path.write_text(text.getvalue(), newline="")
            it.set_faults(bad_names())
            it.work("create", "account", str(path), "--job", suffix, "--max-errors", "1000")
            it.set_faults()
            found = subprocess.run([WEIR, "rejects", suffix, "--with-reasons"],
                                   stdout=subprocess.PIPE, env=it.environment(), check=True).stdout
            read = list(csv.reader(io.StringIO(found.decode(), newline=""), delimiter=separator,
                                   strict=True))
            assert [row[:3] for row in read[1:]] == rows, suffix
            assert all(len(row) == 4 and row[3] for row in read), suffix


def test_tabs_stay_tabs(folder):
    with world(WEIR, SIM, folder) as it:
        make(it, "name\taccountnumber\nBAD\tA1\nGood\tA2\n", "rows.tsv")
        assert it.weir("rejects", "j").stdout == "name\taccountnumber\nBAD\tA1\n"
        text = it.weir("rejects", "j", "--with-reasons").stdout
        rows = list(csv.reader(io.StringIO(text), delimiter="\t"))
        assert [row[:2] for row in rows] == [["name", "accountnumber"], ["BAD", "A1"]], rows


def test_objects_are_joined_with_their_errors(folder):
    with world(WEIR, SIM, folder) as it:
        make(it, '{"name": "BAD", "accountnumber": "A1"}\n{"name": "Good"}\nno object\n'
             '{"name": "BAD" /* no */}\n', "rows.jsonl")
        plain = it.weir("rejects", "j")
        assert plain.stdout == (it.root / "j" / "rejects.jsonl").read_text(), plain
        result = it.weir("rejects", "j", "--with-reasons")
        found = [json.loads(line) for line in result.stdout.splitlines()]
        why = reasons(it)
        assert [one["row"] for one in found] == sorted(why) == [1, 3, 4], found
        for one in found:
            for key in ("column", "class", "http_status", "service_code", "message", "file"):
                assert one[key] == why[one["row"]][key], (key, one)
        assert found[0]["http_status"] == 400 and found[1]["http_status"] is None, found
        assert found[0]["record"] == {"name": "BAD", "accountnumber": "A1"}, found
        assert found[1]["text"] == "no object" and "record" not in found[1], found
        assert found[2]["text"] == '{"name": "BAD" /* no */}', found


def test_a_job_without_rejects_has_its_header_and_one_that_was_killed_its_rows(folder):
    with world(WEIR, SIM, folder) as it:
        it.work("create", "account", it.rows(3), "--job-dir", str(it.root / "good"))
        for more in ([], ["--with-reasons"]):
            result = it.weir("rejects", "good", *more)
            assert result.returncode == 0 and result.stdout.count("\n") == 1, result
        make(it, "name,accountnumber\nBAD,X1\nGood,X2\n", "bad.csv")
        (it.root / "j" / "rejects.csv").unlink()  # as after a kill: only the journal is the truth
        (it.root / "j" / "summary.json").unlink()
        assert it.weir("rejects", "j").stdout == "name,accountnumber\nBAD,X1\n"


def test_superseded_rows_are_counted_and_shown_as_such(folder):
    """In an upsert the last row of a key wins: an earlier one that was rejected is not to be fed in again."""
    with world(WEIR, SIM, folder) as it:
        for name, lines in (("rows.csv", ["name,accountnumber", "BAD,A1", "BAD,A2", "Good,A1"]),
                            ("rows.jsonl", ['{"name":"BAD","accountnumber":"A1"}',
                                            '{"name":"BAD","accountnumber":"A2"}',
                                            '{"name":"Good","accountnumber":"A1"}'])):
            path = it.folder / name
            path.write_text("".join(line + "\n" for line in lines))
            it.set_faults(bad_names())
            result = it.work("upsert", "account", str(path), "--key", "accountnumber", "--job", name, "--yes",
                             "--batch-size", "1")
            it.set_faults()
            assert result.returncode == 1, result
            assert "1 of the rejected rows is superseded: a later row with the same key" in result.stderr, result
            plain = it.weir("rejects", name).stdout
            assert "A2" in plain and "A1" not in plain, plain
            told = it.weir("rejects", name, "--with-reasons").stdout
            assert "A2" in told and "A1" in told, told
            if name.endswith(".csv"):
                rows = {row["accountnumber"]: row["reason"] for row in csv.DictReader(io.StringIO(told))}
                assert rows["A1"].startswith("superseded by a later row with the same key: "), rows
                assert not rows["A2"].startswith("superseded"), rows
            else:
                objects = [json.loads(line) for line in told.splitlines()]
                assert [it_["superseded"] for it_ in objects] == [True, False], objects


def test_in_a_create_nothing_is_superseded(folder):
    """There the first row of an id wins, and all others are for the rejects."""
    identity = "11111111-0000-4000-8000-000000000001"
    with world(WEIR, SIM, folder) as it:
        path = it.folder / "rows.csv"
        path.write_text("accountid,name\n" + "".join(f"{identity},{name}\n" for name in ("one", "two", "three")))
        result = it.work("create", "account", str(path), "--job", "j")
        assert result.returncode == 1 and "superseded" not in result.stderr, result
        assert it.weir("rejects", "j").stdout == f"accountid,name\n{identity},two\n{identity},three\n"


def test_what_cannot_be_found_read_or_written(folder):
    with world(WEIR, SIM, folder) as it:
        make(it, "name,accountnumber\nBAD,A1\n", "rows.csv")
        assert closed_early(WEIR, it, "rejects", "j") == (7, "")
        for arguments, says in [
            (["rejects"], "it takes one job"),
            (["rejects", "j", "k"], "it takes one job"),
            (["rejects", "nothing"], 'there is no job "nothing"'),
            (["rejects", folder], "there is no job in"),
            (["rejects", "j", "--with-reason"], "did you mean --with-reasons?"),
            (["rejetcs", "j"], 'did you mean "rejects"?'),
        ]:
            result = it.weir(*arguments)
            assert result.returncode == 2 and result.stdout == "", (arguments, result)
            assert says in result.stderr and result.stderr.count("\n") == 1, (arguments, result)
        database = it.root / "j" / "journal.db"
        database.write_bytes(b"\0" * database.stat().st_size)
        broken = it.weir("rejects", "j")
        assert broken.returncode == 2 and broken.stdout == "" and broken.stderr, broken


def test_the_last_lines_are_broken_between_words(folder):
    with world(WEIR, SIM, folder) as it:
        it.set_faults(bad_names())
        wide = it.work("create", "account", it.rows(20, bad=(3, 7)))
        narrow = it.work("create", "account", it.rows(20, bad=(3, 7)), env={"COLUMNS": "40"})
    assert wide.returncode == narrow.returncode == 1, (wide, narrow)
    lines = narrow.stderr[narrow.stderr.index("read 20 ="):].splitlines()
    assert len(lines) > len(wide.stderr[wide.stderr.index("read 20 ="):].splitlines()), narrow
    assert all(len(line) <= 40 or "/" in line for line in lines), narrow
    words = {word for line in lines for word in line.split() if word.isalpha()}
    assert words <= set(wide.stderr.split()), (words, wide)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

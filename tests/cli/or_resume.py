#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--job and --or-resume as schedulers use them: or_resume.py WEIR WEIR_SIM"""
import json
import os
import subprocess
import sys

from harness import run_tests
from job_kit import world

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])


def test_the_same_line_begins_goes_on_and_finds_it_finished(folder):
    with world(WEIR, SIM, folder) as it:
        line = ["create", "account", it.rows(7), "--job", "nightly", "--or-resume",
                "--batch-size", "2"]
        first = it.work(*line, "--limit", "3", stdin=subprocess.DEVNULL)
        assert first.returncode == 6 and "weir resume" in first.stderr, first
        assert it.jobs() == ["nightly"], it.jobs()
        second = it.work(*line, stdin=subprocess.DEVNULL)
        assert second.returncode == 0, second
        assert "weir create: going on with account at" in second.stderr, second
        third = it.work(*line, stdin=subprocess.DEVNULL)
        assert third.returncode == 0 and third.stdout == "", third
        assert third.stderr.startswith("weir create: nothing left to do: the job in "), third
        summary = json.loads((it.root / "nightly" / "summary.json").read_text())
        assert summary["done"] == summary["read"] == 7 and summary["job"] == "nightly", summary
        assert it.ledger()["rows"] == 7, it.ledger()


def test_a_job_that_was_killed_goes_on_without_a_question(folder):
    with world(WEIR, SIM, folder) as it:
        line = ["create", "account", it.rows(5), "--job", "j", "--or-resume"]
        with it.running(*line):
            busy = it.work(*line)
            assert busy.returncode == 2 and "is in use by process" in busy.stderr, busy
        result = it.work(*line, "--set", "Dataverse:Resilience:ReadBackDelay=1s",
                         "--set", "Dataverse:Resilience:LateCommitTime=1s")
        assert result.returncode == 0, result
        assert it.ledger()["rows"] == 5, it.ledger()


def test_standard_input_and_a_directory_work_as_well(folder):
    with world(WEIR, SIM, folder) as it:
        text = open(it.rows(4)).read()
        line = ["upsert", "account", "-", "--key", "accountnumber", "--yes", "--or-resume",
                "--job-dir", str(it.folder / "own")]
        assert it.work(*line, "--limit", "2", input=text).returncode == 6
        assert it.work(*line, input=text).returncode == 0
        third = it.work(*line, input=text)
        assert third.returncode == 0 and "nothing left to do" in third.stderr, third


def test_another_job_under_the_name_is_refused_with_what_differs(folder):
    with world(WEIR, SIM, folder) as it:
        rows, other = it.rows(3), it.rows(3, "other.csv")
        mapping, changed = it.folder / "a.json", it.folder / "b.json"
        mapping.write_text('{"columns": {"name": "name"}}')
        changed.write_text('{"columns": {"accountnumber": "accountnumber"}}')
        shape = ["--owner", "caller", "--with", "description=x", "--mapping", str(mapping),
                 "--tag", "t", "--batch-size", "2", "--bypass-flows"]
        place = ["--job", "j", "--or-resume"]
        begun = it.work("create", "account", rows, *shape, *place, "--limit", "1")
        assert begun.returncode == 6, begun

        def without(name):
            at = shape.index(name)
            return shape[:at] + shape[at + 1 + (name != "--bypass-flows"):]

        for arguments, says in [
            (["upsert", "account", rows, "--yes", *shape], 'the operation "create", not "upsert"'),
            (["create", "contact", rows, *shape], 'the table "account", not "contact"'),
            (["create", "account", other, *shape], f'the input "{rows}", not "{other}"'),
            (["create", "account", rows, other, *shape], "1 input, not 2"),
            (["create", "account", "-", *shape], 'not "-"'),
            (["create", "account", rows, *without("--owner")],
             '--owner "caller", and the command has none'),
            (["create", "account", rows, *shape, "--timezone", "UTC"],
             'no --timezone, and the command has "UTC"'),
            (["create", "account", rows, *without("--with"), "--with", "description=y"],
             '--with "description=x", not "description=y"'),
            (["create", "account", rows, *shape, "--with", "telephone1=1"],
             'no --with, and the command has "telephone1=1"'),
            (["create", "account", rows, *without("--mapping")], "has a --mapping:"),
            (["create", "account", rows, *without("--mapping"), "--mapping", str(changed)],
             "a --mapping with another text"),
            (["create", "account", rows, *without("--bypass-flows")], "has --bypass-flows:"),
            (["create", "account", rows, *shape, "--raw"], "has no --raw:"),
            (["create", "account", rows, *shape, "--empty", "null"], "another --empty"),
            (["create", "account", rows, *without("--batch-size")], "--batch-size 2, not 100"),
            (["create", "account", rows, *without("--batch-size"), "--batch-size", "auto"],
             "--batch-size 2, not auto"),
            (["create", "account", rows, *shape, "--format", "tsv"], '--format "csv", not "tsv"'),
        ]:
            result = it.work(*arguments, *place, stdin=subprocess.DEVNULL)
            assert result.returncode == 2 and result.stdout == "", (arguments, result)
            assert says in result.stderr and result.stderr.count("\n") == 1, (arguments, result)
        same = it.work("create", "account", os.path.relpath(rows, folder), *shape, *place,
                       "--max-rate", "1000", cwd=folder)
        assert same.returncode == 0 and it.ledger()["rows"] == 3, same


def test_files_that_have_changed_and_another_environment_are_refused(folder):
    with world(WEIR, SIM, folder) as it:
        rows = it.rows(3)
        line = ["create", "account", rows, "--job", "j", "--or-resume", "--batch-size", "1"]
        assert it.work(*line, "--limit", "1").returncode == 6
        elsewhere = it.work(*line, "--url", "http://localhost:1")
        assert elsewhere.returncode == 2 and "the job belongs to" in elsewhere.stderr, elsewhere
        with open(rows, "a") as file:
            file.write("More,X\n")
        changed = it.work(*line)
        assert changed.returncode == 2 and "rows.csv" in changed.stderr, changed
        assert it.ledger()["rows"] == 1, it.ledger()


def test_every_wrong_word_is_one_sentence_and_exit_2(folder):
    with world(WEIR, SIM, folder) as it:
        rows = it.rows(1)
        assert it.work("create", "account", rows, "--job", "there").returncode == 0
        for arguments, says in [
            (["create", "account", rows, "--or-resume"], "give --job NAME or --job-dir DIR"),
            (["create", "account", rows, "--job", "a", "--job-dir", "b"], "give one of them"),
            (["create", "account", rows, "--job", "there"], "give --or-resume, or choose another"),
            (["upsert", "account", rows, "--job", "n", "--or-resume"], "give --yes"),
            (["resume", "there", "--job", "n"], "--job cannot be given again"),
            (["resume", "there", "--or-resume"], "--or-resume cannot be given again"),
            *((["create", "account", rows, "--job", name], f'--job is "{name[:100]}"')
              for name in ("", ".", "..", ".x", "-x", "a/b", "a b", "ä", "x" * 101)),
        ]:
            result = it.work(*arguments)
            assert result.returncode == 2 and result.stdout == "", (arguments, result)
            assert says in result.stderr and result.stderr.count("\n") == 1, (arguments, result)
        assert it.jobs() == ["there"], it.jobs()
        longest = "x" * 100
        assert it.work("create", "account", it.rows(1), "--job", longest).returncode == 0
        assert longest in it.jobs()


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

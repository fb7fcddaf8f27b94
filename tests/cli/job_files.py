#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The directory of a job, file by file: job_files.py WEIR WEIR_SIM"""
import contextlib
import json
import os
import re
import sqlite3
import sys

from harness import run_tests
from job_kit import bad_names, world

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
FILES = {"journal.db", "journal.seal", "lock", "rejects.csv", "errors.jsonl", "ids.csv",
         "summary.json"}
BALANCE = ["read", "done", "rejected", "skipped", "unknown", "not_sent"]
SUMMARY = ["job", "operation", "table", *BALANCE, "read_to_end", "elapsed_s", "cpu_user_s", "cpu_system_s",
           "peak_rss_kib", "requests", "bytes_sent", "throttles", "throttle_wait_s", "batch_rows",
           "exit_code", "connections"]
CONNECTION = ["name", "requests", "done_rows", "throttles", "throttle_wait_s", "level", "bound_by"]
ERROR = ["row", "file", "byte_offset", "column", "class", "http_status", "service_code", "message",
         "request_id", "connection", "attempts", "superseded"]


def summary_of(job):
    return json.loads((job / "summary.json").read_text())


def test_every_file_is_there_with_its_parts_and_is_ours_alone(folder):
    with world(WEIR, SIM, folder) as it:
        it.set_faults(bad_names())
        os.umask(0)  # nothing of it may depend on that
        rows = it.rows(250, bad=(3, 200))
        result = it.work("create", "account", rows, "--job", "night-1", "--batch-size", "auto")
        assert result.returncode == 1, result
        job = it.root / "night-1"
        assert {path.name for path in job.iterdir()} == FILES, list(job.iterdir())
        assert job.stat().st_mode & 0o7777 == 0o700
        assert all(path.stat().st_mode & 0o7777 == 0o600 for path in job.iterdir())
        summary = summary_of(job)
        assert list(summary) == SUMMARY and summary["job"] == "night-1", summary
        assert [list(part) for part in summary["connections"]] == [CONNECTION], summary
        assert summary["requests"] == 5, summary  # of a hundred rows; two are told apart
        errors = [json.loads(line) for line in (job / "errors.jsonl").read_text().splitlines()]
        assert [list(error) for error in errors] == [ERROR, ERROR], errors
        text = open(rows).read()
        for error in errors:
            assert text[error["byte_offset"]:].startswith("BAD,"), error
            assert error["file"] == rows and error["connection"] == "app1", error
            assert error["service_code"] and error["attempts"] == 2, error
        ids = (job / "ids.csv").read_text().splitlines()
        assert ids[0] == "row,id" and [int(line.split(",")[0]) for line in ids[1:]] == [
            row for row in range(1, 251) if row not in (3, 200)], ids
        assert all(re.fullmatch(r"\d+,[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", line)
                   for line in ids[1:]), ids
        assert (job / "rejects.csv").read_text().splitlines()[0] == "name,accountnumber"


def test_the_balance_is_that_of_all_runs_and_the_rest_that_of_the_last(folder):
    with world(WEIR, SIM, folder) as it:
        job = it.root / "j"
        it.set_faults(bad_names())
        result = it.work("create", "account", it.rows(300, bad=(5, 150)), "--limit", "100",
                         "--job-dir", str(job), "--batch-size", "10")
        assert result.returncode == 6, result
        first = summary_of(job)
        assert [first[name] for name in BALANCE] == [100, 99, 1, 0, 0, 0], first
        assert result.returncode == first["exit_code"]
        result = it.work("resume", "j")
        assert result.returncode == 1, result
        last = summary_of(job)
        assert [last[name] for name in BALANCE] == [300, 298, 2, 0, 0, 0], last
        for summary, rows, bad in ((first, 99, 1), (last, 199, 1)):
            (connection,) = summary["connections"]
            assert connection["done_rows"] == rows, summary
            assert connection["requests"] == summary["requests"] == (rows + bad) / 10 + bad, summary
            assert connection["throttles"] == summary["throttles"] == 0, summary


def ids_in_journal(job):
    """Of each range: "integer" if weir can make its ids again, "blob" if they are written down."""
    with contextlib.closing(sqlite3.connect(f"file:{job}/journal.db?mode=ro", uri=True)) as journal:
        return [kind for (kind,) in journal.execute(
            "SELECT typeof(ids) FROM ranges WHERE pass=0 ORDER BY first_row")]


def test_only_ids_that_weir_cannot_make_again_are_journaled_and_all_are_exported(folder):
    """Objects with ids of their own among others: the first batch, then the one at row 25, of three."""
    with world(WEIR, SIM, folder) as it:
        given = {3: "5b1f0c2e-0000-4000-8000-000000000003", 25: "5b1f0c2e-0000-4000-8000-000000000025"}
        rows = it.folder / "rows.jsonl"
        rows.write_text("".join(json.dumps({"name": f"N{i}", **({"accountid": given[i]} if i in given else {})}) + "\n"
                                for i in range(1, 31)))
        result = it.work("create", "account", str(rows), "--job", "j", "--batch-size", "10", "--limit", "20")
        assert result.returncode == 6, result
        result = it.work("resume", "j")
        assert result.returncode == 0, result
        job = it.root / "j"
        assert ids_in_journal(job) == ["blob", "integer", "blob"], ids_in_journal(job)
        ids = dict(line.split(",") for line in (job / "ids.csv").read_text().splitlines()[1:])
        assert {f"N{row}": id for row, id in ids.items()} == {
            row["name"]: row["accountid"] for row in it.all("accounts?$select=accountid,name")}
        assert {row: ids[str(row)] for row in given} == given, ids


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

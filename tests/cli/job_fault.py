#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is said when the disk fails or a signal comes early: job_fault.py WEIR_FAULT WEIR_SIM

WEIR_FAULT is the command with tests/support/fault_hooks.c in it. That nothing is lost at any of the
fault points is for tests/faults to show; here it is about what people are told.
"""
import json
import os
import pathlib
import re
import shutil
import sys
import urllib.request

from harness import run, run_tests, simulator, write_config

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])


def rows_there(url):
    return json.load(urllib.request.urlopen(url + "/sim/ledger?table=account"))["rows"]


def write_rows(folder, count):
    path = pathlib.Path(folder) / "rows.csv"
    path.write_text("name\n" + "".join(f"Account {i}\n" for i in range(count)))
    return str(path)


def create(folder, rows, *arguments, **variables):
    return run([WEIR, "create", "account", rows, "--config", folder + "/appsettings.json",
                "--job-dir", folder + "/job", *arguments], env=variables)


def resume(folder):
    return run([WEIR, "resume", folder + "/job", "--config", folder + "/appsettings.json"])


def test_an_interrupt_while_the_job_is_made_stops_it(folder):
    for point in ("directory-made", "job-before-rename", "job-created"):
        place = os.path.join(folder, point)
        os.mkdir(place)
        rows = write_rows(place, 500)
        with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
            write_config(place, config)
            result = create(place, rows, "--max-rate", "10", "--batch-size", "1",
                            WEIR_INTERRUPT_AT=point + ":1")
            assert result.returncode == 5, (point, result)
            assert "stopping" in result.stderr and "go on with" in result.stderr, (point, result)
            assert rows_there(url) < 400, (point, result)
            result = resume(place)
            assert result.returncode == 0 and rows_there(url) == 500, (point, result)


def test_a_disk_that_is_full_at_the_beginning_leaves_no_job(folder):
    rows = write_rows(folder, 10)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        for failure in ("pwrite:1:ENOSPC", "fsync:1:ENOSPC", "rename:1:ENOSPC"):
            result = create(folder, rows, WEIR_FAIL_IO=failure)
            assert result.returncode == 7 and "disk full" in result.stderr, (failure, result)
            assert result.stderr.count("\n") == 1, (failure, result)
            assert not os.path.exists(folder + "/job") and rows_there(url) == 0, failure
        assert create(folder, rows).returncode == 0 and rows_there(url) == 10


def test_a_disk_that_fails_later_ends_it_with_7_and_a_resume_finishes(folder):
    for number, variables in enumerate([
        {"WEIR_FAIL_IO": "pwrite:4:EIO"},
        {"WEIR_FAIL_IO": "pwrite:5:EIO:once"},
        {"WEIR_FAIL_VFS": "sync:4"},
        {"WEIR_FAIL_VFS": "write:17:full"},
        {"WEIR_FAIL_VFS": "write:26:short"},
    ]):
        place = os.path.join(folder, str(number))
        os.mkdir(place)
        rows = write_rows(place, 500)
        with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
            write_config(place, config)
            result = create(place, rows, "--batch-size", "5", "--max-parallel", "1", **variables)
            assert result.returncode == 7 and "go on with" in result.stderr, (variables, result)
            result = resume(place)
            assert result.returncode == 0 and rows_there(url) == 500, (variables, result)
            said = r"read 500 = done 500 |nothing left to do"  # it may have failed at the very end
            assert re.search(said, result.stderr), (variables, result)


def test_files_that_a_kill_kept_from_being_written_come_with_the_resume(folder):
    files = {"errors.jsonl", "ids.csv", "rejects.csv", "summary.json"}
    rows = write_rows(folder, 100)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        for number, point in enumerate(["before-finish", "after-finish", "rejects-before-rename",
                                        "ids-after-rename", "summary-before-rename"], 1):
            result = create(folder, rows, WEIR_KILL_AT=point + ":1")
            assert result.returncode == -9, (point, result)
            assert not os.path.exists(folder + "/job/summary.json"), point
            result = resume(folder)
            assert result.returncode == 0 and rows_there(url) == 100 * number, (point, result)
            assert files <= set(os.listdir(folder + "/job")), (point, result)
            ids = pathlib.Path(folder, "job", "ids.csv").read_text().splitlines()
            assert len(ids) == 101, (point, ids)
            shutil.rmtree(folder + "/job")


def test_a_fault_that_is_not_understood_is_no_fault(folder):
    rows = write_rows(folder, 1)
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        write_config(folder, config)
        for variables in [{"WEIR_KILL_AT": "nowhere:1"}, {"WEIR_KILL_AT": "opened"},
                          {"WEIR_INTERRUPT_AT": "opened:0"}, {"WEIR_FAIL_IO": "pwrite:1"},
                          {"WEIR_FAIL_IO": "pwrite:1:EFUN"}, {"WEIR_FAIL_IO": "pwrite:1:EIO:twice"},
                          {"WEIR_FAIL_VFS": "fly:1"}, {"WEIR_FAIL_VFS": "write:1:often"}]:
            result = create(folder, rows, **variables)
            assert result.returncode == 99, (variables, result)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples do what their comments say: examples.py WHOAMI POOL_THREADS BULK_UPSERT WEIR_SIM"""
import json
import os
import sys
import urllib.request

from harness import run, run_tests, simulator, write_config

WHOAMI, POOL_THREADS, BULK_UPSERT, SIM = map(os.path.abspath, sys.argv[1:5])


def test_whoami_says_who_we_are_and_creates_an_account(folder):
    with simulator(SIM, "--users", "2", "--no-limits") as (_, config):
        result = run([WHOAMI, write_config(folder, config)])
    assert result.returncode == 0, result
    assert "GET WhoAmI: HTTP 200" in result.stdout and '"UserId"' in result.stdout, result
    assert "POST accounts: HTTP 204" in result.stdout, result


def test_whoami_says_what_is_wrong(folder):
    result = run([WHOAMI, folder + "/nothing.json"])
    assert result.returncode == 1 and "there is no such file" in result.stderr, result


def test_the_pool_alone_serves_threads_with_requests_of_their_own(folder):
    result = run([POOL_THREADS], cwd=folder)
    assert result.returncode == 0 and "80 of 80 requests executed" in result.stdout, result


def test_a_bulk_job_from_memory_upserts_every_row_and_goes_on_where_it_stood(folder):
    with simulator(SIM, "--users", "2", "--no-limits") as (_, config):
        settings = write_config(folder, config)
        first = run([BULK_UPSERT, settings, folder + "/job", "1000"])
        again = run([BULK_UPSERT, settings, folder + "/job", "1500"])
    assert first.returncode == 0 and first.stdout.startswith("read 1000 = done 1000 +"), first
    assert again.returncode == 0 and again.stdout.startswith("read 1500 = done 1500 +"), again


def test_a_bulk_job_from_memory_says_which_row_was_rejected_and_why(folder):
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        faults = {"faults": [{"kind": "bad_row", "column": "accountnumber", "value": "A000007"}]}
        request = urllib.request.Request(url + "/sim/faults", json.dumps(faults).encode(),
                                         {"Content-Type": "application/json"})
        urllib.request.urlopen(request).read()
        result = run([BULK_UPSERT, write_config(folder, config), folder + "/job", "100"])
    assert result.returncode == 1 and "done 99 + rejected 1 +" in result.stdout, result
    assert result.stderr.startswith("row 8: ") and "A000007" in result.stderr, result
    assert "run it again" not in result.stderr, result


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--batch-size auto, from the command line to the reports: batch_size.py WEIR WEIR_SIM"""
import json
import os
import pathlib
import sys

from harness import run_tests
from job_kit import world

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])

ROWS = 8000

# A request costs half a second and a row next to nothing, also where the simulator itself is slow.
DEAR_REQUESTS = {"service": [{"rows": 1000, "median_s": 0.02, "fixed_s": 0.5, "sigma": 0.2, "overhead_s": 0}]}


def dear_world(folder):
    path = pathlib.Path(folder) / "scenario.json"
    path.write_text(json.dumps(DEAR_REQUESTS))
    return world(WEIR, SIM, folder, "--scenario", str(path))


def summary_of(it, job):
    return json.loads((it.root / job / "summary.json").read_text())


def test_dear_requests_become_large(folder):
    with dear_world(folder) as it:
        rows = it.rows(ROWS)
        result = it.work("create", "account", rows, "--job", "j", "--batch-size", "auto",
                         "--report", f"{folder}/r.json")
        assert result.returncode == 0 and "rows in each at the end" in result.stderr, result
        summary = summary_of(it, "j")
        assert summary["done"] == ROWS and it.ledger()["rows"] == ROWS, summary
        assert summary["batch_rows"] > 150 and summary["requests"] < ROWS / 100, summary
        report = json.loads(pathlib.Path(folder, "r.json").read_text())
        assert report["options"]["batch_size"] == "auto", report["options"]
        assert report["summary"]["batch_rows"] == summary["batch_rows"], report["summary"]


def test_a_resumed_job_goes_on_with_it(folder):
    with dear_world(folder) as it:
        rows = it.rows(ROWS)
        line = ["create", "account", rows, "--job", "j", "--or-resume", "--batch-size"]
        result = it.work(*line, "auto", "--limit", str(ROWS // 2))
        assert result.returncode == 6, result
        before = summary_of(it, "j")
        shown = it.weir("jobs", "show", "j")
        assert "option       batch_size auto" in shown.stdout, shown
        refused = it.work(*line, "100")
        assert refused.returncode == 2 and "--batch-size auto, not 100" in refused.stderr, refused
        result = it.work(*line, "auto", "--report", f"{folder}/r.html")
        after = summary_of(it, "j")
        assert result.returncode == 0 and after["done"] == ROWS, result
        ledger = it.ledger()
        assert ledger["rows"] == ROWS and ledger["max_writes_per_row"] == 1, ledger
        assert "auto, " in pathlib.Path(folder, "r.html").read_text()
        assert after["requests"] < before["requests"], (before, after)  # it begins with what is known


def test_a_number_is_what_it_was(folder):
    with dear_world(folder) as it:
        result = it.work("create", "account", it.rows(1000), "--job", "j", "--batch-size", "250")
        summary = summary_of(it, "j")
        assert result.returncode == 0 and "at the end" not in result.stderr, result
        assert summary["batch_rows"] == 250 and summary["requests"] == 4, summary


def test_words_that_are_neither_are_refused(folder):
    with dear_world(folder) as it:
        rows = it.rows(1)
        for word in ("0", "Auto", "auto ", "", "1001"):
            result = it.work("create", "account", rows, "--batch-size", word)
            assert result.returncode == 2 and "1 to 1000, or auto" in result.stderr, result


def test_more_requests_than_are_published_go_where_nothing_is_limited(folder):
    """The default policy is told that plenty are left; else it would stand still for five minutes."""
    with world(WEIR, SIM, folder) as it:
        result = it.work("create", "account", it.rows(6500), "--job", "j", "--batch-size", "1", "--deadline", "4m")
        assert result.returncode == 0, result
        assert it.ledger()["rows"] == 6500


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

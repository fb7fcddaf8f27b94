#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Readers that leave early: pipes.py WEIR WEIR_SIM

A command that prints ends like any other: silently, by SIGPIPE, or with 7 where that signal is
ignored. A job goes on: it is not ended by whoever does not want to look any more.
"""
import json
import os
import shlex
import subprocess
import sys

from harness import run, run_tests
from job_kit import bad_names, closed_early, world

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
SIGPIPE_SEEN = 128 + 13


def pipeline(it, words, then):
    """(exit code of the first, standard error of both, standard output of the second)"""
    line = f'{shlex.join([WEIR, *words])} {then}; exit "${{PIPESTATUS[0]}}"'
    result = run(["bash", "-c", line], stdin=subprocess.DEVNULL, env=it.environment())
    return result.returncode, result.stderr, result.stdout


def make_many(it):
    """Rejects and jobs whose lists are more than a pipe holds."""
    long = "y" * 150
    path = it.folder / "rows.csv"
    path.write_text("name,description\n" + "".join(
        f"BAD,{long}\n" for _ in range(1500)))
    it.set_faults(bad_names())
    result = it.work("create", "account", str(path), "--job-dir", str(it.root / "j"),
                     "--max-errors", "100%")
    assert result.returncode == 1, result
    it.set_faults()


def test_a_reader_that_leaves_ends_a_command_that_prints_and_nothing_is_said(folder):
    with world(WEIR, SIM, folder) as it:
        make_many(it)
        for words in (["rejects", "j"], ["rejects", "j", "--with-reasons"]):
            code, said, got = pipeline(it, words, "| head -1")
            assert code == SIGPIPE_SEEN and said == "", (words, code, said)
            assert got.startswith("name,description") and got.count("\n") == 1, got
            code, said = closed_early(WEIR, it, *words)
            assert code == 7 and said == "", (words, code, said)
        # What fits into the pipe may be written before anybody leaves.
        for words in (["jobs"], ["jobs", "--json"], ["jobs", "show", "j"], ["help", "create"],
                      ["explain", "0x80040237"], ["completion", "bash"], ["config", "show"]):
            code, said, got = pipeline(it, words, "| head -1")
            assert code in (0, SIGPIPE_SEEN) and said == "" or words[0] == "config", (words, said)
            assert got.count("\n") == 1, (words, got)
            code, said = closed_early(WEIR, it, *words)
            assert code == 7 and (said == "" or words[0] == "config"), (words, code, said)


def test_a_job_goes_on_when_nobody_reads_its_progress_any_more(folder):
    with world(WEIR, SIM, folder) as it:
        for turn, (form, then) in enumerate((
                ("json", "2>&1 | head -1"), ("json", "2>&1 | true"), ("plain", "2>&1 | head -1"),
                ("auto", "2>&1 | head -1"))):
            job = it.root / f"job{turn}"
            words = ["create", "account", it.rows(300), "--config",
                     str(it.folder / "appsettings.json"), "--progress", form, "--log-level", "trace",
                     "--job-dir", str(job), "--batch-size", "5", "--max-rate", "150"]
            code, said, got = pipeline(it, words, then)
            assert code == 0 and said == "" and got.count("\n") <= 1, (form, then, code, said)
            summary = json.loads((job / "summary.json").read_text())
            assert summary["done"] == 300 and summary["exit_code"] == 0, (form, then, summary)
        assert it.ledger()["rows"] == 4 * 300


def test_a_job_that_ends_badly_says_so_by_its_exit_code_alone(folder):
    with world(WEIR, SIM, folder) as it:
        it.set_faults(bad_names())
        words = ["create", "account", it.rows(50, bad=(3, 4)), "--config",
                 str(it.folder / "appsettings.json"), "--job-dir", str(it.root / "j")]
        code, said, _ = pipeline(it, words, "2>&1 | true")
        assert code == 1 and said == "", (code, said)
        assert len((it.root / "j" / "rejects.csv").read_text().splitlines()) == 3


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

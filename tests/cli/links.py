#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Links that somebody has put where a job writes: links.py WEIR WEIR_SIM

Wherever in the job's directory a link lies, to a file of ours or to one that is not there yet, nothing is written where
it leads: the command refuses, or puts a file of its own in the link's place.
"""
import os
import sys

from harness import run_tests
from job_kit import bad_names, world

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
PRECIOUS = "precious\n"

# What is refused before anything is sent, by which code, and words of the message; of the log it is SQLite that does.
REFUSED = {
    "lock": ((7,), "cannot open the lock"),
    "journal.seal": ((2,), "the journal is damaged"),
    "journal.db": ((2,), "the journal is damaged"),
    "journal.db-wal": ((7,), "the journal cannot be read or written"),
    "journal.db-shm": ((7,), "the journal cannot be read or written"),
}
EXPORTS = ("ids.csv", "rejects.csv", "errors.jsonl", "summary.json")


def half_done(it, name):
    """A job of twenty rows with ten to go, one of each ten bad."""
    it.set_faults(bad_names())
    rows = it.rows(20, f"{name}.csv", bad=(3, 15))
    result = it.work("create", "account", rows, "--job", name, "--limit", "10", "--batch-size", "5")
    assert result.returncode == 6, result
    return it.root / name


def plant(path, target):
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def victim(it, name):
    path = it.folder / f"{name}.precious"
    path.write_text(PRECIOUS)
    return path, path.stat()


def check_untouched(path, before):
    now = path.stat()
    assert path.read_text() == PRECIOUS, path.read_text()
    assert (now.st_ino, now.st_mode, now.st_mtime_ns) == (before.st_ino, before.st_mode, before.st_mtime_ns), now


def refused(name):
    def test(folder):
        codes, words = REFUSED[name]
        with world(WEIR, SIM, folder) as it:
            job, (target, before) = half_done(it, "j"), victim(it, "j")
            plant(job / name, target)
            made = it.ledger()["creates"]
            result = it.work("resume", "j")
            assert result.returncode in codes and words in result.stderr, result
            assert it.ledger()["creates"] == made, "something was sent"
            check_untouched(target, before)
    return test


def replaced(name):
    def test(folder):
        """A file is put into its place when it is whole: that takes the link away and leaves what it leads to."""
        with world(WEIR, SIM, folder) as it:
            job, (target, before) = half_done(it, "j"), victim(it, "j")
            plant(job / name, target)
            result = it.work("resume", "j")
            assert result.returncode == 1, result
            assert not (job / name).is_symlink() and (job / name).stat().st_size > 0, name
            check_untouched(target, before)
    return test


def refused_while_it_is_written(name):
    def test(folder):
        """Where a file grows until it is whole. The rows are done by then, and once the link is gone the file comes."""
        with world(WEIR, SIM, folder) as it:
            job, (target, before) = half_done(it, "j"), victim(it, "j")
            plant(job / f".{name}.new", target)
            result = it.work("resume", "j")
            assert result.returncode == 7 and f'{name}" cannot be written' in result.stderr, result
            check_untouched(target, before)
            (job / f".{name}.new").unlink()
            result = it.work("resume", "j")
            assert result.returncode == 1 and (job / name).stat().st_size > 0, result
            assert it.ledger()["creates"] == 18, it.ledger()
    return test


for each in REFUSED:
    plain = each.replace(".", "_").replace("-", "_")
    globals()[f"test_a_link_in_place_of_{plain}_is_refused"] = refused(each)
for each in EXPORTS:
    plain = each.replace(".", "_")
    globals()[f"test_a_link_in_place_of_{plain}_is_replaced"] = replaced(each)
    globals()[f"test_a_link_where_{plain}_is_written_is_refused"] = refused_while_it_is_written(each)


def test_a_link_to_what_is_not_there_makes_no_file(folder):
    with world(WEIR, SIM, folder) as it:
        for number, name in enumerate([*REFUSED, *EXPORTS, *(f".{name}.new" for name in EXPORTS)]):
            job, target = half_done(it, f"j{number}"), it.folder / f"{number}.precious"
            plant(job / name, target)
            it.work("resume", f"j{number}")
            assert not target.exists() and not target.is_symlink(), name


def test_a_link_in_place_of_the_directory_is_no_place_for_a_job(folder):
    with world(WEIR, SIM, folder) as it:
        elsewhere, link = it.folder / "elsewhere", it.folder / "link"
        elsewhere.mkdir()
        link.symlink_to(elsewhere)
        result = it.work("create", "account", it.rows(5), "--job-dir", str(link))
        assert result.returncode == 2 and str(link) in result.stderr, result
        assert it.ledger()["creates"] == 0 and not list(elsewhere.iterdir()), list(elsewhere.iterdir())


def test_clean_removes_links_and_nothing_that_they_lead_to(folder):
    with world(WEIR, SIM, folder) as it:
        job, (target, before) = half_done(it, "j"), victim(it, "j")
        plant(job / "ids.csv", target)
        result = it.weir("jobs", "clean", "--force", "--yes")
        assert result.returncode == 0 and not job.exists(), result
        check_untouched(target, before)
        job = half_done(it, "k")
        plant(job / "lock", target)
        result = it.weir("jobs", "clean", "--force", "--yes")
        assert job.exists() and "symbolic link" in result.stderr, result
        check_untouched(target, before)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

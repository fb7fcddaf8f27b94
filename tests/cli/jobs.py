#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir jobs as people use it: jobs.py WEIR WEIR_SIM"""
import json
import os
import pty
import re
import subprocess
import sys
import time

from harness import run, run_tests
from job_kit import bad_names, closed_early, world

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])

# What is read back is not waited for as long as a real service would need.
QUICK = ["--set", "Dataverse:Resilience:ReadBackDelay=1s"]


def make_all(it):
    """A job of each kind that rests: finished, with rejects, unfinished, damaged."""
    it.work("create", "account", it.rows(5), "--job-dir", str(it.root / "a-good"))
    it.set_faults(bad_names())
    it.work("create", "account", it.rows(4, "bad.csv", bad={2}), "--job-dir",
            str(it.root / "b-rejects"))
    it.set_faults()
    it.work("create", "account", it.rows(9, "many.csv"), "--limit", "3", "--batch-size", "3",
            "--job-dir", str(it.root / "c-open"))
    it.work("create", "account", it.rows(5), "--job-dir", str(it.root / "d-broken"))
    database = it.root / "d-broken" / "journal.db"
    database.write_bytes(b"\0" * database.stat().st_size)


STATES = {"a-good": "finished", "b-rejects": "finished with rejects", "c-open": "unfinished",
          "d-broken": "damaged"}


def test_on_a_narrow_terminal_columns_that_can_be_spared_are_left_out(folder):
    with world(WEIR, SIM, folder) as it:
        make_all(it)
        narrow = {columns: it.weir("jobs", env={"COLUMNS": str(columns)}) for columns in (100, 80, 60, 50)}
    for columns, result in narrow.items():
        lines = result.stdout.splitlines()
        assert len(lines) == 1 + len(STATES) and max(map(len, lines)) <= columns, result
        assert {re.split("  +", line)[0]: re.split("  +", line)[-1] for line in lines[1:]} == STATES, result
        assert "--json" in result.stderr, result
    titles = [len(result.stdout.splitlines()[0].split()) for result in narrow.values()]
    assert titles == sorted(titles, reverse=True) and titles[0] > titles[-1], titles
    assert narrow[50].stdout.splitlines()[0].split() == ["JOB", "DONE", "REJECTED", "STATE"], narrow[50]


def test_on_a_terminal_that_is_narrower_still_each_cell_has_a_line(folder):
    with world(WEIR, SIM, folder) as it:
        make_all(it)
        result = it.weir("jobs", env={"COLUMNS": "40"})
        shown = it.weir("jobs", "show", "c-open")
    blocks = [dict(re.split("  +", line, 1) for line in block.splitlines())
              for block in result.stdout.split("\n\n")]
    assert {block["JOB"]: block["STATE"] for block in blocks} == STATES, result
    assert shown.stdout.count("\nnot finished rows from 4 on\n") == 1, shown
    assert max(map(len, result.stdout.splitlines())) <= 40, result


def test_the_list_has_every_job_with_its_state_and_numbers(folder):
    with world(WEIR, SIM, folder) as it:
        make_all(it)
        result = it.weir("jobs")
        assert result.returncode == 0 and result.stderr == "", result
        lines = result.stdout.splitlines()
        assert lines[0].split() == ["JOB", "OPERATION", "TABLE", "ENVIRONMENT", "STARTED", "READ",
                                    "DONE", "REJECTED", "UNKNOWN", "NOT", "SENT", "STATE"], lines
        assert [line.split()[0] for line in lines[1:]] == ["c-open", "b-rejects", "a-good",
                                                           "d-broken"], lines
        for line in lines[1:]:
            assert line.endswith("  " + STATES[line.split()[0]]), line
        good = next(line.split() for line in lines if line.startswith("a-good"))
        assert good[1:3] == ["create", "account"] and good[3] in it.url, good
        assert good[6:] == ["5", "5", "0", "0", "0", "finished"], good


def test_programs_get_the_same_as_json(folder):
    with world(WEIR, SIM, folder) as it:
        assert json.loads(it.weir("jobs", "--json").stdout) == []
        make_all(it)
        result = it.weir("jobs", "--json")
        assert result.returncode == 0, result
        jobs = {job["job"]: job for job in json.loads(result.stdout)}
        assert {name: job["state"] for name, job in jobs.items()} == STATES
        for name in ("a-good", "b-rejects", "c-open"):
            summary = json.loads((it.root / name / "summary.json").read_text())
            for key in ("read", "done", "rejected", "skipped", "unknown", "not_sent", "exit_code"):
                assert jobs[name][key] == summary[key], (name, key)
            assert jobs[name]["environment"] == it.url and jobs[name]["error"] is None
        broken = jobs["d-broken"]
        assert broken["error"] and broken["read"] is None and broken["done"] is None, broken


def test_show_tells_all_of_one_job_and_its_resume_command_works(folder):
    with world(WEIR, SIM, folder) as it:
        make_all(it)
        rows = str(it.folder / "many.csv")
        for name in ("c-open", str(it.root / "c-open"), str(it.root / "c-open") + "//"):
            result = it.weir("jobs", "show", name)
            assert result.returncode == 0 and result.stderr == "", result
            for line in ("job          c-open\n", "state        unfinished", "operation    create", "table        account",
                         f"environment  {it.url}", f"input        {rows}, ", "exit code    6",
                         "option       batch_size 3", "pass         rows: done 3, skipped 0, ",
                         "file         summary.json", "go on with   weir resume c-open"):
                assert line in result.stdout, (line, result.stdout)
        line = next(line for line in result.stdout.splitlines() if line.startswith("go on with"))
        after = it.shell(line.split(None, 3)[3])
        assert after.returncode == 0, after
        shown = json.loads(it.weir("jobs", "show", "c-open", "--json").stdout)
        assert shown["state"] == "finished" and shown["resume"] is None, shown
        assert shown["runs"] == 2 and shown["passes"][0]["done"] == 9, shown
        assert shown["inputs"] == [{"path": rows, "bytes": os.path.getsize(rows)}], shown
        assert shown["options"]["batch_size"] == 3 and "journal.db" in shown["files"], shown
        broken = it.weir("jobs", "show", "d-broken")
        assert broken.returncode == 0 and "state        damaged\nerror        " in broken.stdout


def numbers_of(path):
    return {int(line.split(",")[0]) for line in path.read_text().splitlines()[1:]}


def test_rows_that_are_not_finished_are_listed_by_their_numbers(folder):
    """They are those that neither ids.csv nor errors.jsonl has; unknown ones among them."""
    with world(WEIR, SIM, folder) as it:
        it.set_faults(bad_names(), {"kind": "commit_then_silence", "operation": "CreateMultiple",
                                    "probability": 0.5})
        rows = it.rows(300, bad=(1, 2, 90, 222, 299))
        result = it.work("create", "account", rows, "--batch-size", "2", "--limit", "290",
                         "--job-dir", str(it.root / "j"), *QUICK, "--set",
                         "Dataverse:Resilience:MaxRetryTime=1s", "--set",
                         # Ten silences in a row do happen here, and would make it a service out of reach.
                         "Dataverse:Resilience:CircuitBreaker:Enabled=false")
        assert result.returncode == 8, result
        assert "weir jobs show j lists what is not finished" in result.stderr, result
        found = json.loads(it.weir("jobs", "show", "j", "--json").stdout)
        listed = {row for first, last in found["not_finished"] for row in range(first, last + 1)}
        errors = {json.loads(line)["row"]
                  for line in (it.root / "j" / "errors.jsonl").read_text().splitlines()}
        done = numbers_of(it.root / "j" / "ids.csv")
        assert listed == set(range(1, found["read"] + 1)) - done - errors, (found, errors)
        assert len(listed) == found["unknown"] + found["not_sent"] > 0, found
        text = re.search(r"^not finished rows (.*)$", it.weir("jobs", "show", "j").stdout, re.M)[1]
        stretches = [f"{first}-{last}" if first < last else f"{first}"
                     for first, last in found["not_finished"]]
        more = len(stretches) - 10
        assert text == ", ".join(stretches[:10]) + (f" and {more} more stretches" if more > 0
                                                    else "") + " and from 291 on", (text, stretches)
        assert found["not_finished_count"] == len(stretches)
        it.set_faults()
        assert it.work("resume", "j", *QUICK).returncode in (0, 1)
        found = json.loads(it.weir("jobs", "show", "j", "--json").stdout)
        assert found["not_finished"] == [] and found["done"] + found["rejected"] == 300, found


def test_a_job_that_was_killed_or_runs_is_no_finished_one(folder):
    with world(WEIR, SIM, folder) as it:
        with it.running("create", "account", it.rows(5), "--job-dir", str(it.root / "j")) as process:
            running = json.loads(it.weir("jobs", "--json").stdout)[0]
            assert running["state"] == "running" and running["process"] == process.pid, running
            forced = it.weir("jobs", "clean", "--force", "--yes")
            assert forced.returncode == 0 and "kept: 1 running" in forced.stderr, forced
            assert it.jobs() == ["j"], it.jobs()
        killed = json.loads(it.weir("jobs", "--json").stdout)[0]
        assert killed["state"] == "unfinished" and killed["read"] is None, killed
        # The number of the process that was killed may be another's by now.
        (it.root / "j" / "lock").write_text(f"{os.getpid()}\n")
        assert json.loads(it.weir("jobs", "--json").stdout)[0]["state"] == "unfinished"


def test_clean_removes_what_is_finished_and_nothing_else(folder):
    with world(WEIR, SIM, folder) as it:
        make_all(it)
        alone = it.weir("jobs", "clean")
        assert alone.returncode == 2 and "give --yes" in alone.stderr, alone
        assert it.jobs() == sorted(STATES), it.jobs()
        result = it.weir("jobs", "clean", "--yes")
        assert result.returncode == 0 and result.stdout == "", result
        assert "removed 1 of 1" in result.stderr and "kept: 3 with rows" in result.stderr, result
        assert it.jobs() == ["b-rejects", "c-open", "d-broken"], it.jobs()
        forced = it.weir("jobs", "clean", "--yes", "--force")
        assert forced.returncode == 0 and list(it.root.iterdir()) == [], forced


def test_clean_goes_by_the_last_time_that_a_job_was_written_to(folder):
    with world(WEIR, SIM, folder) as it:
        for name in ("old", "young"):
            it.work("create", "account", it.rows(2), "--job-dir", str(it.root / name))
        then = time.time() - 3 * 86400
        os.utime(it.root / "old" / "journal.db", (then, then))
        for age in ("x", "5", "-1h", ""):
            assert it.weir("jobs", "clean", "--yes", "--older-than", age).returncode == 2, age
        week = it.weir("jobs", "clean", "--yes", "--older-than", "7d")
        assert "nothing to remove" in week.stderr and "kept: 2 younger" in week.stderr, week
        result = it.weir("jobs", "clean", "--yes", "--older-than", "2d")
        assert result.returncode == 0 and it.jobs() == ["young"], result


def test_clean_asks_on_a_terminal_and_takes_no_for_an_answer(folder):
    with world(WEIR, SIM, folder) as it:
        it.work("create", "account", it.rows(2), "--job-dir", str(it.root / "j"))
        for answer, code, left in ((b"n\n", 5, ["j"]), (b"\n", 5, ["j"]), (b"y\n", 0, [])):
            controller, terminal = pty.openpty()
            process = subprocess.Popen([WEIR, "jobs", "clean"], stdin=terminal, stderr=terminal,
                                       env={"HOME": "/nonexistent", **it.environment()})
            os.close(terminal)
            os.write(controller, answer)
            assert process.wait(60) == code and it.jobs() == left, (answer, it.jobs())
            assert b"Remove 1 job? [y/N]" in os.read(controller, 65536)
            os.close(controller)


def test_a_link_or_a_strange_folder_is_never_emptied(folder):
    with world(WEIR, SIM, folder) as it:
        elsewhere = it.folder / "elsewhere"
        it.work("create", "account", it.rows(2), "--job-dir", str(elsewhere))
        it.root.mkdir(parents=True)
        (it.root / "link").symlink_to(elsewhere)
        (it.root / "strange").mkdir()
        (it.root / "strange" / "letter.txt").write_text("mine")
        result = it.weir("jobs", "clean", "--yes", "--force")
        assert "is a link, no directory" in result.stderr, result
        assert (elsewhere / "journal.db").exists() and (it.root / "link").is_symlink()
        assert (it.root / "strange" / "letter.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_emptied_is_exit_7(folder):
    with world(WEIR, SIM, folder) as it:
        it.work("create", "account", it.rows(2), "--job-dir", str(it.root / "j"))
        (it.root / "j" / "own").mkdir()
        result = it.weir("jobs", "clean", "--yes")
        assert result.returncode == 7 and "cannot be removed" in result.stderr, result


def test_every_wrong_word_is_one_sentence_and_exit_2(folder):
    for arguments, says in [
        (["jobs", "shwo", "x"], 'did you mean "show"?'),
        (["jobs", "frobnicate"], "it is weir jobs, weir jobs show JOB, or weir jobs clean"),
        (["jobs", "show"], "show takes one job"),
        (["jobs", "show", "a", "b"], "show takes one job"),
        (["jobs", "show", "nothing"], 'there is no job "nothing"'),
        (["jobs", "show", folder], "there is no job in"),
        (["jobs", "clean", "x"], "clean takes no job"),
        (["jobs", "--force"], "are about weir jobs clean"),
        (["jobs", "clean", "--json"], "--json is about what is shown"),
        (["jobs", "--jsno"], "did you mean --json?"),
    ]:
        result = run([WEIR, *arguments], env={"XDG_STATE_HOME": folder})
        assert result.returncode == 2 and result.stdout == "", (arguments, result)
        assert says in result.stderr and result.stderr.count("\n") == 1, (arguments, result)
    nowhere = run([WEIR, "jobs"], env={"HOME": ""})
    assert nowhere.returncode == 2 and "no place for jobs" in nowhere.stderr, nowhere


def test_a_reader_that_leaves_is_no_storm_and_a_full_disk_is_exit_7(folder):
    with world(WEIR, SIM, folder) as it:
        it.work("create", "account", it.rows(2), "--job-dir", str(it.root / "j"))
        for arguments in (["jobs"], ["jobs", "show", "j"], ["jobs", "--json"]):
            assert closed_early(WEIR, it, *arguments) == (7, ""), arguments
            with open("/dev/full", "w") as full:
                process = subprocess.run([WEIR, *arguments], stdout=full, stderr=subprocess.PIPE,
                                         env={"HOME": "/nonexistent", **it.environment()})
            assert process.returncode == 7 and process.stderr.count(b"\n") == 1, process


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

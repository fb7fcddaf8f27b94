#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weir create, update, upsert, delete and resume as people use them: job.py WEIR WEIR_SIM"""
import csv
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import termios
import time
import urllib.request

from harness import ask, Running, run, run_tests, simulator, write_config

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
PATIENCE_S = 60  # nothing takes so long; whoever waits longer hangs

# What is read back is not waited for as long as a real service would need.
QUICK = ["--set", "Dataverse:Resilience:ReadBackDelay=1s"]


# --- what the tests share -----------------------------------------------------------------------

def post(url, value):
    request = urllib.request.Request(url, json.dumps(value).encode(),
                                     {"Content-Type": "application/json"})
    urllib.request.urlopen(request).read()


def set_faults(url, *faults):
    post(url + "/sim/faults", {"faults": list(faults)})


def ledger(url, table="account"):
    return json.load(urllib.request.urlopen(f"{url}/sim/ledger?table={table}"))


def accounts(url, config):
    """The rows of the simulator: name -> id."""
    rows = ask(url, config, "accounts?$select=accountid,name,telephone1")
    return {row["name"]: row["accountid"] for row in rows}


def write_rows(folder, count, name="rows.csv", first=1, bad=()):
    """Accounts A1 … with numbers; those in `bad` are named BAD."""
    path = pathlib.Path(folder) / name
    lines = [f"{'BAD' if i in bad else f'Account {i}'},A{i}" for i in range(first, first + count)]
    path.write_text("name,accountnumber\n" + "".join(line + "\n" for line in lines))
    return str(path)


def bad_names():
    return {"kind": "bad_row", "column": "name", "value": "BAD"}


def weir(folder, command, *arguments, **more):
    environment = {"XDG_STATE_HOME": str(pathlib.Path(folder) / "state"), **more.pop("env", {})}
    return run([WEIR, command, "--config", str(pathlib.Path(folder) / "appsettings.json"),
                *arguments], env=environment, **more)


def jobs(folder):
    root = pathlib.Path(folder) / "state" / "weir" / "jobs"
    return sorted(path for path in root.iterdir() if not path.name.startswith("."))


def only_job(folder):
    found = jobs(folder)
    assert len(found) == 1, found
    return found[0]


def balance(result):
    """The last balance that was printed; it adds up."""
    found = re.findall(r"read ([\d,]+) = done ([\d,]+) \+ rejected ([\d,]+) \+ skipped ([\d,]+) "
                       r"\+ unknown ([\d,]+) \+ not sent ([\d,]+)\n", result.stderr)
    assert found, result
    names = ("read", "done", "rejected", "skipped", "unknown", "not_sent")
    numbers = dict(zip(names, (int(text.replace(",", "")) for text in found[-1])))
    assert numbers["read"] == sum(numbers[name] for name in names[1:]), result
    return numbers


def resume_line(stderr):
    found = re.findall(r"go on with\n  (\S*weir resume .*)\n", stderr)
    assert found, stderr
    return found[-1]


def paste(line, folder, **more):
    """What a shell makes of a line, in a directory that has nothing to do with the job."""
    environment = {"XDG_STATE_HOME": str(pathlib.Path(folder) / "state"),
                   "PATH": os.path.dirname(WEIR) + ":" + os.environ["PATH"]}
    return run(["sh", "-c", line], cwd="/", env=environment, **more)


def library_path():
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}


class Background(Running):
    """A command that runs beside the test; its standard error is read as it comes."""

    def __init__(self, folder, *arguments, **more):
        environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent",
                       "XDG_STATE_HOME": str(pathlib.Path(folder) / "state")}
        environment.update(library_path())
        self.process = subprocess.Popen(
            [WEIR, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment,
            stdin=more.pop("stdin", subprocess.DEVNULL),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **more)
        self.stderr = ""

    def read_until(self, text):
        until = time.monotonic() + PATIENCE_S
        while text not in self.stderr:
            ready, _, _ = select.select([self.process.stderr], [], [], until - time.monotonic())
            assert ready, f"no {text!r} in {self.stderr!r}"
            piece = os.read(self.process.stderr.fileno(), 65536)
            assert piece, f"no {text!r} in {self.stderr!r}"
            self.stderr += piece.decode()

    def end(self):
        self.stderr += self.process.communicate(timeout=PATIENCE_S)[1].decode()
        return self.process.returncode


def wait_for(condition):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


# --- words --------------------------------------------------------------------------------------

def test_every_wrong_word_is_one_sentence_and_exit_2(folder):
    rows = write_rows(folder, 1)
    for arguments, says in [
        (["craete", "account", rows], 'did you mean "create"?'),
        (["create"], "it takes a table and a file"),
        (["create", "account"], "it takes a table and a file"),
        (["create", "account", rows, "--bacth-size", "1"], "did you mean --batch-size?"),
        (["create", "account", rows, "--batch-size", "0"], "1 to 1000"),
        (["create", "account", rows, "--batch-size", "1001"], "1 to 1000"),
        (["create", "account", rows, "--batch-size", "1e3"], '"1e3"'),
        (["create", "account", rows, "--batch-size=1", "--batch-size=2"], "given twice"),
        (["create", "account", rows, "--max-errors", "-1"], '--max-errors is "-1"'),
        (["create", "account", rows, "--max-errors", "101%"], '--max-errors is "101%"'),
        (["create", "account", rows, "--max-errors", "%"], '--max-errors is "%"'),
        (["create", "account", rows, "--max-errors", "0%"], '--max-errors is "0%"'),
        (["create", "account", rows, "--max-errors", "nan%"], '--max-errors is "nan%"'),
        (["create", "account", rows, "--max-errors", ""], '--max-errors is ""'),
        (["create", "account", rows, "--max-parallel", "0"], "1 to 520000"),
        (["create", "account", rows, "--max-parallel", "many"], '"many"'),
        (["create", "account", rows, "--max-rate", "0"], '--max-rate is "0"'),
        (["create", "account", rows, "--max-rate", "-5"], '--max-rate is "-5"'),
        (["create", "account", rows, "--max-rate", "1.2.3"], '--max-rate is "1.2.3"'),
        (["create", "account", rows, "--max-rate", "inf"], '--max-rate is "inf"'),
        (["create", "account", rows, "--limit", "0"], '--limit is "0"'),
        (["create", "account", rows, "--deadline", "90"], "with a unit"),
        (["create", "account", rows, "--deadline", "0s"], '--deadline is "0s"'),
        (["create", "account", rows, "--memory", "1"], '--memory is "1"'),
        (["create", "account", rows, "--memory", "24MB"], "such as 24MiB"),
        (["create", "account", rows, "--memory", "M"], '--memory is "M"'),
        (["create", "account", rows, "--memory", "99999999999999999999"], "--memory is"),
        (["create", "account", rows, "--memory", "9000000000G"], "--memory is"),
        (["create", "account", rows, "--progress", "loud"], "auto, plain, json or none"),
        (["create", "account", rows, "--owner", "me"], "systemuser:ID"),
        (["create", "account", rows, "--owner", "team:1"], '--owner is "team:1"'),
        (["upsert", "account", rows, "--key", "a,,b"], '--key is "a,,b"'),
        (["upsert", "account", rows, "--key", ""], '--key is ""'),
        (["upsert", "account", rows, "--key", "a", "--id-from", "b"], "give one of them"),
        (["create", "account", rows, "--id-from", "a,"], '--id-from is "a,"'),
        (["create", "account", rows, "--ignore-columns", ",a"], '--ignore-columns is ",a"'),
        (["create", "account", rows, "--mapping", ""], '--mapping is ""'),
        (["create", "account", rows, "--timezone", ""], '--timezone is ""'),
        (["create", "account", rows, "--tag="], '--tag is ""'),
        (["create", "account", rows, "--empty", "zero"], "omit, null or reject"),
        (["create", "account", rows, "--with", "a=1", "--with", "b"], '--with is "b"'),
        (["create", "account", rows, "--with", "=1"], "COLUMN=VALUE"),
        (["create", "account", rows, *["--with=a=1"] * 257], "given more than 256 times"),
        (["create", "account", rows, "--as", "me"], "Entra object id"),
        (["create", "account", rows, "--bypass-logic", "both"], "sync, async or all"),
        (["create", "account", rows, "--format", "xlsx"], "csv, tsv or jsonl"),
        (["create", "account", rows, "--raw=yes"], "--raw takes no value"),
        (["create", "account", rows, "--job-dir", ""], "--job-dir is"),
        (["create", "account", rows, "--yes=no"], "--yes takes no value"),
        (["resume"], "it takes a job"),
        (["resume", "a", "b"], "it takes a job"),
        (["resume", "a", "-", "-"], "it takes a job"),
        (["resume", "nothing"], 'there is no job "nothing"'),
        (["resume", "./nothing"], 'there is no job "./nothing"'),
        (["resume", "a", "--key", "b"], "--key cannot be given again"),
        (["resume", "a", "--owner", "caller"], "--owner cannot be given again"),
        (["resume", "a", "--batch-size", "5"], "--batch-size cannot be given again"),
        (["resume", "a", "--job-dir", "b"], "--job-dir cannot be given again"),
        (["resume", "a", "--yes"], "--yes is not needed"),
        *((["resume", "a", *option], f"{option[0]} cannot be given again")
          for option in (["--id-from", "b"], ["--mapping", "b"], ["--as", "b"], ["--tag", "b"],
                         ["--timezone", "UTC"], ["--empty", "null"], ["--with", "b=c"], ["--raw"],
                         ["--format", "csv"], ["--ignore-columns", "b"],
                         ["--bypass-logic", "all"], ["--bypass-flows"],
                         ["--detect-duplicates"])),
    ]:
        result = run([WEIR, *arguments], cwd=folder)
        assert result.returncode == 2, (arguments, result)
        assert says in result.stderr and result.stderr.count("\n") == 1, (arguments, result)
        assert result.stdout == "", (arguments, result)


def test_settings_by_short_name_are_checked_like_the_long_ones(folder):
    rows = write_rows(folder, 1)
    with simulator(SIM, "--users", "1") as (_, config):
        write_config(folder, config)
        for option, value, says in [
            ("--policy", "Best", "AdaptiveRate:Policy"),
            ("--preset", "Wild", "AdaptiveRate:Preset"),
            ("--strategy", "Luck", "Pool:SelectionStrategy"),
            ("--max-retry-after", "5", "Pool:MaxRetryAfterTolerance"),
        ]:
            result = weir(folder, "create", "account", rows, option, value)
            assert result.returncode == 2 and says in result.stderr, result
            assert f'"{value}"' in result.stderr and result.stderr.count("\n") == 1, result
        result = weir(folder, "create", "account", rows, "--policy", "Fixed", "--preset",
                      "Conservative", "--strategy", "RoundRobin", "--max-retry-after", "30s",
                      "--set", "Dataverse:AdaptiveRate:FixedParallelism=2")
        assert result.returncode == 0, result


# --- before anything is sent --------------------------------------------------------------------

def test_what_the_service_or_the_files_do_not_have_is_exit_2_and_leaves_no_job(folder):
    rows = write_rows(folder, 1)
    unknown = pathlib.Path(folder) / "unknown.csv"
    unknown.write_text("nmae\nx\n")
    keyless = pathlib.Path(folder) / "keyless.csv"
    keyless.write_text("name\nx\n")
    empty = pathlib.Path(folder) / "empty.csv"
    empty.write_text("")
    nameless = pathlib.Path(folder) / "rows.txt"
    nameless.write_text("name\nx\n")
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        write_config(folder, config)
        for arguments, words in [
            (["create", "acount", rows, "--owner", "caller"], ["acount"]),
            (["create", "account", str(unknown), "--owner", "caller"], ['"nmae"', "name"]),
            (["create", "account", rows], ["owner", "systemuser:ID"]),
            (["create", "account", folder + "/missing.csv", "--owner", "caller"], ["missing.csv"]),
            (["create", "account", str(empty), "--owner", "caller"], ["empty.csv"]),
            (["create", "account", str(nameless), "--owner", "caller"], ["rows.txt", ".csv"]),
            (["create", "account", folder, "--owner", "caller"], [folder]),
            (["update", "account", str(keyless), "--yes"], ["accountid"]),
            (["update", "account", rows, "--key", "name", "--yes"], ["name", "key"]),
            (["update", "account", str(keyless), "--key", "accountnumber", "--yes"],
             ["accountnumber"]),
        ]:
            result = weir(folder, *arguments)
            assert result.returncode == 2, (arguments, result)
            assert all(word in result.stderr for word in words), (arguments, result)
            assert result.stderr.count("\n") == 1, (arguments, result)
        assert ledger(url)["writes"] == 0
    root = pathlib.Path(folder) / "state"
    assert not root.exists() or list(root.rglob("journal.db")) == []


def test_without_a_terminal_changing_rows_needs_yes(folder):
    rows = write_rows(folder, 1)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        for command in ("update", "upsert", "delete"):
            result = weir(folder, command, "account", rows, "--key", "accountnumber",
                          stdin=subprocess.DEVNULL)
            assert result.returncode == 2 and "no terminal" in result.stderr, result
            assert result.stderr.count("\n") == 1 and "--yes" in result.stderr, result
            result = weir(folder, command, "account", "-", "--key", "accountnumber", input="x\n")
            assert result.returncode == 2 and "--yes" in result.stderr, result
        assert ledger(url)["writes"] == 0


def take_terminal(fd):
    """In the child: Ctrl-C on this terminal is for us."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(fd, termios.TIOCSCTTY, 0)


def on_a_terminal(folder, answer, *arguments):
    """Exit code and screen of a command that is asked and answered on a terminal."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [WEIR, *arguments], stdin=terminal, stdout=terminal, stderr=terminal,
        start_new_session=True, preexec_fn=lambda: take_terminal(0),
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent",
             "XDG_STATE_HOME": str(pathlib.Path(folder) / "state"),
             **{name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}})
    os.close(terminal)
    screen = b""
    answered = False
    while True:
        ready, _, _ = select.select([controller], [], [], PATIENCE_S)
        assert ready, screen
        try:
            piece = os.read(controller, 4096)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        screen += piece
        if b"Go on? [y/N] " in screen and not answered:
            os.write(controller, answer)
            answered = True
    os.close(controller)
    return process.wait(PATIENCE_S), screen.decode()


def test_on_a_terminal_it_shows_what_it_will_do_and_asks(folder):
    rows = write_rows(folder, 1234)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        path = write_config(folder, config)
        for answer in (b"n\n", b"\n", b"yeah\n", b"\x04"):
            code, screen = on_a_terminal(folder, answer, "upsert", "account", rows, "--key",
                                         "accountnumber", "--config", path)
            assert code == 5 and "nothing was done" in screen, (code, screen)
            assert url in screen and "account" in screen and "upsert by accountnumber" in screen
            assert "1,234" in screen, screen
        assert ledger(url)["writes"] == 0
        assert "also rows that are there" not in screen and "elastic" not in screen, screen
        team = "team:22222222-0000-0000-0000-000000000001"
        code, screen = on_a_terminal(folder, b"n\n", "upsert", "account", rows, "--key", "accountnumber",
                                     "--config", path, "--owner", team)
        assert code == 5 and f"every row will belong to {team}, also rows that are there" in screen, screen
        readings = pathlib.Path(folder) / "readings.csv"
        readings.write_text("sensorreadingid,partitionid\n11111111-0000-0000-0000-000000000001,p\n")
        code, screen = on_a_terminal(folder, b"n\n", "upsert", "sensorreading", str(readings), "--config", path,
                                     "--owner", "caller")
        assert code == 5 and "columns that the file does not have are cleared" in screen, screen
        assert not (pathlib.Path(folder) / "state").exists()
        code, screen = on_a_terminal(folder, b"Y\n", "upsert", "account", rows, "--key",
                                     "accountnumber", "--config", path)
        assert code == 0 and "done 1,234" in screen, (code, screen)
        assert ledger(url)["rows"] == 1234
        code, screen = on_a_terminal(folder, b"\x03", "delete", "account", rows, "--key",
                                     "accountnumber", "--config", path)
        assert code == 5 and "nothing has been sent" in screen, (code, screen)
        assert ledger(url)["writes"] == 1234, (code, screen)


# --- jobs ---------------------------------------------------------------------------------------

def test_ids_are_in_the_order_of_the_input_and_those_of_the_service(folder):
    rows = write_rows(folder, 730)
    with simulator(SIM, "--users", "3", "--no-limits") as (url, config):
        write_config(folder, config)
        result = weir(folder, "create", "account", rows, "--owner", "caller", "--batch-size", "10")
        assert result.returncode == 0, result
        assert result.stdout == "", result
        assert balance(result) == {"read": 730, "done": 730, "rejected": 0, "skipped": 0,
                                   "unknown": 0, "not_sent": 0}
        assert "go on with" not in result.stderr and "rejects" not in result.stderr, result
        there = accounts(url, config)
    job = only_job(folder)
    assert re.fullmatch(r"\d{8}-\d{6}-account-create-[0-9a-f]{4}", job.name), job
    assert str(job) in result.stderr, result
    with open(job / "ids.csv", newline="") as file:
        ids = list(csv.DictReader(file))
    assert [int(row["row"]) for row in ids] == list(range(1, 731))
    assert [row["id"] for row in ids] == [there[f"Account {i}"] for i in range(1, 731)]
    summary = json.loads((job / "summary.json").read_text())
    assert summary["read"] == summary["done"] == 730 and summary["exit_code"] == 0, summary
    assert job.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in job.iterdir())


def test_rejected_rows_can_be_fed_back_in(folder):
    rows = write_rows(folder, 300, bad=(5, 150, 151, 300))
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        set_faults(url, bad_names())
        result = weir(folder, "create", "account", rows)
        assert result.returncode == 1 and balance(result)["rejected"] == 4, result
        job = only_job(folder)
        assert f"rejected rows: {job}/rejects.csv, reasons: {job}/errors.jsonl" in result.stderr
        assert "go on with" not in result.stderr, result
        reasons = [json.loads(line) for line in (job / "errors.jsonl").read_text().splitlines()]
        assert [reason["row"] for reason in reasons] == [5, 150, 151, 300], reasons
        rejects = (job / "rejects.csv").read_text()
        assert rejects == "name,accountnumber\nBAD,A5\nBAD,A150\nBAD,A151\nBAD,A300\n", rejects
        set_faults(url)
        result = weir(folder, "create", "account", str(job / "rejects.csv"))
        assert result.returncode == 0 and balance(result)["done"] == 4, result
        book = ledger(url)
    assert book["rows"] == 300 and book["duplicates"] == 0, book


def test_update_upsert_and_delete_do_what_they_say(folder):
    rows = write_rows(folder, 250)
    both = pathlib.Path(folder) / "both.csv"
    both.write_text("accountnumber,name\n" +
                    "".join(f"A{i},New {i}\n" for i in range(201, 301)))
    gone = pathlib.Path(folder) / "gone.csv"
    gone.write_text("accountnumber\n" + "".join(f"A{i}\n" for i in range(251, 351)))
    key = ["--key", "accountnumber", "--yes"]
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        write_config(folder, config)
        assert weir(folder, "create", "account", rows, "--owner", "caller").returncode == 0
        result = weir(folder, "update", "account", str(both), *key)
        assert result.returncode == 1 and balance(result)["rejected"] == 50, result
        result = weir(folder, "upsert", "account", str(both), "--owner", "caller", *key)
        assert result.returncode == 0 and balance(result)["done"] == 100, result
        there = accounts(url, config)
        assert len(there) == 300 and "New 201" in there and "New 300" in there
        result = weir(folder, "delete", "account", str(gone), *key)
        assert result.returncode == 0 and balance(result)["done"] == 100, result
        assert "50 of the rows done were not there any more" in result.stderr, result
        assert len(accounts(url, config)) == 250


def test_rows_from_standard_input_are_resumed_from_it(folder):
    text = pathlib.Path(write_rows(folder, 200)).read_text()
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        result = weir(folder, "create", "account", "-", "--limit", "120", input=text)
        assert result.returncode == 6, result
        line = resume_line(result.stderr)
        assert line.endswith(" -"), line
        assert paste(line[:-2], folder).returncode == 2
        again = paste(line, folder, input=text)
        assert again.returncode == 0 and balance(again)["done"] == 200, again
        book = ledger(url)
    assert book["rows"] == 200 and book["max_writes_per_row"] == 1, book


def test_a_directory_that_has_a_job_is_refused_and_named(folder):
    rows = write_rows(folder, 3)
    directory = folder + "/job"
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        assert weir(folder, "create", "account", rows, "--job-dir", directory).returncode == 0
        result = weir(folder, "create", "account", rows, "--job-dir", directory)
        assert result.returncode == 2 and directory in result.stderr, result
        assert ledger(url)["rows"] == 3
        result = weir(folder, "create", "account", rows, "--job-dir", rows)
        assert result.returncode in (2, 7) and rows in result.stderr, result
        result = weir(folder, "create", "account", rows, "--job-dir", "/proc/weir-job")
        assert result.returncode == 7 and "weir-job" in result.stderr, result
        assert ledger(url)["rows"] == 3


def test_a_finished_job_has_nothing_left_to_do(folder):
    rows = write_rows(folder, 3)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        assert weir(folder, "create", "account", rows).returncode == 0
        for job in (only_job(folder).name, str(only_job(folder))):
            result = weir(folder, "resume", job)
            assert result.returncode == 0 and "nothing left to do" in result.stderr, result
        assert ledger(url)["writes"] == 3


def test_a_job_that_somebody_works_on_is_refused(folder):
    rows = write_rows(folder, 1000)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        path = write_config(folder, config)
        with Background(folder, "create", "account", rows, "--config", path, "--max-rate", "5",
                        "--batch-size", "1", "--job-dir", folder + "/job") as first:
            wait_for(lambda: ledger(url)["rows"] > 0)
            result = weir(folder, "resume", folder + "/job")
            assert result.returncode == 2 and "in use" in result.stderr, result
            assert str(first.process.pid) in result.stderr, result
            first.process.send_signal(signal.SIGTERM)
            assert first.end() == 5, first.stderr


def test_an_input_that_has_changed_is_refused(folder):
    rows = write_rows(folder, 500)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        result = weir(folder, "create", "account", rows, "--limit", "100")
        assert result.returncode == 6, result
        text = pathlib.Path(rows).read_text()
        pathlib.Path(rows).write_text(text.replace("Account 300", "Another 300"))
        refused = paste(resume_line(result.stderr), folder)
        assert refused.returncode == 2 and "rows.csv" in refused.stderr, refused
        assert ledger(url)["rows"] == 100
        pathlib.Path(rows).write_text(text)
        assert paste(resume_line(result.stderr), folder).returncode == 0
        assert ledger(url)["rows"] == 500 and ledger(url)["max_writes_per_row"] == 1


# --- exit codes ---------------------------------------------------------------------------------

def test_too_many_rejected_rows_end_it_with_3(folder):
    rows = write_rows(folder, 1000, bad=range(1, 1001, 2))
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        set_faults(url, bad_names())
        result = weir(folder, "create", "account", rows, "--max-errors", "7", "--max-parallel", "1",
                      "--batch-size", "10")
        assert result.returncode == 3, result
        counts = balance(result)
        assert 7 < counts["rejected"] < 100 and "--max-errors" in result.stderr, result
        assert "go on with" in result.stderr, result
        result = weir(folder, "create", "account", rows, "--max-errors", "40%")
        assert result.returncode == 3, result
        result = weir(folder, "create", "account",
                      write_rows(folder, 300, "few.csv", first=5001, bad=(5007, 5009)),
                      "--max-errors", "40%")
        assert result.returncode == 1, result


def test_credentials_that_nobody_accepts_end_it_with_4(folder):
    rows = write_rows(folder, 3)
    with simulator(SIM, "--users", "1") as (_, config):
        config["Dataverse"]["Connections"][0]["ClientSecret"] = "wrong"
        write_config(folder, config)
        result = weir(folder, "create", "account", rows)
    assert result.returncode == 4 and "AADSTS7000215" in result.stderr, result


def test_the_last_lines_name_who_was_set_aside_and_why(folder):
    """In the preparations, which begin with app1, or by the rows."""
    rows = write_rows(folder, 200)
    for name in ("app1", "app2"):
        with simulator(SIM, "--users", "2", "--no-limits") as (_, config):
            for connection in config["Dataverse"]["Connections"]:
                if connection["Name"] == name:
                    connection["ClientSecret"] = "wrong"
            write_config(folder, config)
            result = weir(folder, "create", "account", rows, "--owner", "caller", "--batch-size",
                          "5", "--strategy", "RoundRobin", "--job", name)
        assert result.returncode == 0, result
        last = result.stderr[result.stderr.index("read 200 = done 200"):]
        assert re.findall(r"^(\w+) was set aside: .*AADSTS7000215", last, re.M) == [name], result
        place = pathlib.Path(folder) / "state/weir/jobs" / name
        summary = json.loads((place / "summary.json").read_text())
        assert [it["name"] for it in summary["connections"] if it["level"] == 0] == [name], summary


def test_a_limit_or_a_deadline_ends_it_with_6(folder):
    rows = write_rows(folder, 400)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        result = weir(folder, "create", "account", rows, "--limit", "150")
        assert result.returncode == 6 and balance(result)["done"] == 150, result
        assert ledger(url)["rows"] == 150
        again = paste(resume_line(result.stderr), folder)
        assert again.returncode == 0 and balance(again)["done"] == 400, again
        post(url + "/sim/reset", {})
        result = weir(folder, "create", "account", rows, "--deadline", "1s", "--max-rate", "20",
                      "--batch-size", "2", "--max-errors", "5%", "--max-parallel", "9", "--memory",
                      "8MiB", "--strategy", "RoundRobin")
        assert result.returncode == 6 and balance(result)["done"] < 400, result
        line = resume_line(result.stderr)
        for option in ("--max-rate 20", "--max-errors 5%", "--max-parallel 9", "--memory 8MiB",
                       "--strategy RoundRobin"):
            assert option in line, line
        assert "--deadline" not in line and "--batch-size" not in line, line


def test_rows_whose_outcome_stays_unknown_end_it_with_8(folder):
    rows = write_rows(folder, 20)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        set_faults(url, {"kind": "commit_then_silence", "operation": "CreateMultiple"})
        result = weir(folder, "create", "account", rows, "--set",
                      "Dataverse:Resilience:MaxRetryTime=1s", *QUICK)
        assert result.returncode == 8 and balance(result)["unknown"] == 20, result
        assert re.search(r"requests? of unknown outcome may still be executed until \d\d:\d\d:\d\d",
                         result.stderr), result
        set_faults(url)
        again = paste(resume_line(result.stderr), folder)
        assert again.returncode == 0 and balance(again)["done"] == 20, again
        assert ledger(url)["rows"] == 20 and ledger(url)["duplicates"] == 0


def test_a_service_that_is_not_there_ends_it_with_10(folder):
    rows = write_rows(folder, 3)
    with simulator(SIM, "--users", "1") as (_, config):
        write_config(folder, config)
    result = weir(folder, "create", "account", rows)
    assert result.returncode == 10 and "weir create: " in result.stderr, result
    assert not (pathlib.Path(folder) / "state").exists()


# --- being interrupted --------------------------------------------------------------------------

def test_the_resume_command_works_as_it_is_printed(folder):
    """Whatever quotes and blanks the paths have."""
    odd = pathlib.Path(folder) / "it's a \"job\" & $HOME"
    odd.mkdir()
    rows = write_rows(odd, 300, "ro'ws.csv")
    with simulator(SIM, "--users", "2", "--no-limits") as (url, config):
        path = write_config(odd, config)
        with Background(folder, "create", "account", "ro'ws.csv", "--owner", "caller", "--config",
                        "appsettings.json", "--max-rate", "30", "--batch-size", "3", "--job-dir",
                        "the job", "--set", "Dataverse:Resilience:ReadBackDelay=1s", "--set",
                        "Dataverse:CaFile=appsettings.json", "--report", "it's.json",
                        "--metrics-listen", "0", "--progress", "json", "--log-level", "error",
                        "--log-format", "json", "--deadline", "1h",
                        cwd=odd) as first:
            wait_for(lambda: ledger(url)["rows"] > 0)
            first.process.send_signal(signal.SIGINT)
            assert first.end() == 5, first.stderr
        assert "stopping" in first.stderr, first.stderr
        line = json.loads(first.stderr.splitlines()[-1])["result"]["resume"]
        words = shlex.split(line)
        assert words[-1] == str(odd / "the job") and path in words, line
        assert "Dataverse:Resilience:ReadBackDelay=1s" in words, line
        assert f"Dataverse:CaFile={path}" in words and "--batch-size" not in words, line
        assert not {"--limit", "--deadline", "--job-dir", "--owner"} & set(words), line
        assert str(odd / "it's-run2.json") in words, line
        page = (odd / "it's.json").read_bytes()
        line = line.replace("--max-rate 30", "--max-rate 3000")
        again = paste(line, folder)
        ended = json.loads(again.stderr.splitlines()[-1])
        assert again.returncode == 0 and ended["result"]["done"] == 300, again
        assert "weir resume: metrics at http://127.0.0.1:" in again.stderr, again
        assert ended["over"], again
        assert (odd / "it's.json").read_bytes() == page, "the first run's report was overwritten"
        second = json.loads((odd / "it's-run2.json").read_text())
        assert [os.path.basename(path) for path in second["files"]] == ["ro'ws.csv"], second["files"]
        book = ledger(url)
    assert rows and book["rows"] == 300 and book["max_writes_per_row"] == 1, book


def test_every_signal_that_asks_to_end_stops_in_good_order(folder):
    rows = write_rows(folder, 5000)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        path = write_config(folder, config)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            post(url + "/sim/reset", {})
            with Background(folder, "create", "account", rows, "--config", path, "--max-rate",
                            "50", "--batch-size", "5", "--job-dir",
                            f"{folder}/{number.name}") as job:
                wait_for(lambda: ledger(url)["rows"] > 0)
                job.process.send_signal(number)
                assert job.end() == 5, (number, job.stderr)
            assert balance(job)["unknown"] == 0, job.stderr
            assert balance(job)["done"] == ledger(url)["rows"], job.stderr
            assert (pathlib.Path(folder) / number.name / "summary.json").exists()


def test_signals_of_one_moment_are_one(folder):
    """A terminal that is closed, or timeout(1), sends several at once."""
    rows = write_rows(folder, 5000)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        path = write_config(folder, config)
        for numbers in ((signal.SIGHUP, signal.SIGTERM), (signal.SIGINT, signal.SIGINT)):
            post(url + "/sim/reset", {})
            place = pathlib.Path(folder) / "-".join(number.name for number in numbers)
            with Background(folder, "create", "account", rows, "--config", path, "--max-rate",
                            "50", "--batch-size", "5", "--job-dir", str(place)) as job:
                wait_for(lambda: ledger(url)["rows"] > 0)
                for number in numbers:
                    job.process.send_signal(number)
                assert job.end() == 5, (numbers, job.stderr)
            assert job.stderr.count("stopping") == 1 and "left at once" not in job.stderr, job.stderr
            assert balance(job)["done"] == ledger(url)["rows"], job.stderr
            assert (place / "summary.json").exists()


def test_the_resume_command_works_in_a_shell_that_knows_nothing(folder):
    """Neither where weir is nor where its jobs lie."""
    rows = write_rows(folder, 20)
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        path = write_config(folder, config)
        below = pathlib.Path(folder) / "bin"
        below.mkdir()
        (below / "weir").symlink_to(WEIR)
        first = run(["bin/weir", "create", "account", rows, "--config", path, "--limit", "5", "--job",
                     "pathy"], cwd=folder, env={"XDG_STATE_HOME": folder + "/state",
                                                "PATH": "/usr/bin:/bin", **library_path()})
        assert first.returncode == 6, first
        line = resume_line(first.stderr)
        words = shlex.split(line)
        assert words[0] == str(below / "weir"), line
        assert words[-1] == folder + "/state/weir/jobs/pathy", line
        again = run(["sh", "-c", line], cwd="/", env={"PATH": "/usr/bin:/bin", **library_path()})
        assert again.returncode == 0 and balance(again)["done"] == 20, again


def test_two_interrupts_leave_at_once_and_nothing_is_lost(folder):
    rows = write_rows(folder, 60)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        path = write_config(folder, config)
        set_faults(url, {"kind": "stall", "operation": "CreateMultiple", "seconds": 300, "nth": 3})
        with Background(folder, "create", "account", rows, "--config", path, "--batch-size", "5",
                        "--max-parallel", "1", *QUICK) as job:
            wait_for(lambda: ledger(url)["rows"] >= 10)
            job.process.send_signal(signal.SIGINT)
            job.read_until("stopping")
            began = time.monotonic()
            wait_for(lambda: job.process.send_signal(signal.SIGINT) or job.process.poll() is not None)
            assert job.end() == 5, job.stderr
        assert time.monotonic() - began < 20, "it waited for the answer"
        assert "left at once" in job.stderr, job.stderr
        set_faults(url)
        again = paste(resume_line(job.stderr), folder)
        assert again.returncode == 0 and balance(again)["done"] == 60, again
        book = ledger(url)
    assert book["rows"] == 60 and book["duplicates"] == 0, book


def test_an_interrupt_before_anything_is_sent_leaves_nothing_behind(folder):
    rows = write_rows(folder, 3)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        path = write_config(folder, config)
        set_faults(url, {"kind": "stall", "operation": "token", "seconds": 300})
        with Background(folder, "create", "account", rows, "--config", path) as job:
            wait_for(lambda: json.load(urllib.request.urlopen(url + "/sim/stats"))
                     ["faults"].get("stall", 0) > 0)
            job.process.send_signal(signal.SIGINT)
            assert job.end() == 5 and "nothing has been sent" in job.stderr, job.stderr
    assert not (pathlib.Path(folder) / "state").exists()


def test_an_interrupt_at_any_instant_leaves_a_job_or_nothing(folder):
    rows = write_rows(folder, 300)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        path = write_config(folder, config)
        for instant in range(30):
            post(url + "/sim/reset", {})
            with Background(folder, "create", "account", rows, "--config", path, "--batch-size",
                            "10", "--job-dir", f"{folder}/job{instant}", *QUICK) as job:
                select.select([], [], [], instant * 0.005)
                job.process.send_signal(signal.SIGINT)
                code = job.end()
            if code in (0, 1) or "go on with" in job.stderr:
                line = resume_line(job.stderr) if "go on with" in job.stderr else None
                assert not line or code == 5, (code, job.stderr)
                again = paste(line or "true", folder)
                assert again.returncode == 0, (code, job.stderr, again)
                assert ledger(url)["rows"] == ledger(url)["writes"] == 300, (job.stderr, again)
            else:  # it was not ready to be asked, or had not begun
                assert code in (5, -signal.SIGINT) and ledger(url)["writes"] == 0, job.stderr
                assert not pathlib.Path(f"{folder}/job{instant}").exists()


def test_a_signal_that_was_ignored_stays_so(folder):
    rows = write_rows(folder, 40)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        path = write_config(folder, config)
        process = subprocess.Popen(
            [WEIR, "create", "account", rows, "--config", path, "--max-rate", "20",
             "--batch-size", "1", "--job-dir", folder + "/job"],
            stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        try:
            wait_for(lambda: ledger(url)["rows"] > 0)
            process.send_signal(signal.SIGHUP)
            process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


# --- standard error -----------------------------------------------------------------------------

def test_progress_is_a_line_now_and_then_and_fits(folder):
    rows = write_rows(folder, 130)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        write_config(folder, config)
        arguments = ["account", rows, "--max-rate", "20", "--batch-size", "1"]
        result = weir(folder, "create", *arguments)
        post(url + "/sim/reset", {})
        quiet = weir(folder, "create", *arguments, "--progress", "none")
    lines = [line for line in result.stderr.splitlines() if re.match(r"\d+:\d\d:\d\d  ", line)]
    assert result.returncode == 0 and lines, result
    for line in lines:
        assert re.search(r" [\d,]+ done, .*[\d.,]+ rows/s", line) and len(line) <= 120, line
    assert quiet.returncode == 0 and "rows/s" not in quiet.stderr, quiet


def test_a_closed_standard_error_loses_nothing(folder):
    rows = write_rows(folder, 300)
    quoted = shlex.quote
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        path = write_config(folder, config)
        for end in ("2>&-", "2>&- 1>&- 0<&-", "2>/dev/full", "2>&1 | true"):
            post(url + "/sim/reset", {})
            job = f"{folder}/job{len(list(pathlib.Path(folder).iterdir()))}"
            command = (f"{quoted(WEIR)} create account {quoted(rows)} --config {quoted(path)} "
                       f"--job-dir {quoted(job)} --log-level trace {end}")
            result = run(["sh", "-c", command])
            assert result.returncode == 0 and result.stderr == "", (end, result)
            wait_for(lambda: (pathlib.Path(job) / "summary.json").exists())
            summary = json.loads((pathlib.Path(job) / "summary.json").read_text())
            assert summary["done"] == 300 and summary["exit_code"] == 0, (end, summary)
            assert ledger(url)["rows"] == 300


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

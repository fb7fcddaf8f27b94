# SPDX-License-Identifier: MIT
"""
What the campaigns share: worlds that break, jobs that must survive them, and a judge.

    World   a weir-sim with application users for the job and one more for the judge, who seeds the tables and reads
            them afterwards; nothing he does is throttled by what the job does
    Kind    an operation on a table: what travels, by which message, and what must be there in the end
    Job     one input file and its job directory; started, killed, resumed, and judged

The judgement is the same everywhere (judge()): the tables hold exactly the rows that the input explains, no row was
created twice, the numbers of summary.json balance and are right, each row is in the file where it belongs, and no
secret is found in anything that was written. With WEIR_FULL=1 the campaigns are longer; WEIR_ONLY=TEXT runs the tests
whose names contain the text, WEIR_ONLY==NAME the one of that name. WEIR_SALT=TEXT makes other seeds of the same names;
with WEIR_LOUD=1 the command logs all that it can, so that there is more in which a secret could be.
"""
import collections
import concurrent.futures
import contextlib
import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request
import uuid
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from harness import forms_of, simulator, write_config  # noqa: E402
from tally import TALLY, hold  # noqa: E402

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
WEIR_FAULT = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
FULL = bool(os.environ.get("WEIR_FULL"))
LOUD = ["--log-level", "trace"] if os.environ.get("WEIR_LOUD") else []
SANITIZED = b"__asan_" in pathlib.Path(WEIR).read_bytes()
HANG_S = 240  # a run that takes so long is stuck, on the busiest machine
GROUP = 64    # results that the journal commits together
CHUNK = 500   # rows of one request of the judge

# Everything that is waited for in minutes out there takes a second here.
QUICK = {
    "Resilience:ReadBackDelay": "200ms",
    "Resilience:LateCommitTime": "1s",
    "Resilience:RetryAfterBuffer": "0s",
    "Resilience:CircuitBreaker:OpenFor": "1s",
    "Resilience:CircuitBreaker:MaxOpenFor": "2s",
}


def settings(values):
    return [part for key, value in values.items()
            for part in ("--set", f"Dataverse:{key}={value}")]


def duration(seconds):
    return f"{max(1, round(seconds * 1000))}ms"


def scaled(scale):
    """The policies' and the buffer's default durations, in a world whose window is `scale` of five minutes."""
    return {
        "AdaptiveRate:MinIncreaseInterval": duration(5 * scale),
        "AdaptiveRate:LastKnownGoodTTL": duration(300 * scale),
        "AdaptiveRate:IdleResetPeriod": duration(300 * scale),
        "AdaptiveRate:Budget:Window": duration(300 * scale),
        "Resilience:RetryAfterBuffer": duration(1 * scale),
    }


def wait_until(condition, what, seconds=60):
    """Ask again and again, on a clock that cannot be stopped by what is being tested."""
    pause, end = threading.Event(), time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain until {what}"
        pause.wait(0.02)


def let_pass(seconds):
    """Time goes by in the world; nothing else is waited for."""
    end = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= end, "time has gone by", seconds + 60)


def subfolder(folder, name):
    path = pathlib.Path(folder) / name
    path.mkdir()
    return path


# --- kinds ----------------------------------------------------------------------------------------

Table = collections.namedtuple("Table", "name set id text note key bulk")
ACCOUNT = Table("account", "accounts", "accountid", "name", "description", "accountnumber", True)
READING = Table("sensorreading", "sensorreadings", "sensorreadingid", "name", "deviceid", None, True)
NOTE = Table("annotation", "annotations", "annotationid", "subject", "notetext", None, False)


class Kind:
    """An operation on a table, by its primary id unless a key is named."""

    def __init__(self, name, verb, table, message, key=None):
        self.name, self.verb, self.table, self.message, self.key = name, verb, table, message, key

    def mark(self):
        """The column by which a row of the input is known."""
        return self.key or (self.table.text if self.verb == "create" else self.table.id)

    def columns(self):
        """Of the input, in its order."""
        table = self.table
        if self.verb == "delete":
            return [self.mark()]
        if self.verb == "create":
            return [table.text, table.note] + ([table.key] if table.key else [])
        return [self.mark(), table.text, table.note]


CREATE = Kind("create", "create", ACCOUNT, "CreateMultiple")
UPDATE = Kind("update", "update", ACCOUNT, "UpdateMultiple")
UPSERT = Kind("upsert", "upsert", ACCOUNT, "UpsertMultiple", key="accountnumber")
DELETE = Kind("delete", "delete", ACCOUNT, "$batch")
DELETE_ELASTIC = Kind("delete_elastic", "delete", READING, "DeleteMultiple")
THE_FIVE = [CREATE, UPDATE, UPSERT, DELETE, DELETE_ELASTIC]

CREATE_ELASTIC = Kind("create_elastic", "create", READING, "CreateMultiple")
UPDATE_ELASTIC = Kind("update_elastic", "update", READING, "UpdateMultiple")
UPSERT_ELASTIC = Kind("upsert_elastic", "upsert", READING, "UpsertMultiple")
UPDATE_BY_KEY = Kind("update_by_key", "update", ACCOUNT, "$batch", key="accountnumber")
DELETE_BY_KEY = Kind("delete_by_key", "delete", ACCOUNT, "$batch", key="accountnumber")
UPSERT_BY_ID = Kind("upsert_by_id", "upsert", ACCOUNT, "UpsertMultiple")
WITHOUT_BULK = [Kind(f"{verb}_without_bulk", verb, NOTE, "$batch")
                for verb in ("create", "update", "upsert", "delete")]


# --- worlds ---------------------------------------------------------------------------------------

class World:
    """A simulator, seen from outside by the judge."""

    def __init__(self, url, config):
        self.url, self.config = url, config
        self.judge = config["Dataverse"]["Connections"].pop()
        self.secrets = [c["ClientSecret"] for c in config["Dataverse"]["Connections"]]
        self.names = [c["Name"] for c in config["Dataverse"]["Connections"]]
        self.token = self.log_in(self.judge)
        self.canaries = {form for secret in self.secrets for form in forms_of(secret)}
        self.canaries.add(self.token.split(".")[0].encode())  # all tokens begin alike

    def call(self, method, path, body=None, headers=None):
        url = path if path.startswith("http") else self.url + path
        request = urllib.request.Request(url, body, headers or {}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read().decode()
            kind = answer.headers.get_content_type()
            return json.loads(text) if kind == "application/json" else text

    def log_in(self, connection):
        form = (f"client_id={connection['ClientId']}&client_secret={connection['ClientSecret']}"
                f"&grant_type=client_credentials&scope={self.url}/.default")
        return self.call("POST", "/contoso/oauth2/v2.0/token", form.encode())["access_token"]

    def api(self, method, path, body=None, content="application/json", **headers):
        if not path.startswith("http"):
            path = "/api/data/v9.2/" + path
        return self.call(method, path, body, {
            "Authorization": "Bearer " + self.token, "Content-Type": content,
            **{name.replace("_", "-"): value for name, value in headers.items()}})

    def faults(self, *faults):
        """What goes wrong from now on; nothing at all if nothing is named."""
        self.call("POST", "/sim/faults", json.dumps({"faults": faults}).encode())

    def stats(self):
        return self.call("GET", "/sim/stats")

    def connections(self):
        """The statistics of those that the job uses."""
        return {c["name"]: c for c in self.stats()["connections"] if c["name"] in self.names}

    def requests(self):
        """That the job has sent, not counting those for tokens."""
        return sum(c["requests"] for c in self.connections().values())

    def ledger(self, table):
        return self.call("GET", f"/sim/ledger?table={table.name}")

    def rows(self, table, columns):
        """All of a table, as tuples in order."""
        path = f"{table.set}?$select={','.join(columns)}"
        found = []
        while path:
            page = self.api("GET", path, Prefer="odata.maxpagesize=5000")
            found += [tuple(row.get(column) for column in columns) for row in page["value"]]
            path = page.get("@odata.nextLink")
        return sorted(found, key=repr)

    def seed(self, table, rows):
        for first in range(0, len(rows), CHUNK):
            self.write(table, rows[first:first + CHUNK])

    def write(self, table, rows):
        """Rows with ids of their own, created or overwritten."""
        if table.bulk:
            targets = [{"@odata.type": f"Microsoft.Dynamics.CRM.{table.name}",
                        "@odata.id": f"{table.set}({row[table.id]})",
                        **{k: v for k, v in row.items() if k != table.id}} for row in rows]
            self.api("POST", f"{table.set}/Microsoft.Dynamics.CRM.UpsertMultiple",
                     json.dumps({"Targets": targets}).encode())
            return
        parts = "".join(
            "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
            f"PATCH /api/data/v9.2/{table.set}({row[table.id]}) HTTP/1.1\r\n"
            "Content-Type: application/json\r\n\r\n"
            + json.dumps({k: v for k, v in row.items() if k != table.id}) + "\r\n" for row in rows)
        answer = self.api("POST", "$batch", (parts + "--b--\r\n").encode(),
                          "multipart/mixed; boundary=b")
        assert answer.count("HTTP/1.1 204") == len(rows), answer


@contextlib.contextmanager
def world(*flags, connections=3, seed=1, limits=False, service_ms=5, scenario=None, folder=None):
    """No limits unless asked for; `scenario` is written into the folder."""
    flags = list(flags) + ["--users", str(connections + 1), "--seed", str(seed)]
    if service_ms is not None:
        flags += ["--service-time", str(service_ms)]
    if not limits:
        flags += ["--no-limits"]
    if not any(flag == "--dop" for flag in flags):
        flags += ["--dop", "8"]
    if scenario is not None:
        path = pathlib.Path(folder) / "scenario.json"
        path.write_text(json.dumps(scenario))
        flags += ["--scenario", str(path)]
    with simulator(SIM, *flags) as (url, config):
        it = World(url, config)
        yield it
        TALLY.add(faults=sum(it.stats()["faults"].values()))


# --- jobs -----------------------------------------------------------------------------------------

Result = collections.namedtuple("Result", "code stdout stderr cpu_s wall_s")


def environment(more=None):
    kept = {name: value for name, value in os.environ.items()
            if name in ("PATH", "LD_LIBRARY_PATH") or name.endswith("SAN_OPTIONS")}
    return {**kept, "HOME": "/nonexistent", **(more or {})}


UNDER_WAY = threading.local()  # the processes that a test has begun, in its thread


class Run:
    """A process that is under way. Its output goes to files: a full pipe would stop it."""

    def __init__(self, arguments, env=None, **more):
        self.out, self.err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.begun = time.monotonic()
        TALLY.add(runs=1)
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=self.err, env=environment(env), **more)
        self.pid = self.process.pid
        UNDER_WAY.runs = [*getattr(UNDER_WAY, "runs", []), self]

    def is_over(self):
        """Without reaping it: its number stays its own."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, 9)

    def finish(self):
        watchdog = threading.Timer(HANG_S, self.kill)
        watchdog.start()
        _, status, usage = os.wait4(self.pid, 0)
        watchdog.cancel()
        wall_s = time.monotonic() - self.begun
        self.process.returncode = code = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (self.out, self.err):
            file.seek(0)
            texts.append(file.read())
            file.close()
        assert wall_s < HANG_S, ("it hung", texts)
        return Result(code, *texts, usage.ru_utime + usage.ru_stime, wall_s)

    def cpu_ns(self):
        """Of all its threads until now."""
        total = 0
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                total += int((task / "schedstat").read_text().split()[0])
        return total


class Job:
    """An input of `count` rows, what was there before, and what must be there afterwards."""

    def __init__(self, world, kind, folder, count, batch=100, seed=1, quick=None, owner="caller"):
        self.world, self.kind, self.batch = world, kind, batch
        self.folder = pathlib.Path(folder)
        self.directory = self.folder / "job"
        self.input = self.folder / "input.csv"
        self.quick = {**QUICK, **(quick or {})}
        self.owner = owner
        self.chance = random.Random(seed)
        self.before = []      # rows of the table
        self.rows = []        # of the input, as dicts
        self.bad = set()      # rows of the input, from 1, that must be rejected
        self.outputs = []
        self.runs = 0
        self.make_rows(count)
        self.config = write_config(folder, world.config)
        world.seed(kind.table, self.before)
        self.base = world.ledger(kind.table)
        self.base_requests = world.requests()
        self.write_input()

    def new_id(self):
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def old_row(self, number, name):
        table = self.kind.table
        row = {table.id: self.new_id(), table.text: name, table.note: "as it was"}
        if table.key:
            row[table.key] = f"K{number:06d}"
        return row

    def make_rows(self, count):
        """Of an upsert every second row is there already; some others are nobody's business."""
        kind, table = self.kind, self.kind.table
        self.before = [self.old_row(900000 + i, f"bystander {i}") for i in range(20)]
        for number in range(1, count + 1):
            old = self.old_row(number, f"old {number:06d}")
            if kind.verb in ("update", "delete") or (kind.verb == "upsert" and number % 2):
                self.before.append(old)
            row = {**old, table.text: f"row {number:06d}", table.note: f"note of {number}"}
            self.rows.append({column: row[column] for column in kind.columns()})

    def write_input(self):
        with self.input.open("w", newline="") as file:
            writer = csv.DictWriter(file, self.kind.columns())
            writer.writeheader()
            writer.writerows(self.rows)

    def again(self):
        """There is a job to go on with."""
        return (self.directory / "journal.db").exists()

    def command(self, program, more):
        loud = [] if "--log-level" in more else LOUD
        common = ["--config", self.config, "--progress", "none", *settings(self.quick), *loud, *more]
        if self.again():
            return [program, "resume", str(self.directory), *common]
        kind = self.kind
        arguments = [program, kind.verb, kind.table.name, str(self.input),
                     "--job-dir", str(self.directory), "--batch-size", str(self.batch), *common]
        if kind.verb != "create":
            arguments += ["--yes"]
        if kind.key:
            arguments += ["--key", kind.key]
        if kind.verb in ("create", "upsert") and self.owner:
            arguments += ["--owner", self.owner]
        return arguments

    def start(self, *more, program=None, env=None, **process):
        """Begin, or go on if there is something to go on with."""
        self.runs += 1
        return Run(self.command(program or WEIR, more), env, **process)

    def run(self, *more, **how):
        return self.finish(self.start(*more, **how))

    def finish(self, run):
        result = run.finish()
        self.outputs.append(result)
        TALLY.add(faults=result.code == -9)
        return result

    def run_watched(self, *more, env=None, **how):
        """With the witness of tests/support/witness.c, and what it has seen."""
        seen = self.folder / "witness.json"
        seen.unlink(missing_ok=True)
        result = self.run(*more, program=WEIR_FAULT, env={**(env or {}), "WEIR_WITNESS": str(seen)}, **how)
        return result, json.loads(seen.read_text())

    def summary(self):
        return json.loads((self.directory / "summary.json").read_text())

    def requests(self):
        """That all runs of the job have sent."""
        return self.world.requests() - self.base_requests

    def errors(self):
        lines = (self.directory / "errors.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    # What must be there.

    def seen_columns(self):
        """Ids are looked at where they were known before."""
        kind, table = self.kind, self.kind.table
        ids = [table.id] if kind.verb in ("update", "delete") else []
        return ids + [table.text, table.note] + ([table.key] if table.key else [])

    def expected(self):
        """The table, as World.rows() would find it."""
        kind, table = self.kind, self.kind.table
        mark = kind.mark()
        rows = {row[mark]: dict(row) for row in self.before}
        for number, row in enumerate(self.rows, 1):
            if number in self.bad:
                continue
            if kind.verb == "delete":
                rows.pop(row[mark], None)
            else:
                rows.setdefault(row[mark], {}).update(row)
        return sorted((tuple(row.get(c) for c in self.seen_columns()) for row in rows.values()),
                      key=repr)


# --- the judge ------------------------------------------------------------------------------------

PARTS = ("done", "rejected", "skipped", "unknown", "not_sent")


def differences(expected, found):
    """Rows that are too few and rows that are too many."""
    lack, extra = collections.Counter(expected), collections.Counter(found)
    return list((lack - extra).elements()), list((extra - lack).elements())


def judge_table(job):
    """LOST, GHOST, DUP."""
    world, kind = job.world, job.kind
    lost, ghosts = differences(job.expected(), world.rows(kind.table, job.seen_columns()))
    hold("LOST", not lost, len(lost), lost[:3], ghosts[:3], job.outputs)
    hold("GHOST", not ghosts, len(ghosts), ghosts[:3], job.outputs)
    ledger = world.ledger(kind.table)
    hold("DUP", ledger["duplicates"] == 0, ledger)
    elastic = kind.table is READING  # creates nothing twice, but may be told to twice
    if kind.verb == "create" and not elastic:
        hold("DUP", ledger["creates"] - job.base["creates"] == len(job.rows) - len(job.bad), ledger)
        hold("DUP", ledger["max_creates_per_row"] == 1, ledger)


def judge_summary(job, code):
    """UNBALANCED."""
    summary = balance(job)
    parts = [summary[part] for part in PARTS]
    hold("MISREPORT", parts == [len(job.rows) - len(job.bad), len(job.bad), 0, 0, 0], summary, job.outputs)
    assert summary["exit_code"] == code, summary
    assert (summary["operation"], summary["table"]) == (job.kind.verb, job.kind.table.name), summary


def was_finished(job):
    """The last run found nothing to do, which is no failure whatever became of the rows."""
    return "nothing left to do" in job.outputs[-1].stderr and job.outputs[-1].code == 0


def balance(job):
    """Of a run that may have ended early: no row is forgotten."""
    summary = job.summary()
    hold("UNBALANCED", summary["read"] == sum(summary[part] for part in PARTS), summary, job.outputs)
    if not was_finished(job):
        assert summary["exit_code"] == job.outputs[-1].code, (summary, job.outputs)
    return summary


def untouched(job):
    """The table is as it was before the job."""
    columns = job.seen_columns()
    before = sorted((tuple(row.get(c) for c in columns) for row in job.before), key=repr)
    return job.world.rows(job.kind.table, columns) == before


def judge_ids(job):
    """Created ids, in the order of the input, are those of the rows that are there."""
    kind, table = job.kind, job.kind.table
    if kind.verb != "create":
        return
    with (job.directory / "ids.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["row", "id"], header
    rows = [int(row) for row, _ in lines]
    hold("MISREPORT", rows == [n for n in range(1, len(job.rows) + 1) if n not in job.bad], job.outputs)
    found = dict(job.world.rows(table, [table.id, table.text]))
    for row, row_id in lines:
        hold("MISREPORT", found.get(row_id.lower()) == job.rows[int(row) - 1][table.text], row, row_id)


def judge_rejects(job):
    """MISREPORT: exactly the bad rows are in the rejects, as they came, each with a reason."""
    lines = job.input.read_bytes().splitlines(keepends=True)
    rejects = (job.directory / "rejects.csv").read_bytes().splitlines(keepends=True)
    expected = [lines[number] for number in sorted(job.bad)]
    assert rejects[0].split() == lines[0].split(), rejects[0]
    hold("MISREPORT", rejects[1:] == expected, rejects[1:4], expected[:3], job.outputs)
    errors = job.errors()
    hold("MISREPORT", [error["row"] for error in errors] == sorted(job.bad), errors)
    assert all(error["message"] for error in errors), errors


def judge_secrets(job):
    """LEAK: no secret and no token, in any form."""
    texts = [(part.encode()) for result in job.outputs for part in (result.stdout, result.stderr)]
    texts += [path.read_bytes() for path in job.directory.rglob("*") if path.is_file()]
    for canary in job.world.canaries:
        hold("LEAK", not any(canary in text for text in texts), "a secret was written")


def judge(job, code=None):
    """After the last run: all rows have come to their end."""
    code = (1 if job.bad else 0) if code is None else code
    assert job.outputs[-1].code == code or was_finished(job), job.outputs
    job.world.faults()
    judge_summary(job, code)
    judge_table(job)
    judge_ids(job)
    judge_rejects(job)
    judge_secrets(job)
    TALLY.add(jobs=1)


# --- TAP ------------------------------------------------------------------------------------------

def seed_of(name):
    """The same test has the same seed everywhere."""
    return zlib.crc32((name + os.environ.get("WEIR_SALT", "")).encode())


@contextlib.contextmanager
def fresh_seed(test):
    """One that no run had before, or that of WEIR_SEED; a failure says how to have it again."""
    seed = int(os.environ.get("WEIR_SEED") or random.SystemRandom().getrandbits(32))
    try:
        yield seed
    except Exception as failure:
        again = f"WEIR_SEED={seed} WEIR_ONLY={test} {' '.join(sys.argv)}"
        raise AssertionError(f"{failure}\nto replay it: {again}") from failure


def end_runs():
    """Of a test that has failed: none outlives it."""
    for run in getattr(UNDER_WAY, "runs", []):
        if run.process.returncode is None:
            run.kill()
            run.process.wait()


def attempt(name, function):
    UNDER_WAY.runs = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            function(folder)
            return None
        except Exception as failure:  # whatever it is, it is this test's failure
            TALLY.fail(failure)
            end_runs()
            return "".join("# " + line + "\n" for line in traceback.format_exc().splitlines())


def is_chosen(name):
    only = os.environ.get("WEIR_ONLY", "")
    return name == only[1:] if only.startswith("=") else only in name


def run_tests(module, at_once=4):
    """Each test_… of a module is a test and gets a folder. They mostly wait, so some run beside each other; what is
    measured against the clock wants at_once=1."""
    tests = [(name, function) for name, function in vars(module).items()
             if name.startswith("test_") and is_chosen(name[5:])]
    print(f"1..{len(tests)}", flush=True)
    failed = False
    with concurrent.futures.ThreadPoolExecutor(at_once) as threads:
        outcomes = [(name, threads.submit(attempt, name, function)) for name, function in tests]
        for number, (name, outcome) in enumerate(outcomes, 1):
            text = outcome.result()
            failed = failed or bool(text)
            print(f"{'not ok' if text else 'ok'} {number} - {name[5:]}", flush=True)
            print(text or "", end="", flush=True)
    print(TALLY.lines(), flush=True)
    sys.exit(failed)

# SPDX-License-Identifier: MIT
"""
What the groups of bench/run share: programs, servers, jobs, inputs, and figures.

    Figure   one number with its unit, what it must reach, and which way is better
    Bench    the build folder and a temporary folder that is removed in the end
    Service  a weir-sim, or before it the server of bench/null.c that forgets every row
"""
import collections
import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
USERS = 3
LEVEL = 8  # requests in flight of each of them
BATCH = 100
PATIENCE_S = 900
PAUSE_S = 0.3  # more than that of bench/null.c
API = "/api/data/v9.2/accounts/Microsoft.Dynamics.CRM.CreateMultiple"

COLUMNS = ("name,accountnumber,telephone1,emailaddress1,address1_city,revenue,numberofemployees,"
           "donotemail,weir_founded,industrycode")


class Figure(collections.namedtuple("Figure", "key text value unit least most better")):
    """`least` or `most`: what must hold, or None. `better`: higher or lower, for bench/quick; None: not watched."""

    def holds(self):
        if self.least is None and self.most is None:
            return None
        return ((self.least is None or self.value >= self.least) and
                (self.most is None or self.value <= self.most))


def figure(key, text, value, unit="", least=None, most=None, better=None):
    return Figure(key, text, value, unit, least, most, better)


def say(text):
    print(f"   {text}", flush=True)


def median(values):
    return statistics.median(values)


class Bench:
    def __init__(self, build, folder, quick=False):
        self.build, self.folder, self.quick = pathlib.Path(build), pathlib.Path(folder), quick
        self.weir = str(self.build / "apps/weir/weir")
        self.sim = str(self.build / "apps/sim/weir-sim")
        self.jobs = 0

    def program(self, name):
        return str(self.build / "bench" / name)

    def path(self, name):
        return self.folder / name


# --- building ---------------------------------------------------------------------------------------

TARGETS = ("apps/weir/weir", "apps/sim/weir-sim",
           *(f"bench/bench_{name}" for name in ("answer", "bare", "csv", "forgetful", "journal", "jsonl", "mapping",
                                                "null", "pool")))


def build(folder):
    """Packages and programs; silent unless something fails."""
    subprocess.run([ROOT / "tools/bootstrap"], check=True)
    if not (folder / "build.ninja").exists():
        subprocess.run(["meson", "setup", folder, "--buildtype=release"], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)
    done = subprocess.run(["ninja", "-C", folder, *TARGETS], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout[-4000:])


# --- processes ------------------------------------------------------------------------------------

Ended = collections.namedtuple("Ended", "code cpu_s wall_s out")


def clean_environment():
    """What a test run sets to find bugs would be measured."""
    return {key: value for key, value in os.environ.items() if key != "MALLOC_PERTURB_"}


def run(arguments, env=None, fine=(0,), begun=None):
    """Run it to its end: its own processor time, user and system. `begun` is told its process id."""
    begun_s = time.monotonic()
    process = subprocess.Popen([str(a) for a in arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, env={**clean_environment(), **(env or {})})
    if begun:
        begun(process.pid)
    alarm = threading.Timer(PATIENCE_S, process.kill)
    alarm.start()
    try:
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        alarm.cancel()
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in fine:
        raise RuntimeError(f"{arguments[0]} ended with {process.returncode}:\n{out[-2000:]}")
    return Ended(process.returncode, usage.ru_utime + usage.ru_stime, time.monotonic() - begun_s, out)


@contextlib.contextmanager
def server(arguments):
    """A server that says `listening URL`; gives the process and the address."""
    process = subprocess.Popen([str(a) for a in arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, env=clean_environment())
    try:
        match = re.fullmatch(r"listening (\S+)\n", process.stdout.readline())
        if not match:
            raise RuntimeError(f"{arguments[0]} does not say where it listens")
        yield process, match.group(1)
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def cpu_of(pid):
    """Of a process that runs: seconds so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# --- services -------------------------------------------------------------------------------------

class Service:
    """What jobs are sent to. `stamps`: when the first bulk message after a pause came, and which processor time the
    process `watched` had used by then (null server only)."""

    def __init__(self, bench, url, sim_url, config, process):
        self.bench, self.url, self.sim_url, self.config, self.process = bench, url, sim_url, config, process
        self.stamps, self.token, self.watched = [], None, None
        self.stamped = threading.Condition()
        self.config_path = bench.path(f"appsettings-{urllib.parse.urlsplit(url).port}.json")
        self.config_path.write_text(json.dumps(config))
        self.config_path.chmod(0o600)

    def listen(self):
        """Collect stamps as they come; the pipe must not fill up."""
        def collect():
            for line in self.process.stdout:
                if line.startswith("bulk "):
                    with self.stamped:
                        self.stamps.append((int(line.split()[1]), cpu_of(self.watched) if self.watched else None))
                        self.stamped.notify_all()
        threading.Thread(target=collect, daemon=True).start()

    def stamp(self, number):
        """One that was given: it may still be on its way when the job is over."""
        with self.stamped:
            assert self.stamped.wait_for(lambda: len(self.stamps) > number, PATIENCE_S), "nothing was sent"
            return self.stamps[number]

    def watch(self, pid):
        self.watched = pid

    def pause(self):
        """Long enough that what comes next counts as a beginning."""
        time.sleep(PAUSE_S)

    def post(self, path, body=b"", **headers):
        request = urllib.request.Request(self.sim_url + path, body, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def reset(self):
        """Forget all rows; who is logged in stays so no longer."""
        self.post("/sim/reset")
        self.token = None

    def bearer(self):
        if not self.token:
            connection = self.config["Dataverse"]["Connections"][0]
            form = urllib.parse.urlencode({
                "client_id": connection["ClientId"], "client_secret": connection["ClientSecret"],
                "grant_type": "client_credentials", "scope": self.sim_url + "/.default"})
            self.token = json.loads(self.post("/contoso/oauth2/v2.0/token", form.encode()))["access_token"]
        return "Bearer " + self.token

    def lines(self):
        return [f"Authorization: {self.bearer()}", "Content-Type: application/json"]


@contextlib.contextmanager
def simulator(bench, *flags):
    flags = flags or ("--no-limits", "--users", str(USERS), "--dop", str(LEVEL))
    with server([bench.sim, "--port", "0", *flags]) as (process, url):
        port = url.rsplit(":", 1)[1]
        text = run([bench.sim, "--port", port, *flags, "--print-config"]).out
        yield Service(bench, url, url, json.loads(text), process)


@contextlib.contextmanager
def null_server(bench, keep=None):
    """The simulator is asked who logs in and what a table is like; rows it never sees."""
    with simulator(bench) as sim:
        port = sim.url.rsplit(":", 1)[1]
        with server([bench.program("bench_null"), port, *([keep] if keep else [])]) as (process, url):
            config = json.loads(json.dumps(sim.config))
            config["Dataverse"].update(Url=url, Authority=sim.url, Scope=sim.url + "/.default")
            service = Service(bench, url, sim.url, config, process)
            service.listen()
            yield service


# --- jobs -----------------------------------------------------------------------------------------

class Job(collections.namedtuple("Job", "summary cpu_s wall_s folder begun_ns out")):
    """One run of the command, as it was seen from outside and as it says itself."""

    def journal_bytes(self):
        return sum(f.stat().st_size for f in self.folder.glob("journal.*"))


def job_folder(bench):
    bench.jobs += 1
    return bench.path(f"job-{bench.jobs}")


FIXED = ("--policy", "Fixed", "--set", f"Dataverse:AdaptiveRate:FixedParallelism={LEVEL}")


def run_job(service, operation, path, *more, program=None, folder=None, fine=(0,), policy=FIXED,
            batch=BATCH):
    bench = service.bench
    folder = folder or job_folder(bench)
    begun_ns = time.monotonic_ns()
    ended = run([program or bench.weir, operation, "account", path, "--config", service.config_path, "--job-dir",
                 folder, "--batch-size", batch, "--owner", "caller", "--progress", "none", *policy, *more],
                fine=fine)
    summary = json.loads((folder / "summary.json").read_text())
    return Job(summary, ended.cpu_s, ended.wall_s, folder, begun_ns, ended.out)


def resume_job(service, folder, path, *more, fine=(0,)):
    begun_ns = time.monotonic_ns()
    ended = run([service.bench.weir, "resume", folder, "--config", service.config_path, "--progress", "none", *more],
                fine=fine, begun=service.watch)
    service.watch(None)
    summary = json.loads((folder / "summary.json").read_text())
    return Job(summary, ended.cpu_s, ended.wall_s, folder, begun_ns, ended.out)


# --- inputs ---------------------------------------------------------------------------------------

BLOCK_ROWS = 100_000  # the same again and again: no server here minds


def csv_row(i, employees=None):
    return (f"Contoso Works {i % 100000:05d},ACC-{i:09d},+1 206 555 {i % 10000:04d},info{i % 100000:05d}@contoso.example,"
            f"Springfield,{i % 1000000}.50,{i % 5000 if employees is None else employees},{'true' if i & 1 else 'false'},"
            f"20{i % 25:02d}-{1 + i % 12:02d}-{1 + i % 28:02d},{1 + i % 4}\n")


def json_row(i):
    return (f'{{"name":"Contoso Works {i % 100000:05d}","accountnumber":"ACC-{i:09d}","telephone1":"+1 206 555 '
            f'{i % 10000:04d}","emailaddress1":"info{i % 100000:05d}@contoso.example","address1_city":"Springfield",'
            f'"revenue":{i % 1000000}.50,"numberofemployees":{i % 5000},"donotemail":{"true" if i & 1 else "false"},'
            f'"weir_founded":"20{i % 25:02d}-{1 + i % 12:02d}-{1 + i % 28:02d}","industrycode":{1 + i % 4}}}\n')


def bad_csv_row(i):
    """One in a hundred cannot be right."""
    return csv_row(i, "many" if i % 100 == 0 else None)


def write_input(bench, name, rows, make=csv_row, distinct=False):
    """A file of so many rows. Unless they must be distinct, a block of them is repeated."""
    path = bench.path(name)
    size = rows if distinct else min(rows, BLOCK_ROWS)
    block = "".join(make(i) for i in range(1, size + 1)).encode()
    with open(path, "wb") as file:
        if make is not json_row:
            file.write((COLUMNS + "\n").encode())
        for _ in range(rows // size):
            file.write(block)
    return path


def remove(*paths):
    for path in paths:
        path = pathlib.Path(path)
        if path.is_dir():
            for each in path.iterdir():
                each.unlink()
            path.rmdir()
        else:
            path.unlink(missing_ok=True)


def end_in_good_order():
    """Whoever is told to end removes what it made, and ends what it started."""
    for ends in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(ends, lambda number, _: sys.exit(128 + number))


def limit_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4096:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))

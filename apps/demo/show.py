#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ./demo shows: show.py WEIR WEIR_SIM SCENARIO FOLDER

A load of 20,000 rows through three application users into a simulated Dataverse, in five scenes: the world, a
neighbour that uses up most of app1's requests, the load until it is interrupted, its resume by the command that
it printed, and the proof by the simulator's ledger. Plain lines only, so a log shows the same as a terminal.
FOLDER is where the files are left; it has no job yet. Exit code 1: something was not as it should be; the last
line says what.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

ROWS = 20_000
NEIGHBOUR_REQUESTS = 110   # of the 120 that the scenario allows in 20 s
INTERRUPT_AT = (ROWS // 4, ROWS // 2)   # rows done: if somebody is throttled, in any case
INTERRUPTED = 5            # weir's exit code
PATIENCE_S = 120           # for any one thing
HEADER = ("name,accountnumber,revenue,numberofemployees,industrycode,donotemail,weir_founded,"
          "transactioncurrencyid:transactioncurrency(isocurrencycode)\n")
TRADES = ("Accounting", "Brokers", "Business Services", "Consulting")
CURRENCIES = ("EUR", "USD", "GBP")


class Wrong(Exception):
    """Something is not as it should be."""


def expect(holds, what):
    if not holds:
        raise Wrong(what)


def say(text=""):
    print(text, flush=True)


def show_command(words):
    say("$ " + " ".join(words))


def read_json(url, data=None, token=None):
    head = {"Authorization": "Bearer " + token} if token else {}
    request = urllib.request.Request(url, data=data, headers=head)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return json.load(answer)


def write_rows(path):
    with open(path, "w") as file:
        file.write(HEADER)
        for i in range(ROWS):
            file.write(f"Company {i},D{i:05d},{i * 7919 % 1_000_000}.{i % 100:02d},{i % 5000},"
                       f"{TRADES[i % len(TRADES)]},{'true' if i % 3 else 'false'},"
                       f"{1950 + i % 70}-{i % 12 + 1:02d}-{i % 28 + 1:02d},"
                       f"{CURRENCIES[i % len(CURRENCIES)]}\n")


@contextlib.contextmanager
def ended(process):
    """Whatever happens, the process is gone afterwards."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def simulator(program, scenario, folder):
    """A weir-sim on a free port; gives its address and the file that says how to log in."""
    world = [program, "--scenario", scenario]
    with open(folder / "weir-sim.log", "w") as log, \
            ended(subprocess.Popen([*world, "--port", "0"], stdout=subprocess.PIPE, stderr=log,
                                   text=True)) as process:
        words = process.stdout.readline().split()
        expect(len(words) == 2 and words[0] == "listening", "weir-sim does not start")
        url = words[1]
        settings = folder / "appsettings.json"
        settings.touch(0o600)  # there are secrets in it
        settings.write_text(subprocess.run(
            [*world, "--port", url.rsplit(":", 1)[1], "--print-config"], check=True,
            stdout=subprocess.PIPE, text=True).stdout)
        yield url, settings


def use_up(settings):
    """What somebody else's program does as app1 just now."""
    dataverse = json.loads(settings.read_text())["Dataverse"]
    user = dataverse["Connections"][0]
    login = {"grant_type": "client_credentials", "client_id": user["ClientId"],
             "client_secret": user["ClientSecret"], "scope": dataverse["Url"] + "/.default"}
    token = read_json(f"{dataverse['Authority']}/{dataverse['TenantId']}/oauth2/v2.0/token",
                      urllib.parse.urlencode(login).encode())["access_token"]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: read_json(dataverse["Url"] + "/api/data/v9.2/WhoAmI",
                                             token=token), range(NEIGHBOUR_REQUESTS)))


def run(words, environment, log, on_line=lambda process, line: None):
    """Run a command in its own words, showing and keeping what it says; its exit code and lines."""
    lines = []
    with ended(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, env=environment)) as process:
        alarm = threading.Timer(PATIENCE_S, process.terminate)
        alarm.start()
        try:
            for line in map(str.rstrip, process.stdout):
                lines.append(line)
                log.write(line + "\n")
                say("  " + line)
                on_line(process, line)
            return process.wait(), lines
        finally:
            alarm.cancel()


def interrupter():
    """Ctrl-C after a progress line that tells of the throttled user, half-way at the latest."""
    state = {"sent": False}

    def on_line(process, line):
        progress = re.match(r"\d+:\d\d:\d\d  ([\d,]+) done", line)
        if state["sent"] or not progress:
            return
        done = int(progress.group(1).replace(",", ""))
        if done >= INTERRUPT_AT["throttled" not in line]:
            state["sent"] = True
            say("  ^C")
            process.send_signal(signal.SIGINT)
    return on_line


def load(folder, environment, log):
    words = ["weir", "create", "account", str(folder / "accounts.csv"), "--owner", "caller",
             "--config", str(folder / "appsettings.json"), "--job-dir", str(folder / "job")]
    show_command(words)
    code, lines = run(words, environment, log, interrupter())
    expect(code == INTERRUPTED, f"weir create ended with {code}, not {INTERRUPTED} (interrupted)")
    commands = [line.strip() for line in lines if line.startswith("  weir resume ")]
    expect(len(commands) == 1, "no command to resume was printed")
    return commands[0]


def resume(command, environment, log):
    say("$ " + command)
    code, _ = run(["sh", "-c", "exec " + command], environment, log)
    expect(code == 0, f"weir resume ended with {code}")


def table(heads, rows):
    widths = [max(len(str(row[i])) for row in [heads, *rows]) for i in range(len(heads))]
    for row in [heads, *rows]:
        cells = [str(row[0]).ljust(widths[0])]
        cells += [str(cell).rjust(width) for cell, width in zip(row[1:], widths[1:])]
        say("  " + "  ".join(cells))


def show_connections(before, after, stats):
    throttled = {one["name"]: sum(one["throttled"].values()) for one in stats["connections"]}
    table(("user", "rows before ^C", "rows after", "throttled"),
          [(one["name"], f"{one['done_rows']:,}", f"{two['done_rows']:,}", throttled[one["name"]])
           for one, two in zip(before["connections"], after["connections"])])
    expect(throttled["app1"] > 0, "app1 was never throttled")
    rows = {one["name"]: one["done_rows"] for one in before["connections"]}
    expect(rows["app1"] < min(rows["app2"], rows["app3"]), "the others did not take over")


def read_summary(folder):
    return json.loads((folder / "job/summary.json").read_text())


def prove(url, folder):
    ledger = read_json(url + "/sim/ledger?table=account&by=accountnumber")
    summary = read_summary(folder)
    say(f"  the ledger has {ledger['rows']:,} rows, {ledger['distinct']:,} different account "
        f"numbers, {ledger['duplicates']} duplicates")
    expect(ledger["rows"] == ROWS and ledger["distinct"] == ROWS and ledger["duplicates"] == 0,
           f"the ledger should have {ROWS:,} rows and no duplicate")
    expect(summary["read"] == summary["done"] == ROWS, f"the summary should say {ROWS:,} done")


def show_files(folder):
    files = {"accounts.csv": "the rows that were loaded", "demo.log": "all that weir said",
             "job/summary.json": "all figures", "job/ids.csv": "the id of every row",
             "job/journal.db": "the journal, from which the resume knew what was done"}
    width = max(len(str(folder / path)) for path in files)
    for path, what in files.items():
        expect((folder / path).is_file(), f"there is no {folder / path}")
        say(f"  {str(folder / path):{width}}  {what}")


def own_environment(weir):
    """Where `weir` is the one that was built, and no settings come from outside."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("Dataverse__")}
    return {**kept, "PATH": f"{weir.parent}:{kept.get('PATH', os.defpath)}"}


def show(weir, sim, scenario, folder):
    begun_s = time.monotonic()
    environment = own_environment(weir)
    with open(folder / "demo.log", "w") as log, simulator(sim, scenario, folder) as (url, settings):
        say(f"1. A small Dataverse listens on {url}: three application users, each with 120")
        say("   requests in any 20 s. The file has 20,000 accounts: text, money, numbers, choices, dates")
        say("   and a lookup to their currency.")
        write_rows(folder / "accounts.csv")
        use_up(settings)
        say(f"\n2. Another program works as app1, too, and has just sent {NEIGHBOUR_REQUESTS} of its 120.")
        say("\n3. The load. app1 runs into its limit, app2 and app3 take over its work; then Ctrl-C.\n")
        command = load(folder, environment, log)
        before = read_summary(folder)
        say("\n4. What was on its way came home, the journal knows it. The printed command goes on.\n")
        resume(command, environment, log)
        say("\n5. The proof, by the simulator's own books.\n")
        prove(url, folder)
        show_connections(before, read_summary(folder), read_json(url + "/sim/stats"))
    say("\nThe files:")
    show_files(folder)
    say(f"\n{ROWS:,} rows, none lost, none doubled, in {time.monotonic() - begun_s:.0f} s.")


def main():
    weir, sim, scenario = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    folder = pathlib.Path(sys.argv[4])
    # Whoever was started in the background ignores Ctrl-C, and so would the commands.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        show(weir, sim, scenario, folder)
    except (Wrong, OSError, subprocess.SubprocessError) as error:
        say(f"demo: {error}; the files are in {folder}")
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


if __name__ == "__main__":
    sys.exit(main())

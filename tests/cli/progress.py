#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a running job shows, on a terminal and without one: progress.py WEIR WEIR_SIM"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import urllib.request

import prometheus
from harness import Running, run, run_tests, simulator, write_config

WEIR, SIM = map(os.path.abspath, sys.argv[1:3])
PATIENCE_S = 60  # nothing takes so long; whoever waits longer hangs

# Throttles within a second, and waits of a few.
LIMITS = ["--users", "3", "--requests", "30", "--window", "4", "--service-time", "20"]


class Screen:
    """As much of a terminal as the command may use; anything else fails."""

    def __init__(self, columns, lines):
        self.columns, self.lines = columns, lines
        self.rows, self.top = [""], 0  # all rows ever, and which is the first on the screen
        self.row = self.column = 0
        self.visible = True
        self.wrapped_hidden = 0  # rows that were wrapped while the cursor was hidden
        self.colours = 0
        self.drawn = 0

    def feed(self, text):
        pattern = r"\x1b\[(\??)([\d;]*)([A-Za-z])|([\r\n])|([^\x00-\x1f\x7f])"
        at = 0
        for match in re.finditer(pattern, text):
            assert match.start() == at, repr(text[at:at + 40])
            at = match.end()
            private, number, letter, control, character = match.groups()
            if character:
                self.put(character)
            elif control == "\r":
                self.column = 0
            elif control == "\n":
                self.down()
            else:
                self.steer(private + letter, number)
        assert at == len(text), repr(text[at:at + 40])

    def put(self, character):
        if self.column == self.columns:
            self.wrapped_hidden += not self.visible
            self.column = 0
            self.down()
        row = self.rows[self.row].ljust(self.column)
        self.rows[self.row] = row[:self.column] + character + row[self.column + 1:]
        self.column += 1

    def down(self):
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append("")
        self.top = max(self.top, self.row - self.lines + 1)

    def steer(self, what, number):
        if what == "A":
            assert self.row - int(number) >= self.top, "up, beyond the screen"
            self.row -= int(number)
        elif what == "K" and number == "":
            self.rows[self.row] = self.rows[self.row][:self.column]
        elif what == "J" and number == "":
            self.rows[self.row] = self.rows[self.row][:self.column]
            del self.rows[self.row + 1:]
        elif what in ("?l", "?h") and number == "25":
            self.visible = what == "?h"
            self.drawn += self.visible
        elif what == "m":
            self.colours += 1
        else:
            raise AssertionError((what, number))

    def fold(self, columns):
        """The window has another width: what is too wide now is folded, as most terminals do."""
        above = [row.rstrip() for row in self.rows[:self.row]]
        folded = [row[at:at + columns] for row in above for at in range(0, max(len(row), 1), columns)]
        self.columns, self.rows, self.row, self.column = columns, folded + [""], len(folded), 0
        self.top = max(0, self.row - self.lines + 1)

    def text(self):
        return "\n".join(row.rstrip() for row in self.rows)


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, folder, columns, lines, *arguments, **environment):
        self.screen = Screen(columns, lines)
        self.controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.lose_nothing(terminal)
        kept = {name: value for name, value in os.environ.items()
                if name in ("PATH", "LD_LIBRARY_PATH")}
        kept["PATH"] = os.path.dirname(WEIR) + ":" + kept["PATH"]
        self.process = subprocess.Popen(
            [WEIR, *arguments], stdin=terminal, stdout=terminal, stderr=terminal,
            start_new_session=True, preexec_fn=self.take,
            env={**kept, "HOME": "/nonexistent", "TERM": "xterm", "LANG": "C.UTF-8",
                 "XDG_STATE_HOME": str(pathlib.Path(folder) / "state"), **environment})
        os.close(terminal)
        self.pending = b""

    @staticmethod
    def lose_nothing(terminal):
        """A terminal throws away what is on its way to the screen when Ctrl-C is typed: now and
        then half a frame, and then no screen could be told from what arrived."""
        modes = termios.tcgetattr(terminal)
        modes[3] |= termios.NOFLSH
        termios.tcsetattr(terminal, termios.TCSANOW, modes)

    @staticmethod
    def take():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read(self):
        """False: the other side is closed. Whole redraws only are looked at."""
        ready, _, _ = select.select([self.controller], [], [], PATIENCE_S)
        assert ready, self.screen.text()
        try:
            piece = os.read(self.controller, 65536)
        except OSError:
            piece = b""
        self.pending += piece
        cut = len(self.pending) if not piece else self.pending.rfind(b"\n") + 1
        self.screen.feed(self.pending[:cut].decode())
        self.pending = self.pending[cut:]
        return bool(piece)

    def until(self, pattern):
        while not re.search(pattern, self.screen.text()):
            assert self.read(), self.screen.text()

    def drain(self):
        """All that a command that is stopped has written."""
        while select.select([self.controller], [], [], 0)[0] and self.read():
            pass
        self.screen.feed(self.pending.decode())
        self.pending = b""

    def resize(self, columns):
        self.drain()
        self.screen.fold(columns)
        fcntl.ioctl(self.controller, termios.TIOCSWINSZ,
                    struct.pack("HHHH", self.screen.lines, columns, 0, 0))

    def end(self):
        while self.read():
            pass
        return self.process.wait(PATIENCE_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.controller)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def write_rows(folder, count):
    path = pathlib.Path(folder) / "rows.csv"
    path.write_text("name,accountnumber\n" + "".join(f"Account {i},A{i}\n" for i in range(count)))
    return str(path)


def reset(url):
    urllib.request.urlopen(urllib.request.Request(url + "/sim/reset", b"{}")).read()


def create(folder, config, rows, *more):
    path = write_config(folder, config)
    return ["create", "account", rows, "--config", path, "--owner", "caller", *more]


# --- the view -----------------------------------------------------------------------------------

def test_the_view_is_drawn_in_place_and_its_last_state_stays(folder):
    rows = write_rows(folder, 1500)
    with simulator(SIM, *LIMITS) as (_, config):
        words = create(folder, config, rows, "--batch-size", "10", "--log-level", "error")
        with Terminal(folder, 100, 24, *words) as terminal:
            terminal.until(r"throttled until \d\d:\d\d:\d\d, 0:0\d")
            assert terminal.end() == 0, terminal.screen.text()
            screen = terminal.screen
    lines = screen.text().splitlines()
    total = [line for line in lines if " done" in line and "%" in line]
    assert total == ["[" + "█" * 20 + "] 100 %  1,500 done"], screen.text()
    at = lines.index(total[0])
    assert lines[at + 1].split()[:2] == ["connection", "state"], lines
    for i, name in enumerate(("app1", "app2", "app3")):
        assert re.fullmatch(name + r" +\S.*  ░{6} 0/\d+ +[a-z ]+  [█░]{5}  [█░]{5}  \d+",
                            lines[at + 2 + i]), lines
    assert lines[at + 5].startswith("read 1,500 = done 1,500 +"), lines
    assert screen.visible and screen.colours > 0 and screen.drawn > 4
    assert screen.wrapped_hidden == 0


def test_nothing_wraps_at_any_width(folder):
    rows = write_rows(folder, 400)
    with simulator(SIM, *LIMITS) as (url, config):
        words = create(folder, config, rows, "--batch-size", "10", "--log-level", "error")
        for columns in (80, 60, 40, 20):
            reset(url)
            with Terminal(folder, columns, 12, *words, "--job-dir", f"{folder}/{columns}") as it:
                assert it.end() == 0, it.screen.text()
                assert it.screen.wrapped_hidden == 0 and it.screen.drawn > 1, it.screen.text()


def view_through_sizes(folder, words):
    """The rows of a screen whose window was made narrower, wider and narrower while it was drawn."""
    with Terminal(folder, 100, 40, *words) as terminal:
        for columns in (50, 120, 40, 80):
            terminal.until(r"[1-9]\d* done")
            drawn = terminal.screen.drawn
            while terminal.screen.drawn < drawn + 2:
                assert terminal.read(), terminal.screen.text()
            terminal.resize(columns)
        assert terminal.end() == 0, terminal.screen.text()
        assert terminal.screen.visible
        return terminal.screen.text().splitlines()


def test_a_window_that_changes_its_size_has_one_view_all_the_time(folder):
    """A frame may be on its way when the size changes, and is folded: that is for the next try."""
    rows = write_rows(folder, 1500)
    with simulator(SIM, *LIMITS) as (url, config):
        for turn in range(5):
            reset(url)
            words = create(folder, config, rows, "--batch-size", "10", "--log-level", "error",
                           "--job-dir", f"{folder}/job{turn}")
            lines = view_through_sizes(folder, words)
            views = [sum(line.startswith(name) for line in lines)
                     for name in ("connection ", "app1 ", "app2 ", "app3 ")]
            if views == [1, 1, 1, 1]:
                return
        raise AssertionError("\n".join(lines))


def test_warnings_scroll_above_the_view(folder):
    rows = write_rows(folder, 1200)
    with simulator(SIM, *LIMITS) as (_, config):
        with Terminal(folder, 130, 24, *create(folder, config, rows, "--batch-size", "10")) as it:
            assert it.end() == 0, it.screen.text()
            lines = it.screen.text().splitlines()
    warnings = [i for i, line in enumerate(lines) if line.startswith("warning ")]
    at = next(i for i, line in enumerate(lines) if "100 %" in line)
    assert warnings and max(warnings) < at, lines
    assert sum(line.startswith("connection ") for line in lines) == 1, lines
    assert sum(line.startswith("app1 ") for line in lines) == 1, lines


def test_after_ctrl_c_the_cursor_is_there_and_the_way_to_go_on(folder):
    rows = write_rows(folder, 4000)
    for twice in (False, True):
        with simulator(SIM, *LIMITS, "--service-time", "400") as (_, config):
            words = create(folder, config, rows, "--batch-size", "10", "--log-level", "error",
                           "--job-dir", f"{folder}/job{twice}")
            with Terminal(folder, 100, 24, *words) as terminal:
                terminal.until(r"[1-9]\d* done")
                os.write(terminal.controller, b"\x03")
                if twice:
                    terminal.until("weir create: stopping")
                    os.write(terminal.controller, b"\x03")
                assert terminal.end() == 5, terminal.screen.text()
                screen = terminal.screen
        assert screen.visible
        last = r"go on with\n  weir resume [^\n]*(\n[^ \n]*)?\n*$"
        assert re.search(last, screen.text()), screen.text()
        assert sum("connection  " in row for row in screen.rows) == 1, screen.text()


def test_stopped_and_continued_it_draws_below_what_others_wrote(folder):
    rows = write_rows(folder, 1500)
    with simulator(SIM, *LIMITS) as (_, config):
        words = create(folder, config, rows, "--batch-size", "10", "--log-level", "error")
        with Terminal(folder, 100, 40, *words) as terminal:
            terminal.until(r"[1-9]\d* done")
            os.kill(terminal.process.pid, signal.SIGSTOP)
            os.waitpid(terminal.process.pid, os.WUNTRACED)
            terminal.drain()
            terminal.screen.feed("\r\nthe shell's words\r\n")
            os.kill(terminal.process.pid, signal.SIGCONT)
            assert terminal.end() == 0, terminal.screen.text()
            lines = terminal.screen.text().splitlines()
    at = lines.index("the shell's words")
    assert sum(line.startswith("app1 ") for line in lines[:at]) == 1, lines
    assert sum(line.startswith("app1 ") for line in lines[at:]) == 1, lines


def test_no_colour_and_no_utf8_where_they_are_not_wanted(folder):
    rows = write_rows(folder, 200)
    with simulator(SIM, "--users", "1", "--no-limits") as (_, config):
        words = create(folder, config, rows)
        with Terminal(folder, 100, 24, *words, NO_COLOR="1", LANG="C") as terminal:
            assert terminal.end() == 0
            screen = terminal.screen
    assert screen.colours == 0 and screen.text().isascii(), screen.text()
    assert "[" + "#" * 20 + "] 100 %" in screen.text(), screen.text()


def test_a_dumb_terminal_and_no_terminal_get_plain_lines(folder):
    rows = write_rows(folder, 130)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        words = create(folder, config, rows, "--max-rate", "20", "--batch-size", "1")
        with Terminal(folder, 100, 24, *words, TERM="dumb") as terminal:
            assert terminal.end() == 0
            shown = terminal.screen
        reset(url)
        piped = run([WEIR, *words], env={"TERM": "xterm", "XDG_STATE_HOME": folder + "/piped"})
    assert shown.drawn == 0 and shown.colours == 0
    for text in (shown.text(), piped.stderr):
        assert re.search(r"^\d+:\d\d:\d\d  [\d,]+ done, .* rows/s", text, re.M), text
        assert "\x1b" not in text and "connection " not in text, text


# --- JSON ---------------------------------------------------------------------------------------

FLAG, COUNT, SPAN, MOMENT = "flag", "count", "span or null", "moment or null"
BOUNDS = {"max", "dop", "aimd", "execution time", "throttle ceiling", "budget", "concurrency",
          "pool", "user", "budget requests", "budget execution", "pacing", "guard"}
JOB = {"over": FLAG, "Elapsed": SPAN, "Pass": COUNT, "Passes": COUNT, "PassEnded": COUNT,
       "Read": COUNT, "Done": COUNT, "Rejected": COUNT, "Skipped": COUNT, "InFlight": COUNT,
       "RowsPerSecond": SPAN, "TimeLeft": SPAN, "ReadShare": SPAN, "ThrottledFor": SPAN,
       "RequestsInFlight": COUNT, "Stopping": FLAG, "Pool": dict, "Connections": list}
POOL = {"TotalConnections": COUNT, "ThrottledConnections": COUNT, "SetAsideConnections": COUNT,
        "TotalThrottleEvents": COUNT, "ActiveLeases": COUNT, "Waiters": COUNT,
        "RequestsServed": COUNT, "TotalBackoffTime": SPAN}
CONNECTION = {"ConnectionName": str, "CurrentParallelism": COUNT, "MaxParallelism": COUNT,
              "LastKnownGoodParallelism": COUNT, "IsLastKnownGoodStale": FLAG,
              "SuccessesSinceThrottle": COUNT, "TotalThrottleEvents": COUNT,
              "LastThrottleTime": MOMENT, "LastIncreaseTime": MOMENT, "LastActivityTime": MOMENT,
              "AverageBatchMs": SPAN, "ExecutionTimeCeiling": COUNT, "ThrottleCeiling": COUNT,
              "BoundBy": BOUNDS, "PredictedThrottleInSeconds": SPAN, "Requests": COUNT, "RowsDone": COUNT, "InFlight": COUNT,
              "Level": COUNT, "ThrottledFor": SPAN, "BreakerOpenFor": SPAN, "IsSetAside": FLAG,
              "RequestsRemaining": SPAN, "ExecutionTimeRemaining": SPAN}


def is_of(value, kind):
    """Whether a value is what the manual says."""
    if isinstance(kind, type):
        return isinstance(value, kind)
    if isinstance(kind, set):
        return value in kind
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0
    return {FLAG: isinstance(value, bool),
            COUNT: number and isinstance(value, int),
            SPAN: value is None or number,
            MOMENT: value is None or isinstance(value, str) and re.fullmatch(
                r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value)}[kind]


def check_object(value, schema):
    assert set(value) == set(schema), set(value) ^ set(schema)
    for name, kind in schema.items():
        assert is_of(value[name], kind), (name, value[name], kind)


def strictly(pairs):
    assert len({name for name, _ in pairs}) == len(pairs), "a name twice"
    return dict(pairs)


def parse_line(text):
    def no_constant(word):
        raise AssertionError(word)
    line = json.loads(text, object_pairs_hook=strictly, parse_constant=no_constant)
    check_object(line, {**JOB, "result": dict} if line["over"] else JOB)
    check_object(line["Pool"], POOL)
    for connection in line["Connections"]:
        check_object(connection, CONNECTION)
    return line


def progress_lines(text):
    return [parse_line(line) for line in text.splitlines() if line.startswith('{"over":')]


def test_json_lines_parse_and_the_last_says_how_it_ended(folder):
    rows = write_rows(folder, 1200)
    with simulator(SIM, *LIMITS) as (_, config):
        words = create(folder, config, rows, "--batch-size", "10", "--progress", "json")
        result = run([WEIR, *words, "--job-dir", folder + "/job"])
    assert result.returncode == 0, result
    lines = progress_lines(result.stderr)
    summary = json.loads(pathlib.Path(folder, "job", "summary.json").read_text())
    assert len(lines) >= 3, lines
    assert [line["over"] for line in lines] == [False] * (len(lines) - 1) + [True], lines
    for line in lines:
        assert line["Pool"]["TotalConnections"] == 3, line
        assert [it["ConnectionName"] for it in line["Connections"]] == ["app1", "app2", "app3"]
    for name in ("Done", "Read", "Elapsed"):
        values = [line[name] for line in lines]
        assert values == sorted(values), values
    last = lines[-1]
    assert last["Done"] == last["Read"] == summary["done"] == 1200 and last["InFlight"] == 0, last
    assert last["Pool"]["TotalThrottleEvents"] == summary["throttles"] > 0, (last, summary)
    assert any(line["Pool"]["ThrottledConnections"] > 0 for line in lines)
    for it, other in zip(last["Connections"], summary["connections"]):
        assert it["Requests"] == other["requests"] and it["RowsDone"] == other["done_rows"]
        assert it["BoundBy"] == other["bound_by"] and it["RequestsRemaining"] is not None, it


BALANCE = ("read", "done", "rejected", "skipped", "unknown", "not_sent")


def objects(result):
    """Standard error of a command as JSON Lines: every line is an object, and only the last ends."""
    lines = [json.loads(line, object_pairs_hook=strictly) for line in result.stderr.splitlines()]
    assert lines and all(isinstance(line, dict) for line in lines), result.stderr
    assert [line.get("over", False) for line in lines] == [False] * (len(lines) - 1) + [True], result
    assert all({"over", "level", "message"} & set(line) for line in lines), result.stderr
    assert lines[-1]["result"]["exit_code"] == result.returncode, result
    return lines


def messages(lines):
    return "\n".join(line["message"] for line in lines if set(line) == {"message"})


def test_with_json_every_line_is_an_object_and_the_last_has_the_balance(folder):
    """Throttled, interrupted by a limit, resumed by what it printed, rejects, refused, alone."""
    rows = write_rows(folder, 1100)
    env = {"XDG_STATE_HOME": folder + "/state", "PATH": os.path.dirname(WEIR) + ":/usr/bin:/bin"}
    with simulator(SIM, *LIMITS) as (url, config):
        words = create(folder, config, rows, "--batch-size", "10", "--progress", "json")
        part = objects(run([WEIR, *words, "--limit", "1000", "--job-dir", folder + "/job"], env=env))
        end = part[-1]["result"]
        assert any(line.get("level") == "warning" for line in part), part
        assert all(line["MaxRetries"] == "unlimited" for line in part if "MaxRetries" in line), part
        assert f"account at {url}, job {folder}/job" in messages(part), part
        assert end["exit_code"] == 6 and end["job"] == folder + "/job", end
        assert end["read"] == sum(end[name] for name in BALANCE[1:]) and end["done"] == 1000, end
        assert end["resume"] in messages(part) and end["reason"], end
        whole = objects(run(["sh", "-c", end["resume"]], env=env))
        assert [whole[-1]["result"][name] for name in BALANCE] == [1100, 1100, 0, 0, 0, 0], whole[-1]
        assert whole[-1]["result"]["resume"] is None and whole[-1]["Done"] == 1100, whole[-1]
        again = objects(run(["sh", "-c", end["resume"]], env=env))
        assert "nothing left to do" in messages(again), again
        request = urllib.request.Request(url + "/sim/faults", json.dumps({"faults": [
            {"kind": "bad_row", "column": "accountnumber", "value": "A7"}]}).encode(),
            {"Content-Type": "application/json"})
        urllib.request.urlopen(urllib.request.Request(url + "/sim/reset", b"{}")).read()
        urllib.request.urlopen(request).read()
        bad = objects(run([WEIR, *words], env=env))
        assert bad[-1]["result"]["rejected"] == 1 and bad[-1]["result"]["exit_code"] == 1, bad[-1]
        assert "1 reject = 1 problem" in messages(bad), bad
    gone = objects(run([WEIR, *words], env=env))
    assert gone[-1]["result"]["exit_code"] == 10 and gone[-1]["result"]["reason"], gone


# --- metrics ------------------------------------------------------------------------------------


def snake(name):
    return "weir_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def as_metrics(line):
    """What a line of JSON says, as metrics; times and durations are left out: they move on."""
    values = {("weir_job_" + snake(name)[5:], ()): float(value) for name, value in line.items()
              if isinstance(value, int) and name not in ("over",)}
    for name, value in line["Pool"].items():
        own = name != "TotalThrottleEvents"  # that one is also of the connections
        values[snake(name if own else "Pool" + name), ()] = float(value)
    for it in line["Connections"]:
        label = ("connection", it["ConnectionName"])
        values["weir_bound_by", (label, ("bound_by", it["BoundBy"]))] = 1.0
        for name, value in it.items():
            if isinstance(value, (int, float)) and not name.endswith("For"):
                values[snake(name), (label,)] = float(value)
    return values


class Piped(Running):
    """A job whose progress is read as JSON, line by line."""

    def __init__(self, folder, words):
        self.process = subprocess.Popen(
            [WEIR, *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "XDG_STATE_HOME": folder + "/state"})
        self.url = None

    def lines(self):
        for line in self.process.stderr:
            found = re.search(r"weir create: metrics at (http://127\.0\.0\.1:\d+/metrics)", line)
            self.url = found[1] if found else self.url
            if line.startswith('{"over":'):
                yield parse_line(line)


def scrape(url):
    with urllib.request.urlopen(url) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"), answer
        return prometheus.parse(answer.read().decode())


def never_less(earlier, later):
    """Counters only grow, and stay."""
    before, now = earlier.counters(), later.counters()
    assert before.keys() <= now.keys(), before.keys() - now.keys()
    for key, value in before.items():
        assert now[key] >= value, (key, value, now[key])


def check_against_summary(scraped, summary):
    """What was counted until the last scrape is part of what it came to."""
    values = scraped.values
    for name in ("read", "done", "rejected", "skipped"):
        assert values["weir_job_" + name, ()] <= summary[name], (name, summary)
    assert values["weir_pool_total_throttle_events", ()] <= summary["throttles"], summary
    for name in {name for name, labels in values if labels}:
        assert (name, ()) not in values, f"a sum of {name} would count twice"
    for it in summary["connections"]:
        label = (("connection", it["name"]),)
        assert 0 < values["weir_requests", label] <= it["requests"], it
        assert 0 < values["weir_rows_done", label] <= it["done_rows"], it
        assert values["weir_total_throttle_events", label] <= it["throttles"], it


def test_metrics_parse_and_equal_the_statistics(folder):
    """Between two lines that say the same, while all are throttled, so does what is scraped. The
    last line equals the summary: test_json_lines_…"""
    rows = write_rows(folder, 1500)
    equal, before, scraped, last, lines = 0, None, None, None, 0
    with simulator(SIM, *LIMITS) as (_, config):
        words = create(folder, config, rows, "--batch-size", "10", "--progress", "json",
                       "--log-level", "error", "--metrics-listen", "0", "--job-dir",
                       folder + "/job")
        with Piped(folder, words) as job:
            for line in job.lines():
                now = as_metrics(line)
                if scraped and now == before:
                    values = scraped.values
                    assert {key: values.get(key) for key in now} == now, (values, now)
                    equal += 1
                before, lines = now, lines + 1
                scraped = None if line["over"] else scrape(job.url)
                if scraped and last:
                    never_less(last, scraped)
                last = scraped or last
            assert job.process.wait(PATIENCE_S) == 0
            assert lines > 3 and equal > 0, (lines, equal)
            assert before["weir_job_done", ()] == 1500
            check_against_summary(last, json.loads(
                pathlib.Path(folder, "job", "summary.json").read_text()))
            try:
                urllib.request.urlopen(job.url)
                raise AssertionError("it is still served")
            except OSError:
                pass


def test_names_of_connections_are_escaped_in_metrics_and_json(folder):
    names = ['a"b', "back\\slash", "Grüße 🌊", "{x=1} y", "\\n"]
    rows = write_rows(folder, 400)
    with simulator(SIM, "--users", str(len(names)), "--no-limits") as (_, config):
        for user, name in zip(config["Dataverse"]["Connections"], names):
            user["Name"] = name
        words = create(folder, config, rows, "--batch-size", "1", "--progress", "json",
                       "--max-rate", "100", "--metrics-listen", "0")
        with Piped(folder, words) as job:
            line = next(iter(job.lines()))
            assert [it["ConnectionName"] for it in line["Connections"]] == names, line
            values = scrape(job.url).values
            assert [dict(labels)["connection"] for name, labels in values
                    if name == "weir_requests"] == names, values


def test_a_port_that_is_taken_or_none_is_exit_2_and_nothing_is_sent(folder):
    rows = write_rows(folder, 10)
    with simulator(SIM, "--users", "1", "--no-limits") as (url, config):
        words = create(folder, config, rows, "--job-dir", folder + "/job")
        taken = url.split("//")[1]
        for text, says in [(taken, "in use"), ("9100x", "such as 9100"), ("::1:9100", "such as"),
                           ("127.0.0.1:65536", "such as"), ("", "such as"),
                           ("x" * 5000 + ":1", "such as")]:
            result = run([WEIR, *words, "--metrics-listen", text])
            assert result.returncode == 2 and says in result.stderr, result
            assert result.stderr.count("\n") == 1, result
        stats = json.load(urllib.request.urlopen(url + "/sim/stats"))
        assert all(it["requests"] == 0 for it in stats["connections"]), stats
        assert not pathlib.Path(folder, "job").exists()


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

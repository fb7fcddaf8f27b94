#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every exit code over real runs, and which one stands when several apply:
exit_codes.py WEIR WEIR_SIM WEIR_FAULT

WEIR_FAULT is the command with tests/support/fault_hooks.c in it, for disks that fail.
"""
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
import uuid

from harness import Running, run, run_tests
from job_kit import PATIENCE_S, bad_names, world

WEIR, SIM, FAULT = map(os.path.abspath, sys.argv[1:4])

# Given up after a second, and looked for at once.
QUICK = ["--set", "Dataverse:Resilience:MaxRetryTime=1s", "--set",
         "Dataverse:Resilience:ReadBackDelay=0s"]
SILENCE = {"kind": "commit_then_silence", "operation": "CreateMultiple"}
BAD = (1, 2, 3)


def create(it, rows, *more, program=WEIR, batch=5, **variables):
    """(exit code, summary); the summary says the same exit code."""
    it.turn = getattr(it, "turn", 0) + 1
    job = it.root / f"job{it.turn}"
    result = run([program, "create", "account", rows, "--config", str(it.folder / "appsettings.json"),
                  "--batch-size", str(batch), "--job-dir", str(job), *more],
                 env={**it.environment(), **variables})
    return result.returncode, summary_of(job, result), result


def summary_of(job, result):
    path = job / "summary.json"
    summary = json.loads(path.read_text()) if path.exists() else None
    assert not summary or result.returncode in (summary["exit_code"], 7), (summary, result)
    return summary


@contextlib.contextmanager
def liar(url):
    """A proxy that hands out ids which nobody asked for."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            other = http.client.HTTPConnection(url.split("//")[1])
            other.request(self.command, self.path, body, dict(self.headers))
            answer = other.getresponse()
            text = answer.read()
            if "CreateMultiple" in self.path and answer.status == 200:
                value = json.loads(text)
                value["Ids"] = [str(uuid.uuid4()) for _ in value["Ids"]]
                text = json.dumps(value).encode()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("content-length", "connection", "transfer-encoding", "date"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            other.close()

        do_GET = do_POST = pass_on

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def through(it, url):
    """The tokens stay those of the service."""
    return ["--url", url, "--set", f"Dataverse:Scope={it.url}/.default"]


def too_long(rows):
    """Rows 3 to 5 of the file cannot be sent."""
    path = pathlib.Path(rows)
    lines = path.read_text().splitlines()
    lines[3:6] = ["x" * 300 + line for line in lines[3:6]]
    path.write_text("\n".join(lines) + "\n")
    return rows


class Stopped(Running):
    """A job of create that runs beside the test."""

    def __init__(self, it, rows, *more, program=WEIR, batch=5, **variables):
        self.job = it.root / f"stopped{time.monotonic_ns()}"
        self.process = subprocess.Popen(
            [program, "create", "account", rows, "--config", str(it.folder / "appsettings.json"),
             "--batch-size", str(batch), "--job-dir", str(self.job), *more],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={"HOME": "/nonexistent", **it.environment(), **variables},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def end(self):
        self.stderr = self.process.communicate(timeout=PATIENCE_S)[1]
        self.returncode = self.process.returncode
        return self.returncode, summary_of(self.job, self)


def wait_for(condition):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        threading.Event().wait(0.02)


def interrupted(it, rows, *more, ready=None, **variables):
    """Ctrl-C as soon as rows are there, or `ready` says so."""
    before = it.ledger()["rows"]
    with Stopped(it, rows, *more, **variables) as job:
        wait_for(ready or (lambda: it.ledger()["rows"] > before))
        job.process.send_signal(signal.SIGINT)
        code, summary = job.end()
        return code, summary, job


def faults_met(it):
    return sum(json.load(urllib.request.urlopen(it.url + "/sim/stats"))["faults"].values())


# --- each ---------------------------------------------------------------------------------------

def test_every_exit_code_over_real_runs(folder):
    """One command after the other, each with its own reason; each is told in the summary."""
    seen = {}
    with world(WEIR, SIM, folder) as it:
        seen[0] = create(it, it.rows(20))
        it.set_faults(bad_names())
        seen[1] = create(it, it.rows(20, bad=BAD))
        seen[3] = create(it, it.rows(20, bad=BAD), "--max-errors", "0")
        it.set_faults()
        seen[2] = create(it, it.rows(3), "--no-such-option")
        seen[5] = interrupted(it, it.rows(500), "--max-rate", "50")
        seen[6] = create(it, it.rows(20), "--limit", "10")
        seen[7] = create(it, it.rows(300), "--max-parallel", "1", program=FAULT,
                         WEIR_FAIL_IO="pwrite:4:EIO")
        it.set_faults(SILENCE)
        seen[8] = create(it, it.rows(10), *QUICK, batch=100)
        it.set_faults({"kind": "unauthorized", "operation": "CreateMultiple"})
        seen[4] = create(it, it.rows(10))
        it.set_faults()
        with liar(it.url) as url:
            seen[70] = create(it, it.rows(10), *through(it, url))
        rows = it.rows(10)
    seen[10] = create(it, rows)
    assert [code for code, _, _ in seen.values()] == list(seen), seen
    for code, (_, summary, result) in seen.items():
        assert (summary is None) == (code in (2, 10)) or code == 7, (code, summary, result)
        if summary:
            parts = ("done", "rejected", "skipped", "unknown", "not_sent")
            assert summary["read"] == sum(summary[part] for part in parts), (code, summary)


def test_a_limit_a_deadline_and_a_tolerance_are_6_and_each_can_be_resumed(folder):
    with world(WEIR, SIM, folder) as it:
        throttle = {"kind": "throttle", "operation": "CreateMultiple", "retry_after": 3600}
        for words, faults in ((["--limit", "10"], []), (["--deadline", "1s", "--max-rate", "20"], []),
                              (["--max-retry-after", "5s"], [throttle])):
            before = it.ledger()["rows"]
            it.set_faults(*faults)
            code, summary, result = create(it, it.rows(100), *words)
            it.set_faults()
            assert code == 6 and summary["done"] < 100, (words, summary, result)
            line = re.findall(r"go on with\n  (\S*weir resume .*)\n", result.stderr)[-1]
            again = it.shell(line.replace("--max-rate 20", "--max-rate 2000"))
            assert again.returncode == 0, (words, again)
            assert it.ledger()["rows"] == before + 100, (words, again)


def test_finished_jobs_and_refused_ones(folder):
    with world(WEIR, SIM, folder) as it:
        it.set_faults(bad_names())
        assert create(it, it.rows(20, bad=BAD))[0] == 1
        assert it.work("resume", str(it.root / "job1")).returncode == 0  # nothing left to do
        again = it.work("create", "account", it.rows(3), "--job-dir", str(it.root / "job1"))
        assert again.returncode == 2 and "there is a job in" in again.stderr, again
        assert it.work("resume", "no-such-job").returncode == 2


# --- several ------------------------------------------------------------------------------------

def test_an_interrupt_stands_before_rejected_rows(folder):
    with world(WEIR, SIM, folder) as it:
        it.set_faults(bad_names())
        code, summary, job = interrupted(it, it.rows(600, bad=BAD), "--max-rate", "50")
        assert code == 5 and summary["rejected"] == 3, (summary, job.stderr)


def test_a_limit_stands_before_an_interrupt_and_rejected_rows(folder):
    with world(WEIR, SIM, folder) as it:
        it.set_faults(bad_names())
        code, summary, _ = create(it, it.rows(50, bad=BAD), "--limit", "20")
        assert code == 6 and summary["rejected"] == 3 and summary["read"] == 20, summary
        code, summary, job = interrupted(it, it.rows(600, bad=BAD), "--max-rate", "50", "--limit",
                                         "200")
        assert code == 6 and summary["not_sent"] > 0 and summary["read"] == 200, (summary, job.stderr)
        assert "stopping" in job.stderr, job.stderr


def test_too_many_errors_stand_before_a_limit(folder):
    with world(WEIR, SIM, folder) as it:
        it.set_faults(bad_names())
        code, summary, result = create(it, it.rows(50, bad=range(1, 21)), "--limit", "20",
                                       "--max-errors", "2", "--max-parallel", "1")
        assert code == 3 and summary["rejected"] > 2 and summary["read"] == 20, (summary, result)


def test_too_many_errors_stand_before_an_interrupt(folder):
    """The answer that refuses the row, whose number is taken, comes home after Ctrl-C. (The first
    $batch asks for the table.)"""
    with world(WEIR, SIM, folder) as it:
        rows = it.rows(50)
        assert create(it, rows)[0] == 0
        it.set_faults({"kind": "stall", "operation": "$batch", "seconds": 2, "nth": 2})
        code, summary, job = interrupted(it, rows, "--max-errors", "0", "--max-parallel", "1",
                                         batch=1, ready=lambda: faults_met(it) > 0)
        assert code == 3 and summary["rejected"] == 1, (summary, job.stderr)
        assert "stopping" in job.stderr and "--max-errors" in job.stderr, job.stderr


def test_unknown_rows_stand_before_errors_limits_interrupts_and_rejects(folder):
    with world(WEIR, SIM, folder) as it:
        it.set_faults(SILENCE)
        code, summary, _ = create(it, too_long(it.rows(20)), *QUICK, batch=100)
        assert code == 8 and summary["unknown"] == 17 and summary["rejected"] == 3, summary
        code, summary, _ = create(it, it.rows(20), *QUICK, "--limit", "5")
        assert code == 8 and summary["unknown"] == summary["read"] == 5, summary
        before = faults_met(it)
        code, summary, job = interrupted(it, it.rows(5), "--max-parallel", "1",
                                         ready=lambda: faults_met(it) > before)
        assert code == 8 and summary["unknown"] == 5 and "stopping" in job.stderr, job.stderr
        # The first request gets no answer; the second is refused, and ends the job.
        it.set_faults({**SILENCE, "nth": 1}, bad_names())
        code, summary, result = create(it, it.rows(200, bad=range(6, 11)), "--max-parallel", "1",
                                       "--max-errors", "0")
        assert code == 8 and summary["unknown"] == summary["rejected"] == 5, (summary, result)
        assert "--max-errors" in result.stderr, result


def test_a_service_out_of_reach_stands_before_unknown_and_rejected_rows_and_a_limit(folder):
    with world(WEIR, SIM, folder) as it:
        it.set_faults(SILENCE)
        code, summary, result = create(it, too_long(it.rows(30)), *QUICK, "--limit", "20")
        assert code == 10 and summary["unknown"] > 0, (summary, result)
        assert summary["rejected"] == 3 and summary["read"] == 20, (summary, result)


def test_credentials_stand_before_rejected_rows_and_a_limit(folder):
    with world(WEIR, SIM, folder) as it:
        it.set_faults(bad_names())
        with Stopped(it, it.rows(2000, bad=BAD), "--max-rate", "50", "--limit", "200") as job:
            wait_for(lambda: it.ledger()["rows"] > 20)
            it.set_faults({"kind": "unauthorized"})
            code, summary = job.end()
        assert code == 4 and summary["rejected"] == 3, (summary, job.stderr)
        assert summary["read"] == 200, summary


def test_a_failing_disk_stands_before_everything_that_a_run_can_meet(folder):
    with world(WEIR, SIM, folder) as it:
        disk = {"program": FAULT, "WEIR_FAIL_IO": "pwrite:6:EIO"}
        it.set_faults(bad_names())
        for more in ([], ["--limit", "250"], ["--max-errors", "2"]):
            code, _, result = create(it, it.rows(300, bad=BAD), "--max-parallel", "1", *more, **disk)
            assert code == 7, (more, result)
        it.set_faults(SILENCE)
        code, _, result = create(it, it.rows(10), *QUICK, program=FAULT,
                                 WEIR_FAIL_IO="fsync:5:EIO")
        assert code == 7, result
        it.set_faults()
        code, _, job = interrupted(it, it.rows(600), "--max-rate", "50", program=FAULT,
                                   WEIR_FAIL_IO="rename:2:EIO")
        assert code == 7 and "stopping" in job.stderr, job.stderr


def test_a_report_that_cannot_be_written_stands_before_what_the_job_came_to(folder):
    with world(WEIR, SIM, folder) as it:
        place = it.folder / "reports"
        for count, bad, wanted in ((100, (), 0), (100, BAD, 1)):
            place.mkdir()
            it.set_faults(bad_names())
            before = it.ledger()["rows"]
            with Stopped(it, it.rows(count, bad=bad), "--max-rate", "50", "--report",
                         str(place / "r.json")) as job:
                wait_for(lambda: it.ledger()["rows"] > before)
                place.rmdir()
                code, summary = job.end()
            assert code == 7 and summary["exit_code"] == wanted, (summary, job.stderr)


def test_what_must_not_be_stands_before_everything(folder):
    with world(WEIR, SIM, folder) as it, liar(it.url) as url:
        code, summary, result = create(it, too_long(it.rows(50)), *through(it, url), "--limit", "30")
        assert code == 70 and summary["rejected"] == 3 and summary["read"] == 30, (summary, result)


def test_the_order_is_the_documented_one(folder):
    """The code that is worse of two, for every two: as both headers have it."""
    root = pathlib.Path(__file__).parents[2]
    public = re.findall(r"WEIR_EXIT_(\w+) = (\d+)", (root / "include/weir/bulk.h").read_text())
    ours = re.findall(r" EXIT_(\w+) = WEIR_EXIT_(\w+)", (root / "apps/weir/exit_code.h").read_text())
    assert [int(code) for _, code in public] == [70, 7, 4, 10, 8, 3, 6, 5, 2, 1, 0], public
    assert ours == [(name, name) for name, _ in public], ours


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

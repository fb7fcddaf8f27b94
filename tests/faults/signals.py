#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
SIGINT and SIGTERM in mid-run, then resume: signals.py WEIR WEIR_SIM

At random instants, in all operations: what is in flight comes home or is given up after half a minute, every row is
accounted for, the exit code is 5 (8 if answers did not come), and a resume does the rest. Fifty of them with WEIR_FULL=1.
"""
import functools
import os
import signal
import sys
import time

from campaign import (FULL, THE_FIVE, Job, balance, judge, judge_secrets, let_pass, run_tests, seed_of, wait_until, world)
from tally import TALLY

ENDS_S = 30       # what the promise says
MARGIN_S = 15     # for the files of a job, on the busiest machine
TIMES = 5 if FULL else 1
ROWS, BATCH = 600, 5
STEADY = {"AdaptiveRate:Policy": "Fixed", "AdaptiveRate:FixedParallelism": 2}
SILENT = [{"kind": "stall", "seconds": 100, "probability": 0.3}]  # their answers do not come in time


def say(run, number, silent):
    """How long it then takes to end is told with the tally."""
    begun = time.monotonic()
    os.kill(run.pid, number)
    TALLY.add(faults=1)
    wait_until(run.is_over, "it has ended", ENDS_S + MARGIN_S)
    when = " while answers do not come" if silent else ""
    TALLY.measure(f"seconds until exit after {number.name}{when}, at most", time.monotonic() - begun)


def interrupted(kind, number, turn, folder):
    """One in five has answers on the way that do not come."""
    name = f"{kind.name} {number.name} {turn}"
    with world(seed=seed_of(name), service_ms=30) as sim:
        job = Job(sim, kind, folder, ROWS, batch=BATCH, seed=seed_of(name), quick=STEADY)
        run = job.start(preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        target = job.chance.randint(3, ROWS // BATCH - 30)
        if turn == 1:
            wait_until(lambda: job.requests() > 3 or run.is_over(), "the first rows are sent")
            sim.faults(*[{**fault, "operation": kind.message} for fault in SILENT])
            wait_until(lambda: sim.stats()["faults"]["stall"] > 1 or run.is_over(), "some answers do not come")
            target = 0
        wait_until(lambda: job.requests() >= target or run.is_over(), "so much has been sent")
        let_pass(job.chance.uniform(0, 0.03))
        say(run, number, turn == 1)
        result = job.finish(run)
        assert "resume" in result.stderr, result
        unknown = balance(job)["unknown"]
        assert result.code == (8 if unknown else 5) and bool(unknown) == (turn == 1), result
        judge_secrets(job)
        sim.faults()
        job.run()
        judge(job)


for each in THE_FIVE:
    for signal_number in (signal.SIGINT, signal.SIGTERM) if FULL or each in THE_FIVE[:2] else ():
        for instant in range(TIMES):
            globals()[f"test_{each.name}_{signal_number.name.lower()}_{instant + 1}"] = functools.partial(
                interrupted, each, signal_number, instant)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=8)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
SIGKILL, then resume: kill.py WEIR WEIR_SIM [WEIR_FAULT]

At random instants of the start, of the run and of a resume, up to five times a job, also while everything else goes
wrong; and, with the program that has fault points, at every boundary of the journal. Afterwards every row is in once, and no more was sent again than was in
flight or answered but not yet committed.
"""
import functools
import pathlib
import threading
import re
import signal
import sys

from campaign import (CREATE, CREATE_ELASTIC, DELETE, DELETE_ELASTIC, FULL, GROUP, UPDATE, UPSERT, WEIR_FAULT, Job,
                      judge, let_pass, run_tests, seed_of, subfolder, wait_until, world)

CONNECTIONS, PARALLEL = 2, 4
BATCH = 3
REQUESTS = 800
OVERHEAD = 12  # requests of a run that carry no rows
KILLS_MAX = 5
JOBS = 50 if FULL else 5  # for each operation: with 1 to 5 kills each
WANTED = 200 if FULL else 50  # kills that met a running command

# Levels that do not move: what may be in flight is known.
STEADY = {"AdaptiveRate:Policy": "Fixed", "AdaptiveRate:FixedParallelism": PARALLEL}


class Kills:
    """How many were tried at random, how many met a command that was running, and how many jobs try some now."""

    def __init__(self):
        self.lock, self.tried, self.met, self.jobs = threading.Lock(), 0, 0, 0

    def __enter__(self):
        with self.lock:
            self.jobs += 1

    def __exit__(self, *_):
        with self.lock:
            self.jobs -= 1

    def add(self, met):
        with self.lock:
            self.tried += 1
            self.met += met
        return met


KILLS = Kills()


def kill_somewhere(job, run):
    """Early, by the clock, to meet what a start or a resume does; or somewhere in the rest. True: killed."""
    chance, sim = job.chance, job.world
    if chance.random() < 0.3:
        let_pass(chance.uniform(0, 0.25))
    else:
        now = sim.requests()
        target = chance.randint(now, max(now, job.base_requests + REQUESTS + OVERHEAD))
        wait_until(lambda: sim.requests() >= target or run.is_over(), "so much has been sent")
        let_pass(chance.uniform(0, 0.03))
    run.kill()
    return KILLS.add(job.finish(run).code == -signal.SIGKILL)


def check_sent_again(job, kills):
    """A create that is met again is looked for as well: two requests."""
    again = (2 if job.kind is CREATE else 1) * (CONNECTIONS * PARALLEL + GROUP)
    most = REQUESTS + job.runs * OVERHEAD + kills * again
    assert job.requests() <= most, (job.requests(), most, kills)


def killed(kind, number, folder):
    name = f"{kind.name} {number}"
    with KILLS, world(connections=CONNECTIONS, seed=seed_of(name)) as sim:
        job = Job(sim, kind, folder, BATCH * REQUESTS, batch=BATCH, seed=seed_of(name), quick=STEADY)
        kills = sum(kill_somewhere(job, job.start()) for _ in range(1 + number % KILLS_MAX))
        job.run()
        judge(job)
        check_sent_again(job, kills)


for each in (CREATE, UPDATE, UPSERT, DELETE):
    for job_number in range(JOBS):
        globals()[f"test_{each.name}_killed_at_random_{job_number + 1}"] = functools.partial(
            killed, each, job_number)


# --- and everything else goes wrong meanwhile --------------------------------------------------------

STORM = [{"kind": kind, "operation": "POST", "probability": 0.03, **more} for kind, more in (
    ("commit_then_silence", {}), ("reset_before", {}), ("reset_within", {}), ("reset_after", {}), ("cut", {}),
    ("server_error", {"status": 503}), ("html_error", {}), ("deadlock", {}), ("unauthorized", {}),
    ("throttle", {"retry_after": 1}), ("late_commit", {"seconds": 0.5}))]
STORM_JOBS = 5 if FULL else 1  # of each kind


def killed_in_a_storm(kind, number, folder):
    """What was in flight may have been executed, may be executed yet, or not at all, when the next run begins."""
    name = f"{kind.name} storm {number}"
    with world(connections=CONNECTIONS, seed=seed_of(name)) as sim:
        job = Job(sim, kind, folder, 900, batch=BATCH, seed=seed_of(name), quick={
            **STEADY, "Resilience:ReadBackDelay": "1s"})
        for _ in range(1 + number % KILLS_MAX):
            run = job.start()
            target = sim.requests() + job.chance.randint(10, 120)
            wait_until(lambda: sim.requests() >= target or run.is_over(), "so much has been sent")
            sim.faults(*STORM)
            target = sim.requests() + job.chance.randint(1, 120)
            wait_until(lambda: sim.requests() >= target or run.is_over(), "so much more has been sent", 200)
            run.kill()
            job.finish(run)
        sim.faults()
        let_pass(0.6)  # the last late commit has come
        job.run()
        judge(job)


for each in (CREATE, UPDATE, UPSERT, DELETE, CREATE_ELASTIC, DELETE_ELASTIC):
    for job_number in range(STORM_JOBS) if FULL or each in (CREATE, DELETE) else ():
        globals()[f"test_{each.name}_killed_in_a_storm_{job_number + 1}"] = functools.partial(
            killed_in_a_storm, each, job_number)


# --- requests that are sized on the way ------------------------------------------------------------

AUTO_ROWS = 5000
AUTO_WORLD = {"service": [{"rows": 100, "median_s": 0.2, "fixed_s": 0.03, "sigma": 0.3, "overhead_s": 0}]}


def auto_killed(kind, folder):
    """What a resume means does not depend on where requests began and ended."""
    name = f"{kind.name} auto"
    with world(connections=CONNECTIONS, seed=seed_of(name), service_ms=None, scenario=AUTO_WORLD, folder=folder) as sim:
        job = Job(sim, kind, folder, AUTO_ROWS, batch="auto", seed=seed_of(name), quick=STEADY)
        kills = 0
        for _ in range(3):
            run = job.start()
            target = sim.requests() + job.chance.randint(5, 20)
            wait_until(lambda: sim.requests() >= target or run.is_over(), "so much has been sent")
            run.kill()
            kills += job.finish(run).code == -signal.SIGKILL
        job.run()
        judge(job)
        assert kills >= 2, job.outputs
        assert job.summary()["batch_rows"] >= 1, job.summary()


for each in (CREATE, UPDATE, UPSERT):
    globals()[f"test_{each.name}_sized_on_the_way_and_killed"] = functools.partial(auto_killed, each)


# --- every boundary of the journal ----------------------------------------------------------------

def points():
    source = pathlib.Path(__file__).resolve().parents[2] / "src/journal/point.c"
    return re.findall(r'\[WEIR_POINT_\w+\] = "([a-z-]+)"', source.read_text())


def die_at(job, point, nth):
    """True: it came there."""
    result = job.run(program=WEIR_FAULT, env={"WEIR_KILL_AT": f"{point}:{nth}"})
    assert result.code in (0, 1, -signal.SIGKILL), result
    return result.code == -signal.SIGKILL


def spoil(job):
    """A row that is refused, so that there is something to reject."""
    job.bad = {17}
    if job.kind is CREATE:
        job.rows[16]["description"] = "refused"
        job.world.faults({"kind": "bad_row", "column": "description", "value": "refused"})
    else:
        job.rows[16]["accountid"] = job.new_id()
    job.write_input()


def boundary(kind, point, nth, resumed, folder):
    name = f"{kind.name} {point} {nth} {resumed}"
    with world(connections=CONNECTIONS, seed=seed_of(name)) as sim:
        job = Job(sim, kind, folder, 90, batch=BATCH, seed=seed_of(name), quick=STEADY)
        spoil(job)
        if resumed:
            assert die_at(job, "after-seal", 2), job.outputs
        came = die_at(job, point, nth)
        job.run()
        judge(job)
        return came


def every_way(point, folder):
    """In the first run or in a resume, the first time or later: somewhere it must be met."""
    base = pathlib.Path(folder)
    came = []
    for kind in (CREATE, UPDATE):
        for nth in (1, 3) if kind is CREATE else (2,):
            for resumed in (False, True):
                inner = base / f"{kind.name}-{nth}-{resumed}"
                inner.mkdir()
                came.append(boundary(kind, point, nth, resumed, inner))
    assert any(came), "the point was never met"


if WEIR_FAULT:
    for each in points():
        globals()[f"test_killed_at_{each.replace('-', '_')}"] = functools.partial(every_way, each)


# The last test: by then all others have begun.
def test_enough_kills_at_random_met_a_running_command(folder):
    """A job may be over sooner than thought: then others are killed, until there were enough."""
    wait_until(lambda: KILLS.jobs == 0, "the jobs that are killed at random are over", 600)
    kinds, number = (CREATE, UPDATE, UPSERT, DELETE), JOBS
    while KILLS.met < WANTED and number < 3 * JOBS:
        killed(kinds[number % len(kinds)], number, subfolder(folder, str(number)))
        number += 1
    assert KILLS.met >= WANTED, (KILLS.met, KILLS.tried)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=4)

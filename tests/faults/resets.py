#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Connections that break at any byte: resets.py WEIR WEIR_SIM WEIR_FAULT TOXIC

Jobs of every operation whose connections are reset before, within and after a request and within its answer, or ended at
a byte that nobody chose, either way, by a reset, a clean end or silence. Every row is in once all the same. Two jobs of
each kind by default, a hundred with WEIR_FULL=1. And answers that are cut at each of their bytes.
"""
import functools
import os
import sys

from campaign import (CREATE, FULL, THE_FIVE, UPDATE, UPSERT, WITHOUT_BULK, Job, judge, let_pass,
                      run_tests, seed_of, wait_until, world)
from proxies import Toxic, before

TOXIC = os.path.abspath(sys.argv[4])
JOBS = 100  # of each kind, over five places
ROWS, BATCH = 200, 5
STEADY = {"AdaptiveRate:Policy": "Fixed", "AdaptiveRate:FixedParallelism": 3,
          "Http:RequestTimeout": "2s", "Http:FirstByteTimeout": "1s"}


def by_the_simulator(kind, fault, folder, name):
    """At a place that it knows."""
    with world(seed=seed_of(name), service_ms=20) as sim:
        job = Job(sim, kind, folder, ROWS, batch=BATCH, seed=seed_of(name), quick=STEADY)
        if "byte" in fault:
            fault = {**fault, "byte": job.chance.randrange(600)}
        sim.faults({**fault, "operation": kind.message, "nth": 2},
                   {**fault, "operation": kind.message, "probability": job.chance.choice((0.05, 0.15, 0.3))})
        job.run()
        happened = sum(sim.stats()["faults"].values())
        judge(job)
        assert happened > 0, "nothing happened"


def script(chance):
    """How a connection ends: after so many bytes, which may be before its first or in its fifth request."""
    end = chance.choices(("reset", "close", "stall"), (6, 3, 1))[0]
    way, most = chance.choice((("up", 6000), ("down", 4000)))
    return f"{way}-{end}={chance.randrange(most)}"


def by_the_proxy(kind, folder, name):
    with world(seed=seed_of(name), service_ms=20) as sim, before(sim, Toxic(TOXIC, sim)) as toxic:
        job = Job(sim, kind, folder, ROWS, batch=BATCH, seed=seed_of(name), quick=STEADY)
        run = job.start()
        wait_until(lambda: job.requests() > 3 or run.is_over(), "the first rows are sent")
        toxic.break_all([script(job.chance) for _ in range(job.chance.choice((6, 12, 24)))])
        job.finish(run)
        judge(job)


def nobody_listens(kind, folder):
    """For a while, and what was open is reset: as a service does that is restarted."""
    name = f"{kind.name} refused"
    with world(seed=seed_of(name), service_ms=20) as sim, before(sim, Toxic(TOXIC, sim)) as toxic:
        job = Job(sim, kind, folder, 10 * ROWS, batch=BATCH, seed=seed_of(name), quick=STEADY)
        run = job.start()
        wait_until(lambda: job.requests() > 3 or run.is_over(), "the first rows are sent")
        toxic.say("refuse")
        toxic.break_all([])
        let_pass(2)
        assert not run.is_over(), job.finish(run)
        toxic.say("accept")
        job.finish(run)
        judge(job)


def in_slices(kind, folder):
    """Nothing breaks; but heads and bodies come in pieces of seven bytes, both ways."""
    name = f"{kind.name} sliced"
    with world(seed=seed_of(name), service_ms=1) as sim, before(sim, Toxic(TOXIC, sim)) as toxic:
        job = Job(sim, kind, folder, ROWS, batch=BATCH, seed=seed_of(name))
        toxic.say("set", "up-slice=7", "down-slice=7")
        job.run()
        judge(job)
        assert job.requests() < 2 * ROWS / BATCH, "something was sent twice"


for each in THE_FIVE if FULL else (CREATE,):
    for trouble in (nobody_listens, in_slices):
        globals()[f"test_{each.name}_{trouble.__name__}"] = functools.partial(trouble, each)


PLACES = [
    ("before_requests", {"kind": "reset_before"}), ("within_requests", {"kind": "reset_within"}),
    ("after_requests", {"kind": "reset_after"}), ("within_answers", {"kind": "cut", "byte": 0}),
    ("at_any_byte", None),
]


def broken(kind, place, number, folder):
    where, fault = place
    name = f"{kind.name} {where} {number}"
    if fault:
        by_the_simulator(kind, fault, folder, name)
    else:
        by_the_proxy(kind, folder, name)


for number, each in enumerate(THE_FIVE):
    for job_number in range(JOBS) if FULL else {number, len(PLACES) - 1}:
        chosen = PLACES[job_number % len(PLACES)]
        globals()[f"test_{each.name}_broken_{chosen[0]}_{job_number + 1}"] = functools.partial(
            broken, each, chosen, job_number)


# --- each byte of an answer ------------------------------------------------------------------------

ANSWER_BYTES = 1500 if FULL else 60  # longer than any of them; what is beyond its end is whole
CUTS_A_JOB = 60
EVERY = 4     # requests for one that is cut, so that nobody takes the service for broken


def cut_here(first):
    """One byte after the other, each once; the first request may be for the description of the table."""
    return [{"kind": "cut", "byte": first + i, "nth": 3 + EVERY * i} for i in range(CUTS_A_JOB)]


def cut_at_each_byte(kind, first, folder):
    name = f"{kind.name} cut from {first}"
    with world(seed=seed_of(name), service_ms=1) as sim:
        job = Job(sim, kind, folder, (CUTS_A_JOB * EVERY + 10) * 2, batch=2, seed=seed_of(name), quick={
            "AdaptiveRate:Policy": "Fixed", "AdaptiveRate:FixedParallelism": 2})
        sim.faults(*[{**fault, "operation": kind.message} for fault in cut_here(first)])
        job.run()
        happened = sim.stats()["faults"]["cut"]
        judge(job)
        assert happened > CUTS_A_JOB / 2, happened


for each in (CREATE, UPDATE, UPSERT, WITHOUT_BULK[0], WITHOUT_BULK[3]) if FULL else (CREATE,):
    for first_byte in range(0, ANSWER_BYTES, CUTS_A_JOB):
        globals()[f"test_{each.name}_answers_cut_from_byte_{first_byte}"] = functools.partial(
            cut_at_each_byte, each, first_byte)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=8)

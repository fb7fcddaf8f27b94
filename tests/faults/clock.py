#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Clocks that jump: clock.py WEIR WEIR_SIM WEIR_FAULT

The wall clock is set a day forward or back, and the machine is suspended for ten minutes (the process stands still, the
time since boot moves, the clock that timers wait by does not), while rows are under way, while everybody is throttled,
while answers are waited for. Nothing is sent early, and nobody waits for a time that has passed. The command's clocks are
those of tests/support/clock_hooks.c; what was sent too early is told by the witness in the command.
"""
import email.utils
import functools
import json
import os
import signal
import struct
import sys
import time

from campaign import (CREATE, DELETE, FULL, UPDATE, UPSERT, WEIR_FAULT, Job, judge, let_pass, run_tests, seed_of,
                      wait_until, world)
from tally import TALLY

DAY_S = 24 * 3600
NAP_S = 600
LONG_S = 15  # of a throttle: longer than it takes until all have met it and stand still, on the busiest machine
DATE_S = 1   # a date has no fractions: it may be so much less
CONNECTIONS = 3
STEADY = {"AdaptiveRate:Policy": "Fixed", "AdaptiveRate:FixedParallelism": 2}


class Clock:
    """Of one command."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "clock")
        self.wall_s = self.boot_s = 0
        self.write()

    def write(self):
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb") as file:
            file.write(struct.pack("=qq", self.wall_s * 10**9, self.boot_s * 10**9))

    def set_wall(self, seconds):
        self.wall_s += seconds
        self.write()
        TALLY.add(faults=1)

    def suspend(self, run, seconds=NAP_S):
        """All clocks that know of a suspended machine go on, and nothing else does."""
        os.kill(run.pid, signal.SIGSTOP)
        self.wall_s += seconds
        self.boot_s += seconds
        self.write()
        os.kill(run.pid, signal.SIGCONT)
        TALLY.add(faults=1)


class Scene:
    """A job with clocks of its own that is at work."""

    def __init__(self, sim, kind, folder, name, count=900, quick=None):
        self.sim, self.clock = sim, Clock(folder)
        self.job = Job(sim, kind, folder, count, batch=5, seed=seed_of(name), quick={**STEADY, **(quick or {})})
        self.seen = self.job.folder / "witness.json"
        self.run = self.job.start(program=WEIR_FAULT, env={"WEIR_CLOCK": self.clock.path,
                                                           "WEIR_WITNESS": str(self.seen)})
        self.wait(lambda: self.job.requests() > 30, "rows are under way")

    def wait(self, condition, what):
        wait_until(lambda: condition() or self.run.is_over(), what)
        assert not self.run.is_over(), (what, self.job.finish(self.run))

    def throttle(self, retry_after):
        """Everybody, and what was in flight has come home. How many requests that took."""
        self.sim.faults({"kind": "throttle", "operation": "POST", "retry_after": retry_after})
        self.wait(lambda: self.sim.stats()["faults"]["throttle"] >= CONNECTIONS and self.stands_still(),
                  "all connections have met it")
        self.sim.faults()
        return self.sim.requests()

    def stands_still(self):
        before = self.sim.requests()
        let_pass(0.7)  # several times as long as a request takes
        return self.sim.requests() == before

    def end(self):
        self.job.finish(self.run)
        judge(self.job)
        seen = json.loads(self.seen.read_text())
        assert seen["early"] == 0, seen
        return seen


def scene(kind, name, folder, *flags, **more):
    context = world(*flags, connections=CONNECTIONS, seed=seed_of(name), service_ms=30)
    return context, lambda sim: Scene(sim, kind, folder, name, **more)


def wall_set_at_work(kind, seconds, folder):
    context, make = scene(kind, f"work {seconds}", folder)
    with context as sim:
        it = make(sim)
        it.clock.set_wall(seconds)
        it.wait(lambda: it.job.requests() > 60, "it goes on")
        it.clock.set_wall(-2 * seconds)
        it.end()


def in_seconds():
    return LONG_S


def until_a_date():
    """Which is one of the service's."""
    return email.utils.formatdate(time.time() + LONG_S, usegmt=True)


def wall_set_in_a_throttle(kind, seconds, told, folder):
    context, make = scene(kind, f"throttle {seconds} {told.__name__}", folder)
    with context as sim:
        it = make(sim)
        over = time.monotonic() + LONG_S - DATE_S  # of the first who is told so; the witness knows it of each
        before = it.throttle(told())
        it.clock.set_wall(seconds)
        left = over - time.monotonic()
        assert left > 1, "there was no time to see that nothing is sent"
        let_pass(left)
        assert sim.requests() == before, "it was sent early"
        seen = it.end()
        assert seen["throttled"] >= CONNECTIONS and seen["longest_s"] >= LONG_S - 2 * DATE_S, seen


def suspended_at_work(kind, folder):
    """Answers that are on the way come late; whoever waits for one has waited too long."""
    context, make = scene(kind, "nap", folder)
    with context as sim:
        it = make(sim)
        sim.faults({"kind": "stall", "operation": kind.message, "seconds": 2, "count": 4})
        it.wait(lambda: sim.stats()["faults"]["stall"] == 4, "some answers are held back")
        it.clock.suspend(it.run)
        it.end()


def suspended_in_a_throttle(kind, folder):
    """Of five minutes: it is over when the machine wakes. Waiting for the rest of it would take them all."""
    context, make = scene(kind, "nap throttled", folder)
    with context as sim:
        it = make(sim)
        before = it.throttle(300)
        assert sim.requests() == before
        it.clock.suspend(it.run)
        it.wait(lambda: sim.requests() > before, "it goes on when it wakes")
        assert it.end()["throttled"] >= CONNECTIONS


def suspended_in_a_longer_throttle(kind, folder):
    """Of a quarter of an hour: the first nap is not enough, the second is."""
    context, make = scene(kind, "naps throttled", folder)
    with context as sim:
        it = make(sim)
        before = it.throttle(900)
        it.clock.suspend(it.run)
        let_pass(3)  # three times as long as a suspended machine may go unnoticed
        assert sim.requests() == before, "it was sent early"
        it.clock.suspend(it.run)
        it.wait(lambda: sim.requests() > before, "it goes on when it wakes")
        it.end()


def suspended_before_a_look_back(folder):
    """Creates that nobody answered are looked for after five minutes, or when the machine wakes."""
    context, make = scene(CREATE, "nap before a look", folder, quick={"Resilience:ReadBackDelay": "300s"})
    with context as sim:
        sim.faults({"kind": "commit_then_silence", "operation": "CreateMultiple", "every": 9, "count": 5})
        it = make(sim)
        it.wait(lambda: sim.ledger(it.job.kind.table)["rows"] >= 900 + 20, "all rows are there")
        let_pass(1)
        assert not it.run.is_over(), "it did not wait"
        it.clock.suspend(it.run)
        it.end()


def suspended_beyond_the_life_of_its_tokens(kind, folder):
    context, make = scene(kind, "nap and tokens", folder, "--token-lifetime", "300")
    with context as sim:
        it = make(sim)
        it.clock.suspend(it.run)
        it.end()


SLICE = ("forward_in_a_throttle_of_seconds", "back_in_a_throttle_until_a_date", "delete_suspended_at_work",
         "suspended_in_a_throttle", "suspended_before_a_look_back")


def add(name, function, *arguments):
    if not FULL and not name.endswith(SLICE):
        return
    globals()[f"test_{name}"] = functools.partial(function, *arguments)


for word, jump_s in (("forward", DAY_S), ("back", -DAY_S)):
    add(f"a_wall_clock_set_{word}_at_work", wall_set_at_work, UPDATE, jump_s)
    add(f"a_wall_clock_set_{word}_in_a_throttle_of_seconds", wall_set_in_a_throttle, UPSERT, jump_s, in_seconds)
    add(f"a_wall_clock_set_{word}_in_a_throttle_until_a_date", wall_set_in_a_throttle, CREATE, jump_s, until_a_date)
for each in (CREATE, DELETE):
    add(f"{each.name}_suspended_at_work", suspended_at_work, each)
add("suspended_in_a_throttle", suspended_in_a_throttle, UPDATE)
add("suspended_in_a_longer_throttle", suspended_in_a_longer_throttle, UPSERT)
add("suspended_before_a_look_back", suspended_before_a_look_back)
add("suspended_beyond_the_life_of_its_tokens", suspended_beyond_the_life_of_its_tokens, UPDATE)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=4)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
A login that fails, and connections that may only read: login.py WEIR WEIR_SIM

While nobody gets a token nothing is sent, so nothing is a retry: afterwards as many requests are in flight as before. Where
one user gets none any more the others go on, and nobody asks for a token twice at a time. A connection that no row can use
is passed over, whatever chooses among connections.
"""
import functools
import sys
import time

from campaign import (CREATE, DELETE_ELASTIC, FULL, THE_FIVE, UPDATE, UPSERT, Job, judge, let_pass, run_tests,
                      seed_of, settings, wait_until, world)
from proxies import at_the_door
from tally import TALLY

LEVEL = 4        # requests in flight on each connection
SAMPLE = 100     # requests
SHARE_MIN = 0.3  # of the rate before; one at a time is a twelfth of it

FIXED = ("--policy", "Fixed", *settings({"AdaptiveRate:FixedParallelism": LEVEL}))


def accepted(sim):
    return {name: c["accepted"] for name, c in sim.connections().items()}


def wait_for(run, condition, what):
    wait_until(lambda: condition() or run.is_over(), what)
    assert not run.is_over(), what


def wait_for_all(sim, run, what):
    """Each connection has one more."""
    before = accepted(sim)
    wait_for(run, lambda: all(n > before[name] for name, n in accepted(sim).items()), what)


def rate(sim, run):
    """Requests in a second, over the next few."""
    first, begun = sum(accepted(sim).values()), time.monotonic()
    wait_for(run, lambda: sum(accepted(sim).values()) >= first + SAMPLE, "some more are sent")
    last, ended = sum(accepted(sim).values()), time.monotonic()
    return (last - first) / (ended - begun)


def stands_still(sim):
    before = accepted(sim)
    let_pass(0.5)  # several times as long as a request takes
    return accepted(sim) == before


def test_after_an_outage_of_the_login_as_many_are_in_flight_as_before(folder):
    """Tokens live for seconds, so that all of them end in it."""
    with world("--token-lifetime", "3", service_ms=100) as sim:
        job = Job(sim, CREATE, folder, 3600, batch=2)
        run = job.start(*FIXED)
        wait_for_all(sim, run, "all connections are at work")
        before = rate(sim, run)
        sim.faults({"kind": "server_error", "status": 503, "operation": "token"})
        wait_for(run, lambda: stands_still(sim), "the last token has ended")
        sim.faults()
        wait_for_all(sim, run, "all connections have a token again")
        after = rate(sim, run)
        job.finish(run)
        assert after > SHARE_MIN * before, (before, after)
        sim.token = sim.log_in(sim.judge)  # the judge's has ended as well
        judge(job)


TROUBLES = {
    "503": {"kind": "server_error", "status": 503}, "pages": {"kind": "html_error"}, "resets": {"kind": "reset_before"},
    "cuts": {"kind": "cut"}, "silence": {"kind": "commit_then_silence"}, "401": {"kind": "unauthorized"},
    "throttles": {"kind": "throttle", "retry_after": 1},
}


def troubled(kind, trouble, folder):
    """Tokens live for two seconds, so that they are renewed in mid-run; for one of the users that fails twice."""
    name = f"{kind.name} login {trouble}"
    with world("--token-lifetime", "2", service_ms=60, seed=seed_of(name)) as sim:
        job = Job(sim, kind, folder, 450, batch=3, seed=seed_of(name))
        run = job.start(*settings({"AdaptiveRate:Policy": "Fixed", "AdaptiveRate:FixedParallelism": 1}))
        wait_for_all(sim, run, "all connections are at work")
        sim.faults({**TROUBLES[trouble], "operation": "token", "count": 2})
        job.finish(run)
        happened = sum(sim.stats()["faults"].values())
        sim.faults()
        sim.token = sim.log_in(sim.judge)
        judge(job)
        assert happened > 0, "no login failed"


for number, each_trouble in enumerate(TROUBLES):
    for each in THE_FIVE if FULL else [THE_FIVE[number % len(THE_FIVE)]] if number == 0 else []:
        globals()[f"test_{each.name}_while_the_login_gives_{each_trouble}"] = functools.partial(
            troubled, each, each_trouble)


def wait_for_others(sim, run, porter, since):
    """Each has sent more, and by more than one token that it was given since."""
    others = [name for name in sim.names if name != "app2"]
    before = accepted(sim)
    wait_for(run, lambda: all(porter.asked[name] >= since[name] + 2 for name in others), "the others renew their tokens")
    wait_for(run, lambda: all(accepted(sim)[name] > before[name] for name in others), "the others go on")


def locked_out(kind, folder):
    """Tokens live for two seconds, and from some moment on one of the users gets none."""
    name = f"{kind.name} locked out"
    with world("--token-lifetime", "2", service_ms=60, seed=seed_of(name)) as sim, at_the_door(sim) as porter:
        job = Job(sim, kind, folder, 3600, batch=2, seed=seed_of(name))
        run = job.start(*FIXED)
        wait_for_all(sim, run, "all connections are at work")
        sim.faults({"kind": "unauthorized", "operation": "token", "connection": "app2"})
        wait_for(run, lambda: sim.stats()["faults"]["unauthorized"] > 0, "app2 gets no token")
        since = dict(porter.asked)
        wait_for_others(sim, run, porter, since)
        ended = accepted(sim)["app2"]  # two tokens later its last has ended
        job.finish(run)
        assert accepted(sim)["app2"] == ended, "it went on without a token"
        for user in sim.names:
            TALLY.measure("logins of a connection at a time, at most", porter.most[user])
            assert porter.most[user] == 1, porter.most
        sim.faults()
        sim.token = sim.log_in(sim.judge)
        judge(job)


for each in THE_FIVE if FULL else THE_FIVE[:1]:
    globals()[f"test_{each.name}_while_one_user_is_locked_out_for_good"] = functools.partial(locked_out, each)


def least_connections(kind, folder):
    """The one that may only read has always the fewest leases out."""
    scenario = {"users": [{"name": "app1", "privileges": {kind.table.name: "read"}}]}
    with world(scenario=scenario, folder=folder, seed=seed_of(kind.name)) as sim:
        job = Job(sim, kind, folder, 600, batch=10)
        job.run(*settings({"Pool:SelectionStrategy": "LeastConnections"}))
        judge(job)


for each in (CREATE, UPDATE, UPSERT, DELETE_ELASTIC):
    globals()[f"test_{each.name}_least_connections_without_privilege"] = functools.partial(
        least_connections, each)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=1)

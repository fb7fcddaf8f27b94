#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Everybody is throttled: throttled.py WEIR WEIR_SIM WEIR_FAULT

The job waits without working: next to no processor time, no request inside a Retry-After, one probe for each connection
when it opens again.
"""
import json
import pathlib
import sys
import time

from campaign import (CREATE, UPDATE, WEIR_FAULT, Job, judge, let_pass, run_tests, wait_until, world)
from tally import TALLY

CONNECTIONS = 3
WINDOW_S = 60
CPU_SHARE = 0.01
PROBES = "probes of a connection at a reopening, at most"


def all_throttled(sim, at_least):
    return all(c["requests"] >= at_least for c in sim.connections().values())


def begin_throttled(sim, folder, retry_after, **how):
    """A job that is at work, and then nobody lets it go on."""
    job = Job(sim, CREATE, folder, 3000, batch=10)
    run = job.start(**how)
    wait_until(lambda: all_throttled(sim, 5) or run.is_over(), "all connections are at work")
    before = {name: c["requests"] for name, c in sim.connections().items()}
    sim.faults({"kind": "throttle", "operation": "POST", "retry_after": retry_after})
    wait_until(lambda: sim.stats()["faults"]["throttle"] >= CONNECTIONS and all(
        c["requests"] > before[name] for name, c in sim.connections().items()), "all connections have met it")
    let_pass(0.5)  # what was in flight has come home
    assert not run.is_over(), job.finish(run)
    return job, run


def test_waiting_for_a_throttle_costs_no_processor_time_and_sends_nothing(folder):
    with world(connections=CONNECTIONS, service_ms=30) as sim:
        job, run = begin_throttled(sim, folder, WINDOW_S + 2)
        requests, cpu, begun = sim.requests(), run.cpu_ns(), time.monotonic_ns()
        let_pass(WINDOW_S - 1)
        share = (run.cpu_ns() - cpu) / (time.monotonic_ns() - begun)
        assert sim.requests() == requests, "a request was sent inside Retry-After"
        TALLY.measure("share of a processor while all are throttled, at most", share)
        assert share < CPU_SHARE, share
        sim.faults()
        job.finish(run)
        judge(job)
        summary = job.summary()
        assert summary["throttles"] >= CONNECTIONS, summary
        assert summary["throttle_wait_s"] > 0, summary


def test_one_probe_for_each_connection_at_each_reopening(folder):
    """Those in flight are throttled together; afterwards one request at a time asks whether it is over."""
    with world(connections=CONNECTIONS, service_ms=30) as sim:
        retry_after = 1
        witness = pathlib.Path(folder) / "witness.json"
        job, run = begin_throttled(sim, folder, retry_after, program=WEIR_FAULT, env={"WEIR_WITNESS": str(witness)})
        before, begun = sim.connections(), time.monotonic()
        let_pass(5)
        after, elapsed = sim.connections(), time.monotonic() - begun
        for name in before:
            probes = after[name]["requests"] - before[name]["requests"]
            assert 1 <= probes <= elapsed / retry_after + 1, (name, probes, elapsed)
        sim.faults()
        job.finish(run)
        judge(job)
        seen = json.loads(witness.read_text())
        TALLY.measure(PROBES, seen["probes"])
        assert seen["probes"] == 1 and seen["early"] == 0, seen


PENALTIES = ["--requests", "25", "--window", "3", "--concurrent", "52", "--exec-time", "0"]


def through_penalties(sim, folder, level, buffer_ms=100, promised_ms=None):
    """Limits of the service's own, several windows long: it counts whoever comes too early, and the witness counts the
    buffer as well, or what else he is told was promised."""
    job = Job(sim, UPDATE, folder, 900, batch=5, quick={"Resilience:RetryAfterBuffer": f"{buffer_ms}ms"})
    promised_ms = buffer_ms if promised_ms is None else promised_ms
    result, seen = job.run_watched("--policy", "Fixed", "--set",
                                   f"Dataverse:AdaptiveRate:FixedParallelism={level}",
                                   env={"WEIR_WITNESS_BUFFER_MS": str(promised_ms)})
    service = sim.connections()
    judge(job)
    told = {c["name"]: c["throttles"] for c in job.summary()["connections"]}
    assert told == {name: sum(c["throttled"].values()) for name, c in service.items()}, told
    assert seen["throttled"] == sum(told.values()) >= 2 and seen["longest_s"] >= 1, (seen, told)
    TALLY.measure(PROBES, seen["probes"])
    assert seen["probes"] == 1, seen
    return seen, service


def test_no_request_inside_a_penalty_of_the_service(folder):
    """One request at a time, so that none is on its way when the first of them is refused: the service has seen none."""
    with world(*PENALTIES, connections=CONNECTIONS, limits=True, service_ms=20) as sim:
        seen, service = through_penalties(sim, folder, 1)
        assert all(c["sent_while_throttled"] == 0 for c in service.values()), service
        assert seen["early"] == 0, seen


def test_no_request_once_a_connection_was_told_to_wait(folder):
    """Many at a time: those that were on their way may meet the penalty, but none leaves after the first 429 is home."""
    with world(*PENALTIES, connections=CONNECTIONS, limits=True, service_ms=20) as sim:
        seen, _ = through_penalties(sim, folder, 12)
        assert seen["early"] == 0, seen


def test_no_request_inside_the_buffer_that_follows(folder):
    """One that is longer than chance could bridge: the jitter of a reopening is a twentieth of Retry-After."""
    with world(*PENALTIES, connections=CONNECTIONS, limits=True, service_ms=20) as sim:
        seen, _ = through_penalties(sim, folder, 12, buffer_ms=1500)
        assert seen["early"] == 0, seen


def test_a_request_inside_a_buffer_is_seen(folder):
    """The witness is told of a buffer that the command knows nothing of."""
    with world(*PENALTIES, connections=CONNECTIONS, limits=True, service_ms=20) as sim:
        seen, _ = through_penalties(sim, folder, 12, buffer_ms=0, promised_ms=1500)
        assert seen["early"] > 0, seen


def test_without_tracking_the_batch_that_was_throttled_waits(folder):
    """The others go on, as nobody keeps track; but none of them is sent over and over again."""
    with world(connections=CONNECTIONS) as sim:
        job = Job(sim, UPDATE, folder, 600, batch=5)
        sim.faults({"kind": "throttle", "operation": "UpdateMultiple", "every": 3, "retry_after": 1})
        _, seen = job.run_watched("--set", "Dataverse:Resilience:EnableThrottleTracking=false")
        judge(job)
        assert 0 < seen["throttled"] <= seen["sent"] / 3 and seen["early"], seen


def test_a_tolerance_that_is_exceeded_ends_the_run_and_a_resume_goes_on(folder):
    with world(connections=CONNECTIONS, service_ms=30) as sim:
        job = Job(sim, CREATE, folder, 1500, batch=10)
        run = job.start("--max-retry-after", "5s", "--max-parallel", str(4 * CONNECTIONS))
        wait_until(lambda: all_throttled(sim, 5) or run.is_over(), "all connections are at work")
        sim.faults({"kind": "throttle", "operation": "POST", "retry_after": 300})
        result = job.finish(run)
        assert result.code == 6 and "resume" in result.stderr, result
        sim.faults()
        job.run()
        judge(job)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=1)

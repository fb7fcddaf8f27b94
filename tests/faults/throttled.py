#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Everybody is throttled: throttled.py WEIR WEIR_SIM

The job waits without working: next to no processor time, no request inside a Retry-After, one probe for each connection
when it opens again. A minute of it with WEIR_FULL=1.
"""
import sys
import time

from campaign import (CREATE, FULL, UPDATE, Job, judge, let_pass, run_tests, wait_until, world)

CONNECTIONS = 3
WINDOW_S = 60 if FULL else 8
CPU_SHARE = 0.01


def all_throttled(sim, at_least):
    return all(c["requests"] >= at_least for c in sim.connections().values())


def begin_throttled(sim, folder, retry_after):
    """A job that is at work, and then nobody lets it go on."""
    job = Job(sim, CREATE, folder, 3000, batch=10)
    run = job.start()
    wait_until(lambda: all_throttled(sim, 5) or run.is_over(), "all connections are at work")
    throttles = {"kind": "throttle", "operation": "POST", "retry_after": retry_after}
    sim.faults(throttles)
    met = sim.stats()["faults"]["throttle"]
    before = {name: c["requests"] for name, c in sim.connections().items()}
    wait_until(lambda: all(c["requests"] > before[name] for name, c in sim.connections().items()),
               "all connections have met it")
    assert sim.stats()["faults"]["throttle"] >= met + CONNECTIONS
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
        job, run = begin_throttled(sim, folder, retry_after)
        before, begun = sim.connections(), time.monotonic()
        let_pass(5)
        after, elapsed = sim.connections(), time.monotonic() - begun
        for name in before:
            probes = after[name]["requests"] - before[name]["requests"]
            assert 1 <= probes <= elapsed / retry_after + 1, (name, probes, elapsed)
        sim.faults()
        job.finish(run)
        judge(job)


def test_no_request_inside_a_penalty_of_the_service(folder):
    """Limits of the service's own, several windows long: it counts whoever comes too early. One request at a time, so
    that none is on its way when the first of them is refused."""
    flags = ["--requests", "25", "--window", "3", "--concurrent", "52", "--exec-time", "0"]
    with world(*flags, connections=CONNECTIONS, limits=True, service_ms=20) as sim:
        job = Job(sim, UPDATE, folder, 900, batch=5)
        job.run("--policy", "Fixed", "--set", "Dataverse:AdaptiveRate:FixedParallelism=1")
        service = sim.connections()
        judge(job)
        assert all(c["sent_while_throttled"] == 0 for c in service.values()), service
        assert sum(c["throttled"]["requests"] for c in service.values()) >= 2, service
        told = {c["name"]: c["throttles"] for c in job.summary()["connections"]}
        assert told == {name: sum(c["throttled"].values()) for name, c in service.items()}, told


def test_a_tolerance_that_is_exceeded_ends_the_run_and_a_resume_goes_on(folder):
    with world(connections=CONNECTIONS, service_ms=30) as sim:
        job = Job(sim, CREATE, folder, 1500, batch=10)
        run = job.start("--max-retry-after", "5s")
        wait_until(lambda: all_throttled(sim, 5) or run.is_over(), "all connections are at work")
        sim.faults({"kind": "throttle", "operation": "POST", "retry_after": 300})
        result = job.finish(run)
        assert result.code == 6 and "resume" in result.stderr, result
        sim.faults()
        job.run()
        judge(job)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=1)

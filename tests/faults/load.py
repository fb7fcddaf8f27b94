#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Push to throttle: load.py WEIR WEIR_SIM

The world of the design documents with a fifth of its times: a window of a minute, and the limits, the penalties, the
batches (five seconds out there, one here), the policy's and the buffer's durations with it. Under pressure the adaptive
policy is throttled, says so and counts it, and goes on with whoever is open; so it is done sooner than with round robin,
which waits for whoever is next. A fixed level that the limits can sustain makes use of them.

The jobs mostly wait, so they run beside each other; those that are compared begin together.
"""
import concurrent.futures
import contextlib
import json
import sys
import urllib.error

from campaign import CREATE, FULL, Job, judge, run_tests, scaled, seed_of, subfolder, world

CONNECTIONS = 3
WINDOW_S = 60
SCALE = WINDOW_S / 300  # of all durations
SERVICE_S = 5 * SCALE   # of a batch
BATCH = 2
EXEC_S = 4 * WINDOW_S   # a connection sustains four in flight, as out there
AT_ONCE = 48            # requests of the other client
SCALED = scaled(SCALE)


def load_world(folder, seed):
    """The execution time of creates binds; deletes are the other client's and take a second; all else takes none."""
    scenario = {
        "dop_hint": 52,
        "limits": {"window_s": WINDOW_S, "requests": 1000 * WINDOW_S, "execution_s": EXEC_S,
                   "concurrent": 52},
        "retry_after": {"base_s": 1 * SCALE, "forget_s": 360 * SCALE, "cap_s": 480 * SCALE,
                        "per_offence_s": 1 * SCALE},
        "service": [{"operation": CREATE.message, "rows": BATCH, "median_s": SERVICE_S, "sigma": 0.3,
                     "overhead_s": 0, "exec_share": 1},
                    {"operation": "DELETE", "rows": 1, "median_s": 1, "sigma": 0, "exec_share": 1},
                    {"median_s": 0.001, "overhead_s": 0}]}
    return world("--dop", "52", connections=CONNECTIONS, limits=True, service_ms=None, seed=seed,
                 scenario=scenario, folder=folder)


# Whoever takes turns may be lucky once: two of three users that are open again after a second. On the whole he is not.
ROUNDS, CLEARLY = 3, 0.9


def rows_for(windows, connections=CONNECTIONS):
    """As many rows as the limits let through in so many windows, in whole batches."""
    return int(connections * EXEC_S / SERVICE_S * windows) * BATCH


def use_up(sim, name):
    """Another client uses the same application user until nothing is left."""
    connection = [c for c in sim.config["Dataverse"]["Connections"] if c["Name"] == name][0]
    headers = {"Authorization": "Bearer " + sim.log_in(connection)}

    def delete_nothing(_):
        with contextlib.suppress(urllib.error.HTTPError):  # there is no such row
            sim.call("DELETE", "/api/data/v9.2/accounts(00000000-0000-0000-0000-000000000001)",
                     headers=headers)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(delete_nothing, range(EXEC_S)))


def load(folder, count, *more, policy="Aimd", used_up=None):
    with load_world(folder, seed_of(str(count))) as sim:
        job = Job(sim, CREATE, folder, count, batch=BATCH, quick=SCALED)
        if used_up:
            use_up(sim, used_up)
        result = job.run("--policy", policy, "--log-level", "debug", "--log-format", "json", *more)
        service = sim.connections()
        judge(job)
        return result, job.summary(), service


def compare(folder, count, **more):
    """The same job, at the same time in a world of its own, with each strategy."""
    strategies = ("ThrottleAware", "RoundRobin")

    def run(strategy):
        return load(subfolder(folder, strategy), count, "--strategy", strategy, **more)
    with concurrent.futures.ThreadPoolExecutor(len(strategies)) as threads:
        (_, aware, _), (_, in_turn, _) = threads.map(run, strategies)
    print(f"# {in_turn['elapsed_s'] / aware['elapsed_s']:.2f} times as long with RoundRobin: "
          f"{in_turn['elapsed_s']:.0f} s, {aware['elapsed_s']:.0f} s", flush=True)
    return aware, in_turn


def throttled(service):
    return {name: sum(c["throttled"].values()) for name, c in service.items()}


def warnings(result):
    """The throttles that were logged, by connection."""
    logged = {}
    for line in result.stderr.splitlines():
        record = json.loads(line) if line.startswith("{") else {}
        if record.get("level") == "warning" and "RetryAfter" in record and "ErrorCode" in record:
            assert record["Attempt"] >= 1, record
            logged[record["Connection"]] = logged.get(record["Connection"], 0) + 1
    return logged


def test_push_to_throttle_is_logged_and_counted(folder):
    """More than the limits let through in a window, from fifty in flight on."""
    result, summary, service = load(folder, rows_for(1.3))
    met = throttled(service)
    assert min(met.values()) > 0, service
    assert {c["name"]: c["throttles"] for c in summary["connections"]} == met, (summary, met)
    assert summary["throttles"] == sum(met.values()) and summary["throttle_wait_s"] > 0, summary
    assert warnings(result) == met, (warnings(result), met)


def test_aimd_is_done_sooner_than_with_round_robin(folder):
    """Two windows of work and three users that are alike: what is over comes home at different times, and whoever is
    open again first is used first."""
    with_routing = by_turns = 0
    for attempt in range(ROUNDS):
        aware, in_turn = compare(subfolder(folder, str(attempt)), rows_for(2))
        assert min(c["throttles"] for c in aware["connections"]) > 0, aware
        with_routing += aware["elapsed_s"]
        by_turns += in_turn["elapsed_s"]
        if with_routing < CLEARLY * by_turns:
            return
    raise AssertionError((with_routing, by_turns))


def test_a_used_up_connection_is_routed_around(folder):
    """Another client has used up one of the three."""
    aware, in_turn = compare(folder, rows_for(0.6, connections=CONNECTIONS - 1), used_up="app1")
    assert [c["throttles"] > 0 for c in aware["connections"] if c["name"] == "app1"] == [True], aware
    assert aware["elapsed_s"] < in_turn["elapsed_s"], (aware, in_turn)
    away = {c["name"]: c["done_rows"] for c in aware["connections"]}
    assert min(away["app2"], away["app3"]) > away["app1"], away


def test_a_fixed_level_that_can_be_sustained_uses_what_the_limits_allow(folder):
    result, summary, service = load(folder, rows_for(1.5), "--set",
                                    "Dataverse:AdaptiveRate:FixedParallelism=4", policy="Fixed")
    allowed = CONNECTIONS * EXEC_S / WINDOW_S
    used = sum(c["execution_s"] for c in service.values()) / summary["elapsed_s"]
    assert used >= 0.9 * allowed, (used, allowed, result.stderr[-500:])
    print(f"# {used / allowed:.1%} of what the limits allow", flush=True)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

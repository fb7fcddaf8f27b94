#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Push to throttle: load.py WEIR WEIR_SIM

The service's window is scaled down, and the limits, the penalties, the policy's and the buffer's durations with it, so
that minutes pass in seconds (with WEIR_FULL=1 the window is a minute). Under pressure the adaptive policy is throttled,
says so and counts it. Where one connection is used up and the others are not, it routes away and is done sooner than
round robin, which waits for whoever is next. A fixed level that the limits can sustain makes use of them.
"""
import concurrent.futures
import contextlib
import json
import sys
import urllib.error

from campaign import CREATE, FULL, Job, judge, run_tests, seed_of, subfolder, world

CONNECTIONS = 3
WINDOW_S = 60 if FULL else 6
SCALE = WINDOW_S / 300  # of all durations
SERVICE_S = 0.2
BATCH = 2
EXEC_S = 4 * WINDOW_S   # a connection sustains four in flight, as out there
AT_ONCE = 48            # requests of the other client


def duration(seconds):
    return f"{max(1, round(seconds * 1000))}ms"


# The defaults, in this world's time; what has a lower bound stays at it.
SCALED = {
    "AdaptiveRate:MinIncreaseInterval": duration(5 * SCALE),
    "AdaptiveRate:LastKnownGoodTTL": duration(max(300 * SCALE, 1)),
    "AdaptiveRate:IdleResetPeriod": duration(max(300 * SCALE, 1)),
    "Resilience:RetryAfterBuffer": duration(1 * SCALE),
}


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


def load(folder, count, *more, used_up=None):
    with load_world(folder, seed_of(str(count))) as sim:
        job = Job(sim, CREATE, folder, count, batch=BATCH, quick=SCALED)
        if used_up:
            use_up(sim, used_up)
        result = job.run("--log-level", "debug", "--log-format", "json", *more)
        service = sim.connections()
        judge(job)
        return result, job.summary(), service


def throttled(service):
    return {name: sum(c["throttled"].values()) for name, c in service.items()}


def warnings(result):
    """The throttles that were logged, by connection."""
    logged = {}
    for line in result.stderr.splitlines():
        record = json.loads(line) if line.startswith("{") else {}
        if record.get("level") == "warning" and "RetryAfter" in record and "ErrorCode" in record:
            logged[record["Connection"]] = logged.get(record["Connection"], 0) + 1
    return logged


def test_push_to_throttle_is_logged_and_counted(folder):
    """More than the limits let through in a window, from fifty in flight on."""
    result, summary, service = load(folder, rows_for(1.3), "--policy", "Aimd")
    met = throttled(service)
    assert min(met.values()) > 0, service
    assert {c["name"]: c["throttles"] for c in summary["connections"]} == met, (summary, met)
    assert summary["throttles"] == sum(met.values()) and summary["throttle_wait_s"] > 0, summary
    assert warnings(result) == met, (warnings(result), met)


def test_aimd_routes_away_and_is_done_sooner_than_round_robin(folder):
    count = rows_for(0.6, connections=CONNECTIONS - 1)
    runs = {}
    for strategy in ("ThrottleAware", "RoundRobin"):
        _, summary, service = load(subfolder(folder, strategy), count, "--policy", "Aimd",
                                   "--strategy", strategy, used_up="app1")
        assert throttled(service)["app1"] > 0, service
        runs[strategy] = summary
    aware, in_turn = runs["ThrottleAware"], runs["RoundRobin"]
    assert aware["elapsed_s"] < in_turn["elapsed_s"], (aware, in_turn)
    away = {c["name"]: c["done_rows"] for c in aware["connections"]}
    assert min(away["app2"], away["app3"]) > away["app1"], away


def test_a_fixed_level_that_can_be_sustained_uses_what_the_limits_allow(folder):
    result, summary, service = load(folder, rows_for(1.5), "--policy", "Fixed", "--set",
                                    "Dataverse:AdaptiveRate:FixedParallelism=4")
    allowed = CONNECTIONS * EXEC_S / WINDOW_S
    used = sum(c["execution_s"] for c in service.values()) / summary["elapsed_s"]
    assert used >= 0.9 * allowed, (used, allowed, result.stderr[-500:])
    print(f"# {used / allowed:.1%} of what the limits allow")


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=1)

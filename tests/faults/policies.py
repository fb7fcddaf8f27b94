#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Policies beside each other over real sockets: policies.py WEIR WEIR_SIM

The limits of the design documents in a world where everything takes a fiftieth of its time: a window of six seconds,
120 requests and 24 seconds of execution in it, and the penalties, the batches, the policies' and the buffer's durations
alike. Each policy has a world of its own, and all of them run at the same time, so that whatever else the machine does
is done to all: nobody gets more done than Budget, and nobody is throttled less.

Those that compare rates and count throttles against a real clock need the machine for themselves: ./test --full.

With several web servers, Budget has each of them asked for and answering; a policy that does not tell them apart sends
no cookie.
"""
import concurrent.futures
import sys

from campaign import CREATE, FULL, Job, run_tests, scaled, seed_of, subfolder, world

CONNECTIONS = 2
WINDOW_S = 6
SCALE = WINDOW_S / 300
BATCH = 2
HINT = 5
BATCH_S = 5 * SCALE
PLENTY = 6000  # requests in a window that do not bind: as many for each batch as there are out there
WINDOWS = 10

POLICIES = {
    "Budget": ("--policy", "Budget"),
    "Aimd": ("--policy", "Aimd"),
    "Dop": ("--policy", "Dop"),
    "fixed:52": ("--policy", "Fixed", "--set", "Dataverse:AdaptiveRate:FixedParallelism=52"),
}


SCALED = scaled(SCALE)


def small_world(folder, name, requests, **more):
    scenario = {
        "dop_hint": HINT,
        "limits": {"window_s": WINDOW_S, "requests": requests, "execution_s": 1200 * SCALE,
                   "concurrent": 52},
        "retry_after": {"base_s": 5 * SCALE, "forget_s": 360 * SCALE, "cap_s": 480 * SCALE,
                        "per_offence_s": 1 * SCALE},
        "service": [{"operation": CREATE.message, "rows": BATCH, "median_s": BATCH_S, "sigma": 0.3,
                     "overhead_s": 0.15 * SCALE},
                    {"median_s": 0.001, "overhead_s": 0}],
        **more}
    return world("--dop", str(HINT), connections=CONNECTIONS, limits=True, service_ms=None,
                 seed=seed_of(name), scenario=scenario, folder=folder)


def throttles(sim):
    return sum(sum(c["throttled"].values()) for c in sim.connections().values())


def run_policy(folder, name, policy, requests, windows, more):
    """Rows a second, throttles and requests to each server, of a job that would take longer than it may."""
    seconds = windows * WINDOW_S
    with small_world(folder, name, requests, **more) as sim:
        most = int(CONNECTIONS * more.get("servers", 1) * 4 * seconds / BATCH_S) * BATCH * 2
        job = Job(sim, CREATE, folder, most, batch=BATCH, quick=SCALED)
        result = job.run(*POLICIES[policy], "--deadline", f"{seconds}s")
        assert result.code == 6, result
        summary = job.summary()
        return (summary["done"] / max(seconds, summary["elapsed_s"]), throttles(sim),
                sim.stats()["servers"])


def side_by_side(folder, name, requests, policies=tuple(POLICIES), windows=WINDOWS, **more):
    def run(policy):
        return run_policy(subfolder(folder, policy.replace(":", "-")), name, policy, requests, windows, more)
    with concurrent.futures.ThreadPoolExecutor(len(policies)) as threads:
        outcomes = dict(zip(policies, threads.map(run, policies)))
    print(f"# {name}: " + ", ".join(f"{policy} {rate:.2f} rows/s and {throttled} throttles"
                                    for policy, (rate, throttled, _) in outcomes.items()), flush=True)
    return outcomes


def assert_ahead(outcomes):
    rate, throttled, _ = outcomes["Budget"]
    for policy, (other, others, _) in outcomes.items():
        assert rate >= other, (policy, other, rate)
        assert throttled <= others, (policy, others, throttled)


def test_nobody_is_ahead_of_budget_where_execution_time_binds(folder):
    assert_ahead(side_by_side(folder, "execution time", PLENTY))


def test_nobody_is_ahead_of_budget_where_requests_bind(folder):
    assert_ahead(side_by_side(folder, "requests", round(6000 * SCALE)))


def test_lanes_reach_all_servers_and_only_a_wish_sends_a_cookie(folder):
    outcomes = side_by_side(folder, "four servers", PLENTY, policies=("Budget", "Aimd"), windows=2,
                            servers=4, affinity="pinned")
    (_, _, lanes), (_, _, blind) = outcomes["Budget"], outcomes["Aimd"]
    assert all(server["requests"] >= server["asked"] > 0 for server in lanes), lanes
    asked, sent = (sum(server[count] for server in lanes) for count in ("asked", "requests"))
    print(f"# {asked} of {sent} asked for a server", flush=True)
    assert not FULL or asked > sent / 2, lanes
    assert all(server["requests"] > 0 and server["asked"] == 0 for server in blind), blind


def test_a_resumed_job_remembers_what_it_has_used(folder):
    """Nothing but our own books says what is left: without them the second run would begin as if nothing had been
    used, and be throttled."""
    with small_world(folder, "resume", PLENTY, headers="absent") as sim:
        job = Job(sim, CREATE, folder, 4000, batch=BATCH, quick=SCALED)
        for _ in range(3):
            result = job.run("--policy", "Budget", "--deadline", f"{WINDOW_S / 3}s")
            assert result.code == 6, result
        assert throttles(sim) == 0, sim.connections()
        print(f"# resumed: {job.summary()['done']} rows in a window", flush=True)


if not FULL:
    del test_nobody_is_ahead_of_budget_where_execution_time_binds
    del test_nobody_is_ahead_of_budget_where_requests_bind
    del test_a_resumed_job_remembers_what_it_has_used


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

# SPDX-License-Identifier: MIT
"""
6. More connections, under limits, over HTTP: a small world without contention in which each application user has the
same quota of execution time, and the same work for each connection; rows a second with 1, 2, 4 and 8 connections.
"""
import json

from kit import figure, median, remove, run_job, say, simulator, write_input

TITLE = "Scaling over HTTP, under limits"
COUNTS = (1, 2, 4, 8)
LEAST = {2: 1.9, 4: 3.7, 8: 7.2}
WINDOW_S = 10
BATCH = 20
BATCH_S = 0.5       # long beside what a busy machine adds to it
AT_ONCE = 4         # that the quota of a connection sustains
WINDOWS = 1.5


def world(bench):
    scenario = {
        "dop_hint": AT_ONCE,
        "limits": {"window_s": WINDOW_S, "requests": 100_000, "execution_s": AT_ONCE * WINDOW_S, "concurrent": 52},
        "service": [{"operation": "CreateMultiple", "rows": BATCH, "median_s": BATCH_S, "sigma": 0, "overhead_s": 0},
                    {"median_s": 0.001, "overhead_s": 0}]}
    path = bench.path("scaling.json")
    path.write_text(json.dumps(scenario))
    return path


def rate(bench, connections):
    rows = int(WINDOWS * WINDOW_S * AT_ONCE / BATCH_S) * BATCH * connections
    path = write_input(bench, f"scaling-{connections}.csv", rows, distinct=True)
    with simulator(bench, "--scenario", str(world(bench)), "--users", str(connections)) as service:
        job = run_job(service, "create", path, batch=BATCH, policy=("--policy", "Dop"))
    summary = job.summary
    assert summary["done"] == rows, summary
    say(f"{connections} connections: {rows / summary['elapsed_s']:.0f} rows/s, {summary['throttles']} throttles, "
        f"{job.cpu_s / summary['elapsed_s'] * 100:.0f} % of a core")
    remove(path, job.folder)
    return rows / summary["elapsed_s"]


def measure(bench):
    counts, rounds = ((1, 2), 1) if bench.quick else (COUNTS, 3)
    rates = [{count: rate(bench, count) for count in counts} for _ in range(rounds)]
    figures = [figure("scaling-1", "one connection", median(r[1] for r in rates), "rows/s")]
    for count in counts[1:]:
        figures.append(figure(f"scaling-{count}", f"{count} connections, in times one",
                              median(r[count] / r[1] for r in rates), "times", least=LEAST[count], better="higher"))
    return figures

# SPDX-License-Identifier: MIT
"""
1. Processor time for a row: `weir create` from CSV beside clients that send finished bodies of the same size to the
same server, so many requests in flight: the barest loop of libcurl, and wrk; and beside a Node program with
dynamics-web-api that makes the same calls as weir, of the rows of the file, or so many calls of the same hundred rows,
which it has in memory.
Rounds take turns; medians are compared. Against the simulator, which parses and keeps every row, as the goals are
meant; and against the null server, which shows the client alone.
"""
import re

from kit import API, BATCH, LEVEL, ROOT, USERS, figure, median, null_server, remove, run, run_job, say, simulator, write_input

TITLE = "Processor time for a row"
IN_FLIGHT = USERS * LEVEL
WRK_S = 2
WRK = """
local file = io.open(os.getenv("BODY"), "rb")
wrk.method, wrk.body = "POST", file:read("*a")
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = os.getenv("BEARER")
"""


def without_ids(bench, body):
    """As long as the one with ids, for a server that would not take the same ids twice."""
    text = body.read_text()
    def stand_in(match):
        return '"description":"' + "x" * (len(match.group(0)) - len('"description":""')) + '"'
    other = re.sub(r'"accountid":"[0-9a-f-]{36}"', stand_in, text)
    other = re.sub(r',"accountnumber":"[^"]*"', lambda m: ',"address1_city":"' + "y" * (len(m.group(0)) - 19) + '"',
                   re.sub(r',"address1_city":"[^"]*"', lambda m: ',"weir_sequence":' + "1" * 15, other))
    path = bench.path("body-without-ids.json")
    path.write_text(other)
    return path


def by_weir(service, path, rows):
    job = run_job(service, "create", path)
    assert job.summary["done"] == rows, job.summary
    requests, bytes_sent = job.summary["requests"], job.summary["bytes_sent"]
    remove(job.folder)
    return job.cpu_s / requests * 1e6, bytes_sent / requests


def by_bare(service, body, requests):
    ended = run([service.bench.program("bench_bare"), service.url + API, body, IN_FLIGHT, requests, *service.lines()])
    return ended.cpu_s / requests * 1e6


def by_wrk(service, body):
    script = service.bench.path("post.lua")
    script.write_text(WRK)
    ended = run(["wrk", "-t1", f"-c{IN_FLIGHT}", f"-d{WRK_S}s", "-s", script, service.url + API],
                env={"BODY": str(body), "BEARER": service.bearer()})
    if "Non-2xx" in ended.out or "Socket errors" in ended.out:
        raise RuntimeError(ended.out)
    return ended.cpu_s / int(re.search(r"(\d+) requests in", ended.out).group(1)) * 1e6


def by_node(service, rows, requests):
    """Of `rows`, a body or a file of rows; start and end are part of it, as they are of weir's."""
    ended = run([ROOT / "bench/node/run", service.url, service.bearer()[7:], rows, IN_FLIGHT, requests])
    return ended.cpu_s / requests * 1e6


def rounds_of(service, path, rows, bodies, count, contestants):
    """All of them in turn; the costs of each, in µs a request."""
    costs = {name: [] for name in contestants}
    for number in range(count):
        for name in contestants:
            service.reset()
            if name == "weir":
                cost, size = by_weir(service, path, rows)
            elif name == "bare":
                cost = by_bare(service, bodies, rows // BATCH)
            elif name == "wrk":
                cost = by_wrk(service, bodies)
            elif name == "node":
                cost = by_node(service, bodies, rows // BATCH)
            else:
                cost = by_node(service, path, rows // BATCH)
            costs[name].append(cost)
        say(f"round {number + 1}: " + ", ".join(f"{name} {values[-1]:.0f} µs" for name, values in costs.items()))
    return costs, size


def ratio(costs, one, other):
    return median(a / b for a, b in zip(costs[one], costs[other]))


def figures_of(name, words, costs, most=None, least=None):
    bare, node = ratio(costs, "weir", "bare"), ratio(costs, "node", "weir") if "node" in costs else None
    yield figure(f"{name}-us", f"weir, a request of {BATCH} rows, {words}", median(costs["weir"]), "µs")
    yield figure(f"{name}-bare-us", "… the barest libcurl loop", median(costs["bare"]), "µs")
    yield figure(f"{name}-bare", "… weir, in times that loop", bare, "times", most=most, better="lower")
    if "wrk" in costs:
        yield figure(f"{name}-wrk-us", "… wrk", median(costs["wrk"]), "µs")
        yield figure(f"{name}-wrk", "… weir, in times wrk", ratio(costs, "weir", "wrk"), "times")
    if node:
        yield figure(f"{name}-node-us", "… Node with dynamics-web-api, the same hundred rows over and over",
                     median(costs["node"]), "µs")
        yield figure(f"{name}-node", "… Node with the same hundred rows, in times weir", node, "times")
        yield figure(f"{name}-node-csv-us", "… Node with dynamics-web-api, the same calls as weir",
                     median(costs["node, file"]), "µs")
        yield figure(f"{name}-node-csv", "… Node with the same calls, in times weir",
                     ratio(costs, "node, file", "weir"), "times", least=least)


def measure(bench):
    rows, rounds = (100_000, 3) if bench.quick else (1_000_000, 5)
    contestants = ["weir", "bare"] if bench.quick else ["weir", "bare", "wrk", "node", "node, file"]
    if not bench.quick:
        run([ROOT / "bench/node/run"])
    path = write_input(bench, "cpu.csv", rows, distinct=True)
    body = bench.path("body.json")
    figures = []
    with null_server(bench, body) as service:
        run_job(service, "create", path, "--limit", str(BATCH), fine=(6, 0))
        costs, size = rounds_of(service, path, rows, body, rounds, contestants)
        figures += [figure("cpu-body", "body of a request", size / 1000, "KB"), *figures_of("cpu-null", "null server", costs)]
    if not bench.quick:
        with simulator(bench) as service:
            costs, _ = rounds_of(service, path, rows, without_ids(bench, body), rounds, contestants)
            figures += figures_of("cpu-sim", "weir-sim", costs, most=2.5, least=10)
    remove(path)
    return figures

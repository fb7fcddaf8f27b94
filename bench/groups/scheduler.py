# SPDX-License-Identifier: MIT
"""
5. The scheduler: giving a lease back, taking another and beginning it, by strategy and by policy, at one to ten thousand
connections; and a thousand connections with 52 slots each, all of them lent. In nanoseconds of processor time, beside an
operation of a heap of the same size. And what Budget takes to decide, and to learn from the headers of an answer, by lanes.
"""
import re

from kit import figure, run, say

TITLE = "Scheduler"
MOST_NS = 1000
LINE = re.compile(r"^(\d+) connections, (\d+) lent, (\S+) (\S+): ([\d.]+) ns, ([\d.]+) decided, heap ([\d.]+) ns$")


DECISION = re.compile(r"^(\d+) lanes, (\d+) connections, (alone|beside): ([\d.]+) ns a decision, ([\d.]+) an answer$")


def measure_decisions(bench):
    figures, costs = [], {}
    for line in run([bench.program("bench_decide")]).out.splitlines():
        say(line)
        match = DECISION.match(line)
        if not match:
            continue
        lanes, connections, company = int(match[1]), int(match[2]), match[3]
        key = f"budget-{lanes}-{connections}-{company}"
        title = f"Budget, {lanes:,} lanes of {connections:,} connections, " + (
            "nobody else" if company == "alone" else "somebody else in a rhythm")
        figures.append(figure(key, f"{title}: a decision", float(match[4]), "ns",
                              most=MOST_NS if lanes <= 100 and company == "alone" else None))
        figures.append(figure(key + "-answer", "… what an answer teaches", float(match[5]), "ns"))
        costs[lanes // connections, company, lanes] = float(match[4])
    for (servers, company, lanes), took in costs.items():
        before = costs.get((servers, company, lanes // 10))
        if before:
            figures.append(figure(f"budget-growth-{servers}-{company}",
                                  f"Budget, {servers} servers, {company}: {lanes:,} lanes, in times {lanes // 10:,}",
                                  took / before, "times", most=10))
    return figures


def measure(bench):
    output = run([bench.program("bench_pool"), *(["quick"] if bench.quick else [])]).out
    costs, figures = {}, []
    for line in output.splitlines():
        say(line)
        match = LINE.match(line)
        if not match:
            continue
        count, lent, strategy, policy = int(match[1]), int(match[2]), match[3], match[4]
        took, decided, heap = (float(match[i]) for i in (5, 6, 7))
        key = f"lease-{strategy}-{policy}-{count}-{lent}".lower()
        costs[strategy, policy, lent // count, count] = took
        figures.append(figure(key, f"{count:,} connections, {lent:,} lent, {strategy}, {policy}", took, "ns",
                              most=MOST_NS if count <= 100 and "@" not in policy else None))
        if decided:
            figures.append(figure(key + "-decision", "… of that the policy's decisions", decided, "ns"))
        if (strategy, policy) == ("ThrottleAware", "Aimd"):
            figures.append(figure(key + "-heap", "… in times an operation of a heap", took / max(heap, 1), "times",
                                  better="lower" if count == 100 else None))
    for (strategy, policy, slots, count), took in costs.items():
        before = costs.get((strategy, policy, slots, count // 10))
        if count > 100 and before:
            figures.append(figure(f"growth-{strategy}-{policy}-{count}".lower(),
                                  f"{strategy}, {policy}: {count:,} connections, in times {count // 10:,}",
                                  took / before, "times", most=10))
    return figures if bench.quick else figures + measure_decisions(bench)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
What a service says when it will not, or not now: answers.py WEIR WEIR_SIM

Retry-After in every form, right or wrong, of a 429 and of a 503: it is kept to, and bounded where it says too much. The
three limits, as an answer, in a part of a $batch and in the details of an elastic table. And a service that fails all the
time is given up, with every row accounted for.
"""
import functools
import sys

from campaign import (CREATE, CREATE_ELASTIC, DELETE, DELETE_ELASTIC, FULL, THE_FIVE, UPSERT_ELASTIC, WITHOUT_BULK, Job,
                      balance, judge, run_tests, seed_of, wait_until, world)

QUICK = {"Resilience:FallbackRetryAfter": "1s", "AdaptiveRate:Policy": "Fixed", "AdaptiveRate:FixedParallelism": 2}

# What the header says, and whether all connections may be told so: of the others one is enough. (The first $batch is for
# the description of the table; no fault below is for the first request.)
FORMS = {
    "missing": ("missing", True), "zero": (0, True), "below_zero": ("-5", True), "a_fraction": ("1.5", True),
    "a_date": ("date", False), "a_date_gone_by": ("Wed, 21 Oct 2015 07:28:00 GMT", True),
    "a_date_of_no_day": ("Wed, 99 Foo 2015 07:28:00 GMT", True), "words": ("soon", True),
    "a_day": (86400, False), "more_than_fits": ("99999999999999999999999", False), "a_blank": (" ", True),
    "a_number_and_words": ("5 minutes", True), "a_hexadecimal": ("0x10", True),
}


def told(kind, status, form, folder):
    """However it is said, it is no reason to lose a row, to send without end or to wait for a day."""
    header, by_all = FORMS[form]
    name = f"{kind.name} {status} {form}"
    fault = {"kind": "throttle"} if status == 429 else {"kind": "server_error", "status": status}
    where = {} if by_all else {"connection": "app2"}
    with world(seed=seed_of(name), service_ms=20) as sim:
        job = Job(sim, kind, folder, 400, batch=10, seed=seed_of(name), quick=QUICK)
        sim.faults({**fault, **where, "retry_after": header, "operation": kind.message, "every": 3 if by_all else 2,
                    "count": 4 if by_all else 1})
        job.run()
        happened = sum(sim.stats()["faults"].values())
        judge(job)
        assert happened > 0, "nobody was told"
        assert job.requests() <= 40 + 5 * happened + 20, (job.requests(), happened)


for number, each_form in enumerate(FORMS):
    for which, code in enumerate((429, 503)):
        for each in THE_FIVE if FULL else [THE_FIVE[number % len(THE_FIVE)]] if number % 2 == which else []:
            globals()[f"test_{each.name}_told_{code}_with_{each_form}"] = functools.partial(
                told, each, code, each_form)


# --- three limits, three places --------------------------------------------------------------------

LIMITS = {"requests": "0x80072322", "execution_time": "0x80072321", "concurrency": "0x80072326"}
PLACES = [("answer", each) for each in THE_FIVE] + [
    ("part", each) for each in (DELETE, WITHOUT_BULK[0], WITHOUT_BULK[2])] + [
    ("detail", each) for each in (CREATE_ELASTIC, UPSERT_ELASTIC, DELETE_ELASTIC)]


def limited(kind, where, limit, folder):
    """Only app2 is throttled, and only app2 is said to have been."""
    name = f"{kind.name} {where} {limit}"
    with world(seed=seed_of(name), service_ms=20) as sim:
        job = Job(sim, kind, folder, 400, batch=10, seed=seed_of(name), quick=QUICK)
        inside = {} if where == "answer" else {"where": where, "index": 3}
        sim.faults({"kind": "throttle", "code": LIMITS[limit], "retry_after": 1, "operation": kind.message,
                    "connection": "app2", "every": 2, "count": 3, **inside})
        job.run()
        happened = sim.stats()["faults"]["throttle"]
        judge(job)
        throttles = {c["name"]: c["throttles"] for c in job.summary()["connections"]}
        assert happened > 0 and throttles == {"app1": 0, "app2": happened, "app3": 0}, (happened, throttles)


for number, (place, each) in enumerate(PLACES):
    for index, each_limit in enumerate(LIMITS):
        if FULL or index == 0 == number % 2:
            globals()[f"test_{each.name}_limited_by_{each_limit}_in_its_{place}"] = functools.partial(
                limited, each, place, each_limit)


# --- a service that is not one ----------------------------------------------------------------------

NEVER = {
    "500": [{"kind": "server_error", "status": 500}], "503": [{"kind": "server_error", "status": 503}],
    "pages": [{"kind": "html_error"}], "deadlocks": [{"kind": "deadlock"}], "resets": [{"kind": "reset_before"}],
    "429_and_500": [{"kind": "throttle", "code": LIMITS["requests"], "retry_after": 1, "every": 2},
                    {"kind": "server_error", "status": 500}],
}


ROWS, BATCH = 4000, 5


def never(kind, fault, folder):
    """For longer than it is tried: the run ends, each row is known or honestly unknown, and a resume does the rest."""
    name = f"{kind.name} never {fault}"
    with world(seed=seed_of(name), service_ms=20) as sim:
        job = Job(sim, kind, folder, ROWS, batch=BATCH, seed=seed_of(name), quick={
            **QUICK, "Resilience:MaxRetryTime": "4s"})
        run = job.start()
        wait_until(lambda: job.requests() > 6 or run.is_over(), "the first rows are sent")
        sim.faults(*({**each, "operation": "POST"} for each in NEVER[fault]))
        before = job.requests()
        result = job.finish(run)
        assert result.code in (6, 8, 10) and "resume" in result.stderr, result
        balance(job)
        # A batch that meets a deadlock waits, longer every time, and the others go on: on a quick machine all of them
        # have had their turn before the time is over. A service that only fails is waited for by all.
        most = 3 * ROWS // BATCH if fault == "deadlocks" else 400
        assert job.requests() - before < most, (job.requests(), before)
        sim.faults()
        job.run()
        judge(job)


for number, each_fault in enumerate(NEVER):
    for each in THE_FIVE if FULL else [THE_FIVE[number]] if number % 4 == 0 else []:
        globals()[f"test_{each.name}_that_meets_nothing_but_{each_fault}"] = functools.partial(
            never, each, each_fault)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=8)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Rows that the service refuses, among rows that it takes: bad_rows.py WEIR WEIR_SIM

The good ones go in, the bad ones are rejected with the service's own words, and finding out which is which costs one
request for each batch that has one.
"""
import copy
import functools
import math
import sys

from campaign import (CREATE, CREATE_ELASTIC, FULL, UPDATE, UPSERT, WITHOUT_BULK, Job, judge, run_tests,
                      seed_of, world)

BAD = "what no plug-in accepts"
LOOKUP = "primarycontactid"  # nobody but the service can tell that there is no such contact


def spoil(job, rows):
    job.bad = set(rows)
    for row in rows:
        job.rows[row - 1][job.kind.table.note] = BAD
    job.write_input()
    job.world.faults({"kind": "bad_row", "column": job.kind.table.note, "value": BAD})


def plugin_runs(job):
    """The most that any row has had from this job; seeding was one for those that were there."""
    ledger = job.world.ledger(job.kind.table)
    return ledger["max_plugin_runs_per_row"] - (0 if job.kind.verb == "create" else 1)


def spoilt(kind, folder, count, bad, batch=100):
    """A job with bad rows and the same without: what did they cost?"""
    with world(seed=seed_of(kind.name)) as sim:
        job = Job(sim, kind, folder, count, batch=batch)
        spoil(job, bad)
        job.run("--max-errors", "100%")
        requests = job.summary()["requests"]
        judge(job)
        for error in job.errors():
            assert BAD in error["message"] and "refused by a plug-in" in error["message"], error
            assert error["service_code"] == "0x80040265" and error["http_status"] == 400, error
            assert error["request_id"] and error["connection"] and error["attempts"] >= 1, error
        if not kind.table.bulk:
            assert plugin_runs(job) <= 1, job.world.ledger(kind.table)
        assert plugin_runs(job) <= 2, job.world.ledger(kind.table)
        return requests, math.ceil(count / batch)


def one_in_a_hundred(kind, folder):
    requests, batches = spoilt(kind, folder, 100, [42])
    assert requests == batches + 1, requests


def one_in_a_thousand(kind, folder):
    requests, batches = spoilt(kind, folder, 1000, [777])
    assert requests == batches + 1, requests


def one_percent(kind, folder):
    """Each batch of a hundred has one: from the second on it is known that they have."""
    requests, batches = spoilt(kind, folder, 2000, range(50, 2000, 100))
    assert batches < requests <= 2 * batches, requests


def one_in_ten_thousand(kind, folder):
    requests, batches = spoilt(kind, folder, 10000, [7777])
    assert requests == batches + 1, requests


def one_in_ten(kind, folder):
    """Each batch has ten."""
    requests, batches = spoilt(kind, folder, 2000, range(4, 2000, 10))
    assert batches < requests <= 2 * batches, requests


def every_second(kind, folder):
    requests, batches = spoilt(kind, folder, 2000, range(1, 2000, 2))
    assert batches < requests <= 2 * batches, requests


def all_of_them(kind, folder):
    requests, batches = spoilt(kind, folder, 100, range(1, 101), batch=50)
    assert batches < requests <= 2 * batches, requests


for each in (CREATE, UPDATE, UPSERT):
    for amount in (one_in_a_hundred, one_in_a_thousand, one_in_ten_thousand, one_percent, one_in_ten, every_second,
                   all_of_them):
        if FULL or each is CREATE or amount not in (one_in_ten_thousand, one_in_ten):
            globals()[f"test_{each.name}_{amount.__name__}"] = functools.partial(amount, each)


def point_nowhere(job, rows):
    """Each of them to a contact of its own, which the service names when it refuses the row: a plug-in says the same of
    all that it refuses."""
    columns = [*job.kind.columns(), LOOKUP]
    job.kind, job.bad = copy.copy(job.kind), set(rows)
    job.kind.columns = lambda: columns
    for row in rows:
        job.rows[row - 1][LOOKUP] = job.new_id()
    job.write_input()


def words_of_its_own(kind, every, folder):
    """The bad rows of a batch are refused beside each other; none is given the words that another was refused with."""
    with world(seed=seed_of(kind.name)) as sim:
        job = Job(sim, kind, folder, 400, batch=50)
        point_nowhere(job, range(every, 401, every))
        job.run("--max-errors", "100%")
        judge(job)
        for error in job.errors():
            own = job.rows[error["row"] - 1][LOOKUP]
            assert own in error["message"] and "Does Not Exist" in error["message"], (own, error)
        assert 8 < job.summary()["requests"] <= 2 * 8, job.summary()


for each in (CREATE, UPDATE, UPSERT):
    for every_so_many in (1, 2, 10):
        globals()[f"test_{each.name}_one_of_{every_so_many}_is_refused_with_words_of_its_own"] = functools.partial(
            words_of_its_own, each, every_so_many)


def test_without_bulk_messages_a_bad_row_costs_no_request(folder):
    requests, batches = spoilt(WITHOUT_BULK[0], folder, 200, range(3, 200, 20), batch=20)
    assert requests == batches, requests


def test_elastic_bad_rows_are_told_apart(folder):
    requests, batches = spoilt(CREATE_ELASTIC, folder, 200, [20, 120], batch=20)
    assert requests <= batches + 4, requests


def test_too_many_bad_rows_stop_the_job_and_no_row_is_forgotten(folder):
    with world(service_ms=20) as sim:
        job = Job(sim, CREATE, folder, 3000, batch=10)
        spoil(job, range(1, 3000, 2))
        result = job.run("--max-errors", "100")
        summary = job.summary()
        assert result.code == 3 and "resume" in result.stderr, result
        assert 100 <= summary["rejected"] < 1500 and summary["not_sent"] > 0, summary
        result = job.run("--max-errors", "3000")
        judge(job)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

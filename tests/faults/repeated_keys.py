#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The same key again and again, and requests that are executed when nobody expects it: repeated_keys.py WEIR WEIR_SIM

Ten thousand rows over a hundred keys. The last one of each key wins, whatever happened to the ones before it.
"""
import functools
import sys

from campaign import (ACCOUNT, DELETE, UPDATE, UPDATE_BY_KEY, UPSERT, Job, judge,
                      let_pass, run_tests, seed_of, world)

KEYS = 100


def repeat(job, count):
    """Rows of the first KEYS keys in a random order, each with values of its own."""
    kind, first = job.kind, job.rows[:KEYS]
    job.rows = []
    for number in range(1, count + 1):
        key = job.chance.choice(first)[kind.mark()]
        job.rows.append({kind.mark(): key, "name": f"row {number:06d}",
                         "description": f"note of {number}"})
    job.write_input()


def repeated(kind, faults, count, folder, quick=None, **more):
    with world(seed=seed_of(kind.name)) as sim:
        job = Job(sim, kind, folder, KEYS, batch=100, seed=seed_of(kind.name), quick=quick)
        repeat(job, count)
        sim.faults(*[{"operation": kind.message, **fault} for fault in faults])
        job.run()
        let_pass(1)
        judge(job)


SHUFFLED = [
    {"kind": "commit_then_silence", "probability": 0.03},
    {"kind": "late_commit", "seconds": 0.8, "probability": 0.02},
    {"kind": "reset_within", "probability": 0.02},
    {"kind": "deadlock", "probability": 0.02},
    {"kind": "throttle", "retry_after": 1, "probability": 0.02},
]
for each in (UPSERT, UPDATE, UPDATE_BY_KEY):
    globals()[f"test_{each.name}_ten_thousand_rows_over_a_hundred_keys"] = functools.partial(
        repeated, each, [], 10000)
    globals()[f"test_{each.name}_the_last_one_wins_through_shuffled_faults"] = functools.partial(
        repeated, each, SHUFFLED, 10000 if each is UPSERT else 2000)
    # A request that comes back from the dead must not undo a later row.
    globals()[f"test_{each.name}_late_commits_undo_nothing"] = functools.partial(
        repeated, each, [{"kind": "late_commit", "seconds": 0.9, "every": 4}], 800)


def test_a_deleted_row_stays_deleted_however_often_it_is_named(folder):
    with world() as sim:
        job = Job(sim, DELETE, folder, KEYS, batch=20)
        job.rows = job.rows * 20
        job.chance.shuffle(job.rows)
        job.write_input()
        sim.faults({"kind": "commit_then_silence", "operation": "$batch", "probability": 0.05})
        job.run()
        judge(job)
        assert sim.ledger(ACCOUNT)["deletes"] == KEYS


def test_a_rejected_row_whose_key_comes_again_is_superseded(folder):
    """It is told in the errors, and not among the rows to be fed in again: that would undo the later one."""
    with world() as sim:
        job = Job(sim, UPSERT, folder, 50, batch=10)
        bad = {**job.rows[9], "description": "refused"}
        job.rows[9:9] = [bad]
        job.write_input()
        sim.faults({"kind": "bad_row", "column": "description", "value": "refused"})
        result = job.run()
        sim.faults()
        job.bad = {10}
        assert result.code == 1 and job.summary()["rejected"] == 1, result
        assert [(e["row"], e["superseded"]) for e in job.errors()] == [(10, True)], job.errors()
        rejects = (job.directory / "rejects.csv").read_text().splitlines()
        assert rejects == job.input.read_text().splitlines()[:1], rejects
        assert sim.rows(ACCOUNT, job.seen_columns()) == job.expected()


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

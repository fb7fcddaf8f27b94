#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The bulk operations over sockets, with nothing in their way: operations.py WEIR WEIR_SIM

Every kind of row by the message that is meant for it, each row written exactly once, ids in the order of the input, all
connections at work.
"""
import functools
import json
import sys

from campaign import (ACCOUNT, CREATE, CREATE_ELASTIC, DELETE_BY_KEY, THE_FIVE, UPDATE,
                      UPDATE_BY_KEY, UPDATE_ELASTIC, UPSERT, UPSERT_BY_ID, UPSERT_ELASTIC,
                      WITHOUT_BULK, Job, judge, run_tests, seed_of, subfolder, world)
from tally import Finding

ROWS = 600
BATCH = 20  # also what a table without bulk messages takes


def changes(job):
    ledger = job.world.ledger(job.kind.table)
    return {key: ledger[key] - job.base[key]
            for key in ("writes", "creates", "updates", "upserts", "deletes", "plugin_runs")}


def check_writes(job):
    """Nothing failed, so nothing was sent twice."""
    assert changes(job)["writes"] == ROWS, changes(job)
    assert changes(job)["plugin_runs"] <= ROWS, changes(job)


def check_connections(job):
    summary, service = job.summary(), job.world.connections()
    mine = {c["name"]: c for c in summary["connections"]}
    assert sorted(mine) == sorted(service), summary
    assert all(c["accepted"] > 1 for c in service.values()), service
    assert all(c["done_rows"] > 0 for c in mine.values()), summary
    assert sum(c["done_rows"] for c in mine.values()) == summary["done"], summary
    assert sum(c["requests"] for c in mine.values()) == summary["requests"], summary
    assert summary["requests"] <= job.requests(), (summary, service)
    assert summary["throttles"] == 0, summary


def operate(kind, folder):
    with world(seed=seed_of(kind.name)) as sim:
        job = Job(sim, kind, folder, ROWS, batch=BATCH, seed=seed_of(kind.name))
        # A delay of nothing counts the requests that travel by the message.
        sim.faults({"kind": "latency_collapse", "factor": 1, "operation": kind.message})
        job.run()
        requests = sim.stats()["faults"]["latency_collapse"]
        judge(job)
        description = 1 if kind.message == "$batch" else 0  # of the table: it comes by a $batch
        assert requests == ROWS // BATCH + description, requests
        check_writes(job)
        check_connections(job)


for each in [*THE_FIVE, CREATE_ELASTIC, UPDATE_ELASTIC, UPSERT_ELASTIC, UPDATE_BY_KEY,
             DELETE_BY_KEY, UPSERT_BY_ID, *WITHOUT_BULK]:
    globals()[f"test_{each.name}"] = functools.partial(operate, each)


def test_ids_of_the_input_are_used_as_they_are(folder):
    with world() as sim:
        job = Job(sim, CREATE, folder, 0)
        job.rows = [{"accountid": job.new_id(), "name": f"row {i}"} for i in range(250)]
        lines = ["accountid,name"] + [f"{row['accountid']},{row['name']}" for row in job.rows]
        job.input.write_text("\n".join(lines) + "\n")
        job.run()
        judge(job)
        found = sim.rows(ACCOUNT, ["accountid", "name"])
        assert set(found) >= {(row["accountid"], row["name"]) for row in job.rows}


def test_a_row_that_is_not_there_is_refused_to_an_update(folder):
    """And no ghost of it is made; by key likewise."""
    for kind in (UPDATE, UPDATE_BY_KEY):
        with world() as sim:
            job = Job(sim, kind, subfolder(folder, kind.name), 100, batch=25)
            job.rows[41][kind.mark()] = job.new_id() if kind is UPDATE else "K-nobody"
            job.bad = {42}
            job.write_input()
            job.run()
            judge(job)
            assert job.errors()[0]["http_status"] == 404, job.errors()


def test_a_delete_of_what_is_not_there_is_done(folder):
    with world() as sim:
        job = Job(sim, THE_FIVE[3], folder, 100, batch=25)
        job.rows[10]["accountid"] = job.new_id()
        job.write_input()
        job.run()
        judge(job)


def test_an_upsert_twice_is_an_upsert_once(folder):
    with world() as sim:
        job = Job(sim, UPSERT, folder, 200, batch=50)
        job.run()
        judge(job)
        job.directory = job.folder / "again"
        job.run()
        judge(job)


# --- the judge himself ----------------------------------------------------------------------------

def change_summary(job, **numbers):
    (job.directory / "summary.json").write_text(json.dumps({**job.summary(), **numbers}))


def lose_a_row(job, ids):
    job.world.api("DELETE", f"accounts({ids[0]})")


def add_a_row(job, _):
    job.world.seed(ACCOUNT, [{"accountid": job.new_id(), "name": "nobody's"}])


def create_a_row_twice(job, ids):
    job.world.api("DELETE", f"accounts({ids[0]})")
    job.world.api("POST", "accounts", json.dumps({"accountid": ids[0], **job.rows[0]}).encode())


def report_another_row(job, ids):
    text = (job.directory / "ids.csv").read_text()
    (job.directory / "ids.csv").write_text(text.replace(ids[0], ids[1]))


def forget_a_row(job, _):
    change_summary(job, done=job.summary()["done"] - 1)


def write_a_secret(job, _):
    (job.directory / "note").write_text("it is " + job.world.secrets[0])


def write_a_token(job, _):
    (job.directory / "note").write_text("Bearer " + job.world.token)


def test_the_judge_finds_what_is_wrong(folder):
    for kind, wrong in (("LOST", lose_a_row), ("GHOST", add_a_row), ("DUP", create_a_row_twice),
                        ("MISREPORT", report_another_row), ("UNBALANCED", forget_a_row),
                        ("LEAK", write_a_secret), ("LEAK", write_a_token)):
        with world() as sim:
            job = Job(sim, CREATE, subfolder(folder, wrong.__name__), 20, batch=5)
            job.run()
            judge(job)
            ids = [line.split(",")[1] for line in (job.directory / "ids.csv").read_text().split()[1:]]
            wrong(job, ids)
            try:
                judge(job)
            except Finding as finding:
                assert finding.kind == kind, finding
            else:
                raise AssertionError(f"{wrong.__name__} was not found")


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

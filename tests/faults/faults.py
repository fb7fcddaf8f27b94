#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Every operation through every fault that a network and a service can have: faults.py WEIR WEIR_SIM

Whatever happens on the way, all rows are in, once, with their values, and the command knows it.
"""
import functools
import sys

from campaign import (ACCOUNT, CREATE, CREATE_ELASTIC, DELETE, DELETE_ELASTIC, READING, THE_FIVE,
                      UPDATE, UPSERT, UPSERT_ELASTIC, WITHOUT_BULK, Job, balance, judge, let_pass, run_tests,
                      seed_of, subfolder, untouched, wait_until, world)

BULK = ("CreateMultiple", "UpdateMultiple", "UpsertMultiple", "DeleteMultiple")


def storm(fault, kind, share):
    """So often, and at least once."""
    at = {"operation": kind.message}
    return [{**fault, **at, "nth": 2}, {**fault, **at, "probability": share}]


def spare_the_start(fault):
    """They are meant for rows, and would hit the description of the table as well, which comes by a $batch."""
    return fault if fault["operation"] in BULK else {**fault, "after": 3}


def suffer(name, kind, faults, folder, count=300, batch=10, flags=(), quick=None, late_s=0,
           least=1):
    with world(*flags, seed=seed_of(name), service_ms=5) as sim:
        job = Job(sim, kind, folder, count, batch=batch, seed=seed_of(name), quick=quick or {})
        sim.faults(*map(spare_the_start, faults))
        job.finish(job.start())
        if late_s:
            let_pass(late_s)
        happened = sum(sim.stats()["faults"].values())
        judge(job)
        assert happened >= least, happened


def add(name, kind, faults, **more):
    globals()[f"test_{kind.name}_{name}"] = functools.partial(
        suffer, f"{kind.name}_{name}", kind, faults, **more)


# --- what happens to the connection ---------------------------------------------------------------

def add_silence(kind):
    """Executed, and nobody says so. The fewer faults, the more requests it takes to meet some."""
    for percent, count, batch in ((1, 1200, 5), (5, 600, 5), (20, 300, 5), (50, 150, 5)):
        add(f"with_silence_after_{percent}_percent_of_the_commits", kind,
            storm({"kind": "commit_then_silence"}, kind, percent / 100), count=count, batch=batch)


def add_broken(kind):
    for name in ("reset_before", "reset_within", "reset_after"):
        add(f"with_{name}", kind, storm({"kind": name}, kind, 0.15))
    add("with_answers_cut_in_the_middle", kind, storm({"kind": "cut"}, kind, 0.15))
    add("with_answers_cut_in_their_head", kind, storm({"kind": "cut", "byte": 40}, kind, 0.15))
    add("with_answers_that_end_one_byte_in", kind, storm({"kind": "cut", "byte": 1}, kind, 0.15))
    add("with_answers_after_the_time_out", kind,
        storm({"kind": "stall", "seconds": 2.5}, kind, 0.1),
        quick={"Http:RequestTimeout": "1s", "Http:FirstByteTimeout": "1s"}, count=200)


def add_late(kind):
    add("with_commits_after_the_resend", kind,
        storm({"kind": "late_commit", "seconds": 3}, kind, 0.2), late_s=3,
        quick={"Resilience:ReadBackDelay": "4s", "Resilience:LateCommitTime": "4s"})
    add("with_commits_before_the_resend", kind,
        storm({"kind": "late_commit", "seconds": 0.1}, kind, 0.2), late_s=1)


# --- what the service says ------------------------------------------------------------------------

def add_answers(kind):
    add("through_a_storm_of_503", kind,
        [{"kind": "server_error", "status": 503, "operation": kind.message, "count": 12}])
    add("through_500_now_and_then", kind, storm({"kind": "server_error", "status": 500}, kind, 0.2))
    add("through_503_with_retry_after", kind,
        [{"kind": "server_error", "status": 503, "retry_after": 1, "operation": kind.message,
          "every": 7, "count": 3}])
    add("through_html_pages", kind, storm({"kind": "html_error"}, kind, 0.2))
    add("through_deadlocks", kind, storm({"kind": "deadlock"}, kind, 0.2))
    add("through_401s", kind, storm({"kind": "unauthorized"}, kind, 0.1))
    for limit, code in (("requests", "0x80072322"), ("execution_time", "0x80072321"),
                        ("concurrency", "0x80072326")):
        add(f"throttled_by_{limit}", kind,
            [{"kind": "throttle", "code": code, "retry_after": 1, "operation": kind.message,
              "every": 4, "count": 4}])
    if kind.message != "$batch":
        add("through_tvp_races", kind, storm({"kind": "tvp_race"}, kind, 0.2))


for each in THE_FIVE:
    add_silence(each)
    add_broken(each)
    add_late(each)
    add_answers(each)

for each in (CREATE_ELASTIC, UPSERT_ELASTIC, WITHOUT_BULK[0], WITHOUT_BULK[3]):
    add("with_silence_after_20_percent_of_the_commits", each,
        storm({"kind": "commit_then_silence"}, each, 0.2))
    add("with_answers_cut_in_the_middle", each, storm({"kind": "cut"}, each, 0.15))
    add("with_commits_after_the_resend", each,
        storm({"kind": "late_commit", "seconds": 3}, each, 0.2), late_s=3,
        quick={"Resilience:ReadBackDelay": "4s", "Resilience:LateCommitTime": "4s"})

# Inside an answer that is otherwise a success.
for each in (DELETE, WITHOUT_BULK[0], WITHOUT_BULK[2]):
    add("throttled_in_parts", each,
        [{"kind": "throttle", "where": "part", "index": 3, "retry_after": 1, "every": 5,
          "operation": each.message}])
for each in (CREATE_ELASTIC, UPSERT_ELASTIC, DELETE_ELASTIC):
    add("throttled_in_details", each,
        [{"kind": "throttle", "where": "detail", "index": 3, "retry_after": 1, "every": 5,
          "operation": each.message}])
    add("failing_in_part_for_a_while", each,
        [{"kind": "partial_failure", "rows": [0, 4, 5], "status": 503, "every": 4, "count": 3,
          "operation": each.message}])

# Everything at once, whatever is being sent: reads of ids, too.
for each in [*THE_FIVE, WITHOUT_BULK[0]]:
    add("through_everything_at_once", each,
        [{"kind": kind, "operation": "POST", "probability": 0.03, **more} for kind, more in (
            ("commit_then_silence", {}), ("reset_before", {}), ("reset_within", {}),
            ("reset_after", {}), ("cut", {}), ("server_error", {"status": 503}),
            ("html_error", {}), ("deadlock", {}), ("unauthorized", {}),
            ("throttle", {"retry_after": 1}), ("late_commit", {"seconds": 0.5}))],
        count=800, batch=5, late_s=1, least=10,
        quick={"Resilience:ReadBackDelay": "1s"})


# --- connections that drop out --------------------------------------------------------------------

# A job as short as these goes at once, and there would be no middle.
BOUNDED = ("--max-parallel", "12")


def revoke(sim, name):
    sim.faults({"kind": "unauthorized", "connection": name},
               {"kind": "unauthorized", "operation": "token", "connection": name})


def lose_a_connection(kind, folder):
    """One is revoked in mid-run; the others go on."""
    with world(service_ms=20, seed=seed_of(kind.name)) as sim:
        job = Job(sim, kind, folder, 900, batch=5, seed=seed_of(kind.name))
        run = job.start(*BOUNDED)
        wait_until(lambda: sim.connections()["app2"]["accepted"] > 10 or run.is_over(),
                   "app2 is at work")
        revoke(sim, "app2")
        job.finish(run)
        service = sim.connections()
        judge(job)
        assert service["app2"]["accepted"] < min(service["app1"]["accepted"],
                                                 service["app3"]["accepted"]), service


def never_let_in(kind, folder):
    with world(seed=seed_of(kind.name)) as sim:
        job = Job(sim, kind, folder, 300, batch=20)
        revoke(sim, "app2")
        job.run()
        judge(job)
        assert sim.connections()["app2"]["accepted"] == 0


def without_privilege(kind, folder):
    """A connection that may only read is set aside, and its rows go in by the others."""
    scenario = {"users": [{"name": "app2", "privileges": {kind.table.name: "read"}}]}
    with world(scenario=scenario, folder=folder, seed=seed_of(kind.name)) as sim:
        job = Job(sim, kind, folder, 600, batch=10)
        job.run(*BOUNDED)
        judge(job)
        summary = job.summary()
        forbidden = [c for c in summary["connections"] if c["name"] == "app2"][0]
        assert forbidden["done_rows"] == 0, summary
        assert forbidden["requests"] < summary["requests"] / 6, summary


for each in THE_FIVE:
    for trouble in (lose_a_connection, never_let_in, without_privilege):
        globals()[f"test_{each.name}_{trouble.__name__}"] = functools.partial(trouble, each)


def nobody_may(kind, folder):
    """No row is to blame: exit 4, nothing rejected, nothing changed."""
    users = [{"name": f"app{i}", "privileges": {kind.table.name: "read"}} for i in (1, 2, 3)]
    with world(scenario={"users": users}, folder=folder) as sim:
        job = Job(sim, kind, folder, 300, batch=20)
        result = job.run()
        assert result.code == 4, result
        summary = balance(job)
        assert summary["done"] == summary["rejected"] == 0 and untouched(job), summary


for each in THE_FIVE:
    globals()[f"test_{each.name}_nobody_may"] = functools.partial(nobody_may, each)


def test_all_connections_revoked_in_mid_run_and_given_back_later(folder):
    with world(service_ms=20) as sim:
        job = Job(sim, CREATE, folder, 900, batch=5)
        run = job.start(*BOUNDED)
        wait_until(lambda: job.requests() > 60 or run.is_over(), "some rows are in")
        sim.faults({"kind": "unauthorized"}, {"kind": "unauthorized", "operation": "token"})
        result = job.finish(run)
        assert result.code == 4 and "resume" in result.stderr, result
        balance(job)
        sim.faults()
        job.run()
        judge(job)


# --- duplicates -----------------------------------------------------------------------------------

def add_duplicates(name, flags, *more):
    """A row that was created by a request nobody answered is met again, in every way that it can be said."""
    add(f"meeting_its_own_rows_{name}", CREATE,
        [*storm({"kind": "commit_then_silence"}, CREATE, 0.3), *more], flags=flags)


add_duplicates("by_primary_key", ["--duplicate-first", "primary"])
add_duplicates("by_alternate_key", ["--duplicate-first", "alternate"])
add_duplicates("by_primary_key_as_500", ["--duplicate-first", "primary", "--duplicate-status", "500"])
add_duplicates("by_alternate_key_as_500",
               ["--duplicate-first", "alternate", "--duplicate-status", "500"])
add_duplicates("by_a_plug_in", [], {"kind": "plugin_error", "operation": "CreateMultiple",
                                    "probability": 0.3})
add_duplicates("by_a_detection_rule", [], {"kind": "plugin_error", "code": "0x80040333",
                                           "operation": "CreateMultiple", "probability": 0.3})


def add_refusals(kind, name, code):
    """What was done by a request nobody answered is sent again and refused: whoever asks row by row finds it done."""
    add(f"sent_again_and_refused_{name}", kind,
        [*storm({"kind": "commit_then_silence"}, kind, 0.3),
         {"kind": "plugin_error", "code": code, "operation": kind.message, "probability": 0.3}])


for each in (UPDATE, UPSERT):
    add_refusals(each, "by_a_plug_in", "0x80040265")
    add_refusals(each, "by_a_detection_rule", "0x80040333")
    add_refusals(each, "by_an_alternate_key", "0x80060892")


# The first batch has a row of somebody else's, and nobody says what became of it.
FIRST_SILENT = {"kind": "commit_then_silence", "operation": "CreateMultiple", "nth": 1}


def test_somebody_elses_rows_are_rejected_and_our_own_are_not(folder):
    """Alternate keys that were there before, among commits that nobody reported."""
    for first in ("primary", "alternate"):
        with world("--duplicate-first", first, seed=seed_of(first)) as sim:
            job = Job(sim, CREATE, subfolder(folder, first), 300, batch=20)
            job.bad = {7, 123, 300}
            theirs = [{"accountid": job.new_id(), "name": "theirs", "description": None,
                       "accountnumber": job.rows[row - 1]["accountnumber"]} for row in job.bad]
            sim.seed(ACCOUNT, theirs)
            job.before += theirs
            job.base = sim.ledger(ACCOUNT)
            sim.faults(*storm({"kind": "commit_then_silence"}, CREATE, 0.3), FIRST_SILENT)
            job.run()
            sim.faults()
            found = sim.rows(ACCOUNT, ["accountnumber", "name"])
            for row in job.bad:
                assert (job.rows[row - 1]["accountnumber"], "theirs") in found
            assert len(found) == len(job.before) + 297, len(found)
            assert [error["row"] for error in job.errors()] == sorted(job.bad), job.outputs
            assert job.outputs[-1].code == 1 and job.summary()["rejected"] == 3, job.outputs


def test_ids_that_were_there_before_are_rejected_and_those_of_this_job_are_not(folder):
    with world() as sim:
        job = Job(sim, CREATE, folder, 0)
        job.rows = [{"accountid": job.new_id(), "name": f"row {i:03d}"} for i in range(200)]
        job.bad = {5, 77}
        theirs = [{"accountid": job.rows[row - 1]["accountid"], "name": "theirs"}
                  for row in job.bad]
        sim.seed(ACCOUNT, theirs)
        let_pass(1.1)  # createdon has no fractions of a second
        lines = ["accountid,name"] + [f"{row['accountid']},{row['name']}" for row in job.rows]
        job.input.write_text("\n".join(lines) + "\n")
        job.batch = 10
        sim.faults(*storm({"kind": "commit_then_silence"}, CREATE, 0.3), FIRST_SILENT)
        result = job.run()
        sim.faults()
        found = dict(sim.rows(ACCOUNT, ["accountid", "name"]))
        assert all(found[row["accountid"]] == ("theirs" if n in job.bad else row["name"])
                   for n, row in enumerate(job.rows, 1)), result
        assert [error["row"] for error in job.errors()] == sorted(job.bad), result
        assert result.code == 1 and balance(job)["done"] == 198, result


def test_an_elastic_row_that_fails_for_good_is_rejected_alone(folder):
    with world() as sim:
        job = Job(sim, CREATE_ELASTIC, folder, 100, batch=20)
        sim.faults({"kind": "bad_row", "column": "deviceid", "value": "note of 42"})
        job.bad = {42}
        job.run()
        judge(job)
        assert sim.ledger(READING)["duplicates"] == 0


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=8)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Memory does not know how long the input is: memory.py WEIR WEIR_SIM

The peak of a job that fills what rows on their way may take is compared with that of one of four times as many rows, in
the same run: of rows that differ, and of rows over a hundred keys, which have to wait for each other. A sanitizer keeps
what was freed, so this is for a build without one.
"""
import sys

from campaign import ACCOUNT, CREATE, SANITIZED, UPSERT, Job, judge, run_tests, subfolder, world
from repeated_keys import repeat

FEW, MANY = 100_000, 400_000
GROWTH = 1.25  # four times as many rows; what is in flight differs from run to run


def check_growth(peaks):
    assert SANITIZED or peaks[1] <= GROWTH * peaks[0], peaks


def test_rows_that_differ_take_no_more_memory_if_they_are_more(folder):
    peaks = []
    for count in (FEW, MANY):
        with world() as sim:
            job = Job(sim, CREATE, subfolder(folder, str(count)), count, batch=100)
            assert job.run().code == 0, job.outputs
            assert sim.ledger(ACCOUNT)["duplicates"] == 0 and job.summary()["done"] == count, job.outputs
            peaks.append(job.summary()["peak_rss_kib"])
    check_growth(peaks)


def test_rows_over_a_hundred_keys_take_no_more_memory_if_they_are_more(folder):
    peaks = []
    for count in (FEW, MANY):
        with world() as sim:
            job = Job(sim, UPSERT, subfolder(folder, str(count)), 100, batch=100)
            repeat(job, count)
            job.run()
            judge(job)
            peaks.append(job.summary()["peak_rss_kib"])
    check_growth(peaks)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"])

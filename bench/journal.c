/* SPDX-License-Identifier: MIT */
/*
 * How fast the journal commits: ranges of a hundred created rows, added as fast as it takes
 * them, each group durable before the next. Wall time, for it waits for the disk.
 *
 *     build/release/bench/bench_journal DIRECTORY     which must not be there, and is left behind
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "journal/journal.h"

#define GROUP  64
#define GROUPS 400
#define ROWS   100

static _Atomic uint64_t durable;
static _Atomic bool failed;
static _Atomic uint64_t commits;

static void on_durable(void *ctx, uint64_t serial)
{
    (void)ctx;
    atomic_fetch_add(&commits, 1);
    atomic_store(&durable, serial);
}

static void on_failed(void *ctx, const struct weir_error *err)
{
    (void)ctx;
    fprintf(stderr, "%s\n", err->message);
    atomic_store(&failed, true);
}

static void must(enum weir_status status, const struct weir_error *err)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(EXIT_FAILURE);
}

static uint64_t add_group(struct weir_journal *journal, uint64_t first_row)
{
    struct weir_error err;
    uint64_t serial = 0;
    for (uint64_t i = 0; i < GROUP; i++) {
        uint64_t first = first_row + i * ROWS;
        struct weir_range range = { .first = first,
                                    .last = first + ROWS - 1,
                                    .offset = first * 120,
                                    .behind = (first + ROWS) * 120,
                                    .ids_made = true };
        must(weir_journal_add_range(journal, &range, &serial, &err), &err);
    }
    return serial;
}

static void wait_for(struct weir_journal *journal, uint64_t serial)
{
    weir_journal_hurry(journal);
    while (atomic_load(&durable) < serial && !atomic_load(&failed))
        sched_yield();
    if (atomic_load(&failed))
        exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    const struct weir_job_input input = { .path = "rows.csv" };
    const struct weir_job_facts facts = {
        .job = "bench",
        .operation = "create",
        .table = "account",
        .url = "https://contoso.crm.dynamics.com",
        .organisation = "00000000-0000-0000-0000-000000000001",
        .options = "{}",
        .suffix = "csv",
        .header = weir_str_from("name\n"),
        .inputs = &input,
        .input_count = 1,
    };
    const struct weir_journal_watch watch = { .durable = on_durable, .failed = on_failed };
    struct weir_journal *journal;
    struct weir_error err;
    if (argc != 2) {
        fprintf(stderr, "usage: bench_journal DIRECTORY\n");
        return 2;
    }
    must(weir_journal_new(argv[1], &facts, &watch, NULL, &journal, &err), &err);
    int64_t begun_us = weir_clock_now_us();
    uint64_t committed = atomic_load(&commits);
    for (uint64_t group = 0; group < GROUPS; group++)
        wait_for(journal, add_group(journal, 1 + group * GROUP * ROWS));
    double seconds = (double)(weir_clock_now_us() - begun_us) / 1e6;
    printf("%.1f commits/s, %.0f rows/s\n", (double)(atomic_load(&commits) - committed) / seconds,
           GROUPS * GROUP * ROWS / seconds);
    weir_journal_free(journal);
    return 0;
}

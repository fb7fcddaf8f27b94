/* SPDX-License-Identifier: MIT */
/*
 * A job without its writes: what weir check TABLE FILE... does.
 *
 *     connections ─▶ table and mapping ─▶ every row, mapped and packed ─▶ privileges ─▶ report
 *        4 6 10           2 4 6 7 10                1 2 7                     4           7
 *
 * Which privileges are needed is known from the rows. An interrupt ends it at any time, with 5.
 * The report is on standard output, what is wrong on standard error.
 */
#ifndef WEIR_APP_DRY_RUN_H
#define WEIR_APP_DRY_RUN_H

#include <stdio.h>

#include "bulk/job_check.h"
#include "command.h"
#include "estimate.h"
#include "inspection.h"
#include "job_args.h"
#include "records/spec.h"

/* `options` have been read from `args`, without the table. Returns the exit code. */
int dry_run(const struct command *command, const struct job_args *args,
            const struct settings *settings, struct weir_job_options *options);

/* --- what it asks --- */

/* A job whose rows were read. */
struct dry_run_job {
    struct weir_client *client;
    const struct weir_table *table;
    const struct weir_job_options *options;
    const struct weir_job_check *check;
};

/* Whether every connection that works may do what the rows need: a line of the report, and what is
 * wrong. Returns the exit code. */
int dry_run_compare_privileges(const struct dry_run_job *job, const struct inspection *inspection);

/* --- what it prints --- */

/* What becomes of each column of the input; `columns` may be none, `spec` NULL. */
void dry_run_print_columns(FILE *out, const struct weir_table *table, struct weir_columns columns,
                           const struct weir_spec *spec, const struct weir_job_options *options);

/* Rows, reasons, keys. */
void dry_run_print_rows(FILE *out, const struct weir_job_check *check,
                        const struct weir_job_options *options, const struct weir_table *table);

/* Requests, how long, what it counts for. */
void dry_run_print_work(FILE *out, const struct weir_job_check *check,
                        const struct weir_job_options *options, const struct estimate_world *world);

#endif

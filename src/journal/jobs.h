/* SPDX-License-Identifier: MIT */
/*
 * The jobs below a root directory, looked at from outside: no lock is taken and nothing is changed,
 * so a job that runs meanwhile is not disturbed. What is shown is what was durable at that moment.
 * Any thread.
 */
#ifndef WEIR_JOURNAL_JOBS_H
#define WEIR_JOURNAL_JOBS_H

#include "journal/facts.h"
#include "journal/totals.h"

/* Lives for the call. */
struct weir_job_listing {
    const char *name; /* of its directory */
    const char *path;
    struct weir_error error;     /* status WEIR_OK, or why facts and totals are empty */
    struct weir_job_facts facts; /* verified */
    struct weir_totals totals;
    uint64_t runs;
    int64_t holder; /* the process that works on it, as its lock says; 0: none */
};

/*
 * Call `fn` for every job, by name. Hidden directories (jobs whose making was cut short) and those
 * without a journal are passed over; a root that is not there has no jobs.
 *   WEIR_E_IO       the root cannot be read
 *   WEIR_E_TOO_BIG  there are more than WEIR_JOBS_MAX entries
 */
enum weir_status weir_jobs_each(const char *root,
                                void (*fn)(void *ctx, const struct weir_job_listing *job),
                                void *ctx, struct weir_error *err);

/* One of them. WEIR_E_NOT_FOUND: no job there. Release with weir_job_listing_release(). */
enum weir_status weir_job_listing_init(struct weir_job_listing *job, const char *path,
                                       struct weir_error *err);
void weir_job_listing_release(struct weir_job_listing *job);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The rows of a job that are not finished, by their numbers: neither done nor skipped nor rejected
 * in the pass that the job has come to. After a run that came to its end they are those of unknown
 * outcome and those that were not sent. Nothing is changed. Any thread.
 */
#ifndef WEIR_APP_OPEN_ROWS_H
#define WEIR_APP_OPEN_ROWS_H

#include "journal/jobs.h"

struct open_rows {
    uint64_t first;
    uint64_t last;
};

typedef void open_rows_fn(void *ctx, struct open_rows rows);

/*
 * Call `fn` for each stretch of them up to row `read`, in order; *ret_behind: nothing is known of
 * the rows behind this one (`read`, or the last finished one if that is further).
 */
enum weir_status open_rows_each(const struct weir_job_listing *job, uint64_t read, open_rows_fn *fn,
                                void *ctx, uint64_t *ret_behind, struct weir_error *err);

#endif

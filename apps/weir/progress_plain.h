/* SPDX-License-Identifier: MIT */
/*
 * Progress as plain lines, for logs and for whatever is no terminal: one every five seconds.
 *
 *     0:01:05  12,300 done, 10 rejected, 1,234 rows/s, 3 min 21 s left; app2 +1 throttled for 25 s
 *
 * that is: app2 and one more are throttled, the longest for 25 s. Those that have used up what the
 * service's window allows, and wait until some of it is free again, are named with that budget.
 */
#ifndef WEIR_APP_PROGRESS_PLAIN_H
#define WEIR_APP_PROGRESS_PLAIN_H

#include "bulk/job.h"

#define PROGRESS_PLAIN_PERIOD_US 5000000
#define PROGRESS_PLAIN_COLUMNS   120

/* What a line is made of; filled from the job. */
struct progress_plain {
    struct weir_job_progress job;
    uint32_t throttled; /* connections, and the one that is so for the longest */
    struct weir_job_connection first_throttled;
    uint32_t spent; /* connections without a request in flight for want of budget; the first */
    struct weir_job_connection first_spent;
    uint32_t set_aside; /* connections, and the first of them */
    struct weir_job_connection first_set_aside;
};

void progress_plain_take(struct progress_plain *progress, struct weir_job *job);

/* The line, without its end; never more than PROGRESS_PLAIN_COLUMNS. Pure. */
void progress_plain_line(const struct progress_plain *progress,
                         char line[PROGRESS_PLAIN_COLUMNS + 1]);

/* Take it and say it, unless nobody reads. */
void progress_plain_say(struct weir_job *job);

#endif

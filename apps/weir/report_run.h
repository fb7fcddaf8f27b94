/* SPDX-License-Identifier: MIT */
/*
 * The report of a run: what --report asks for, sampled while the job runs and written when it is
 * over. Zeroed: none is wanted, and every call is fine. One thread.
 */
#ifndef WEIR_APP_REPORT_RUN_H
#define WEIR_APP_REPORT_RUN_H

#include "report_data.h"

struct report {
    const char *path; /* NULL: none is wanted */
    bool html;
    int64_t began_us; /* by the clock on the wall */
    int64_t next_us;  /* when it is time for a sample */
    struct progress_snapshot snapshot;
    struct report_timeline timeline;
};

/*
 * A page if the path ends with .html, data if with .json. WEIR_E_INVALID: neither, or it cannot be
 * written there; nothing is left behind.
 */
enum weir_status report_init(struct report *report, const char *path, struct weir_error *err);
void report_release(struct report *report);

/* The job has begun. */
void report_begin(struct report *report, struct weir_job *job);

/* Take a sample if it is time. Returns in how long it will be time again. */
int64_t report_sample(struct report *report, struct weir_job *job);

/* What of the data is not the job's: resume line, files, problems. The rest is filled in. */
enum weir_status report_write(struct report *report, struct weir_job *job,
                              const struct weir_job_result *result, struct report_data *data,
                              struct weir_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What a report says of a run, whatever its form: facts, counts, connections, times, problems.
 * Nothing of the credentials is in it. Everything is borrowed.
 */
#ifndef WEIR_APP_REPORT_DATA_H
#define WEIR_APP_REPORT_DATA_H

#include "report_problems.h"
#include "report_timeline.h"

/* Of the buffer that a report is written into; one of this size holds any. */
#define REPORT_BYTES_MAX ((size_t)64 * 1024 * 1024)

struct report_connection {
    struct weir_job_connection now;
    struct weir_adaptive_rate_stats rate;
    struct weir_job_experience experience;
};

struct report_data {
    const char *job; /* its name */
    const char *directory;
    const char *url;
    const char *trouble; /* why it ended; "": there is nothing to say */
    const char *resume_line;
    const struct weir_job_options *options;
    const char *const *files; /* as they were given when the job began */
    size_t file_count;
    bool went_on;     /* there were runs before this one */
    int64_t began_us; /* of this run, by the clock on the wall */
    unsigned passes;
    const struct weir_job_result *result;
    const struct report_connection *connections;
    size_t connection_count;
    struct weir_histogram latency; /* of all connections */
    const struct report_timeline *timeline;
    const struct report_problems *problems;
};

/* "2026-11-16T05:45:12Z", by value. Pure. */
struct report_moment {
    char text[32];
};
struct report_moment report_data_moment(int64_t wall_us);

/* Throttles of one kind, over all connections. Pure. */
uint64_t report_data_throttles(const struct report_data *data, enum weir_throttle_kind kind);

/* Whether anything is left to do. Pure. */
bool report_data_is_unfinished(const struct report_data *data);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * How a job and its connections stand at one moment: what the view, the JSON lines and the metrics
 * are made of. Taking one is for any thread; what is made of it is pure.
 */
#ifndef WEIR_APP_PROGRESS_SNAPSHOT_H
#define WEIR_APP_PROGRESS_SNAPSHOT_H

#include "bulk/job.h"

struct progress_connection {
    struct weir_job_connection now; /* its name lives as long as the job */
    struct weir_adaptive_rate_stats rate;
};

/* Zeroed, then taken as often as wanted. */
struct progress_snapshot {
    int64_t wall_us; /* microseconds since 1970 */
    int64_t wall_offset_us;
    struct weir_job_progress job;
    struct progress_connection *connections; /* in the order of the settings */
    size_t connection_count;
};

void progress_snapshot_take(struct progress_snapshot *snapshot, struct weir_job *job);
void progress_snapshot_release(struct progress_snapshot *snapshot);

#endif

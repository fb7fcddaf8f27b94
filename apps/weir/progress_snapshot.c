/* SPDX-License-Identifier: MIT */
/* How a job stands at one moment; see progress_snapshot.h. */
#include "progress_snapshot.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

void progress_snapshot_take(struct progress_snapshot *snapshot, struct weir_job *job)
{
    size_t count = weir_job_connection_count(job);
    if (!snapshot->connections)
        snapshot->connections = weir_calloc(count, sizeof(*snapshot->connections));
    snapshot->connection_count = count;
    snapshot->wall_us = weir_clock_wall_us();
    snapshot->wall_offset_us = weir_wall_offset_us();
    weir_job_progress(job, &snapshot->job);
    for (size_t i = 0; i < count; i++) {
        weir_job_connection(job, i, &snapshot->connections[i].now);
        weir_job_rate_stats(job, i, &snapshot->connections[i].rate);
    }
}

void progress_snapshot_release(struct progress_snapshot *snapshot)
{
    free(snapshot->connections);
    *snapshot = (struct progress_snapshot){ 0 };
}

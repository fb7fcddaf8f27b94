/* SPDX-License-Identifier: MIT */
/*
 * Progress as JSON, for programs: one object a line. Names are those of the design documents
 * (weir/stats.h), durations are in seconds, what is not known is null. Pure.
 */
#ifndef WEIR_APP_PROGRESS_JSON_H
#define WEIR_APP_PROGRESS_JSON_H

#include "base/buf.h"
#include "progress_snapshot.h"

#define PROGRESS_JSON_PERIOD_US 1000000

/* Bytes of a line at most, for each of `connections` and besides. */
#define PROGRESS_JSON_MAX(connections) (((size_t)(connections) + 4) * WEIR_STATS_JSON_MAX * 2)

/* How a run has ended; what is not known is NULL. */
struct progress_end {
    const struct weir_job_result *result; /* its exit code does not count */
    int exit_code;
    const char *reason;    /* what has gone wrong, if there are words for it */
    const char *directory; /* of the job */
    const char *resume;    /* the command that goes on with it */
};

/* The line, without its end. */
void progress_json_draw(const struct progress_snapshot *snapshot, struct weir_buf *ret);

/* The last one; `snapshot` may be NULL: it has never begun. */
void progress_json_draw_end(const struct progress_snapshot *snapshot,
                            const struct progress_end *end, struct weir_buf *ret);

#endif

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

/* The line, without its end. */
void progress_json_draw(const struct progress_snapshot *snapshot, struct weir_buf *ret);

#endif

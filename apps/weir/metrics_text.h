/* SPDX-License-Identifier: MIT */
/*
 * The statistics of a running job as Prometheus text (exposition format 0.0.4): `weir_` and the
 * snake_case of the JSON's names (progress_json.h). Those of a connection have a label that names
 * it; those of the job itself begin with `weir_job_`. What is not known is left out. Pure.
 */
#ifndef WEIR_APP_METRICS_TEXT_H
#define WEIR_APP_METRICS_TEXT_H

#include "base/buf.h"
#include "progress_snapshot.h"

/* Bytes at most, for each of `connections` and besides. */
#define METRICS_TEXT_MAX(connections) (((size_t)(connections) + 4) * 16384)

void metrics_text_draw(const struct progress_snapshot *snapshot, struct weir_buf *ret);

#endif

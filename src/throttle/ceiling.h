/* SPDX-License-Identifier: MIT */
/*
 * Two ceilings over the level of a connection, in force only while batches are slow.
 *
 *   execution time   Factor / seconds of an average batch: the longer a batch takes, the fewer run
 *   throttle         what was left of the level at the last throttle, the less the longer its
 *                    Retry-After: 30 s → 95 %, 2.5 min → 75 %, 5 min and more → 50 %; for
 *                    Retry-After + 5 min
 *
 * The average is exponential (alpha 0.3), seeded by the first sample. While it is below the
 * threshold of a slow batch neither ceiling applies. Pure; one value per connection.
 */
#ifndef WEIR_THROTTLE_CEILING_H
#define WEIR_THROTTLE_CEILING_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/config.h"

/* Zeroed is new: no average, no ceiling. */
struct weir_ceiling {
    double average_batch_ms; /* 0: no batch yet */
    int throttle_level;      /* 0: none */
    int64_t throttle_until_us;
};

/* What applies at one instant. 0: not in force. */
struct weir_ceiling_levels {
    int execution_time;
    int throttle;
};

/* A batch succeeded after `duration_us`. */
void weir_ceiling_success(struct weir_ceiling *ceiling, int64_t duration_us);

/* A throttle came at `level`. Of two throttle ceilings the smaller stands, to the later end. */
void weir_ceiling_throttle(struct weir_ceiling *ceiling, int level, int min_parallelism,
                           int64_t retry_after_us, int64_t now_us);

struct weir_ceiling_levels weir_ceiling_levels(const struct weir_ceiling *ceiling,
                                               const struct weir_adaptive_rate_options *options,
                                               int64_t now_us);

#endif

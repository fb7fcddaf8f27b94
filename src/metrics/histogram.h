/* SPDX-License-Identifier: MIT */
/*
 * How durations are spread, in memory that does not grow: sixteen buckets for each doubling, so
 * that a quantile is wrong by 3 % at most; the largest is kept exactly. Zeroed: empty. Pure; one
 * thread at a time.
 */
#ifndef WEIR_METRICS_HISTOGRAM_H
#define WEIR_METRICS_HISTOGRAM_H

#include <stdint.h>

#define WEIR_HISTOGRAM_FLOOR_BITS   7  /* below 128 us nothing is told apart … */
#define WEIR_HISTOGRAM_CEILING_BITS 33 /* … nor above 2 h 23 min */
#define WEIR_HISTOGRAM_SUB_BITS     4
#define WEIR_HISTOGRAM_BUCKETS                                                                     \
    (((WEIR_HISTOGRAM_CEILING_BITS - WEIR_HISTOGRAM_FLOOR_BITS) << WEIR_HISTOGRAM_SUB_BITS) + 2)

struct weir_histogram {
    uint64_t count;
    int64_t max_us;
    uint32_t buckets[WEIR_HISTOGRAM_BUCKETS];
};

/* Negative ones count as 0. */
void weir_histogram_add(struct weir_histogram *histogram, int64_t duration_us);

void weir_histogram_merge(struct weir_histogram *into, const struct weir_histogram *from);

/* The duration that this share of them, 0 … 1, did not exceed, the largest for 1; 0 if
 * there are none. */
int64_t weir_histogram_quantile_us(const struct weir_histogram *histogram, double share);

#endif

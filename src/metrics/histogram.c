/* SPDX-License-Identifier: MIT */
/* How durations are spread; see histogram.h. The first bucket is all below the floor, the last all
 * above the ceiling. */
#include "metrics/histogram.h"

#include <math.h>

#define SUBS (1U << WEIR_HISTOGRAM_SUB_BITS)

static uint32_t place_of(int64_t us)
{
    if (us < INT64_C(1) << WEIR_HISTOGRAM_FLOOR_BITS)
        return 0;
    if (us >= INT64_C(1) << WEIR_HISTOGRAM_CEILING_BITS)
        return WEIR_HISTOGRAM_BUCKETS - 1;
    uint32_t bits = 63 - (uint32_t)__builtin_clzll((unsigned long long)us);
    uint32_t sub = (uint32_t)(us >> (bits - WEIR_HISTOGRAM_SUB_BITS)) & (SUBS - 1);
    return 1 + ((bits - WEIR_HISTOGRAM_FLOOR_BITS) << WEIR_HISTOGRAM_SUB_BITS) + sub;
}

/* The middle of a bucket, the first and the last of which have none. */
static int64_t middle_us(uint32_t place)
{
    if (place == 0)
        return INT64_C(1) << (WEIR_HISTOGRAM_FLOOR_BITS - 1);
    uint32_t bits = ((place - 1) >> WEIR_HISTOGRAM_SUB_BITS) + WEIR_HISTOGRAM_FLOOR_BITS;
    int64_t width_us = INT64_C(1) << (bits - WEIR_HISTOGRAM_SUB_BITS);
    int64_t steps = SUBS + ((place - 1) & (SUBS - 1));
    return steps * width_us + width_us / 2;
}

void weir_histogram_add(struct weir_histogram *histogram, int64_t duration_us)
{
    int64_t us = duration_us > 0 ? duration_us : 0;
    histogram->count++;
    histogram->buckets[place_of(us)]++;
    if (us > histogram->max_us)
        histogram->max_us = us;
}

void weir_histogram_merge(struct weir_histogram *into, const struct weir_histogram *from)
{
    into->count += from->count;
    into->max_us = from->max_us > into->max_us ? from->max_us : into->max_us;
    for (uint32_t i = 0; i < WEIR_HISTOGRAM_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
}

int64_t weir_histogram_quantile_us(const struct weir_histogram *histogram, double share)
{
    double wanted = ceil(share * (double)histogram->count);
    uint64_t rank = wanted > 1 ? (uint64_t)wanted : 1, seen = 0;
    if (rank >= histogram->count)
        return histogram->max_us;
    for (uint32_t i = 0; i + 1 < WEIR_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen >= rank) {
            int64_t us = middle_us(i);
            return us < histogram->max_us ? us : histogram->max_us;
        }
    }
    return histogram->max_us;
}

/* SPDX-License-Identifier: MIT */
/* What tests share that make worlds of the laboratory from a number. */
#ifndef WEIR_TESTS_LAB_WORLDS_H
#define WEIR_TESTS_LAB_WORLDS_H

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"

/* WEIR_WORLDS=N: so many worlds; WEIR_FULL=1: many. */
static inline uint64_t count_of(uint64_t few, uint64_t many)
{
    const char *worlds = getenv("WEIR_WORLDS");
    if (worlds)
        return strtoull(worlds, NULL, 10);
    return getenv("WEIR_FULL") ? many : few;
}

static inline double between(struct weir_rng *rng, double least, double most)
{
    return least + (most - least) * weir_rng_unit(rng);
}

static inline double by_ratio(struct weir_rng *rng, double least, double most)
{
    return exp(between(rng, log(least), log(most)));
}

static inline int64_t seconds(double s)
{
    return (int64_t)(s * 1e6);
}

#endif

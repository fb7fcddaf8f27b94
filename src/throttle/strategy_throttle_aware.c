/* SPDX-License-Identifier: MIT */
/*
 * ThrottleAware, the default with every policy but Budget: routes around throttled connections,
 * least recently leased first; those never leased come first of all, in configuration order.
 */
#include "throttle/strategy.h"

static int64_t rank(const struct weir_candidate *candidate)
{
    if (candidate->last_leased == 0)
        return candidate->index;
    return (int64_t)candidate->last_leased + candidate->count;
}

const struct weir_strategy weir_strategy_throttle_aware = {
    .name = "ThrottleAware",
    .routes_around_throttles = true,
    .rank = rank,
};

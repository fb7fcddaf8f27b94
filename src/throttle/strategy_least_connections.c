/* SPDX-License-Identifier: MIT */
/*
 * LeastConnections: fewest leases out, ties in configuration order, blind to throttles.
 */
#include "throttle/strategy.h"

static int64_t rank(const struct weir_candidate *candidate)
{
    return (int64_t)candidate->in_flight * candidate->count + candidate->index;
}

const struct weir_strategy weir_strategy_least_connections = {
    .name = "LeastConnections",
    .routes_around_throttles = false,
    .rank = rank,
};

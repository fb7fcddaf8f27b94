/* SPDX-License-Identifier: MIT */
/*
 * Headroom, the default with Budget: routes around throttled connections, the one with most left of
 * its scarcer budget first, ties by who was leased least recently. With a policy that keeps no
 * books: fewest leases out.
 */
#include "throttle/strategy.h"

#define STEPS      1000000 /* that headroom is told apart by */
#define TURNS_BITS 24      /* of the number of a lease that break ties */

static int64_t rank(const struct weir_candidate *candidate)
{
    int64_t turn = (int64_t)(candidate->last_leased & ((UINT64_C(1) << TURNS_BITS) - 1));
    int64_t scarcity = candidate->in_flight;
    if (candidate->has_headroom)
        scarcity = (int64_t)((1 - candidate->headroom) * STEPS);
    return scarcity * (INT64_C(1) << TURNS_BITS) + turn;
}

const struct weir_strategy weir_strategy_headroom = {
    .name = "Headroom",
    .routes_around_throttles = true,
    .rank = rank,
};

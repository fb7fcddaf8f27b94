/* SPDX-License-Identifier: MIT */
/*
 * RoundRobin: simple rotation in configuration order, blind to throttles.
 *
 * Turns are numbered 0, 1, 2 … and turn t belongs to connection t mod n. A connection's rank is its
 * next turn that has not passed yet; one that was skipped because it was full waits for the next
 * round, as in any rotation.
 */
#include "throttle/strategy.h"

static int64_t rank(const struct weir_candidate *candidate)
{
    int64_t count = candidate->count;
    int64_t round_start = candidate->cursor - candidate->cursor % count;
    int64_t turn = round_start + candidate->index;
    return turn >= candidate->cursor ? turn : turn + count;
}

const struct weir_strategy weir_strategy_round_robin = {
    .name = "RoundRobin",
    .routes_around_throttles = false,
    .rank = rank,
};

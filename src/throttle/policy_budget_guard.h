/* SPDX-License-Identifier: MIT */
/*
 * The efficiency guard: how many requests at a time a server takes before each of them gets slower.
 *
 * A server that is saturated may not refuse anything; everything just takes longer, and the longer
 * time is charged. The guard keeps a cap on what is in flight. It rises while it is reached and
 * nothing gets slower, and falls if durations grow *with the number in flight*: a straight line of
 * the duration over that number, whose slope has to be significant. Batches that get slower by
 * themselves do not lower it.
 */
#ifndef WEIR_THROTTLE_POLICY_BUDGET_GUARD_H
#define WEIR_THROTTLE_POLICY_BUDGET_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct weir_guard {
    double cap;                      /* requests in flight; 0: not begun */
    double weight, x, y, xx, xy, yy; /* sums, old samples fading */
    int64_t round_us;                /* when the cap was looked at last */
    bool reached;                    /* since then */
    bool fallen;                     /* once */
    int64_t fell_us;
};

/* One success took `duration_us` with `in_flight` requests in flight when it was sent. */
void weir_guard_sample(struct weir_guard *guard, double in_flight, int64_t duration_us);

/* Look at the cap; `floor` in flight are needed to use the budget up, `ceiling` are never allowed,
 * a round takes `round_us`. */
void weir_guard_turn(struct weir_guard *guard, double floor, double ceiling, int64_t round_us,
                     int64_t window_us, int64_t now_us);

#endif

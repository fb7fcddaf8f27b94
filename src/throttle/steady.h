/* SPDX-License-Identifier: MIT */
/*
 * What the policies with a level that no answer moves (Dop, Fixed) have in common: admitting up to
 * it, and counting for the statistics.
 */
#ifndef WEIR_THROTTLE_STEADY_H
#define WEIR_THROTTLE_STEADY_H

#include "throttle/ceiling.h"
#include "throttle/policy.h"

struct weir_steady {
    int level;
    int max; /* what the server recommends */
    enum weir_bound bound_by;
    int successes;
    uint64_t throttle_events;
    int64_t activity_us;
    int64_t throttled_us;
    struct weir_ceiling average; /* only its average is used */
};

void weir_steady_init(struct weir_steady *steady, int level, enum weir_bound bound_by);

/* The functions of struct weir_policy, for states that are a struct weir_steady. */
void weir_steady_admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                       struct weir_admission *ret);
void weir_steady_leased(void *state, const struct weir_policy_lease *lease, int64_t now_us);
void weir_steady_answered(void *state, const struct weir_policy_lease *lease,
                          const struct weir_answer *answer, int64_t reopens_us, int64_t now_us);
void weir_steady_reset(void *state, int64_t now_us);
uint64_t weir_steady_epoch(const void *state);
int weir_steady_level(const void *state);
void weir_steady_stats(const void *state, int64_t now_us, struct weir_adaptive_rate_stats *ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The penalty of one account: after a violation all its requests are refused for a while.
 *
 *     violation   a request that meets an exhausted limit outside a penalty. It begins one:
 *                 Retry-After = max(base, clear) × growth^strikes, at most cap,
 *                 where `clear` is how long the window that tripped needs to fall to 98 %
 *     strike      a violation not yet forgotten; all are, forget_us after the last violation
 *     offence     a request that arrives during the penalty: refused for the same reason, it
 *                 lengthens the penalty by per_offence_us, SIM_OFFENCES_MAX_US at most in all
 *
 * A penalty from `a` to `b` refuses at a, not any more at b. The cap holds for the formula;
 * offences lengthen beyond it.
 */
#ifndef SIM_LAW_PENALTY_H
#define SIM_LAW_PENALTY_H

#include "sim/law/scenario.h"

#define SIM_CONCURRENCY_BASE_US INT64_C(2000000)
#define SIM_OFFENCES_MAX_US     INT64_C(60000000)

/* The limit that a request met. */
enum sim_throttle {
    SIM_THROTTLE_NONE,
    SIM_THROTTLE_REQUESTS,
    SIM_THROTTLE_EXECUTION_TIME,
    SIM_THROTTLE_CONCURRENCY,
    SIM_THROTTLE_COUNT
};

struct sim_penalty {
    enum sim_throttle kind;
    int64_t until_us;      /* refused before this */
    int64_t lengthened_us; /* by offences */
    int64_t violated_us;   /* the last violation */
    uint32_t strikes;      /* violations up to then that were not forgotten */
    int64_t total_us;      /* of all penalties so far, with what is left of the present one */
};

static inline bool sim_penalty_holds(const struct sim_penalty *penalty, int64_t now_us)
{
    return penalty->kind != SIM_THROTTLE_NONE && now_us < penalty->until_us;
}

/* Begin a penalty. clear_us: from now on; not used for concurrency. Returns Retry-After. */
int64_t sim_penalty_violate(struct sim_penalty *penalty, const struct sim_retry_after *rules,
                            enum sim_throttle kind, int64_t clear_us, int64_t now_us);

/* A request during the penalty. Returns Retry-After: what is left, lengthened. */
int64_t sim_penalty_offend(struct sim_penalty *penalty, const struct sim_retry_after *rules,
                           int64_t now_us);

/* How much time was spent in penalties until now. */
int64_t sim_penalty_spent_us(const struct sim_penalty *penalty, int64_t now_us);

#endif

/* SPDX-License-Identifier: MIT */
/* The penalty of one account; see penalty.h. */
#include "sim/law/penalty.h"

#include "sim/law/number.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void forget(struct sim_penalty *penalty, const struct sim_retry_after *rules, int64_t now_us)
{
    if (now_us - penalty->violated_us >= rules->forget_us)
        penalty->strikes = 0;
}

static int64_t escalated(int64_t wait_us, const struct sim_retry_after *rules, uint32_t strikes)
{
    double grown_us = (double)smaller(wait_us, rules->cap_us);
    for (uint32_t i = 0; i < strikes && grown_us < (double)rules->cap_us; i++)
        grown_us *= rules->growth;
    return sim_round(grown_us, rules->cap_us);
}

int64_t sim_penalty_violate(struct sim_penalty *penalty, const struct sim_retry_after *rules,
                            enum sim_throttle kind, int64_t clear_us, int64_t now_us)
{
    forget(penalty, rules, now_us);
    int64_t wait_us = kind == SIM_THROTTLE_CONCURRENCY ? SIM_CONCURRENCY_BASE_US
                                                       : larger(rules->base_us, clear_us);
    int64_t retry_after_us = escalated(wait_us, rules, penalty->strikes);
    penalty->kind = kind;
    penalty->until_us = now_us + retry_after_us;
    penalty->lengthened_us = 0;
    penalty->violated_us = now_us;
    penalty->strikes++;
    penalty->total_us += retry_after_us;
    return retry_after_us;
}

int64_t sim_penalty_offend(struct sim_penalty *penalty, const struct sim_retry_after *rules,
                           int64_t now_us)
{
    int64_t more_us = smaller(rules->per_offence_us, SIM_OFFENCES_MAX_US - penalty->lengthened_us);
    penalty->lengthened_us += more_us;
    penalty->until_us += more_us;
    penalty->total_us += more_us;
    return penalty->until_us - now_us;
}

int64_t sim_penalty_spent_us(const struct sim_penalty *penalty, int64_t now_us)
{
    return penalty->total_us - larger(0, penalty->until_us - now_us);
}

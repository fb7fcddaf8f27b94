/* SPDX-License-Identifier: MIT */
/* What Dop and Fixed have in common; see steady.h. */
#include "throttle/steady.h"

#include "base/clock.h"
#include "base/limits.h"

void weir_steady_init(struct weir_steady *steady, int level, enum weir_bound bound_by)
{
    *steady = (struct weir_steady){
        .level = level,
        .max = WEIR_PARALLELISM_UNHINTED,
        .bound_by = bound_by,
        .activity_us = WEIR_NEVER,
        .throttled_us = WEIR_NEVER,
    };
}

void weir_steady_admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                       struct weir_admission *ret)
{
    (void)now_us;
    const struct weir_steady *steady = state;
    *ret = (struct weir_admission){
        .ok = ask->in_flight < (uint32_t)steady->level,
        .not_before_us = WEIR_FOREVER,
        .score = steady->level - (double)ask->in_flight,
        .bound_by = steady->bound_by,
    };
}

void weir_steady_leased(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    (void)lease;
    struct weir_steady *steady = state;
    steady->activity_us = now_us;
}

void weir_steady_answered(void *state, const struct weir_policy_lease *lease,
                          const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    (void)lease;
    (void)reopens_us;
    struct weir_steady *steady = state;
    enum weir_class class_ = answer->verdict.class_;
    if (class_ == WEIR_CLASS_OK) {
        steady->activity_us = now_us;
        steady->successes++;
        weir_ceiling_success(&steady->average, answer->duration_us);
    } else if (class_ == WEIR_CLASS_THROTTLE) {
        steady->activity_us = now_us;
        steady->throttled_us = now_us;
        steady->successes = 0;
        steady->throttle_events++;
    }
}

void weir_steady_reset(void *state, int64_t now_us)
{
    (void)now_us;
    struct weir_steady *steady = state;
    steady->successes = 0;
    steady->average = (struct weir_ceiling){ 0 };
}

uint64_t weir_steady_epoch(const void *state)
{
    (void)state;
    return 0; /* nothing is ever cut */
}

int weir_steady_level(const void *state)
{
    const struct weir_steady *steady = state;
    return steady->level;
}

void weir_steady_stats(const void *state, int64_t now_us, struct weir_adaptive_rate_stats *ret)
{
    (void)now_us;
    const struct weir_steady *steady = state;
    ret->current_parallelism = steady->level;
    ret->max_parallelism = steady->max;
    ret->last_known_good_parallelism = steady->level;
    ret->is_last_known_good_stale = false;
    ret->successes_since_throttle = steady->successes;
    ret->total_throttle_events = steady->throttle_events;
    ret->last_throttle_time_us = steady->throttled_us;
    ret->last_increase_time_us = WEIR_NEVER;
    ret->last_activity_time_us = steady->activity_us;
    ret->average_batch_ms = steady->average.average_batch_ms;
    ret->execution_time_ceiling = 0;
    ret->throttle_ceiling = 0;
    ret->bound_by = steady->bound_by;
}

/* SPDX-License-Identifier: MIT */
/* Two ceilings over the level of a connection; see ceiling.h. */
#include "throttle/ceiling.h"

#include "base/clock.h"

#define ALPHA            0.3
#define FULL_RETRY_S     600.0 /* Retry-After at which nothing would be left, were it not for … */
#define SHARE_MIN        0.5   /* … the least share that stays */
#define THROTTLE_HOLD_US (5 * WEIR_US_PER_MINUTE)

void weir_ceiling_success(struct weir_ceiling *ceiling, int64_t duration_us)
{
    double ms = (double)duration_us / 1000.0;
    double old = ceiling->average_batch_ms;
    ceiling->average_batch_ms = old > 0 ? ALPHA * ms + (1 - ALPHA) * old : ms;
}

void weir_ceiling_throttle(struct weir_ceiling *ceiling, int level, int min_parallelism,
                           int64_t retry_after_us, int64_t now_us)
{
    double share = 1.0 - (double)retry_after_us / (double)WEIR_US_PER_S / FULL_RETRY_S;
    if (share < SHARE_MIN)
        share = SHARE_MIN;
    int reduced = (int)((double)level * share + 1e-9);
    if (reduced < min_parallelism)
        reduced = min_parallelism;

    int64_t until = weir_time_add(now_us, weir_time_add(retry_after_us, THROTTLE_HOLD_US));
    bool standing = ceiling->throttle_level && now_us < ceiling->throttle_until_us;
    if (!standing || reduced < ceiling->throttle_level)
        ceiling->throttle_level = reduced;
    if (!standing || until > ceiling->throttle_until_us)
        ceiling->throttle_until_us = until;
}

static int execution_time_level(double average_ms, const struct weir_adaptive_rate_options *options)
{
    double level = options->execution_time_ceiling_factor / (average_ms / 1000.0);
    if (level < options->min_parallelism)
        return options->min_parallelism;
    return level < INT32_MAX ? (int)(level + 1e-9) : INT32_MAX;
}

struct weir_ceiling_levels weir_ceiling_levels(const struct weir_ceiling *ceiling,
                                               const struct weir_adaptive_rate_options *options,
                                               int64_t now_us)
{
    struct weir_ceiling_levels levels = { 0 };
    double average = ceiling->average_batch_ms;
    if (average <= 0 || average < options->slow_batch_threshold_ms)
        return levels;
    levels.execution_time = execution_time_level(average, options);
    if (now_us < ceiling->throttle_until_us)
        levels.throttle = ceiling->throttle_level;
    return levels;
}

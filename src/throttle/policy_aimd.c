/* SPDX-License-Identifier: MIT */
/*
 * Aimd: additive increase, multiplicative decrease, under the execution-time ceiling.
 *
 *   level ▲            probing: + IncreaseRate
 *         │        ____/‾ throttle
 *     LKG │   ____/       │
 *         │  /            │      recovery: + IncreaseRate × RecoveryMultiplier
 *         │ /             │   ┌──┘
 *         │/              └───┘  × DecreaseFactor
 *         └──────────────────────────────▶ time
 *
 * Vocabulary. *level*: CurrentParallelism. *LKG*: LastKnownGoodParallelism, the level just below
 * the one that was throttled; stale after LastKnownGoodTTL, then the level takes its place.
 * *counter*: SuccessesSinceThrottle; StabilizationBatches of them, and MinIncreaseInterval since
 * the last step, make one step up. *epoch*: counts the decreases.
 *
 * One success: activity stamp; average; ceilings; staleness of the LKG; counter and increase. One
 * throttle: totals; activity stamp; then, only if the request was sent since the last decrease:
 * LKG, throttle ceiling, level, counter, epoch. So a hundred throttles of one flight cut once, and
 * successes that were sent before a cut do not count towards the next rise.
 *
 * What a success costs the service is not known here: all three kinds of throttle are alike.
 */
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "throttle/ceiling.h"
#include "throttle/policy.h"

struct aimd {
    const struct weir_adaptive_rate_options *options;
    bool started; /* asked for a lease once; before that there is no level */
    bool hinted;
    int level;
    int max;
    int lkg;
    int counter;
    uint64_t epoch;
    uint64_t throttle_events;
    int64_t lkg_us;
    int64_t step_us;      /* MinIncreaseInterval runs from here */
    int64_t activity_us;  /* lease, success or throttle */
    int64_t increased_us; /* WEIR_NEVER: never */
    int64_t throttled_us; /* WEIR_NEVER: never */
    int64_t reopens_us;   /* the last reopening; WEIR_NEVER: it was never shut */
    struct weir_ceiling ceiling;
};

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    struct aimd *aimd = state;
    *aimd = (struct aimd){
        .options = options,
        .max = WEIR_PARALLELISM_UNHINTED,
        .activity_us = WEIR_NEVER,
        .increased_us = WEIR_NEVER,
        .throttled_us = WEIR_NEVER,
        .reopens_us = WEIR_NEVER,
    };
}

/* Level and all that follows from it as at the beginning; average and ceilings stay. */
static void start(struct aimd *aimd, int64_t now_us)
{
    int level = (int)((double)aimd->max * aimd->options->initial_parallelism_factor + 1e-9);
    aimd->started = true;
    aimd->level = max_int(1, min_int(max_int(level, aimd->options->min_parallelism), aimd->max));
    aimd->lkg = aimd->level;
    aimd->lkg_us = now_us;
    aimd->counter = 0;
    aimd->step_us = now_us;
}

/* From when on it counts as idle. */
static int64_t idle_from_us(const struct aimd *aimd)
{
    if (aimd->activity_us == WEIR_NEVER)
        return WEIR_FOREVER;
    int64_t since = aimd->activity_us > aimd->reopens_us ? aimd->activity_us : aimd->reopens_us;
    return weir_time_add(since, aimd->options->idle_reset_period_us + 1);
}

/* The highest level that max and the ceilings allow, and which of them it is. */
static int limit(const struct aimd *aimd, int64_t now_us, enum weir_bound *ret_bound)
{
    struct weir_ceiling_levels levels = weir_ceiling_levels(&aimd->ceiling, aimd->options, now_us);
    int lowest = aimd->max;
    *ret_bound = WEIR_BOUND_MAX;
    if (levels.execution_time && levels.execution_time < lowest) {
        lowest = levels.execution_time;
        *ret_bound = WEIR_BOUND_EXECUTION_TIME;
    }
    if (levels.throttle && levels.throttle < lowest) {
        lowest = levels.throttle;
        *ret_bound = WEIR_BOUND_THROTTLE_CEILING;
    }
    return lowest;
}

static enum weir_bound bound_by(const struct aimd *aimd, int64_t now_us)
{
    enum weir_bound bound;
    return aimd->level < limit(aimd, now_us, &bound) ? WEIR_BOUND_AIMD : bound;
}

/* A ceiling that falls lowers the level itself; it grows back by increases. */
static void apply_ceilings(struct aimd *aimd, int64_t now_us)
{
    enum weir_bound bound;
    aimd->level = min_int(aimd->level, limit(aimd, now_us, &bound));
}

static void admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                  struct weir_admission *ret)
{
    struct aimd *aimd = state;
    if (!aimd->started || now_us >= idle_from_us(aimd))
        start(aimd, now_us);
    *ret = (struct weir_admission){
        .ok = ask->in_flight < (uint32_t)aimd->level,
        .not_before_us = idle_from_us(aimd), /* a reset may make room, if no answer does */
        .score = aimd->level - (double)ask->in_flight,
        .bound_by = bound_by(aimd, now_us),
    };
}

static void leased(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    (void)lease;
    struct aimd *aimd = state;
    aimd->activity_us = now_us;
}

static void increase(struct aimd *aimd, int64_t now_us)
{
    const struct weir_adaptive_rate_options *options = aimd->options;
    int step = options->increase_rate;
    if (aimd->level < aimd->lkg)
        step = (int)(options->increase_rate * options->recovery_multiplier + 1e-9);
    int before = aimd->level;
    aimd->level += step;
    apply_ceilings(aimd, now_us);
    aimd->counter = 0;
    aimd->step_us = now_us;
    if (aimd->level > before)
        aimd->increased_us = now_us;
}

static void refresh_lkg(struct aimd *aimd, int64_t now_us)
{
    if (now_us - aimd->lkg_us <= aimd->options->last_known_good_ttl_us)
        return;
    aimd->lkg = aimd->level;
    aimd->lkg_us = now_us;
}

static void on_success(struct aimd *aimd, uint64_t epoch, int64_t duration_us, int64_t now_us)
{
    aimd->activity_us = now_us;
    weir_ceiling_success(&aimd->ceiling, duration_us);
    if (aimd->started) {
        apply_ceilings(aimd, now_us);
        refresh_lkg(aimd, now_us);
    }
    if (epoch != aimd->epoch)
        return;
    aimd->counter++;
    if (aimd->started && aimd->counter >= aimd->options->stabilization_batches &&
        now_us - aimd->step_us >= aimd->options->min_increase_interval_us)
        increase(aimd, now_us);
}

static void decrease(struct aimd *aimd, int64_t retry_after_us, int64_t now_us)
{
    const struct weir_adaptive_rate_options *options = aimd->options;
    int floor_level = min_int(options->min_parallelism, aimd->max);
    aimd->lkg = max_int(aimd->level - options->increase_rate, floor_level);
    aimd->lkg_us = now_us;
    weir_ceiling_throttle(&aimd->ceiling, aimd->level, floor_level, retry_after_us, now_us);
    int cut = (int)((double)aimd->level * options->decrease_factor + 1e-9);
    aimd->level = max_int(cut, floor_level);
    apply_ceilings(aimd, now_us);
    aimd->counter = 0;
    aimd->epoch++;
}

static void on_throttle(struct aimd *aimd, uint64_t epoch, int64_t retry_after_us, int64_t now_us)
{
    aimd->throttle_events++;
    aimd->throttled_us = now_us;
    aimd->activity_us = now_us;
    if (aimd->started && epoch == aimd->epoch)
        decrease(aimd, retry_after_us, now_us);
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    struct aimd *aimd = state;
    if (reopens_us > aimd->reopens_us)
        aimd->reopens_us = reopens_us;
    if (answer->verdict.class_ == WEIR_CLASS_OK)
        on_success(aimd, lease->epoch, answer->duration_us, now_us);
    else if (answer->verdict.class_ == WEIR_CLASS_THROTTLE)
        on_throttle(aimd, lease->epoch, answer->verdict.retry_after_us, now_us);
}

/* The first hint starts the level, unless a throttle has already cut it; a later one raises only
 * the maximum or clamps everything to it. */
static void hint(void *state, int dop_hint, int64_t now_us)
{
    struct aimd *aimd = state;
    bool first = !aimd->hinted;
    aimd->hinted = true;
    aimd->max = dop_hint;
    if (!aimd->started)
        return;
    if (first && aimd->epoch == 0)
        start(aimd, now_us);
    aimd->level = min_int(aimd->level, aimd->max);
    aimd->lkg = min_int(aimd->lkg, aimd->max);
    apply_ceilings(aimd, now_us);
}

static void reset(void *state, int64_t now_us)
{
    struct aimd *aimd = state;
    aimd->ceiling = (struct weir_ceiling){ 0 };
    if (aimd->started)
        start(aimd, now_us);
}

static uint64_t get_epoch(const void *state)
{
    const struct aimd *aimd = state;
    return aimd->epoch;
}

static int level(const void *state)
{
    const struct aimd *aimd = state;
    return aimd->level;
}

static void stats(const void *state, int64_t now_us, struct weir_adaptive_rate_stats *ret)
{
    const struct aimd *aimd = state;
    struct weir_ceiling_levels ceilings =
        weir_ceiling_levels(&aimd->ceiling, aimd->options, now_us);
    ret->current_parallelism = aimd->level;
    ret->max_parallelism = aimd->max;
    ret->last_known_good_parallelism = aimd->lkg;
    ret->is_last_known_good_stale =
        aimd->started && now_us - aimd->lkg_us > aimd->options->last_known_good_ttl_us;
    ret->successes_since_throttle = aimd->counter;
    ret->total_throttle_events = aimd->throttle_events;
    ret->last_throttle_time_us = aimd->throttled_us;
    ret->last_increase_time_us = aimd->increased_us;
    ret->last_activity_time_us = aimd->activity_us;
    ret->average_batch_ms = aimd->ceiling.average_batch_ms;
    ret->execution_time_ceiling = ceilings.execution_time;
    ret->throttle_ceiling = ceilings.throttle;
    ret->bound_by = bound_by(aimd, now_us);
}

const struct weir_policy weir_policy_aimd = {
    .name = "Aimd",
    .state_bytes = sizeof(struct aimd),
    .lanes_max = 1,
    .init = init,
    .admit = admit,
    .leased = leased,
    .answered = answered,
    .hint = hint,
    .reset = reset,
    .epoch = get_epoch,
    .level = level,
    .stats = stats,
};

/* SPDX-License-Identifier: MIT */
/*
 * aimd-seed: the adaptive-rate controller of the design document exactly as written, to show what
 * its corrections are worth. What is wrong with it, on purpose:
 *
 *   - activity is stamped before idleness is tested, so it never resets
 *   - every throttle of one flight halves the level
 *   - successes sent before a decrease count towards the next increase
 *   - a stale last-known-good is replaced but stays stale
 *   - execution in chunks: as many requests as the level said when the chunk began, and the next
 * chunk only when the slowest of them is back
 *
 * A level of 0, which the document allows for, would stand still for ever; it is taken as 1.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "lab/policies.h"

struct seed {
    const struct weir_adaptive_rate_options *options;
    bool started;
    int current;
    int max;
    int last_known_good;
    int64_t last_known_good_us;
    int successes;
    int64_t increase_us;
    int64_t activity_us;
    uint64_t throttles;
    int64_t throttled_us;
    int chunk_left; /* requests of the running chunk that have not left yet */
};

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    struct seed *seed = state;
    *seed = (struct seed){
        .options = options,
        .max = WEIR_PARALLELISM_UNHINTED,
        .activity_us = WEIR_NEVER,
        .throttled_us = WEIR_NEVER,
    };
}

static void start(struct seed *seed, int64_t now_us)
{
    seed->started = true;
    seed->current = (int)((double)seed->max * seed->options->initial_parallelism_factor);
    seed->last_known_good = seed->current;
    seed->last_known_good_us = now_us;
    seed->successes = 0;
    seed->increase_us = now_us;
    seed->activity_us = now_us;
}

/* GetParallelism, before each chunk. */
static int parallelism(struct seed *seed, int64_t now_us)
{
    if (!seed->started)
        start(seed, now_us);
    seed->activity_us = now_us;
    if (now_us - seed->activity_us > seed->options->idle_reset_period_us)
        start(seed, now_us);
    return seed->current > 0 ? seed->current : 1;
}

static void admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                  struct weir_admission *ret)
{
    struct seed *seed = state;
    if (seed->chunk_left == 0 && ask->in_flight == 0)
        seed->chunk_left = parallelism(seed, now_us);
    *ret = (struct weir_admission){
        .ok = seed->chunk_left > 0,
        .not_before_us = WEIR_FOREVER,
        .score = seed->chunk_left,
        .bound_by = WEIR_BOUND_AIMD,
    };
}

static void leased(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    (void)lease;
    (void)now_us;
    struct seed *seed = state;
    seed->chunk_left--;
}

static void on_success(struct seed *seed, int64_t now_us)
{
    const struct weir_adaptive_rate_options *options = seed->options;
    seed->activity_us = now_us;
    seed->successes++;
    if (now_us - seed->last_known_good_us > options->last_known_good_ttl_us)
        seed->last_known_good = seed->current;
    if (seed->successes < options->stabilization_batches ||
        now_us - seed->increase_us < options->min_increase_interval_us)
        return;
    int increase = options->increase_rate;
    if (seed->current < seed->last_known_good)
        increase = (int)(options->increase_rate * options->recovery_multiplier);
    seed->current += increase;
    if (seed->current > seed->max)
        seed->current = seed->max;
    seed->successes = 0;
    seed->increase_us = now_us;
}

static int at_least(int value, int least)
{
    return value > least ? value : least;
}

static void on_throttle(struct seed *seed, int64_t now_us)
{
    const struct weir_adaptive_rate_options *options = seed->options;
    seed->activity_us = now_us;
    seed->throttled_us = now_us;
    seed->throttles++;
    seed->last_known_good =
        at_least(seed->current - options->increase_rate, options->min_parallelism);
    seed->last_known_good_us = now_us;
    seed->current =
        at_least((int)((double)seed->current * options->decrease_factor), options->min_parallelism);
    seed->successes = 0;
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    (void)lease;
    (void)reopens_us;
    if (answer->verdict.class_ == WEIR_CLASS_OK)
        on_success(state, now_us);
    else if (answer->verdict.class_ == WEIR_CLASS_THROTTLE)
        on_throttle(state, now_us);
}

static void hint(void *state, int dop_hint, int64_t now_us)
{
    (void)now_us;
    struct seed *seed = state;
    seed->max = dop_hint;
}

static void reset(void *state, int64_t now_us)
{
    start(state, now_us);
}

static uint64_t epoch(const void *state)
{
    (void)state;
    return 0;
}

/* The pool's cap; the chunk is what really bounds it. */
static int level(const void *state)
{
    const struct seed *seed = state;
    return seed->max;
}

static void stats(const void *state, int64_t now_us, struct weir_adaptive_rate_stats *ret)
{
    (void)now_us;
    const struct seed *seed = state;
    ret->current_parallelism = seed->current;
    ret->max_parallelism = seed->max;
    ret->last_known_good_parallelism = seed->last_known_good;
    ret->successes_since_throttle = seed->successes;
    ret->total_throttle_events = seed->throttles;
    ret->last_throttle_time_us = seed->throttled_us;
    ret->last_increase_time_us = seed->increase_us;
    ret->last_activity_time_us = seed->activity_us;
    ret->bound_by = WEIR_BOUND_AIMD;
}

const struct weir_policy lab_policy_aimd_seed = {
    .name = "aimd-seed",
    .state_bytes = sizeof(struct seed),
    .lanes_max = 1,
    .init = init,
    .admit = admit,
    .leased = leased,
    .answered = answered,
    .hint = hint,
    .reset = reset,
    .epoch = epoch,
    .level = level,
    .stats = stats,
};

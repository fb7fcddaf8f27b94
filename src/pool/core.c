/* SPDX-License-Identifier: MIT */
/*
 * The pool's core; see core.h.
 *
 * A connection that may be asked stands in `candidates`, ordered by the strategy's rank; one whose
 * condition ends by itself stands in `wakes`, ordered by that time. refresh() puts a connection
 * where it belongs after anything happened to it, so that serving never looks at more than it
 * needs:
 *
 *                    ┌── refresh ──┐
 *     ready ── candidates          closed, tripped, paced ── wakes ── time ──▶ refresh
 *       │                          full ── settle ──▶ refresh
 *       └── admit says no ──▶ full or paced
 *
 * A strategy that is blind to throttles keeps its closed connections among the candidates.
 */
#include "pool/core.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "pool/core_parts.h"

/* --- beginning and end --- */

/* Options may be filled by hand; what would break the pool is refused here. */
static enum weir_status check_ranges(const struct weir_core *core,
                                     const struct weir_options *options, struct weir_error *err)
{
    const struct weir_resilience_options *resilience = &options->resilience;
    const struct weir_adaptive_rate_options *rate = &options->adaptive_rate;
    bool fixed = core->policy == &weir_policy_fixed;
    const struct {
        const char *key;
        int64_t value;
        int64_t min;
        int64_t max;
    } ranges[] = {
        { "pool.max_pool_size", options->pool.max_pool_size, 0, INT32_MAX },
        { "pool.acquire_timeout_us", options->pool.acquire_timeout_us, 1, INT64_MAX },
        { "bulk.max_parallel_batches", options->bulk.max_parallel_batches, 0, INT32_MAX },
        { "resilience.max_throttles_per_window", resilience->max_throttles_per_window, 0, 1000 },
        { "resilience.retry_after_buffer_us", resilience->retry_after_buffer_us, 0,
          WEIR_RETRY_AFTER_MAX_US },
        { "resilience.fallback_retry_after_us", resilience->fallback_retry_after_us, 1,
          WEIR_RETRY_AFTER_MAX_US },
        { "adaptive_rate.fixed_parallelism", rate->fixed_parallelism, fixed, WEIR_PARALLELISM_MAX },
        { "adaptive_rate.min_parallelism", rate->min_parallelism, 1, WEIR_PARALLELISM_MAX },
        { "adaptive_rate.increase_rate", rate->increase_rate, 1, WEIR_PARALLELISM_MAX },
        { "adaptive_rate.execution_time_ceiling_factor", rate->execution_time_ceiling_factor, 1,
          INT32_MAX },
        { "adaptive_rate.idle_reset_period_us", rate->idle_reset_period_us, 1, WEIR_US_PER_DAY },
        { "the policy's lanes_max", core->policy->lanes_max, 1, WEIR_LANES_MAX },
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (ranges[i].value < ranges[i].min || ranges[i].value > ranges[i].max)
            return weir_fail(err, WEIR_E_INVALID,
                             "%s is %" PRId64 ", it takes %" PRId64 " to %" PRId64, ranges[i].key,
                             ranges[i].value, ranges[i].min, ranges[i].max);
    }
    return WEIR_OK;
}

static enum weir_status check(const struct weir_core *core, const struct weir_options *options,
                              struct weir_error *err)
{
    if (!core->policy)
        return weir_fail(err, WEIR_E_INVALID, "no policy is called \"%s\"",
                         options->adaptive_rate.policy);
    if (!core->strategy)
        return weir_fail(err, WEIR_E_INVALID, "no selection strategy is called \"%s\"",
                         options->pool.selection_strategy);
    if (options->connection_count == 0)
        return weir_fail(err, WEIR_E_INVALID, "no connection is configured");
    if (options->connection_count > WEIR_CONNECTIONS_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "%zu connections are configured, at most %d may be",
                         options->connection_count, WEIR_CONNECTIONS_MAX);
    return check_ranges(core, options, err);
}

/* Two bounds on the whole pool; the smaller one counts, and is named. */
static void bound_whole(struct weir_core *core, const struct weir_options *options)
{
    core->in_flight_max = UINT32_MAX;
    core->in_flight_bound = WEIR_BOUND_POOL;
    if (options->pool.max_pool_size)
        core->in_flight_max = (uint32_t)options->pool.max_pool_size;
    uint32_t batches = (uint32_t)options->bulk.max_parallel_batches;
    if (batches && batches < core->in_flight_max) {
        core->in_flight_max = batches;
        core->in_flight_bound = WEIR_BOUND_USER;
    }
}

static enum weir_status add_connections(struct weir_core *core, const struct weir_options *options,
                                        struct weir_error *err)
{
    core->connections = weir_calloc(core->count, sizeof(*core->connections));
    core->lanes = weir_calloc((size_t)core->count * core->policy->lanes_max, sizeof(*core->lanes));
    core->policy_states = weir_calloc(core->count, core->policy->state_bytes);
    for (uint32_t i = 0; i < core->count; i++) {
        const char *name = options->connections[i].name;
        if (!name || !*name)
            return weir_fail(err, WEIR_E_INVALID, "connection %u has no name", i);
        if (strlen(name) > WEIR_CONNECTION_NAME_MAX)
            return weir_fail(err, WEIR_E_TOO_BIG,
                             "the name of connection %u is longer than %d bytes", i,
                             WEIR_CONNECTION_NAME_MAX);
        struct weir_connection *connection = &core->connections[i];
        connection->name = weir_strdup(name);
        connection->lanes = core->lanes + (size_t)i * core->policy->lanes_max;
        connection->lane_count = 1;
        connection->throttled_us = WEIR_NEVER;
        if (!weir_map_add(&core->names, weir_str_from(connection->name), i))
            return weir_fail(err, WEIR_E_INVALID, "two connections are called \"%s\"", name);
        core->policy->init(weir_core_policy_state(core, i), &core->adaptive_rate);
        core->condition_counts[connection->condition]++;
        weir_core_refresh(core, i);
    }
    return WEIR_OK;
}

enum weir_status weir_core_init(struct weir_core *core, const struct weir_options *options,
                                const struct weir_policy *policy, uint64_t seed, bool events_wanted,
                                struct weir_error *err)
{
    *core = (struct weir_core){
        .policy = policy ? policy : weir_policy_choose(&options->adaptive_rate),
        .strategy = weir_strategy_find(options->pool.selection_strategy),
        .pool = options->pool,
        .resilience = options->resilience,
        .adaptive_rate = options->adaptive_rate,
        .now_us = WEIR_NEVER,
    };
    enum weir_status status = check(core, options, err);
    if (status)
        return status;
    /* The caller's texts are looked up, not kept. */
    core->pool.selection_strategy = NULL;
    core->adaptive_rate.policy = NULL;
    core->adaptive_rate.preset = NULL;
    core->count = (uint32_t)options->connection_count;
    bound_whole(core, options);
    weir_rng_init(&core->rng, seed, 0);
    weir_map_init(&core->names);
    weir_tracker_init(&core->tracker, core->count * core->policy->lanes_max,
                      core->resilience.retry_after_buffer_us);
    weir_episodes_init(&core->episodes, core->resilience.max_throttles_per_window);
    weir_heap_init(&core->candidates, core->count);
    weir_heap_init(&core->wakes, core->count);
    weir_leases_init(&core->leases);
    weir_waiters_init(&core->waiters);
    weir_pool_events_init(&core->events, events_wanted);
    status = add_connections(core, options, err);
    if (status)
        weir_core_release(core);
    return status;
}

void weir_core_release(struct weir_core *core)
{
    for (uint32_t i = 0; core->connections && i < core->count; i++)
        free(core->connections[i].name);
    free(core->connections);
    free(core->lanes);
    free(core->policy_states);
    weir_map_release(&core->names);
    weir_tracker_release(&core->tracker);
    weir_episodes_release(&core->episodes);
    weir_heap_release(&core->candidates);
    weir_heap_release(&core->wakes);
    weir_leases_release(&core->leases);
    weir_waiters_release(&core->waiters);
    weir_pool_events_release(&core->events);
    *core = (struct weir_core){ 0 };
}

/* --- conditions and time --- */

int64_t weir_core_reopening_us(const struct weir_core *core, uint32_t connection)
{
    int64_t first = WEIR_FOREVER;
    for (uint32_t lane = 0; lane < core->connections[connection].lane_count; lane++) {
        int64_t at =
            weir_tracker_reopening_us(&core->tracker, weir_core_lane_key(core, connection, lane));
        if (at < first)
            first = at;
    }
    return first;
}

bool weir_core_lane_closed(const struct weir_core *core, uint32_t connection, uint32_t lane)
{
    uint32_t key = weir_core_lane_key(core, connection, lane);
    return core->resilience.enable_throttle_tracking &&
           core->now_us < weir_tracker_reopening_us(&core->tracker, key);
}

static bool is_closed(const struct weir_core *core, uint32_t connection)
{
    return core->resilience.enable_throttle_tracking &&
           core->now_us < weir_core_reopening_us(core, connection);
}

static void rank(struct weir_core *core, uint32_t connection)
{
    const struct weir_connection *it = &core->connections[connection];
    struct weir_candidate candidate = {
        .index = connection,
        .count = core->count,
        .in_flight = it->in_flight,
        .last_leased = it->last_leased,
        .cursor = core->cursor,
        .has_headroom = core->policy->headroom != NULL,
        .headroom = 1,
    };
    if (candidate.has_headroom && core->now_us != WEIR_NEVER)
        candidate.headroom =
            core->policy->headroom(weir_core_policy_state(core, connection), core->now_us);
    weir_heap_set(&core->candidates, connection, core->strategy->rank(&candidate));
}

void weir_core_set_condition(struct weir_core *core, uint32_t connection,
                             enum weir_condition condition, int64_t until_us)
{
    struct weir_connection *it = &core->connections[connection];
    core->condition_counts[it->condition]--;
    core->condition_counts[condition]++;
    it->condition = condition;
    if (condition != WEIR_CONDITION_CLOSED && condition != WEIR_CONDITION_SET_ASIDE)
        core->all_throttled = false;

    bool blind = condition == WEIR_CONDITION_CLOSED && !core->strategy->routes_around_throttles;
    if (condition == WEIR_CONDITION_READY || blind)
        rank(core, connection);
    else
        weir_heap_remove(&core->candidates, connection);
    if (until_us == WEIR_FOREVER)
        weir_heap_remove(&core->wakes, connection);
    else
        weir_heap_set(&core->wakes, connection, until_us);
}

void weir_core_refresh(struct weir_core *core, uint32_t connection)
{
    const struct weir_connection *it = &core->connections[connection];
    int64_t now_us = core->now_us;
    if (it->set_aside)
        weir_core_set_condition(core, connection, WEIR_CONDITION_SET_ASIDE, WEIR_FOREVER);
    else if (it->passed_over)
        weir_core_set_condition(core, connection, WEIR_CONDITION_FULL, WEIR_FOREVER);
    else if (is_closed(core, connection))
        weir_core_set_condition(core, connection, WEIR_CONDITION_CLOSED,
                                weir_core_reopening_us(core, connection));
    else if (weir_breaker_state(&it->breaker, now_us) == WEIR_BREAKER_OPEN)
        weir_core_set_condition(core, connection, WEIR_CONDITION_TRIPPED, it->breaker.until_us);
    else
        weir_core_set_condition(core, connection, WEIR_CONDITION_READY, WEIR_FOREVER);
}

static void wake_due(struct weir_core *core)
{
    while (weir_heap_min(&core->wakes) <= core->now_us)
        weir_core_refresh(core, weir_heap_top(&core->wakes));
}

void weir_core_advance(struct weir_core *core, int64_t now_us)
{
    if (now_us > core->now_us) {
        if (core->slot_clock_runs)
            core->slot_clock_us += now_us - core->now_us;
        core->now_us = now_us;
    }
    wake_due(core);
}

/* Everybody who is in use is closed by a throttle or paced: nobody has to wait for a slot. */
bool weir_core_waits_for_throttle(const struct weir_core *core)
{
    if (core->leases.count >= core->in_flight_max)
        return false;
    if (core->strategy->routes_around_throttles || !core->candidates.count) {
        const uint32_t *counts = core->condition_counts;
        return counts[WEIR_CONDITION_READY] + counts[WEIR_CONDITION_FULL] +
                   counts[WEIR_CONDITION_TRIPPED] ==
               0;
    }
    uint32_t choice = weir_heap_top(&core->candidates);
    return core->connections[choice].condition == WEIR_CONDITION_CLOSED;
}

void weir_core_set_slot_clock(struct weir_core *core)
{
    core->slot_clock_runs = core->waiters.count && !weir_core_waits_for_throttle(core);
}

void weir_core_changed(struct weir_core *core)
{
    core->turn_due = true;
    weir_core_set_slot_clock(core);
}

/* --- events --- */

void weir_core_note(struct weir_core *core, uint32_t connection, enum weir_pool_event_type type,
                    int64_t wait_us)
{
    struct weir_pool_event event = {
        .type = type,
        .connection_name = core->connections[connection].name,
        .time_us = core->now_us,
        .wait_us = wait_us,
    };
    weir_pool_events_add(&core->events, &event);
}

void weir_core_note_level(struct weir_core *core, uint32_t connection, int before)
{
    if (!core->events.ring || weir_core_level(core, connection) == before)
        return;
    struct weir_adaptive_rate_stats stats;
    weir_core_rate_stats(core, connection, core->now_us, &stats);
    struct weir_pool_event event = {
        .type = WEIR_EVENT_LEVEL,
        .connection_name = core->connections[connection].name,
        .time_us = core->now_us,
        .current = stats.current_parallelism,
        .max = stats.max_parallelism,
        .successes = stats.successes_since_throttle,
        .throttle_events = stats.total_throttle_events,
        .bound_by = stats.bound_by,
    };
    weir_pool_events_add(&core->events, &event);
}

bool weir_core_event(struct weir_core *core, struct weir_pool_event *ret)
{
    return weir_pool_events_take(&core->events, ret);
}

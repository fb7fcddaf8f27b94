/* SPDX-License-Identifier: MIT */
/* What the pool's core says of itself: answers to questions, errors, snapshots and their JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "pool/core.h"
#include "pool/core_parts.h"

bool weir_core_is_throttled(const struct weir_core *core, uint32_t connection, int64_t now_us)
{
    for (uint32_t lane = 0; lane < core->connections[connection].lane_count; lane++) {
        uint32_t key = weir_core_lane_key(core, connection, lane);
        if (!weir_tracker_is_throttled(&core->tracker, key, now_us))
            return false;
    }
    return true;
}

static int64_t closed_us(const struct weir_tracker *tracker, uint32_t key, int64_t now_us)
{
    int64_t expiry_us = weir_tracker_expiry_us(tracker, key, now_us);
    int64_t to_come_us = expiry_us == WEIR_NEVER ? 0 : expiry_us - now_us;
    return tracker->backoff_us[key] - to_come_us;
}

int64_t weir_core_backoff_us(const struct weir_core *core, uint32_t connection, int64_t now_us)
{
    int64_t sum_us = 0;
    for (uint32_t lane = 0; lane < core->policy->lanes_max; lane++)
        sum_us += closed_us(&core->tracker, weir_core_lane_key(core, connection, lane), now_us);
    return sum_us;
}

uint32_t weir_core_cap(const struct weir_core *core, uint32_t connection, int64_t now_us)
{
    return weir_connection_cap(&core->connections[connection], weir_core_level(core, connection),
                               now_us);
}

bool weir_core_any_open(struct weir_core *core, int64_t now_us, int64_t *ret_reopening_us)
{
    weir_core_advance(core, now_us);
    const uint32_t *counts = core->condition_counts;
    *ret_reopening_us = WEIR_FOREVER;
    if (core->count > counts[WEIR_CONDITION_CLOSED] + counts[WEIR_CONDITION_SET_ASIDE])
        return true;
    *ret_reopening_us = weir_heap_min(&core->wakes); /* only closed ones are there */
    return false;
}

static uint32_t count_throttled(struct weir_core *core)
{
    if (core->policy->lanes_max == 1)
        return weir_tracker_count(&core->tracker, core->now_us);
    uint32_t count = 0;
    for (uint32_t i = 0; i < core->count; i++)
        count += weir_core_is_throttled(core, i, core->now_us);
    return count;
}

void weir_core_stats(struct weir_core *core, int64_t now_us, struct weir_pool_stats *ret)
{
    weir_core_advance(core, now_us);
    *ret = (struct weir_pool_stats){
        .total_connections = core->count,
        .throttled_connections = count_throttled(core),
        .set_aside_connections = core->condition_counts[WEIR_CONDITION_SET_ASIDE],
        .total_throttle_events = core->tracker.total_events,
        .active_leases = core->leases.count,
        .waiters = core->waiters.count,
        .requests_served = core->requests_served,
        .total_backoff_time_us = core->tracker.total_backoff_us,
    };
}

void weir_core_rate_stats(const struct weir_core *core, uint32_t connection, int64_t now_us,
                          struct weir_adaptive_rate_stats *ret)
{
    *ret = (struct weir_adaptive_rate_stats){ .predicted_throttle_in_us = -1 };
    const struct weir_connection *it = &core->connections[connection];
    snprintf(ret->connection_name, sizeof(ret->connection_name), "%s", it->name);
    core->policy->stats(weir_core_policy_state(core, connection), now_us, ret);
    if (core->leases.count >= core->in_flight_max)
        ret->bound_by = core->in_flight_bound;
    else if (weir_core_cap(core, connection, now_us) < (uint32_t)ret->current_parallelism)
        ret->bound_by = WEIR_BOUND_POOL;
}

/* --- refusals --------------------------------------------------------------------------------- */

static enum weir_status explain_throttle(const struct weir_core *core,
                                         const struct weir_refusal *refusal, struct weir_error *err)
{
    const struct weir_connection *it = &core->connections[refusal->connection];
    const struct weir_verdict *throttle = &it->last_throttle;
    double wait_s = (double)refusal->retry_after_us / 1e6;
    if (refusal->retry_after_us < 0)
        weir_fail(err, WEIR_E_SERVICE_PROTECTION,
                  "more than %d throttle episodes within five minutes, the last on \"%s\"",
                  core->resilience.max_throttles_per_window, it->name);
    else
        weir_fail(err, WEIR_E_SERVICE_PROTECTION,
                  "all connections are throttled, the first, \"%s\", for another %.3f s, which is "
                  "more than MaxRetryAfterTolerance (%.3f s)",
                  it->name, wait_s, (double)core->pool.max_retry_after_tolerance_us / 1e6);
    if (err) {
        weir_error_set_connection(err, it->name);
        err->http_status = throttle->http_status;
        err->service_code = throttle->code;
        err->retry_after_us = refusal->retry_after_us;
        err->retryable = true;
    }
    return WEIR_E_SERVICE_PROTECTION;
}

enum weir_status weir_core_explain(const struct weir_core *core, const struct weir_refusal *refusal,
                                   struct weir_error *err)
{
    switch (refusal->status) {
    case WEIR_E_SERVICE_PROTECTION:
        return explain_throttle(core, refusal, err);
    case WEIR_E_POOL_EXHAUSTED:
        weir_fail(err, WEIR_E_POOL_EXHAUSTED,
                  "no slot came free within AcquireTimeout: %u of %u "
                  "connections in use, %u requests in flight, %u waiting",
                  core->count - core->condition_counts[WEIR_CONDITION_SET_ASIDE], core->count,
                  core->leases.count, core->waiters.count);
        break;
    case WEIR_E_NO_CONNECTION:
        weir_fail(err, WEIR_E_NO_CONNECTION, "all %u connections have been set aside", core->count);
        break;
    case WEIR_E_WOULD_WAIT:
        weir_fail(err, WEIR_E_WOULD_WAIT, "nothing is free now");
        break;
    case WEIR_E_TOO_BIG:
        weir_fail(err, WEIR_E_TOO_BIG, "too many are waiting already");
        break;
    default:
        weir_fail(err, refusal->status, "%s", weir_status_name(refusal->status));
        break;
    }
    if (err) {
        err->retry_after_us = refusal->retry_after_us;
        err->retryable = refusal->status != WEIR_E_SHUTDOWN && refusal->status != WEIR_E_CANCELLED;
    }
    return refusal->status;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static const char *const bound_names[WEIR_BOUND_COUNT] = {
    [WEIR_BOUND_MAX] = "max",
    [WEIR_BOUND_DOP] = "dop",
    [WEIR_BOUND_AIMD] = "aimd",
    [WEIR_BOUND_EXECUTION_TIME] = "execution time",
    [WEIR_BOUND_THROTTLE_CEILING] = "throttle ceiling",
    [WEIR_BOUND_BUDGET] = "budget",
    [WEIR_BOUND_CONCURRENCY] = "concurrency",
    [WEIR_BOUND_POOL] = "pool",
    [WEIR_BOUND_USER] = "user",
    [WEIR_BOUND_BUDGET_REQUESTS] = "budget requests",
    [WEIR_BOUND_BUDGET_EXECUTION] = "budget execution",
    [WEIR_BOUND_PACING] = "pacing",
    [WEIR_BOUND_GUARD] = "guard",
};

const char *weir_bound_name(enum weir_bound bound)
{
    return (unsigned)bound < WEIR_BOUND_COUNT ? bound_names[bound] : "unknown bound";
}

size_t weir_pool_stats_json(const struct weir_pool_stats *stats, char *text, size_t text_bytes)
{
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_STATS_JSON_MAX);
    weir_buf_printf(&buf,
                    "{\"TotalConnections\":%" PRIu32 ",\"ThrottledConnections\":%" PRIu32
                    ",\"SetAsideConnections\":%" PRIu32 ",\"TotalThrottleEvents\":%" PRIu64
                    ",\"ActiveLeases\":%" PRIu32 ",\"Waiters\":%" PRIu32
                    ",\"RequestsServed\":%" PRIu64 ",\"TotalBackoffTime\":%.3f}",
                    stats->total_connections, stats->throttled_connections,
                    stats->set_aside_connections, stats->total_throttle_events,
                    stats->active_leases, stats->waiters, stats->requests_served,
                    (double)stats->total_backoff_time_us / 1e6);
    return weir_buf_hand_over(&buf, text, text_bytes);
}

static void add_time(struct weir_buf *buf, const char *name, int64_t time_us, int64_t offset_us)
{
    weir_buf_printf(buf, ",\"%s\":", name);
    if (time_us == WEIR_NEVER) {
        weir_buf_add_text(buf, "null");
        return;
    }
    int64_t wall_us = time_us + offset_us;
    time_t seconds = (time_t)(wall_us / WEIR_US_PER_S);
    struct tm parts;
    char date[32];
    gmtime_r(&seconds, &parts);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
    weir_buf_printf(buf, "\"%s.%03dZ\"", date, (int)(wall_us % WEIR_US_PER_S / WEIR_US_PER_MS));
}

size_t weir_adaptive_rate_stats_json(const struct weir_adaptive_rate_stats *stats,
                                     int64_t wall_offset_us, char *text, size_t text_bytes)
{
    struct weir_buf buf;
    weir_buf_init(&buf, WEIR_STATS_JSON_MAX);
    weir_buf_add_text(&buf, "{\"ConnectionName\":");
    weir_buf_add_json_string(&buf, weir_str_from(stats->connection_name));
    weir_buf_printf(&buf,
                    ",\"CurrentParallelism\":%d,\"MaxParallelism\":%d"
                    ",\"LastKnownGoodParallelism\":%d,\"IsLastKnownGoodStale\":%s"
                    ",\"SuccessesSinceThrottle\":%d,\"TotalThrottleEvents\":%" PRIu64,
                    stats->current_parallelism, stats->max_parallelism,
                    stats->last_known_good_parallelism,
                    stats->is_last_known_good_stale ? "true" : "false",
                    stats->successes_since_throttle, stats->total_throttle_events);
    add_time(&buf, "LastThrottleTime", stats->last_throttle_time_us, wall_offset_us);
    add_time(&buf, "LastIncreaseTime", stats->last_increase_time_us, wall_offset_us);
    add_time(&buf, "LastActivityTime", stats->last_activity_time_us, wall_offset_us);
    weir_buf_printf(&buf,
                    ",\"AverageBatchMs\":%.3f,\"ExecutionTimeCeiling\":%d,\"ThrottleCeiling\":%d"
                    ",\"BoundBy\":\"%s\",\"PredictedThrottleInSeconds\":",
                    stats->average_batch_ms, stats->execution_time_ceiling, stats->throttle_ceiling,
                    weir_bound_name(stats->bound_by));
    if (stats->predicted_throttle_in_us < 0)
        weir_buf_add_text(&buf, "null}");
    else
        weir_buf_printf(&buf, "%.3f}", (double)stats->predicted_throttle_in_us / 1e6);
    return weir_buf_hand_over(&buf, text, text_bytes);
}

/* SPDX-License-Identifier: MIT */
/* Statistics as Prometheus text; see metrics_text.h. */
#include "metrics_text.h"

#include <inttypes.h>
#include <math.h>

#include "base/clock.h"

/* --- what there is ---------------------------------------------------------------------------- */

enum kind {
    KIND_FLAG,
    KIND_INT,
    KIND_UNSIGNED,
    KIND_COUNT,  /* uint64_t */
    KIND_SPAN,   /* int64_t, microseconds; shown in seconds */
    KIND_MOMENT, /* the same on weir's clock; seconds since 1970; WEIR_NEVER: left out */
    KIND_NUMBER, /* double; negative: left out */
};

struct metric {
    const char *name; /* after weir_ */
    const char *type;
    const char *help;
    enum kind kind;
    size_t offset; /* in the snapshot, or in the connection's part of it */
};

#define COUNTER     "counter"
#define GAUGE       "gauge"
#define JOB(field)  offsetof(struct progress_snapshot, job.field)
#define POOL(field) offsetof(struct progress_snapshot, job.pool.field)
#define RATE(field) offsetof(struct progress_connection, rate.field)
#define NOW(field)  offsetof(struct progress_connection, now.field)

static const struct metric of_job[] = {
    { "job_elapsed", GAUGE, "seconds of this run", KIND_NUMBER, JOB(elapsed_s) },
    { "job_pass", GAUGE, "pass under way, from 1", KIND_UNSIGNED, JOB(pass) },
    { "job_passes", GAUGE, "passes in all", KIND_UNSIGNED, JOB(passes) },
    { "job_pass_ended", GAUGE, "rows with nothing left to do in it", KIND_COUNT, JOB(pass_ended) },
    { "job_read", COUNTER, "rows read", KIND_COUNT, JOB(read) },
    { "job_done", COUNTER, "rows done", KIND_COUNT, JOB(done) },
    { "job_rejected", COUNTER, "rows rejected", KIND_COUNT, JOB(rejected) },
    { "job_skipped", COUNTER, "rows skipped", KIND_COUNT, JOB(skipped) },
    { "job_in_flight", GAUGE, "rows sent and not answered", KIND_COUNT, JOB(in_flight) },
    { "job_rows_per_second", GAUGE, "over the last 30 s", KIND_NUMBER, JOB(rows_per_second) },
    { "job_time_left", GAUGE, "seconds that the rest will take", KIND_NUMBER, JOB(eta_s) },
    { "job_read_share", GAUGE, "share of the input read, 0 to 1", KIND_NUMBER, JOB(read_share) },
    { "job_throttled_for", GAUGE, "seconds that all are throttled", KIND_NUMBER,
      JOB(throttled_for_s) },
    { "job_requests_in_flight", GAUGE, "requests on their way", KIND_UNSIGNED,
      JOB(requests_in_flight) },
    { "job_stopping", GAUGE, "1: nothing more is sent", KIND_FLAG, JOB(stopping) },
    { "total_connections", GAUGE, "application users", KIND_UNSIGNED, POOL(total_connections) },
    { "throttled_connections", GAUGE, "throttled now", KIND_UNSIGNED, POOL(throttled_connections) },
    { "set_aside_connections", GAUGE, "set aside now", KIND_UNSIGNED, POOL(set_aside_connections) },
    { "active_leases", GAUGE, "leases that are out", KIND_UNSIGNED, POOL(active_leases) },
    { "waiters", GAUGE, "asks that wait for a lease", KIND_UNSIGNED, POOL(waiters) },
    { "requests_served", COUNTER, "requests answered", KIND_COUNT, POOL(requests_served) },
    { "total_backoff_time", COUNTER, "seconds that throttles block connections, added up",
      KIND_SPAN, POOL(total_backoff_time_us) },
    /* Its connections have the plain name: one without a label beside them would double a sum. */
    { "pool_total_throttle_events", COUNTER, "throttles of all connections", KIND_COUNT,
      POOL(total_throttle_events) },
};

static const struct metric of_connections[] = {
    { "total_throttle_events", COUNTER, "throttles", KIND_COUNT, RATE(total_throttle_events) },
    { "current_parallelism", GAUGE, "level of the policy", KIND_INT, RATE(current_parallelism) },
    { "max_parallelism", GAUGE, "the most that it may reach", KIND_INT, RATE(max_parallelism) },
    { "last_known_good_parallelism", GAUGE, "level before the last throttle", KIND_INT,
      RATE(last_known_good_parallelism) },
    { "is_last_known_good_stale", GAUGE, "1: too old to be used", KIND_FLAG,
      RATE(is_last_known_good_stale) },
    { "successes_since_throttle", GAUGE, "requests", KIND_INT, RATE(successes_since_throttle) },
    { "last_throttle_time", GAUGE, "seconds since 1970", KIND_MOMENT, RATE(last_throttle_time_us) },
    { "last_increase_time", GAUGE, "seconds since 1970", KIND_MOMENT, RATE(last_increase_time_us) },
    { "last_activity_time", GAUGE, "seconds since 1970", KIND_MOMENT, RATE(last_activity_time_us) },
    { "average_batch_ms", GAUGE, "milliseconds of a request", KIND_NUMBER, RATE(average_batch_ms) },
    { "execution_time_ceiling", GAUGE, "0: none", KIND_INT, RATE(execution_time_ceiling) },
    { "throttle_ceiling", GAUGE, "0: none", KIND_INT, RATE(throttle_ceiling) },
    { "predicted_throttle_in_seconds", GAUGE, "seconds until a throttle if all goes on as now",
      KIND_SPAN, RATE(predicted_throttle_in_us) },
    { "requests", COUNTER, "requests sent", KIND_COUNT, NOW(requests) },
    { "rows_done", COUNTER, "rows done", KIND_COUNT, NOW(rows_done) },
    { "in_flight", GAUGE, "requests on their way", KIND_UNSIGNED, NOW(in_flight) },
    { "level", GAUGE, "requests that may be on their way", KIND_UNSIGNED, NOW(level) },
    { "throttled_for", GAUGE, "seconds until it reopens; 0: open", KIND_NUMBER,
      NOW(throttled_for_s) },
    { "breaker_open_for", GAUGE, "seconds until the next try; 0: closed", KIND_NUMBER,
      NOW(broken_for_s) },
    { "is_set_aside", GAUGE, "1: out of use", KIND_FLAG, NOW(set_aside) },
    { "requests_remaining", GAUGE, "of the budget, as the service said last", KIND_NUMBER,
      NOW(requests_budget.remaining) },
    { "execution_time_remaining", GAUGE, "seconds of the budget, as the service said last",
      KIND_NUMBER, NOW(execution_budget.remaining) },
};

/* --- values ----------------------------------------------------------------------------------- */

static int64_t whole(const struct metric *metric, const void *at)
{
    switch (metric->kind) {
    case KIND_FLAG:
        return *(const bool *)at;
    case KIND_INT:
        return *(const int *)at;
    case KIND_UNSIGNED:
        return *(const unsigned *)at;
    default:
        return *(const int64_t *)at;
    }
}

static bool is_known(const struct metric *metric, const void *at)
{
    if (metric->kind == KIND_NUMBER)
        return isfinite(*(const double *)at) && *(const double *)at >= 0;
    if (metric->kind == KIND_SPAN)
        return *(const int64_t *)at >= 0;
    return metric->kind != KIND_MOMENT || *(const int64_t *)at != WEIR_NEVER;
}

static void add_value(struct weir_buf *buf, const struct metric *metric, const void *at,
                      int64_t wall_offset_us)
{
    if (metric->kind == KIND_NUMBER)
        weir_buf_printf(buf, " %.3f\n", *(const double *)at);
    else if (metric->kind == KIND_COUNT)
        weir_buf_printf(buf, " %" PRIu64 "\n", *(const uint64_t *)at);
    else if (metric->kind == KIND_SPAN)
        weir_buf_printf(buf, " %.3f\n", (double)whole(metric, at) / WEIR_US_PER_S);
    else if (metric->kind == KIND_MOMENT)
        weir_buf_printf(buf, " %.3f\n",
                        (double)(whole(metric, at) + wall_offset_us) / WEIR_US_PER_S);
    else
        weir_buf_printf(buf, " %" PRId64 "\n", whole(metric, at));
}

/* --- samples ---------------------------------------------------------------------------------- */

static void add_head(struct weir_buf *buf, const struct metric *metric)
{
    weir_buf_printf(buf, "# HELP weir_%s %s\n# TYPE weir_%s %s\n", metric->name, metric->help,
                    metric->name, metric->type);
}

static void add_label(struct weir_buf *buf, const char *value)
{
    weir_buf_add_text(buf, "connection=\"");
    for (; *value; value++) {
        if (*value == '\\' || *value == '"')
            weir_buf_add_char(buf, '\\');
        if (*value == '\n')
            weir_buf_add_text(buf, "\\n");
        else
            weir_buf_add_char(buf, *value);
    }
    weir_buf_add_char(buf, '"');
}

static void add_of_job(struct weir_buf *buf, const struct metric *metric,
                       const struct progress_snapshot *snapshot)
{
    const void *at = (const char *)snapshot + metric->offset;
    add_head(buf, metric);
    if (!is_known(metric, at))
        return;
    weir_buf_printf(buf, "weir_%s", metric->name);
    add_value(buf, metric, at, snapshot->wall_offset_us);
}

static void add_of_connections(struct weir_buf *buf, const struct metric *metric,
                               const struct progress_snapshot *snapshot)
{
    add_head(buf, metric);
    for (size_t i = 0; i < snapshot->connection_count; i++) {
        const struct progress_connection *it = &snapshot->connections[i];
        const void *at = (const char *)it + metric->offset;
        if (!is_known(metric, at))
            continue;
        weir_buf_printf(buf, "weir_%s{", metric->name);
        add_label(buf, it->now.name);
        weir_buf_add_char(buf, '}');
        add_value(buf, metric, at, snapshot->wall_offset_us);
    }
}

/* A reason is no number: it stands in a label, and the value is 1. */
static void add_bounds(struct weir_buf *buf, const struct progress_snapshot *snapshot)
{
    add_head(buf, &(struct metric){ "bound_by", GAUGE, "what bounds the level", KIND_INT, 0 });
    for (size_t i = 0; i < snapshot->connection_count; i++) {
        const struct progress_connection *it = &snapshot->connections[i];
        weir_buf_add_text(buf, "weir_bound_by{");
        add_label(buf, it->now.name);
        weir_buf_printf(buf, ",bound_by=\"%s\"} 1\n", weir_bound_name(it->rate.bound_by));
    }
}

void metrics_text_draw(const struct progress_snapshot *snapshot, struct weir_buf *ret)
{
    for (size_t i = 0; i < sizeof(of_job) / sizeof(of_job[0]); i++)
        add_of_job(ret, &of_job[i], snapshot);
    for (size_t i = 0; i < sizeof(of_connections) / sizeof(of_connections[0]); i++)
        add_of_connections(ret, &of_connections[i], snapshot);
    add_bounds(ret, snapshot);
}

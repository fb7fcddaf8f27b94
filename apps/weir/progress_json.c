/* SPDX-License-Identifier: MIT */
/* Progress as JSON; see progress_json.h. */
#include "progress_json.h"

#include <inttypes.h>
#include <math.h>

#include "base/json_text.h"
#include "exit_code.h"

static void add_bool(struct weir_buf *buf, const char *name, bool value)
{
    weir_buf_printf(buf, ",\"%s\":%s", name, value ? "true" : "false");
}

static void add_count(struct weir_buf *buf, const char *name, uint64_t count)
{
    weir_buf_printf(buf, ",\"%s\":%" PRIu64, name, count);
}

/* Negative and what is no number: not known. */
static void add_number(struct weir_buf *buf, const char *name, double number)
{
    if (isfinite(number) && number >= 0)
        weir_buf_printf(buf, ",\"%s\":%.3f", name, number);
    else
        weir_buf_printf(buf, ",\"%s\":null", name);
}

static void add_job(struct weir_buf *buf, const struct weir_job_progress *job)
{
    weir_buf_printf(buf, "{\"over\":%s", job->over ? "true" : "false");
    add_number(buf, "Elapsed", job->elapsed_s);
    add_count(buf, "Pass", job->pass);
    add_count(buf, "Passes", job->passes);
    add_count(buf, "PassEnded", job->pass_ended);
    add_count(buf, "Read", job->read);
    add_count(buf, "Done", job->done);
    add_count(buf, "Rejected", job->rejected);
    add_count(buf, "Skipped", job->skipped);
    add_count(buf, "InFlight", job->in_flight);
    add_number(buf, "RowsPerSecond", job->rows_per_second);
    add_number(buf, "TimeLeft", job->eta_s);
    add_number(buf, "ReadShare", job->read_share);
    add_number(buf, "ThrottledFor", job->throttled_for_s);
    add_count(buf, "RequestsInFlight", job->requests_in_flight);
    add_bool(buf, "Stopping", job->stopping);
}

/* AdaptiveRateStatistics with what the pool knows of the connection besides. */
static void add_connection(struct weir_buf *buf, const struct progress_connection *connection,
                           int64_t wall_offset_us)
{
    char text[WEIR_STATS_JSON_MAX];
    const struct weir_job_connection *it = &connection->now;
    size_t len =
        weir_adaptive_rate_stats_json(&connection->rate, wall_offset_us, text, sizeof(text));
    weir_buf_add(buf, text, len - 1); /* the brace comes later */
    add_count(buf, "Requests", it->requests);
    add_count(buf, "RowsDone", it->rows_done);
    add_count(buf, "InFlight", it->in_flight);
    add_count(buf, "Level", it->level);
    add_number(buf, "ThrottledFor", it->throttled_for_s);
    add_number(buf, "BreakerOpenFor", it->broken_for_s);
    add_bool(buf, "IsSetAside", it->set_aside);
    add_number(buf, "RequestsRemaining", it->requests_budget.remaining);
    add_number(buf, "ExecutionTimeRemaining", it->execution_budget.remaining);
    weir_buf_add_char(buf, '}');
}

/* All but the brace at its end. */
static void draw(const struct progress_snapshot *snapshot, struct weir_buf *ret)
{
    char pool[WEIR_STATS_JSON_MAX];
    add_job(ret, &snapshot->job);
    weir_buf_add_text(ret, ",\"Pool\":");
    weir_buf_add(ret, pool, weir_pool_stats_json(&snapshot->job.pool, pool, sizeof(pool)));
    weir_buf_add_text(ret, ",\"Connections\":[");
    for (size_t i = 0; i < snapshot->connection_count; i++) {
        if (i > 0)
            weir_buf_add_char(ret, ',');
        add_connection(ret, &snapshot->connections[i], snapshot->wall_offset_us);
    }
    weir_buf_add_char(ret, ']');
}

void progress_json_draw(const struct progress_snapshot *snapshot, struct weir_buf *ret)
{
    draw(snapshot, ret);
    weir_buf_add_char(ret, '}');
}

/* --- the end ---------------------------------------------------------------------------------- */

static void add_text(struct weir_buf *buf, const char *name, const char *text)
{
    weir_buf_printf(buf, ",\"%s\":", name);
    if (text)
        weir_json_text_add(buf, weir_str_from(text));
    else
        weir_buf_add_text(buf, "null");
}

/* The balance, by the names of summary.json. */
static void add_balance(struct weir_buf *buf, const struct weir_job_result *result)
{
    add_count(buf, "read", result->read);
    add_count(buf, "done", result->done);
    add_count(buf, "rejected", result->rejected);
    add_count(buf, "skipped", result->skipped);
    add_count(buf, "unknown", result->unknown);
    add_count(buf, "not_sent", result->not_sent);
}

void progress_json_draw_end(const struct progress_snapshot *snapshot,
                            const struct progress_end *end, struct weir_buf *ret)
{
    if (snapshot)
        draw(snapshot, ret);
    else
        weir_buf_add_text(ret, "{\"over\":true");
    weir_buf_printf(ret, ",\"result\":{\"exit_code\":%d", end->exit_code);
    add_text(ret, "reason", end->reason ? end->reason : exit_code_text(end->exit_code));
    add_text(ret, "job", end->directory);
    add_text(ret, "resume", end->resume);
    if (end->result)
        add_balance(ret, end->result);
    weir_buf_add_text(ret, "}}");
}

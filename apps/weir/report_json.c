/* SPDX-License-Identifier: MIT */
/* A report for programs; see report_json.h. */
#include "report_json.h"

#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "weir/weir.h"

/* --- members ---------------------------------------------------------------------------------- */

/* The first of an object or array has no comma before it. */
static void comma(struct weir_buf *text)
{
    char last = text->len ? text->ptr[text->len - 1] : '{';
    if (last != '{' && last != '[')
        weir_buf_add_char(text, ',');
}

static void add_key(struct weir_buf *text, const char *key)
{
    comma(text);
    weir_buf_printf(text, "\n\"%s\":", key);
}

static void add_words(struct weir_buf *text, const char *key, const char *words)
{
    add_key(text, key);
    if (words && words[0])
        weir_json_text_add(text, weir_str_from(words));
    else
        weir_buf_add_text(text, "null");
}

static void add_count(struct weir_buf *text, const char *key, uint64_t count)
{
    add_key(text, key);
    weir_buf_printf(text, "%" PRIu64, count);
}

static void add_bool(struct weir_buf *text, const char *key, bool value)
{
    add_key(text, key);
    weir_buf_add_text(text, value ? "true" : "false");
}

/* Negative, or no number: not known. */
static void print_number(struct weir_buf *text, double number)
{
    if (isfinite(number) && number >= 0)
        weir_buf_printf(text, "%.3f", number);
    else
        weir_buf_add_text(text, "null");
}

static void add_number(struct weir_buf *text, const char *key, double number)
{
    add_key(text, key);
    print_number(text, number);
}

static void enter(struct weir_buf *text, const char *key, char bracket)
{
    add_key(text, key);
    weir_buf_add_char(text, bracket);
}

static void leave(struct weir_buf *text, char bracket)
{
    weir_buf_add_char(text, bracket);
}

/* --- what it was ------------------------------------------------------------------------------ */

static void add_list(struct weir_buf *text, const char *key, const char *const *words, size_t count)
{
    enter(text, key, '[');
    for (size_t i = 0; i < count; i++) {
        comma(text);
        weir_json_text_add(text, weir_str_from(words[i]));
    }
    leave(text, ']');
}

static const char *empty_name(enum weir_empty empty)
{
    return empty == WEIR_EMPTY_NULL ? "null" : empty == WEIR_EMPTY_REJECT ? "reject" : "omit";
}

static void add_row_options(struct weir_buf *text, const struct weir_job_options *options)
{
    add_words(text, "key", options->key);
    add_words(text, "id_from", options->id_from);
    add_words(text, "owner", options->owner);
    add_words(text, "format", options->format);
    add_words(text, "mapping", options->mapping);
    add_list(text, "with", options->with, options->with_count);
    add_words(text, "ignore_columns", options->ignore_columns);
    add_words(text, "empty", empty_name(options->empty));
    add_words(text, "timezone", options->timezone);
    add_bool(text, "raw", options->raw);
}

static void add_options(struct weir_buf *text, const struct weir_job_options *options)
{
    enter(text, "options", '{');
    add_row_options(text, options);
    add_words(text, "as", options->as);
    add_words(text, "bypass_logic", options->bypass_logic);
    add_bool(text, "bypass_flows", options->bypass_flows);
    add_bool(text, "detect_duplicates", options->detect_duplicates);
    add_words(text, "tag", options->tag);
    if (options->batch_size == WEIR_BATCH_SIZE_AUTO)
        add_words(text, "batch_size", "auto");
    else
        add_count(text, "batch_size", options->batch_size);
    add_key(text, "max_errors");
    if (options->rejected_max == UINT64_MAX)
        weir_buf_add_text(text, "null");
    else
        weir_buf_printf(text, "%" PRIu64, options->rejected_max);
    add_number(text, "max_errors_share", options->rejected_share_max);
    add_count(text, "limit", options->rows_max);
    add_number(text, "deadline_s", (double)options->deadline_us / WEIR_US_PER_S);
    add_number(text, "max_rate", options->rows_per_second_max);
    add_count(text, "max_parallel", options->parallel_batches_max);
    add_count(text, "memory_bytes", options->memory_bytes_max);
    leave(text, '}');
}

static void add_facts(struct weir_buf *text, const struct report_data *data)
{
    struct report_moment began = report_data_moment(data->began_us);
    add_words(text, "weir", weir_version());
    add_words(text, "job", data->job);
    add_words(text, "directory", data->directory);
    add_words(text, "environment", data->url);
    add_words(text, "operation", weir_operation_name(data->options->operation));
    add_words(text, "table", data->options->table);
    add_list(text, "files", data->files, data->file_count);
    add_words(text, "began", began.text);
    add_options(text, data->options);
}

static void add_result(struct weir_buf *text, const struct report_data *data)
{
    const struct weir_job_result *it = data->result;
    enter(text, "summary", '{');
    add_count(text, "read", it->read);
    add_count(text, "done", it->done);
    add_count(text, "absent", it->absent);
    add_count(text, "rejected", it->rejected);
    add_count(text, "skipped", it->skipped);
    add_count(text, "unknown", it->unknown);
    add_count(text, "not_sent", it->not_sent);
    add_number(text, "elapsed_s", it->elapsed_s);
    add_count(text, "requests", it->requests);
    add_count(text, "bytes_sent", it->bytes_sent);
    add_count(text, "rows_again", it->rows_again);
    add_count(text, "batch_rows", it->batch_rows);
    add_count(text, "throttles", it->throttles);
    add_number(text, "throttle_wait_s", it->throttle_wait_s);
    add_count(text, "passes", data->passes);
    add_count(text, "exit_code", (uint64_t)it->exit_code);
    add_words(text, "trouble", data->trouble);
    add_bool(text, "finished", !report_data_is_unfinished(data));
    leave(text, '}');
}

/* --- connections ------------------------------------------------------------------------------ */

static void add_latency(struct weir_buf *text, const struct weir_histogram *latency)
{
    enter(text, "latency_ms", '{');
    add_count(text, "count", latency->count);
    add_number(text, "p50", (double)weir_histogram_quantile_us(latency, 0.5) / WEIR_US_PER_MS);
    add_number(text, "p90", (double)weir_histogram_quantile_us(latency, 0.9) / WEIR_US_PER_MS);
    add_number(text, "p99", (double)weir_histogram_quantile_us(latency, 0.99) / WEIR_US_PER_MS);
    add_number(text, "max", (double)latency->max_us / WEIR_US_PER_MS);
    leave(text, '}');
}

static void add_kinds(struct weir_buf *text,
                      uint64_t (*count)(const void *, enum weir_throttle_kind), const void *of)
{
    enter(text, "throttles_by_kind", '{');
    add_count(text, "requests", count(of, WEIR_THROTTLE_REQUESTS));
    add_count(text, "execution_time", count(of, WEIR_THROTTLE_EXECUTION_TIME));
    add_count(text, "concurrency", count(of, WEIR_THROTTLE_CONCURRENCY));
    add_count(text, "other", count(of, WEIR_THROTTLE_OTHER));
    leave(text, '}');
}

static uint64_t count_of_connection(const void *of, enum weir_throttle_kind kind)
{
    const struct report_connection *connection = of;
    return connection->experience.throttles_by_kind[kind];
}

static uint64_t count_of_all(const void *of, enum weir_throttle_kind kind)
{
    return report_data_throttles(of, kind);
}

static void add_connection(struct weir_buf *text, const struct report_connection *connection)
{
    const struct weir_job_connection *it = &connection->now;
    comma(text);
    weir_buf_add_text(text, "\n{");
    add_words(text, "name", it->name);
    add_count(text, "requests", it->requests);
    add_count(text, "done_rows", it->rows_done);
    add_count(text, "throttles", it->throttles);
    add_number(text, "throttle_wait_s", connection->experience.throttle_wait_s);
    add_count(text, "level", it->level);
    add_words(text, "bound_by", weir_bound_name(it->bound_by));
    add_number(text, "predicted_throttle_in_s",
               (double)connection->rate.predicted_throttle_in_us / WEIR_US_PER_S);
    add_bool(text, "set_aside", it->set_aside);
    add_kinds(text, count_of_connection, connection);
    add_latency(text, &connection->experience.latency);
    leave(text, '}');
}

/* --- times ------------------------------------------------------------------------------------ */

typedef double value_fn(const struct report_timeline *timeline, size_t point, size_t connection);

static double at_s(const struct report_timeline *timeline, size_t point, size_t connection)
{
    (void)connection;
    return timeline->points[point].at_s;
}

static double rate(const struct report_timeline *timeline, size_t point, size_t connection)
{
    (void)connection;
    return report_timeline_rate(timeline, point);
}

static double rows(const struct report_timeline *timeline, size_t point, size_t connection)
{
    (void)connection;
    return (double)(timeline->points[point].rows - timeline->from_rows);
}

static double all_in_flight(const struct report_timeline *timeline, size_t point, size_t connection)
{
    (void)connection;
    return timeline->points[point].in_flight;
}

static double all_throttled(const struct report_timeline *timeline, size_t point, size_t connection)
{
    (void)connection;
    return timeline->points[point].throttled;
}

static double pass(const struct report_timeline *timeline, size_t point, size_t connection)
{
    (void)connection;
    return timeline->points[point].pass;
}

static double in_flight(const struct report_timeline *timeline, size_t point, size_t connection)
{
    return report_timeline_mark(timeline, point, connection)->in_flight;
}

static double level(const struct report_timeline *timeline, size_t point, size_t connection)
{
    return report_timeline_mark(timeline, point, connection)->level;
}

static double throttled(const struct report_timeline *timeline, size_t point, size_t connection)
{
    return report_timeline_mark(timeline, point, connection)->throttled;
}

static double requests_left(const struct report_timeline *timeline, size_t point, size_t connection)
{
    return report_timeline_mark(timeline, point, connection)->requests_left;
}

static double execution_left(const struct report_timeline *timeline, size_t point,
                             size_t connection)
{
    return report_timeline_mark(timeline, point, connection)->execution_left;
}

static void add_values(struct weir_buf *text, const char *key,
                       const struct report_timeline *timeline, value_fn *value, size_t connection)
{
    enter(text, key, '[');
    for (size_t i = 0; i < timeline->count; i++) {
        comma(text);
        print_number(text, value(timeline, i, connection));
    }
    leave(text, ']');
}

static void add_marks(struct weir_buf *text, const struct report_data *data, size_t connection)
{
    const struct report_timeline *timeline = data->timeline;
    comma(text);
    weir_buf_add_text(text, "\n{");
    add_words(text, "name", data->connections[connection].now.name);
    add_values(text, "in_flight", timeline, in_flight, connection);
    add_values(text, "level", timeline, level, connection);
    add_values(text, "throttled_share", timeline, throttled, connection);
    add_values(text, "requests_left_share", timeline, requests_left, connection);
    add_values(text, "execution_time_left_share", timeline, execution_left, connection);
    leave(text, '}');
}

static void add_timeline(struct weir_buf *text, const struct report_data *data)
{
    const struct report_timeline *timeline = data->timeline;
    enter(text, "timeline", '{');
    add_number(text, "from_s", timeline->from_s);
    add_values(text, "at_s", timeline, at_s, 0);
    add_values(text, "pass", timeline, pass, 0);
    add_values(text, "rows", timeline, rows, 0);
    add_values(text, "rows_per_second", timeline, rate, 0);
    add_values(text, "in_flight", timeline, all_in_flight, 0);
    add_values(text, "throttled_share", timeline, all_throttled, 0);
    enter(text, "connections", '[');
    for (size_t i = 0; i < timeline->lanes; i++)
        add_marks(text, data, i);
    leave(text, ']');
    leave(text, '}');
}

/* --- problems --------------------------------------------------------------------------------- */

/* As in errors.jsonl: rows that were never sent have none. */
static void add_status(struct weir_buf *text, int http_status)
{
    add_key(text, "http_status");
    if (http_status)
        weir_buf_printf(text, "%d", http_status);
    else
        weir_buf_add_text(text, "null");
}

static void add_problem(struct weir_buf *text, const struct report_problem *it)
{
    comma(text);
    weir_buf_add_text(text, "\n{");
    add_count(text, "rows", it->rows);
    add_words(text, "name", it->name);
    add_words(text, "class", it->class_name);
    add_status(text, it->http_status);
    add_key(text, "service_code");
    if (it->service_code)
        weir_buf_printf(text, "\"0x%08" PRIx32 "\"", it->service_code);
    else
        weir_buf_add_text(text, "null");
    add_words(text, "message", it->message);
    add_words(text, "suggestion", it->advice);
    enter(text, "example", '{');
    add_count(text, "row", it->row);
    add_words(text, "file", it->file);
    add_count(text, "byte_offset", it->offset);
    add_words(text, "column", it->column);
    add_words(text, "value", it->value);
    add_words(text, "line", it->line);
    add_words(text, "request_id", it->request_id);
    leave(text, '}');
    leave(text, '}');
}

static void add_problems(struct weir_buf *text, const struct report_problems *problems)
{
    add_count(text, "rejects", problems->rejects);
    add_count(text, "rejects_of_other_problems", problems->others);
    enter(text, "problems", '[');
    for (size_t i = 0; i < problems->count; i++)
        add_problem(text, &problems->list[i]);
    leave(text, ']');
}

void report_json(const struct report_data *data, struct weir_buf *text)
{
    weir_buf_add_char(text, '{');
    add_facts(text, data);
    add_result(text, data);
    add_latency(text, &data->latency);
    add_kinds(text, count_of_all, data);
    enter(text, "connections", '[');
    for (size_t i = 0; i < data->connection_count; i++)
        add_connection(text, &data->connections[i]);
    leave(text, ']');
    add_timeline(text, data);
    add_problems(text, data->problems);
    weir_buf_add_text(text, "\n}\n");
}

/* SPDX-License-Identifier: MIT */
/*
 * A running job for programs: JSON lines and Prometheus text of snapshots that no run would give.
 * What real runs give is read by tests/cli/progress.py.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "metrics_text.h"
#include "progress_json.h"
#include "support/suite.h"

/* Every field at its longest, and a name that needs an escape at each byte. */
static void fill(struct progress_connection *it, const char *name)
{
    *it = (struct progress_connection){
        .now = { .name = name,
                 .requests = UINT64_MAX,
                 .rows_done = UINT64_MAX,
                 .throttled_for_s = 1e15,
                 .broken_for_s = 1e15,
                 .requests_budget = { 1e15, 1e15 },
                 .execution_budget = { 1e15, 1e15 },
                 .in_flight = UINT32_MAX,
                 .level = UINT32_MAX },
        .rate = { .current_parallelism = INT_MIN,
                  .max_parallelism = INT_MIN,
                  .last_known_good_parallelism = INT_MIN,
                  .successes_since_throttle = INT_MIN,
                  .total_throttle_events = UINT64_MAX,
                  .last_throttle_time_us = INT64_C(1) << 50,
                  .last_increase_time_us = INT64_C(1) << 50,
                  .last_activity_time_us = INT64_C(1) << 50,
                  .average_batch_ms = 1e15,
                  .execution_time_ceiling = INT_MIN,
                  .throttle_ceiling = INT_MIN,
                  .bound_by = WEIR_BOUND_THROTTLE_CEILING,
                  .predicted_throttle_in_us = INT64_MAX },
    };
    memcpy(it->rate.connection_name, name, strlen(name));
}

static char *draw_json(const struct progress_snapshot *snapshot)
{
    struct weir_buf buf;
    weir_buf_init(&buf, PROGRESS_JSON_MAX(snapshot->connection_count));
    progress_json_draw(snapshot, &buf);
    ck_assert(!buf.overflow);
    return weir_buf_take(&buf);
}

static char *draw_metrics(const struct progress_snapshot *snapshot)
{
    struct weir_buf buf;
    weir_buf_init(&buf, METRICS_TEXT_MAX(snapshot->connection_count));
    metrics_text_draw(snapshot, &buf);
    ck_assert(!buf.overflow);
    return weir_buf_take(&buf);
}

START_TEST(as_many_connections_as_there_may_be_have_room)
{
    char name[WEIR_CONNECTION_NAME_MAX + 1];
    struct progress_snapshot it = { .connection_count = WEIR_CONNECTIONS_MAX };
    memset(name, '"', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    it.connections = weir_calloc(it.connection_count, sizeof(*it.connections));
    for (size_t i = 0; i < it.connection_count; i++)
        fill(&it.connections[i], name);
    char *json = draw_json(&it);
    ck_assert_str_eq(json + strlen(json) - 3, "}]}");
    char *metrics = draw_metrics(&it);
    ck_assert_str_eq(metrics + strlen(metrics) - 3, " 1\n");
    free(json);
    free(metrics);
    free(it.connections);
}
END_TEST

START_TEST(what_is_not_known_is_null_or_left_out)
{
    struct progress_connection one = { .now = { .name = "app1",
                                                .requests_budget = { .remaining = -1 },
                                                .execution_budget = { .remaining = 12.5 } },
                                       .rate = { .last_throttle_time_us = WEIR_NEVER,
                                                 .last_increase_time_us = 1500000 } };
    struct progress_snapshot it = { .connections = &one,
                                    .connection_count = 1,
                                    .wall_offset_us = 1000000,
                                    .job = { .eta_s = -1, .read_share = -1 } };
    char *json = draw_json(&it);
    char *metrics = draw_metrics(&it);
    ck_assert_ptr_nonnull(strstr(json, "\"TimeLeft\":null,\"ReadShare\":null,"));
    ck_assert_ptr_nonnull(strstr(json, "\"LastThrottleTime\":null,"));
    ck_assert_ptr_nonnull(
        strstr(json, "\"RequestsRemaining\":null,\"ExecutionTimeRemaining\":12.500}]}"));
    ck_assert_ptr_null(strstr(metrics, "\nweir_job_time_left "));
    ck_assert_ptr_null(strstr(metrics, "\nweir_requests_remaining{"));
    ck_assert_ptr_null(strstr(metrics, "\nweir_last_throttle_time{"));
    ck_assert_ptr_nonnull(
        strstr(metrics, "\nweir_last_increase_time{connection=\"app1\"} 2.500\n"));
    ck_assert_ptr_nonnull(
        strstr(metrics, "\nweir_execution_time_remaining{connection=\"app1\"} 12.500\n"));
    free(json);
    free(metrics);
}
END_TEST

START_TEST(a_name_cannot_break_out_of_its_label)
{
    struct progress_connection one;
    struct progress_snapshot it = { .connections = &one, .connection_count = 1 };
    fill(&one, "a\"b\\c\nd");
    char *metrics = draw_metrics(&it);
    ck_assert_ptr_nonnull(
        strstr(metrics, "\nweir_is_set_aside{connection=\"a\\\"b\\\\c\\nd\"} 0\n"));
    free(metrics);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("progress_text");
    suite_add(&s, as_many_connections_as_there_may_be_have_room);
    suite_add(&s, what_is_not_known_is_null_or_left_out);
    suite_add(&s, a_name_cannot_break_out_of_its_label);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* The pool's core: leases, caps, statistics, beginnings. */
#include <string.h>

#include "support/pool_rig.h"

/* --- leases ----------------------------------------------------------------------------------- */

START_TEST(a_lease_carries_the_connection_name_and_the_epoch)
{
    rig_init(&rig, 1);
    rig_start(&rig);
    rig_hint_all(&rig, 52);
    struct weir_lease lease = rig_lease(&rig);
    ck_assert_str_eq(lease.connection_name, "AppUser1");
    ck_assert_uint_eq(lease.epoch, 0);
    rig_settle(&rig, lease, answer_throttle(SECONDS(5)));
    rig.now_us += SECONDS(10);
    ck_assert_uint_eq(rig_lease(&rig).epoch, 1);
    rig_release(&rig);
}
END_TEST

START_TEST(a_lease_given_back_twice_is_recognised_and_changes_nothing)
{
    setup(1, 5);
    rig_start(&rig);
    struct weir_lease lease = rig_lease(&rig);
    rig_settle(&rig, lease, answer_ok(1));
    struct weir_answer throttle = answer_throttle(SECONDS(30));
    ck_assert_int_eq(weir_core_settle(&rig.core, &lease, &throttle, rig.now_us),
                     WEIR_E_STALE_LEASE);
    struct weir_lease again = rig_lease(&rig); /* the same slot, another serial number */
    ck_assert_uint_eq(again.slot, lease.slot);
    ck_assert_int_eq(weir_core_settle(&rig.core, &lease, &throttle, rig.now_us),
                     WEIR_E_STALE_LEASE);
    ck_assert_uint_eq(rig_stats(&rig).total_throttle_events, 0);
    ck_assert_uint_eq(rig_stats(&rig).active_leases, 1);
    struct weir_lease invented = { .slot = 4000, .serial = 1 };
    ck_assert_int_eq(weir_core_begin(&rig.core, &invented, rig.now_us), WEIR_E_STALE_LEASE);
    rig_release(&rig);
}
END_TEST

START_TEST(giving_a_lease_back_is_what_records_the_throttle)
{
    setup(2, 5);
    rig_start(&rig);
    struct weir_lease lease = rig_lease(&rig);
    rig_settle(&rig, lease, answer_throttle(SECONDS(30)));
    ck_assert(weir_core_is_throttled(&rig.core, 0, rig.now_us));
    ck_assert(!weir_core_is_throttled(&rig.core, 1, rig.now_us));
    ck_assert_uint_eq(rig_stats(&rig).throttled_connections, 1);
    ck_assert_uint_eq(rig_stats(&rig).total_throttle_events, 1);
    ck_assert(rig_stats(&rig).total_backoff_time_us == SECONDS(30));
    rig_release(&rig);
}
END_TEST

START_TEST(a_throttle_without_retry_after_takes_the_fallback)
{
    setup(1, 5);
    rig.options.resilience.fallback_retry_after_us = SECONDS(17);
    rig_start(&rig);
    rig_settle(&rig, rig_lease(&rig), answer_throttle(-1));
    ck_assert(rig_stats(&rig).total_backoff_time_us == SECONDS(17));
    rig_release(&rig);
}
END_TEST

START_TEST(a_lease_is_revalidated_just_before_the_send)
{
    setup(2, 5);
    rig_start(&rig);
    struct weir_lease a = rig_lease(&rig);
    struct weir_lease b = rig_lease(&rig);
    struct weir_lease c = rig_lease(&rig);
    ck_assert_uint_eq(a.connection, c.connection);
    ck_assert_int_eq(weir_core_begin(&rig.core, &a, rig.now_us), WEIR_OK);
    rig_settle(&rig, a, answer_throttle(SECONDS(30)));
    /* c has not left yet: it goes back unsent. b is on another connection. */
    ck_assert_int_eq(weir_core_begin(&rig.core, &c, rig.now_us), WEIR_E_STALE_LEASE);
    ck_assert_int_eq(weir_core_begin(&rig.core, &b, rig.now_us), WEIR_OK);
    ck_assert_uint_eq(rig_stats(&rig).active_leases, 1);
    ck_assert_uint_eq(rig_stats(&rig).requests_served, 1);
    weir_core_set_aside(&rig.core, 1, rig.now_us);
    ck_assert_int_eq(weir_core_begin(&rig.core, &b, rig.now_us), WEIR_E_STALE_LEASE);
    ck_assert_uint_eq(rig_stats(&rig).active_leases, 0);
    rig_release(&rig);
}
END_TEST

START_TEST(a_503_with_retry_after_blocks_but_is_no_congestion)
{
    rig_init(&rig, 2);
    rig_start(&rig);
    rig_hint_all(&rig, 52);
    struct weir_lease lease = rig_lease(&rig);
    struct weir_answer answer = answer_of_class(WEIR_CLASS_TRANSIENT);
    answer.verdict.http_status = 503;
    answer.verdict.retry_after_us = SECONDS(20);
    rig_settle(&rig, lease, answer);
    ck_assert(weir_core_is_throttled(&rig.core, 0, rig.now_us));
    ck_assert_int_eq(rig_rate(&rig, 0).current_parallelism, 26);
    ck_assert_uint_eq(rig_rate(&rig, 0).total_throttle_events, 0);
    ck_assert_uint_eq(rig_stats(&rig).total_throttle_events, 0);
    ck_assert_uint_eq(rig_lease(&rig).connection, 1);
    ck_assert_uint_eq(rig_lease(&rig).connection, 1);
    rig_release(&rig);
}
END_TEST

/* --- caps ------------------------------------------------------------------------------------- */

START_TEST(c8_every_connection_has_a_cap_of_its_own)
{
    setup(3, 4);
    rig_start(&rig);
    struct weir_lease first = rig_lease(&rig);
    for (int i = 1; i < 12; i++)
        rig_lease(&rig);
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig_settle(&rig, first, answer_throttle(SECONDS(30)));
    /* The slot of the throttled connection is not inherited by the others. */
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_le(rig.core.connections[i].in_flight, 4);
    rig_release(&rig);
}
END_TEST

START_TEST(after_a_decrease_in_flight_may_be_above_the_cap_and_drains)
{
    rig_init(&rig, 1);
    rig_start(&rig);
    rig_hint_all(&rig, 20);
    struct weir_lease leases[10];
    for (int i = 0; i < 10; i++)
        leases[i] = rig_lease(&rig);
    weir_core_hint(&rig.core, 0, 4, rig.now_us);
    ck_assert_uint_eq(weir_core_cap(&rig.core, 0, rig.now_us), 4);
    for (int i = 0; i < 6; i++) {
        rig_settle(&rig, leases[i], answer_ok(SECONDS(1)));
        ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    }
    rig_settle(&rig, leases[6], answer_ok(SECONDS(1)));
    rig_lease(&rig);
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig_release(&rig);
}
END_TEST

START_TEST(max_pool_size_and_max_parallel_batches_bound_the_total)
{
    const struct {
        int pool;
        int batches;
        int total;
        enum weir_bound bound;
    } rows[] = {
        { 0, 0, 30, WEIR_BOUND_USER }, /* the sum of the caps; Fixed says "user" */
        { 7, 0, 7, WEIR_BOUND_POOL },  { 0, 5, 5, WEIR_BOUND_USER },
        { 7, 5, 5, WEIR_BOUND_USER },  { 5, 7, 5, WEIR_BOUND_POOL },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setup(3, 10);
        rig.options.pool.max_pool_size = rows[i].pool;
        rig.options.bulk.max_parallel_batches = rows[i].batches;
        rig_start(&rig);
        for (int n = 0; n < rows[i].total; n++)
            rig_lease(&rig);
        ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
        ck_assert_int_eq(rig_rate(&rig, 0).bound_by, rows[i].bound);
        rig_release(&rig);
    }
}
END_TEST

START_TEST(changing_hints_change_the_caps_and_are_clamped)
{
    rig_init(&rig, 1);
    rig.options.adaptive_rate.enabled = false; /* the same as Dop */
    rig_start(&rig);
    ck_assert_uint_eq(weir_core_cap(&rig.core, 0, rig.now_us), 4);
    const int rows[][2] = { { 8, 8 }, { 100, 52 }, { 52, 52 }, { 1, 1 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct weir_answer answer = answer_ok(1);
        answer.budget.dop_hint = rows[i][0];
        rig_settle(&rig, rig_lease(&rig), answer);
        ck_assert_int_eq(weir_core_cap(&rig.core, 0, rig.now_us), rows[i][1]);
        ck_assert_int_eq(rig_rate(&rig, 0).max_parallelism, rows[i][1]);
        ck_assert_int_eq(rig_rate(&rig, 0).bound_by, WEIR_BOUND_DOP);
    }
    weir_core_hint(&rig.core, 0, -3, rig.now_us);
    ck_assert_uint_eq(weir_core_cap(&rig.core, 0, rig.now_us), 1);
    rig_release(&rig);
}
END_TEST

START_TEST(c9_outcomes_are_credited_to_the_connection_that_executed_them)
{
    rig_init(&rig, 2);
    rig_start(&rig);
    rig_hint_all(&rig, 52);
    for (int i = 0; i < 3; i++) {
        struct weir_lease a = rig_lease(&rig);
        struct weir_lease b = rig_lease(&rig);
        ck_assert_uint_ne(a.connection, b.connection);
        rig.now_us += SECONDS(3);
        rig_settle(&rig, a.connection == 1 ? a : b, answer_ok(SECONDS(3)));
        rig_settle(&rig, a.connection == 1 ? b : a, answer_of_class(WEIR_CLASS_BAD_ROWS));
    }
    ck_assert_int_eq(rig_rate(&rig, 1).current_parallelism, 28);
    ck_assert_int_eq(rig_rate(&rig, 0).current_parallelism, 26);
    ck_assert_int_eq(rig_rate(&rig, 0).successes_since_throttle, 0);
    rig_release(&rig);
}
END_TEST

START_TEST(c2_two_flights_of_fifty_throttles_cut_each_connection_once)
{
    rig_init(&rig, 2);
    rig.options.adaptive_rate.initial_parallelism_factor = 1.0;
    rig_start(&rig);
    rig_hint_all(&rig, 50);
    struct weir_lease leases[100];
    for (int i = 0; i < 100; i++)
        leases[i] = rig_lease(&rig);
    for (int i = 0; i < 100; i++) {
        rig.now_us += 1000;
        rig_settle(&rig, leases[i], answer_throttle(SECONDS(30)));
    }
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(rig_rate(&rig, i).current_parallelism, 25);
        ck_assert_int_eq(rig_rate(&rig, i).last_known_good_parallelism, 48);
        ck_assert_uint_eq(rig_rate(&rig, i).total_throttle_events, 50);
    }
    ck_assert_uint_eq(rig_stats(&rig).total_throttle_events, 100);
    rig_release(&rig);
}
END_TEST

/* --- statistics, events, beginnings ----------------------------------------------------------- */

START_TEST(pool_statistics_have_every_field)
{
    setup(3, 2);
    rig_start(&rig);
    struct weir_lease a = rig_lease(&rig);
    rig_lease(&rig);
    rig_settle(&rig, a, answer_throttle(SECONDS(30)));
    weir_core_set_aside(&rig.core, 2, rig.now_us);
    rig_lease(&rig);
    rig_wait(&rig);
    struct weir_pool_stats stats = rig_stats(&rig);
    char json[WEIR_STATS_JSON_MAX];
    weir_pool_stats_json(&stats, json, sizeof(json));
    ck_assert_str_eq(json, "{\"TotalConnections\":3,\"ThrottledConnections\":1,"
                           "\"SetAsideConnections\":1,\"TotalThrottleEvents\":1,"
                           "\"ActiveLeases\":2,\"Waiters\":1,\"RequestsServed\":1,"
                           "\"TotalBackoffTime\":30.000}");
    rig_release(&rig);
}
END_TEST

START_TEST(adaptive_rate_statistics_have_every_field)
{
    rig_init(&rig, 1);
    rig.now_us = SECONDS(1);
    rig_start(&rig);
    rig_hint_all(&rig, 52);
    struct weir_lease a = rig_lease(&rig);
    struct weir_lease b = rig_lease(&rig);
    rig_settle(&rig, a, answer_ok(SECONDS(10)));
    rig.now_us += SECONDS(1.5);
    rig_settle(&rig, b, answer_throttle(SECONDS(30)));
    struct weir_adaptive_rate_stats stats = rig_rate(&rig, 0);
    char json[WEIR_STATS_JSON_MAX];
    weir_adaptive_rate_stats_json(&stats, SECONDS(1767225600), json, sizeof(json));
    ck_assert_str_eq(json, "{\"ConnectionName\":\"AppUser1\",\"CurrentParallelism\":10,"
                           "\"MaxParallelism\":52,\"LastKnownGoodParallelism\":18,"
                           "\"IsLastKnownGoodStale\":false,\"SuccessesSinceThrottle\":0,"
                           "\"TotalThrottleEvents\":1,"
                           "\"LastThrottleTime\":\"2026-01-01T00:00:02.500Z\","
                           "\"LastIncreaseTime\":null,"
                           "\"LastActivityTime\":\"2026-01-01T00:00:02.500Z\","
                           "\"AverageBatchMs\":10000.000,\"ExecutionTimeCeiling\":20,"
                           "\"ThrottleCeiling\":19,\"BoundBy\":\"pool\","
                           "\"PredictedThrottleInSeconds\":null}");
    rig.now_us += MINUTES(60);
    stats = rig_rate(&rig, 0);
    weir_adaptive_rate_stats_json(&stats, 0, json, sizeof(json));
    ck_assert_ptr_nonnull(strstr(json, "\"IsLastKnownGoodStale\":true,"));
    rig_release(&rig);
}
END_TEST

START_TEST(the_longest_names_fit_into_the_json_of_the_statistics)
{
    struct weir_adaptive_rate_stats stats = { 0 };
    memset(stats.connection_name, '\x01', WEIR_CONNECTION_NAME_MAX); /* six bytes each in JSON */
    stats.total_throttle_events = UINT64_MAX;
    stats.average_batch_ms = 1e12;
    char json[WEIR_STATS_JSON_MAX];
    size_t len = weir_adaptive_rate_stats_json(&stats, 0, json, sizeof(json));
    ck_assert_uint_lt(len, sizeof(json));
    ck_assert_int_eq(json[len - 1], '}');
}
END_TEST

START_TEST(an_unknown_connection_name_is_not_found)
{
    setup(2, 2);
    rig_start(&rig);
    uint32_t found;
    ck_assert(weir_core_find(&rig.core, "AppUser2", &found));
    ck_assert_uint_eq(found, 1);
    ck_assert(!weir_core_find(&rig.core, "appuser2", &found));
    ck_assert(!weir_core_find(&rig.core, "AppUser3", &found));
    rig_release(&rig);
}
END_TEST

START_TEST(a_pool_without_sense_is_refused_with_a_sentence)
{
    struct weir_core core;
    struct weir_error err;
    const char *const messages[] = {
        "no connection is configured",
        "no policy is called \"Budget!\"",
        "no selection strategy is called \"Best\"",
        "two connections are called \"AppUser1\"",
        "connection 1 has no name",
        "10001 connections are configured, at most 10000 may be",
        "the name of connection 0 is longer than 128 bytes",
    };
    for (int i = 0; i < 7; i++) {
        rig_init(&rig, i == 5 ? WEIR_CONNECTIONS_MAX + 1 : 2);
        char long_name[WEIR_CONNECTION_NAME_MAX + 2];
        memset(long_name, 'x', sizeof(long_name) - 1);
        long_name[sizeof(long_name) - 1] = '\0';
        if (i == 0)
            rig.options.connection_count = 0;
        if (i == 1)
            rig.options.adaptive_rate.policy = "Budget!";
        if (i == 2)
            rig.options.pool.selection_strategy = "Best";
        if (i == 3)
            rig.connections[1].name = "AppUser1";
        if (i == 4)
            rig.connections[1].name = "";
        if (i == 6)
            rig.connections[0].name = long_name;
        ck_assert_int_ne(weir_core_init(&core, &rig.options, NULL, 1, false, &err), WEIR_OK);
        ck_assert_str_eq(err.message, messages[i]);
        free(rig.connections);
        free(rig.names);
    }
}
END_TEST

START_TEST(time_never_runs_backwards)
{
    setup(1, 2);
    rig_start(&rig);
    rig_settle(&rig, rig_lease(&rig), answer_throttle(SECONDS(10)));
    int64_t reopening = weir_core_reopening_us(&rig.core, 0);
    rig.now_us = reopening;
    rig_settle(&rig, rig_lease(&rig), answer_ok(1));
    rig.now_us = reopening - SECONDS(5); /* a caller that read the clock long ago */
    rig_lease(&rig);
    ck_assert(rig.core.now_us == reopening);
    rig_release(&rig);
}
END_TEST

/* The last word stands; the most that was said is about the whole, and silence changes nothing. */
START_TEST(what_the_service_says_of_budgets_is_remembered)
{
    static const int64_t said[] = { 5900, 6000, 12, -1 };
    setup(1, 1);
    rig_start(&rig);
    const struct weir_connection *it = &rig.core.connections[0];
    ck_assert(!it->requests_budget.known && !it->execution_budget.known);
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        struct weir_answer answer = answer_ok(1);
        answer.budget = (struct weir_budget_headers){ .requests_known = said[i] >= 0,
                                                      .requests_remaining = said[i] };
        rig_settle(&rig, rig_lease(&rig), answer);
    }
    ck_assert(it->requests_budget.known && !it->execution_budget.known);
    ck_assert_int_eq(it->requests_budget.remaining, 12);
    ck_assert_int_eq(it->requests_budget.most, 6000);
    rig_release(&rig);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("pool");
    suite_add(&s, a_lease_carries_the_connection_name_and_the_epoch);
    suite_add(&s, a_lease_given_back_twice_is_recognised_and_changes_nothing);
    suite_add(&s, giving_a_lease_back_is_what_records_the_throttle);
    suite_add(&s, a_throttle_without_retry_after_takes_the_fallback);
    suite_add(&s, a_lease_is_revalidated_just_before_the_send);
    suite_add(&s, a_503_with_retry_after_blocks_but_is_no_congestion);
    suite_add(&s, c8_every_connection_has_a_cap_of_its_own);
    suite_add(&s, after_a_decrease_in_flight_may_be_above_the_cap_and_drains);
    suite_add(&s, max_pool_size_and_max_parallel_batches_bound_the_total);
    suite_add(&s, changing_hints_change_the_caps_and_are_clamped);
    suite_add(&s, c9_outcomes_are_credited_to_the_connection_that_executed_them);
    suite_add(&s, c2_two_flights_of_fifty_throttles_cut_each_connection_once);
    suite_add(&s, pool_statistics_have_every_field);
    suite_add(&s, adaptive_rate_statistics_have_every_field);
    suite_add(&s, the_longest_names_fit_into_the_json_of_the_statistics);
    suite_add(&s, an_unknown_connection_name_is_not_found);
    suite_add(&s, a_pool_without_sense_is_refused_with_a_sentence);
    suite_add(&s, time_never_runs_backwards);
    suite_add(&s, what_the_service_says_of_budgets_is_remembered);
    return suite_run(&s);
}

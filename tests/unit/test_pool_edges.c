/* SPDX-License-Identifier: MIT */
/* The pool's core at its edges. */
#include <string.h>

#include "support/pool_rig.h"

/* --- edges ------------------------------------------------------------------------------------ */

START_TEST(the_pool_puts_its_own_fallback_where_retry_after_is_missing_and_says_so)
{
    setup(1, 5);
    rig.options.resilience.fallback_retry_after_us = SECONDS(300);
    rig_start(&rig);
    struct weir_http_answer http = { .status = 429, .sent = true };
    struct weir_answer answer;
    weir_answer_read(&http, 0, &answer);
    rig_settle(&rig, rig_lease(&rig), answer);
    ck_assert(rig_stats(&rig).total_backoff_time_us == SECONDS(300));
    struct weir_pool_event event;
    bool warned = false;
    while (weir_core_event(&rig.core, &event))
        warned |= event.type == WEIR_EVENT_FALLBACK && event.wait_us == SECONDS(300);
    ck_assert(warned);
    rig_release(&rig);
}
END_TEST

START_TEST(a_retry_after_beyond_all_measure_is_an_hour)
{
    setup(1, 5);
    rig_start(&rig);
    struct weir_lease a = rig_lease(&rig);
    struct weir_lease b = rig_lease(&rig);
    rig_settle(&rig, a, answer_throttle(INT64_MAX));
    struct weir_answer busy = answer_of_class(WEIR_CLASS_TRANSIENT);
    busy.verdict.http_status = 503;
    busy.verdict.retry_after_us = INT64_MAX;
    rig_settle(&rig, b, busy);
    ck_assert(rig_stats(&rig).total_backoff_time_us == WEIR_US_PER_HOUR);
    ck_assert(weir_core_reopening_us(&rig.core, 0) <= rig.now_us + SECONDS(3602));
    rig_wait(&rig);
    struct weir_grant grant;
    uint32_t count;
    ck_assert(turn(&grant, 1, &count) == weir_core_reopening_us(&rig.core, 0));
    rig_release(&rig);
}
END_TEST

START_TEST(only_a_503_with_retry_after_blocks_other_failures_do_not)
{
    setup(1, 5);
    rig_start(&rig);
    const int statuses[] = { 0, 500, 502, 504 };
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        struct weir_answer answer = answer_of_class(WEIR_CLASS_TRANSIENT);
        answer.verdict.http_status = statuses[i];
        answer.verdict.retry_after_us = SECONDS(20);
        rig_settle(&rig, rig_lease(&rig), answer);
        ck_assert(!weir_core_is_throttled(&rig.core, 0, rig.now_us));
    }
    struct weir_answer answer = answer_of_class(WEIR_CLASS_TRANSIENT);
    answer.verdict.http_status = 503;
    answer.verdict.retry_after_us = SECONDS(20);
    rig_settle(&rig, rig_lease(&rig), answer);
    ck_assert(weir_core_is_throttled(&rig.core, 0, rig.now_us));
    rig.now_us = weir_core_reopening_us(&rig.core, 0);
    ck_assert_int_eq(burst(), 1); /* by a probe, as after a throttle */
    rig_release(&rig);
}
END_TEST

START_TEST(an_answer_that_refuses_the_rows_shows_the_lane_open_all_the_same)
{
    setup(1, 20);
    rig_start(&rig);
    rig_settle(&rig, rig_lease(&rig), answer_throttle(SECONDS(5)));
    rig.now_us = weir_core_reopening_us(&rig.core, 0);
    rig_settle(&rig, rig_lease(&rig), answer_of_class(WEIR_CLASS_BAD_ROWS));
    ck_assert_uint_eq(weir_core_cap(&rig.core, 0, rig.now_us), 2);
    rig_release(&rig);
}
END_TEST

START_TEST(tolerance_does_not_depend_on_the_jitter)
{
    for (uint64_t seed = 0; seed < 500; seed++) {
        setup(2, 1);
        rig.options.pool.max_retry_after_tolerance_us = SECONDS(31.2);
        rig_start_with(&rig, seed);
        struct weir_lease a = rig_lease(&rig);
        struct weir_lease b = rig_lease(&rig);
        rig_settle(&rig, a, answer_throttle(SECONDS(30)));
        rig_settle(&rig, b, answer_throttle(SECONDS(30.5)));
        struct weir_grant grant = rig_try(&rig);
        must(grant.status == WEIR_E_WOULD_WAIT);
        must(grant.refusal.connection == 0 && grant.refusal.retry_after_us == SECONDS(31));
        rig_release(&rig);
    }
}
END_TEST

START_TEST(a_blind_strategy_judges_the_tolerance_by_its_own_choice)
{
    setup(2, 4);
    rig.options.pool.selection_strategy = "RoundRobin";
    rig.options.pool.max_retry_after_tolerance_us = SECONDS(60);
    rig_start(&rig);
    struct weir_lease a = rig_lease(&rig);
    struct weir_lease b = rig_lease(&rig);
    rig_settle(&rig, a, answer_throttle(SECONDS(90)));
    rig_settle(&rig, b, answer_throttle(SECONDS(10)));
    struct weir_grant grant = rig_try(&rig);
    ck_assert_int_eq(grant.status, WEIR_E_SERVICE_PROTECTION);
    ck_assert_uint_eq(grant.refusal.connection, 0);
    rig_release(&rig);
}
END_TEST

START_TEST(open_breakers_are_no_throttle_acquire_timeout_runs)
{
    setup(1, 4);
    rig.options.pool.acquire_timeout_us = SECONDS(10);
    rig_start(&rig);
    for (int i = 0; i < 10; i++)
        rig_settle(&rig, rig_lease(&rig), answer_of_class(WEIR_CLASS_TRANSIENT));
    int64_t reopening;
    ck_assert(weir_core_any_open(&rig.core, rig.now_us, &reopening));
    rig_wait(&rig);
    struct weir_grant grant;
    uint32_t count;
    rig.now_us = turn(&grant, 1, &count);
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(grant.status, WEIR_E_POOL_EXHAUSTED);
    rig_release(&rig);
}
END_TEST

START_TEST(restoring_a_connection_closes_its_breaker)
{
    setup(1, 4);
    rig_start(&rig);
    for (int i = 0; i < 10; i++)
        rig_settle(&rig, rig_lease(&rig), answer_of_class(WEIR_CLASS_TRANSIENT));
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    weir_core_restore(&rig.core, 0, rig.now_us);
    for (int i = 0; i < 4; i++)
        rig_lease(&rig);
    rig_release(&rig);
}
END_TEST

START_TEST(a_hint_and_a_reset_make_room_for_those_who_wait)
{
    rig_init(&rig, 1);
    rig_start(&rig);
    rig_hint_all(&rig, 4);
    rig_lease(&rig);
    rig_lease(&rig); /* level 2 */
    rig_wait(&rig);
    struct weir_grant grant;
    uint32_t count;
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 0);
    weir_core_hint(&rig.core, 0, 52, rig.now_us); /* raises only max … */
    weir_core_reset(&rig.core, 0, rig.now_us);    /* … and this starts the level afresh */
    ck_assert(weir_core_next_us(&rig.core) <= rig.now_us);
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    rig_release(&rig);

    setup(1, 4);
    rig.options.adaptive_rate.policy = "Dop";
    rig_start(&rig);
    for (int i = 0; i < 4; i++)
        rig_lease(&rig);
    rig_wait(&rig);
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 0);
    weir_core_hint(&rig.core, 0, 5, rig.now_us);
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    rig_release(&rig);
}
END_TEST

START_TEST(too_many_episodes_name_the_connection_that_was_throttled_last)
{
    setup(3, 4);
    rig.options.resilience.max_throttles_per_window = 1;
    rig_start(&rig);
    struct weir_lease leases[3];
    for (int i = 0; i < 3; i++)
        leases[i] = rig_lease(&rig);
    rig_settle(&rig, leases[0], answer_throttle(SECONDS(5)));
    rig.now_us += 1;
    rig_settle(&rig, leases[2], answer_throttle(SECONDS(5)));
    struct weir_grant grant = rig_try(&rig);
    ck_assert_int_eq(grant.status, WEIR_E_SERVICE_PROTECTION);
    ck_assert_uint_eq(grant.refusal.connection, 2);
    rig_release(&rig);
}
END_TEST

START_TEST(whoever_can_be_served_at_the_last_moment_is)
{
    setup(1, 1);
    rig_start(&rig);
    struct weir_lease lease = rig_lease(&rig);
    rig_wait(&rig);
    rig.now_us += MINUTES(2); /* AcquireTimeout to the microsecond, and a slot comes free */
    rig_settle(&rig, lease, answer_ok(1));
    struct weir_grant grant;
    uint32_t count;
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(grant.status, WEIR_OK);
    rig_release(&rig);
}
END_TEST

START_TEST(one_flight_of_throttles_is_told_once)
{
    setup(1, 50);
    rig_start(&rig);
    struct weir_lease leases[50];
    for (int i = 0; i < 50; i++)
        leases[i] = rig_lease(&rig);
    for (int i = 0; i < 50; i++)
        rig_settle(&rig, leases[i], answer_throttle(SECONDS(30)));
    rig.now_us = weir_core_reopening_us(&rig.core, 0);
    for (int i = 0; i < 3; i++)
        rig_settle(&rig, rig_lease(&rig), answer_of_class(WEIR_CLASS_UNSENT));
    int all_throttled = 0;
    int reopened = 0;
    struct weir_pool_event event;
    while (weir_core_event(&rig.core, &event)) {
        all_throttled += event.type == WEIR_EVENT_ALL_THROTTLED;
        reopened += event.type == WEIR_EVENT_REOPENED;
    }
    ck_assert_int_eq(all_throttled, 1);
    ck_assert_int_eq(reopened, 1);
    rig_release(&rig);
}
END_TEST

START_TEST(the_next_turn_is_told_after_every_call)
{
    setup(1, 1);
    rig_start(&rig);
    ck_assert(weir_core_next_us(&rig.core) == WEIR_FOREVER);
    struct weir_lease lease = rig_lease(&rig);
    rig_wait(&rig);
    ck_assert(weir_core_next_us(&rig.core) == rig.now_us + MINUTES(2));
    rig_settle(&rig, lease, answer_ok(1));
    ck_assert(weir_core_next_us(&rig.core) <= rig.now_us);
    struct weir_grant grant;
    uint32_t count;
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    rig_wait(&rig);
    weir_core_shutdown(&rig.core, rig.now_us);
    ck_assert(weir_core_next_us(&rig.core) <= rig.now_us);
    rig_release(&rig);
}
END_TEST

START_TEST(options_filled_by_hand_are_checked)
{
    static const char *const messages[] = {
        "resilience.max_throttles_per_window is -1, it takes 0 to 1000",
        "adaptive_rate.fixed_parallelism is 0, it takes 1 to 52",
        "adaptive_rate.fixed_parallelism is -1, it takes 1 to 52",
        "pool.max_pool_size is -5, it takes 0 to 2147483647",
        "adaptive_rate.min_parallelism is 0, it takes 1 to 52",
    };
    for (int i = 0; i < 5; i++) {
        setup(1, i == 1 ? 0 : i == 2 ? -1 : 4);
        if (i == 0)
            rig.options.resilience.max_throttles_per_window = -1;
        if (i == 3)
            rig.options.pool.max_pool_size = -5;
        if (i == 4)
            rig.options.adaptive_rate.min_parallelism = 0;
        struct weir_core core;
        struct weir_error err;
        ck_assert_int_eq(weir_core_init(&core, &rig.options, NULL, 1, false, &err), WEIR_E_INVALID);
        ck_assert_str_eq(err.message, messages[i]);
        free(rig.connections);
        free(rig.names);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("pool_edges");
    suite_add(&s, the_pool_puts_its_own_fallback_where_retry_after_is_missing_and_says_so);
    suite_add(&s, a_retry_after_beyond_all_measure_is_an_hour);
    suite_add(&s, only_a_503_with_retry_after_blocks_other_failures_do_not);
    suite_add(&s, an_answer_that_refuses_the_rows_shows_the_lane_open_all_the_same);
    suite_add(&s, tolerance_does_not_depend_on_the_jitter);
    suite_add(&s, a_blind_strategy_judges_the_tolerance_by_its_own_choice);
    suite_add(&s, open_breakers_are_no_throttle_acquire_timeout_runs);
    suite_add(&s, restoring_a_connection_closes_its_breaker);
    suite_add(&s, a_hint_and_a_reset_make_room_for_those_who_wait);
    suite_add(&s, too_many_episodes_name_the_connection_that_was_throttled_last);
    suite_add(&s, whoever_can_be_served_at_the_last_moment_is);
    suite_add(&s, one_flight_of_throttles_is_told_once);
    suite_add(&s, the_next_turn_is_told_after_every_call);
    suite_add(&s, options_filled_by_hand_are_checked);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* The pool's core: two-phase waiting, time-outs, tolerance, order, cancellation, shutdown. */
#include <string.h>

#include "support/pool_rig.h"

/* --- waiting ---------------------------------------------------------------------------------- */

START_TEST(c4_when_all_are_throttled_the_shortest_wait_is_computed)
{
    setup(3, 1);
    rig_start(&rig);
    struct weir_lease leases[3];
    for (int i = 0; i < 3; i++)
        leases[i] = rig_lease(&rig);
    int64_t reopening;
    rig_settle(&rig, leases[0], answer_throttle(SECONDS(90)));
    rig_settle(&rig, leases[1], answer_throttle(SECONDS(7)));
    ck_assert(weir_core_any_open(&rig.core, rig.now_us, &reopening)); /* AppUser3: full, but open */
    rig_settle(&rig, leases[2], answer_throttle(SECONDS(60)));
    ck_assert(!weir_core_any_open(&rig.core, rig.now_us, &reopening));
    ck_assert(reopening == weir_core_reopening_us(&rig.core, 1));
    ck_assert(reopening >= rig.now_us + SECONDS(8) && reopening < rig.now_us + SECONDS(9));
    rig_release(&rig);
}
END_TEST

START_TEST(c4_availability_does_not_count_connections_that_are_set_aside)
{
    setup(3, 1);
    rig_start(&rig);
    struct weir_lease leases[2];
    leases[0] = rig_lease(&rig);
    leases[1] = rig_lease(&rig);
    weir_core_set_aside(&rig.core, 2, rig.now_us);
    rig_settle(&rig, leases[0], answer_throttle(SECONDS(90)));
    rig_settle(&rig, leases[1], answer_throttle(SECONDS(7)));
    int64_t reopening;
    ck_assert(!weir_core_any_open(&rig.core, rig.now_us, &reopening));
    ck_assert(reopening == weir_core_reopening_us(&rig.core, 1));
    weir_core_set_aside(&rig.core, 1, rig.now_us);
    ck_assert(!weir_core_any_open(&rig.core, rig.now_us, &reopening));
    ck_assert(reopening == weir_core_reopening_us(&rig.core, 0));
    rig_release(&rig);
}
END_TEST

START_TEST(a_thousand_acquires_through_a_ten_minute_throttle_hold_nothing_and_are_all_served)
{
    setup(2, 5);
    rig_start(&rig);
    rig_settle(&rig, rig_lease(&rig), answer_throttle(MINUTES(10)));
    rig_settle(&rig, rig_lease(&rig), answer_throttle(MINUTES(10)));
    for (int i = 0; i < 1000; i++)
        rig_wait(&rig);
    ck_assert_uint_eq(rig_stats(&rig).waiters, 1000);
    ck_assert_uint_eq(rig_stats(&rig).active_leases, 0);

    struct weir_grant grants[16];
    struct weir_lease out[64];
    uint32_t out_count = 0;
    uint32_t served = 0;
    int64_t opened_us = rig.now_us + MINUTES(10);
    while (served < 1000) {
        uint32_t count;
        int64_t next = turn(grants, 16, &count);
        for (uint32_t i = 0; i < count; i++) {
            ck_assert_int_eq(grants[i].status, WEIR_OK);
            ck_assert(rig.now_us > opened_us);
            out[out_count++] = grants[i].lease;
            served++;
        }
        ck_assert_uint_le(rig_stats(&rig).active_leases, 10);
        if (rig.now_us < opened_us)
            ck_assert_uint_eq(rig_stats(&rig).active_leases, 0);
        if (count == 0 && out_count == 0) {
            ck_assert(next > rig.now_us && next != WEIR_FOREVER);
            rig.now_us = next;
        }
        while (out_count) {
            rig.now_us += MS(100);
            rig_settle(&rig, out[--out_count], answer_ok(MS(100)));
        }
    }
    ck_assert_uint_eq(rig_stats(&rig).waiters, 0);
    rig_release(&rig);
}
END_TEST

START_TEST(a_slot_wait_beyond_acquire_timeout_is_pool_exhausted)
{
    setup(1, 1);
    rig_start(&rig);
    rig_lease(&rig);
    uint64_t ticket = rig_wait(&rig);
    struct weir_grant grant;
    uint32_t count;
    int64_t next = turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 0);
    ck_assert(next == rig.now_us + MINUTES(2));
    rig.now_us = next - 1;
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 0);
    rig.now_us = next;
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(grant.ticket, ticket);
    ck_assert_int_eq(grant.status, WEIR_E_POOL_EXHAUSTED);
    struct weir_error err;
    ck_assert_int_eq(weir_core_explain(&rig.core, &grant.refusal, &err), WEIR_E_POOL_EXHAUSTED);
    ck_assert_str_eq(err.message, "no slot came free within AcquireTimeout: 1 of 1 connections in "
                                  "use, 1 requests in flight, 0 waiting");
    ck_assert(err.retryable);
    rig_release(&rig);
}
END_TEST

START_TEST(acquire_timeout_stands_still_while_everybody_waits_for_a_throttle)
{
    setup(1, 2);
    rig_start(&rig);
    struct weir_lease a = rig_lease(&rig);
    struct weir_lease b = rig_lease(&rig);
    rig_wait(&rig);
    rig.now_us += SECONDS(100); /* of 120, waiting for a slot */
    rig_settle(&rig, a, answer_throttle(MINUTES(10)));
    struct weir_grant grant;
    uint32_t count;
    int64_t reopening = turn(&grant, 1, &count);
    ck_assert(reopening == weir_core_reopening_us(&rig.core, 0));
    rig.now_us = reopening;
    int64_t next = turn(&grant, 1, &count); /* one may be in flight (the probe), and one is */
    ck_assert_uint_eq(count, 0);
    ck_assert(next == reopening + SECONDS(20));
    rig.now_us = next;
    turn(&grant, 1, &count);
    ck_assert_int_eq(grant.status, WEIR_E_POOL_EXHAUSTED);
    rig_settle(&rig, b, answer_ok(1));
    rig_release(&rig);
}
END_TEST

START_TEST(an_ask_may_bring_a_time_out_of_its_own_or_none)
{
    setup(1, 1);
    rig_start(&rig);
    rig_lease(&rig);
    struct weir_ask patient = { .acquire_timeout_us = -1 };
    struct weir_ask hasty = { .acquire_timeout_us = SECONDS(1) };
    struct weir_grant first;
    struct weir_grant second;
    weir_core_ask(&rig.core, &patient, rig.now_us, &first);
    weir_core_ask(&rig.core, &hasty, rig.now_us, &second);
    rig.now_us += SECONDS(1);
    struct weir_grant grants[2];
    uint32_t count;
    ck_assert(turn(grants, 2, &count) == WEIR_FOREVER);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(grants[0].ticket, second.ticket);
    ck_assert_int_eq(grants[0].status, WEIR_E_POOL_EXHAUSTED);
    rig.now_us += 100 * WEIR_US_PER_HOUR;
    turn(grants, 2, &count);
    ck_assert_uint_eq(count, 0);
    rig_release(&rig);
}
END_TEST

/* It waits for its choice because it is blind, not because all are throttled. */
START_TEST(the_tolerance_of_a_blind_strategy_is_not_exceeded_while_others_are_open)
{
    setup(2, 2);
    rig.options.pool.selection_strategy = "RoundRobin";
    rig.options.pool.max_retry_after_tolerance_us = SECONDS(1);
    rig_start(&rig);
    struct weir_lease a = rig_lease(&rig);
    struct weir_lease b = rig_lease(&rig);
    rig_settle(&rig, a, answer_throttle(SECONDS(45)));
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig_settle(&rig, b, answer_throttle(SECONDS(45)));
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_SERVICE_PROTECTION);
    rig_release(&rig);
}
END_TEST

START_TEST(tolerance_exceeded_is_the_service_protection_error_with_all_its_fields)
{
    setup(2, 1);
    rig.options.pool.max_retry_after_tolerance_us = SECONDS(30);
    rig_start(&rig);
    struct weir_lease a = rig_lease(&rig);
    struct weir_lease b = rig_lease(&rig);
    uint64_t ticket = rig_wait(&rig);
    rig_settle(&rig, a, answer_throttle(SECONDS(45)));
    struct weir_grant grant;
    uint32_t count;
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 0); /* AppUser2 is open, if full: waiting for a slot */
    struct weir_answer throttle = answer_throttle(SECONDS(60));
    throttle.verdict.code = WEIR_CODE_EXECUTION_TIME;
    rig_settle(&rig, b, throttle);
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(grant.ticket, ticket);
    ck_assert_int_eq(grant.status, WEIR_E_SERVICE_PROTECTION);
    struct weir_error err;
    weir_core_explain(&rig.core, &grant.refusal, &err);
    ck_assert_int_eq(err.status, WEIR_E_SERVICE_PROTECTION);
    ck_assert_str_eq(err.connection, "AppUser1");
    ck_assert_uint_eq(err.service_code, WEIR_CODE_REQUESTS);
    ck_assert_int_eq(err.http_status, 429);
    ck_assert(err.retry_after_us == SECONDS(46)); /* with the buffer, without the jitter */
    ck_assert(err.retryable && err.outcome_known);
    ck_assert_str_eq(
        err.message,
        "all connections are throttled, the first, \"AppUser1\", for another 46.000 s, "
        "which is more than MaxRetryAfterTolerance (30.000 s)");
    /* Sixteen seconds later the rest of the wait is tolerable. */
    rig.now_us += SECONDS(16);
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig_release(&rig);
}
END_TEST

START_TEST(waiters_are_served_in_the_order_in_which_they_came)
{
    setup(1, 1);
    rig_start(&rig);
    struct weir_lease lease = rig_lease(&rig);
    uint64_t tickets[5];
    for (int i = 0; i < 5; i++)
        tickets[i] = rig_wait(&rig);
    for (int i = 0; i < 5; i++) {
        rig_settle(&rig, lease, answer_ok(1));
        /* A newcomer does not overtake those who wait. */
        ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
        struct weir_grant grants[5];
        uint32_t count;
        turn(grants, 5, &count);
        ck_assert_uint_eq(count, 1);
        ck_assert_uint_eq(grants[0].ticket, tickets[i]);
        lease = grants[0].lease;
    }
    rig_release(&rig);
}
END_TEST

START_TEST(c7_a_slot_that_comes_free_is_used_at_once)
{
    setup(1, 3);
    rig_start(&rig);
    struct weir_lease leases[3];
    for (int i = 0; i < 3; i++)
        leases[i] = rig_lease(&rig);
    uint64_t ticket = rig_wait(&rig);
    /* One of three is home, the slowest two are not: the next goes out now. */
    rig_settle(&rig, leases[1], answer_ok(1));
    struct weir_grant grant;
    uint32_t count;
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(grant.ticket, ticket);
    ck_assert_int_eq(grant.status, WEIR_OK);
    rig_release(&rig);
}
END_TEST

START_TEST(a_cancelled_waiter_leaves_and_the_others_move_up)
{
    setup(1, 1);
    rig_start(&rig);
    struct weir_lease lease = rig_lease(&rig);
    uint64_t tickets[3];
    for (int i = 0; i < 3; i++)
        tickets[i] = rig_wait(&rig);
    ck_assert(weir_core_cancel(&rig.core, tickets[0], rig.now_us));
    ck_assert(!weir_core_cancel(&rig.core, tickets[0], rig.now_us));
    ck_assert(weir_core_cancel(&rig.core, tickets[1], rig.now_us));
    ck_assert(!weir_core_cancel(&rig.core, 0, rig.now_us));
    ck_assert(!weir_core_cancel(&rig.core, UINT64_MAX, rig.now_us));
    rig_settle(&rig, lease, answer_ok(1));
    struct weir_grant grants[3];
    uint32_t count;
    turn(grants, 3, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(grants[0].ticket, tickets[2]);
    ck_assert(!weir_core_cancel(&rig.core, tickets[2], rig.now_us));
    rig_release(&rig);
}
END_TEST

START_TEST(shutdown_refuses_everybody_who_waits_and_everybody_who_comes)
{
    setup(1, 1);
    rig_start(&rig);
    struct weir_lease lease = rig_lease(&rig);
    for (int i = 0; i < 40; i++)
        rig_wait(&rig);
    weir_core_shutdown(&rig.core, rig.now_us);
    struct weir_grant grants[16];
    uint32_t total = 0;
    uint32_t count;
    do {
        turn(grants, 16, &count);
        for (uint32_t i = 0; i < count; i++)
            ck_assert_int_eq(grants[i].status, WEIR_E_SHUTDOWN);
        total += count;
    } while (count);
    ck_assert_uint_eq(total, 40);
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_SHUTDOWN);
    rig_settle(&rig, lease, answer_ok(1)); /* leases may still come home */
    ck_assert_uint_eq(rig_stats(&rig).active_leases, 0);
    rig_release(&rig);
}
END_TEST

START_TEST(the_number_of_waiters_is_bounded)
{
    setup(1, 1);
    rig_start(&rig);
    rig_lease(&rig);
    struct weir_grant grant;
    for (int i = 0; i < WEIR_WAITERS_MAX; i++) {
        weir_core_ask(&rig.core, NULL, rig.now_us, &grant);
        must(grant.status == WEIR_E_WOULD_WAIT);
    }
    weir_core_ask(&rig.core, NULL, rig.now_us, &grant);
    ck_assert_int_eq(grant.status, WEIR_E_TOO_BIG);
    ck_assert_uint_eq(grant.ticket, 0);
    rig_release(&rig);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("pool_waiting");
    suite_add(&s, c4_when_all_are_throttled_the_shortest_wait_is_computed);
    suite_add(&s, c4_availability_does_not_count_connections_that_are_set_aside);
    suite_add(&s,
              a_thousand_acquires_through_a_ten_minute_throttle_hold_nothing_and_are_all_served);
    suite_add(&s, a_slot_wait_beyond_acquire_timeout_is_pool_exhausted);
    suite_add(&s, acquire_timeout_stands_still_while_everybody_waits_for_a_throttle);
    suite_add(&s, an_ask_may_bring_a_time_out_of_its_own_or_none);
    suite_add(&s, the_tolerance_of_a_blind_strategy_is_not_exceeded_while_others_are_open);
    suite_add(&s, tolerance_exceeded_is_the_service_protection_error_with_all_its_fields);
    suite_add(&s, waiters_are_served_in_the_order_in_which_they_came);
    suite_add(&s, c7_a_slot_that_comes_free_is_used_at_once);
    suite_add(&s, a_cancelled_waiter_leaves_and_the_others_move_up);
    suite_add(&s, shutdown_refuses_everybody_who_waits_and_everybody_who_comes);
    suite_add(&s, the_number_of_waiters_is_bounded);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* The pool's core: leases, caps, two-phase waiting, time-outs, recovery, statistics. */
#include <string.h>

#include "support/rig.h"
#include "support/suite.h"

static struct rig rig;

static void setup(uint32_t connections, int fixed_level)
{
    rig_init(&rig, connections);
    rig.options.adaptive_rate.policy = "Fixed";
    rig.options.adaptive_rate.fixed_parallelism = fixed_level;
}

static int64_t turn(struct weir_grant *grants, uint32_t max, uint32_t *ret_count)
{
    return weir_core_turn(&rig.core, rig.now_us, grants, max, ret_count);
}

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

/* --- recovery --------------------------------------------------------------------------------- */

/* Lease as many as there are; settle them all with a success. Returns how many there were. */
static int burst(void)
{
    struct weir_lease leases[64];
    int count = 0;
    struct weir_grant grant;
    while ((grant = rig_try(&rig)).status == WEIR_OK)
        leases[count++] = grant.lease;
    rig.now_us += SECONDS(1);
    for (int i = 0; i < count; i++)
        rig_settle(&rig, leases[i], answer_ok(SECONDS(1)));
    return count;
}

START_TEST(a_connection_returns_by_one_probe_then_doubling_up_to_the_level)
{
    setup(1, 20);
    rig_start(&rig);
    rig_settle(&rig, rig_lease(&rig), answer_throttle(SECONDS(30)));
    rig.now_us = weir_core_reopening_us(&rig.core, 0) - 1;
    ck_assert_int_eq(burst(), 0);
    rig.now_us = weir_core_reopening_us(&rig.core, 0);
    ck_assert_uint_eq(weir_core_cap(&rig.core, 0, rig.now_us), 1);
    ck_assert_int_eq(rig_rate(&rig, 0).bound_by, WEIR_BOUND_POOL);
    ck_assert_int_eq(burst(), 1);
    /* Each success doubles: 2; after the first of them 4, after the second 8. */
    struct weir_lease a = rig_lease(&rig);
    struct weir_lease b = rig_lease(&rig);
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig_settle(&rig, a, answer_ok(SECONDS(1)));
    ck_assert_uint_eq(weir_core_cap(&rig.core, 0, rig.now_us), 4);
    rig_settle(&rig, b, answer_ok(SECONDS(1)));
    ck_assert_uint_eq(weir_core_cap(&rig.core, 0, rig.now_us), 8);
    ck_assert_int_eq(burst(), 8);
    ck_assert_int_eq(burst(), 20);
    ck_assert_int_eq(rig_rate(&rig, 0).bound_by, WEIR_BOUND_USER);
    rig_release(&rig);
}
END_TEST

START_TEST(a_throttled_probe_closes_the_connection_again)
{
    setup(1, 20);
    rig_start(&rig);
    rig_settle(&rig, rig_lease(&rig), answer_throttle(SECONDS(30)));
    rig.now_us = weir_core_reopening_us(&rig.core, 0);
    rig_settle(&rig, rig_lease(&rig), answer_throttle(SECONDS(45)));
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    ck_assert(weir_core_reopening_us(&rig.core, 0) >= rig.now_us + SECONDS(46));
    rig.now_us = weir_core_reopening_us(&rig.core, 0);
    ck_assert_int_eq(burst(), 1);
    rig_release(&rig);
}
END_TEST

START_TEST(successes_of_leases_from_before_the_throttle_do_not_widen_the_ramp)
{
    setup(1, 4);
    rig_start(&rig);
    struct weir_lease leases[4];
    for (int i = 0; i < 4; i++)
        leases[i] = rig_lease(&rig);
    rig_settle(&rig, leases[0], answer_throttle(SECONDS(5)));
    for (int i = 1; i < 4; i++)
        rig_settle(&rig, leases[i], answer_ok(SECONDS(1)));
    rig.now_us = weir_core_reopening_us(&rig.core, 0);
    ck_assert_int_eq(burst(), 1);
    rig_release(&rig);
}
END_TEST

START_TEST(a_probe_that_fails_otherwise_or_goes_back_unsent_leaves_one_probe)
{
    setup(1, 4);
    rig_start(&rig);
    rig_settle(&rig, rig_lease(&rig), answer_throttle(SECONDS(5)));
    rig.now_us = weir_core_reopening_us(&rig.core, 0);
    rig_settle(&rig, rig_lease(&rig), answer_of_class(WEIR_CLASS_TRANSIENT));
    ck_assert_uint_eq(weir_core_cap(&rig.core, 0, rig.now_us), 1);
    rig_settle(&rig, rig_lease(&rig), answer_of_class(WEIR_CLASS_UNSENT));
    ck_assert_uint_eq(weir_core_cap(&rig.core, 0, rig.now_us), 1);
    ck_assert_int_eq(burst(), 1);
    rig_release(&rig);
}
END_TEST

START_TEST(waiters_wake_one_at_a_time_at_the_reopening)
{
    setup(1, 8);
    rig_start(&rig);
    rig_settle(&rig, rig_lease(&rig), answer_throttle(SECONDS(5)));
    for (int i = 0; i < 20; i++)
        rig_wait(&rig);
    struct weir_grant grants[20];
    uint32_t count;
    rig.now_us = turn(grants, 20, &count);
    ck_assert_uint_eq(count, 0);
    ck_assert(rig.now_us == weir_core_reopening_us(&rig.core, 0));
    turn(grants, 20, &count);
    ck_assert_uint_eq(count, 1);
    rig_settle(&rig, grants[0].lease, answer_ok(1));
    turn(grants, 20, &count);
    ck_assert_uint_eq(count, 2);
    rig_release(&rig);
}
END_TEST

START_TEST(without_tracking_routing_ignores_throttles_but_everybody_still_sees_them)
{
    rig_init(&rig, 2);
    rig.options.resilience.enable_throttle_tracking = false;
    rig_start(&rig);
    rig_hint_all(&rig, 52);
    struct weir_lease lease = rig_lease(&rig);
    rig_settle(&rig, lease, answer_throttle(SECONDS(30)));
    ck_assert_uint_eq(rig_lease(&rig).connection, 1);
    struct weir_lease again = rig_lease(&rig);
    ck_assert_uint_eq(again.connection, 0); /* leased although it is throttled … */
    ck_assert_int_eq(weir_core_begin(&rig.core, &again, rig.now_us), WEIR_OK);
    ck_assert_uint_eq(weir_core_cap(&rig.core, 0, rig.now_us), 13); /* … and no ramp */
    ck_assert_uint_eq(rig_stats(&rig).total_throttle_events, 1);
    ck_assert_uint_eq(rig_stats(&rig).throttled_connections, 1);
    ck_assert_int_eq(rig_rate(&rig, 0).current_parallelism, 13);
    rig_release(&rig);
}
END_TEST

START_TEST(clearing_a_throttle_opens_the_connection_for_a_probe)
{
    setup(1, 8);
    rig_start(&rig);
    rig_settle(&rig, rig_lease(&rig), answer_throttle(MINUTES(5)));
    weir_core_clear_throttle(&rig.core, 0, rig.now_us);
    ck_assert_uint_eq(rig_stats(&rig).throttled_connections, 0);
    ck_assert_int_eq(burst(), 1);
    rig_release(&rig);
}
END_TEST

START_TEST(a_connection_set_aside_is_not_used_until_it_is_restored)
{
    setup(2, 1);
    rig_start(&rig);
    weir_core_set_aside(&rig.core, 0, rig.now_us);
    ck_assert_uint_eq(rig_stats(&rig).set_aside_connections, 1);
    struct weir_lease lease = rig_lease(&rig);
    ck_assert_uint_eq(lease.connection, 1);
    uint64_t ticket = rig_wait(&rig);
    weir_core_restore(&rig.core, 0, rig.now_us);
    struct weir_grant grant;
    uint32_t count;
    turn(&grant, 1, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(grant.ticket, ticket);
    ck_assert_uint_eq(grant.lease.connection, 0);
    rig_release(&rig);
}
END_TEST

START_TEST(when_all_are_set_aside_everybody_is_refused_with_no_connection)
{
    setup(2, 1);
    rig_start(&rig);
    rig_lease(&rig);
    rig_lease(&rig);
    rig_wait(&rig);
    weir_core_set_aside(&rig.core, 0, rig.now_us);
    weir_core_set_aside(&rig.core, 1, rig.now_us);
    struct weir_grant grant;
    uint32_t count;
    turn(&grant, 1, &count);
    ck_assert_int_eq(grant.status, WEIR_E_NO_CONNECTION);
    struct weir_error err;
    weir_core_explain(&rig.core, &grant.refusal, &err);
    ck_assert_str_eq(err.message, "all 2 connections have been set aside");
    rig_release(&rig);
}
END_TEST

START_TEST(failures_in_a_row_trip_the_breaker_and_one_probe_decides)
{
    setup(2, 4);
    rig_start(&rig);
    for (int i = 0; i < 20; i++) /* ten on each */
        rig_settle(&rig, rig_lease(&rig), answer_of_class(WEIR_CLASS_TRANSIENT));
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    ck_assert_uint_eq(rig_stats(&rig).throttled_connections, 0);
    rig_wait(&rig);
    struct weir_grant grant;
    uint32_t count;
    int64_t next = turn(&grant, 1, &count);
    ck_assert(next == rig.now_us + SECONDS(30));
    rig.now_us = next;
    turn(&grant, 1, &count);
    ck_assert_int_eq(grant.status, WEIR_OK);
    rig_lease(&rig); /* the other connection's probe */
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig_settle(&rig, grant.lease, answer_ok(1));
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(rig_lease(&rig).connection, grant.lease.connection);
    rig_release(&rig);
}
END_TEST

START_TEST(too_many_throttle_episodes_in_five_minutes_refuse_everybody)
{
    setup(1, 4);
    rig.options.resilience.max_throttles_per_window = 2;
    rig_start(&rig);
    for (int i = 0; i < 3; i++) {
        struct weir_lease a = rig_lease(&rig);
        rig_settle(&rig, a, answer_throttle(SECONDS(31)));
        if (i == 2)
            break;
        rig.now_us += SECONDS(34);
    }
    struct weir_grant grant = rig_try(&rig);
    ck_assert_int_eq(grant.status, WEIR_E_SERVICE_PROTECTION);
    struct weir_error err;
    weir_core_explain(&rig.core, &grant.refusal, &err);
    ck_assert_str_eq(err.message, "more than 2 throttle episodes within five minutes, the last on "
                                  "\"AppUser1\"");
    ck_assert_uint_eq(err.service_code, WEIR_CODE_REQUESTS);
    rig.now_us += MINUTES(4);
    rig_lease(&rig);
    rig_release(&rig);
}
END_TEST

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
                           "\"ThrottleCeiling\":19,\"BoundBy\":\"pool\"}");
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
    suite_add(&s, c4_when_all_are_throttled_the_shortest_wait_is_computed);
    suite_add(&s, c4_availability_does_not_count_connections_that_are_set_aside);
    suite_add(&s,
              a_thousand_acquires_through_a_ten_minute_throttle_hold_nothing_and_are_all_served);
    suite_add(&s, a_slot_wait_beyond_acquire_timeout_is_pool_exhausted);
    suite_add(&s, acquire_timeout_stands_still_while_everybody_waits_for_a_throttle);
    suite_add(&s, an_ask_may_bring_a_time_out_of_its_own_or_none);
    suite_add(&s, tolerance_exceeded_is_the_service_protection_error_with_all_its_fields);
    suite_add(&s, waiters_are_served_in_the_order_in_which_they_came);
    suite_add(&s, c7_a_slot_that_comes_free_is_used_at_once);
    suite_add(&s, a_cancelled_waiter_leaves_and_the_others_move_up);
    suite_add(&s, shutdown_refuses_everybody_who_waits_and_everybody_who_comes);
    suite_add(&s, the_number_of_waiters_is_bounded);
    suite_add(&s, a_connection_returns_by_one_probe_then_doubling_up_to_the_level);
    suite_add(&s, a_throttled_probe_closes_the_connection_again);
    suite_add(&s, successes_of_leases_from_before_the_throttle_do_not_widen_the_ramp);
    suite_add(&s, a_probe_that_fails_otherwise_or_goes_back_unsent_leaves_one_probe);
    suite_add(&s, waiters_wake_one_at_a_time_at_the_reopening);
    suite_add(&s, without_tracking_routing_ignores_throttles_but_everybody_still_sees_them);
    suite_add(&s, clearing_a_throttle_opens_the_connection_for_a_probe);
    suite_add(&s, a_connection_set_aside_is_not_used_until_it_is_restored);
    suite_add(&s, when_all_are_set_aside_everybody_is_refused_with_no_connection);
    suite_add(&s, failures_in_a_row_trip_the_breaker_and_one_probe_decides);
    suite_add(&s, too_many_throttle_episodes_in_five_minutes_refuse_everybody);
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
    suite_add(&s, pool_statistics_have_every_field);
    suite_add(&s, adaptive_rate_statistics_have_every_field);
    suite_add(&s, the_longest_names_fit_into_the_json_of_the_statistics);
    suite_add(&s, an_unknown_connection_name_is_not_found);
    suite_add(&s, a_pool_without_sense_is_refused_with_a_sentence);
    suite_add(&s, time_never_runs_backwards);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* The pool's core: the way back after a throttle, a trip or being set aside. */
#include <string.h>

#include "support/pool_rig.h"

/* --- recovery --------------------------------------------------------------------------------- */

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

/* --- a second core ---------------------------------------------------------------------------- */

/* Everything that may have happened to six connections, one each. */
static void live_through_everything(void)
{
    setup(6, 20);
    rig.options.resilience.circuit_breaker.failures = 1;
    rig_start(&rig);
    struct weir_lease leases[6];
    for (int i = 0; i < 6; i++)
        leases[i] = rig_lease(&rig);
    rig_settle(&rig, leases[0], answer_ok(SECONDS(1)));
    rig_settle(&rig, leases[1], answer_throttle(SECONDS(30)));
    rig_settle(&rig, leases[2], answer_throttle(SECONDS(2)));
    rig_settle(&rig, leases[3], answer_of_class(WEIR_CLASS_TRANSIENT));
    rig_settle(&rig, leases[4], answer_ok(SECONDS(1)));
    weir_core_set_aside(&rig.core, leases[4].connection, rig.now_us);
    struct weir_answer told = answer_ok(SECONDS(1));
    told.budget.dop_hint = 7;
    told.budget.requests_known = true;
    told.budget.requests_remaining = 4000;
    rig_settle(&rig, leases[5], told);
    rig.now_us += SECONDS(10); /* one throttle is over, and its probe has not been sent */
}

static void must_agree(struct weir_core *heir, uint32_t connection, int64_t now_us)
{
    const struct weir_connection *it = &heir->connections[connection];
    const struct weir_connection *other = &rig.core.connections[connection];
    ck_assert_uint_eq(weir_core_cap(heir, connection, now_us),
                      weir_core_cap(&rig.core, connection, now_us));
    ck_assert(weir_core_is_throttled(heir, connection, now_us) ==
              weir_core_is_throttled(&rig.core, connection, now_us));
    ck_assert_int_eq(weir_core_reopening_us(heir, connection),
                     weir_core_reopening_us(&rig.core, connection));
    ck_assert_int_eq(it->condition, other->condition);
    ck_assert(it->set_aside == other->set_aside);
    ck_assert_int_eq(weir_breaker_state(&it->breaker, now_us),
                     weir_breaker_state(&other->breaker, now_us));
    ck_assert_int_eq(it->requests_budget.remaining, other->requests_budget.remaining);
    struct weir_adaptive_rate_stats mine, others;
    weir_core_rate_stats(heir, connection, now_us, &mine);
    weir_core_rate_stats(&rig.core, connection, now_us, &others);
    ck_assert_int_eq(mine.max_parallelism, others.max_parallelism);
}

START_TEST(an_heir_thinks_of_each_connection_as_the_core_does_that_it_inherits_from)
{
    struct weir_core heir;
    live_through_everything();
    ck_assert_int_eq(weir_core_init(&heir, &rig.options, NULL, 2, false, NULL), WEIR_OK);
    weir_core_inherit(&heir, &rig.core, NULL, rig.now_us);
    struct weir_grant grant;
    int64_t end_us = rig.now_us + MINUTES(2);
    for (; rig.now_us < end_us; rig.now_us += MS(500)) {
        weir_core_turn(&heir, rig.now_us, &grant, 1, &(uint32_t){ 0 });
        weir_core_turn(&rig.core, rig.now_us, &grant, 1, &(uint32_t){ 0 });
        for (uint32_t i = 0; i < heir.count; i++)
            must_agree(&heir, i, rig.now_us);
    }
    weir_core_release(&heir);
    rig_release(&rig);
}
END_TEST

START_TEST(an_heir_counts_the_throttles_that_are_its_affair_and_the_wait_that_is_left)
{
    struct weir_throttle_counts before[6] = { 0 };
    struct weir_pool_stats stats;
    struct weir_core heir;
    live_through_everything();
    for (int all = 0; all < 2; all++) {
        ck_assert_int_eq(weir_core_init(&heir, &rig.options, NULL, 2, false, NULL), WEIR_OK);
        before[1] = rig.core.connections[1].throttles;
        weir_core_inherit(&heir, &rig.core, all ? NULL : before, rig.now_us);
        weir_core_stats(&heir, rig.now_us, &stats);
        ck_assert_uint_eq(stats.total_throttle_events, all ? 2 : 1);
        ck_assert_uint_eq(heir.connections[1].throttles.of_kind[WEIR_THROTTLE_REQUESTS], all);
        ck_assert_uint_eq(heir.connections[2].throttles.of_kind[WEIR_THROTTLE_REQUESTS], 1);
        ck_assert_int_eq(stats.total_backoff_time_us, SECONDS(20));
        weir_core_release(&heir);
    }
    rig_release(&rig);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("pool_recovery");
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
    suite_add(&s, an_heir_thinks_of_each_connection_as_the_core_does_that_it_inherits_from);
    suite_add(&s, an_heir_counts_the_throttles_that_are_its_affair_and_the_wait_that_is_left);
    return suite_run(&s);
}

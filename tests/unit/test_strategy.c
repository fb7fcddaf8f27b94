/* SPDX-License-Identifier: MIT */
/* The three selection strategies, at acquire level. */
#include <string.h>

#include "support/rig.h"
#include "support/suite.h"

static struct rig rig;

static void setup(const char *strategy, uint32_t connections, int level)
{
    rig_init(&rig, connections);
    rig.options.pool.selection_strategy = strategy;
    rig.options.adaptive_rate.policy = "Fixed";
    rig.options.adaptive_rate.fixed_parallelism = level;
    rig_start(&rig);
}

static void expect_lease(uint32_t connection, struct weir_lease *ret)
{
    struct weir_lease lease = rig_lease(&rig);
    ck_assert_uint_eq(lease.connection, connection);
    if (ret)
        *ret = lease;
}

START_TEST(strategies_are_found_by_name_in_any_case_and_nothing_else_is)
{
    ck_assert_ptr_eq(weir_strategy_find("ThrottleAware"), &weir_strategy_throttle_aware);
    ck_assert_ptr_eq(weir_strategy_find("roundrobin"), &weir_strategy_round_robin);
    ck_assert_ptr_eq(weir_strategy_find("LEASTCONNECTIONS"), &weir_strategy_least_connections);
    ck_assert_ptr_null(weir_strategy_find("Round"));
    ck_assert_ptr_null(weir_strategy_find(""));
    ck_assert_ptr_null(weir_strategy_find(NULL));
}
END_TEST

START_TEST(round_robin_is_a_simple_rotation)
{
    setup("RoundRobin", 3, 10);
    for (uint32_t i = 0; i < 12; i++)
        expect_lease(i % 3, NULL);
    rig_release(&rig);
}
END_TEST

START_TEST(round_robin_passes_a_full_connection_which_waits_for_its_next_turn)
{
    setup("RoundRobin", 3, 2);
    struct weir_lease first[3];
    for (uint32_t i = 0; i < 3; i++)
        expect_lease(i, &first[i]);
    struct weir_lease second[3];
    for (uint32_t i = 0; i < 3; i++)
        expect_lease(i, &second[i]);
    /* All full. 2 and 1 come free; the turn is 1's (connection 0 is full). */
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig_settle(&rig, first[2], answer_ok(1));
    rig_settle(&rig, first[1], answer_ok(1));
    expect_lease(1, NULL);
    /* 0 comes free now, but its turn has passed: 2 is next. */
    rig_settle(&rig, first[0], answer_ok(1));
    expect_lease(2, NULL);
    expect_lease(0, NULL);
    rig_release(&rig);
}
END_TEST

START_TEST(round_robin_waits_for_a_throttled_choice_even_when_another_is_free)
{
    setup("RoundRobin", 3, 10);
    struct weir_lease lease;
    expect_lease(0, &lease);
    expect_lease(1, NULL);
    rig_settle(&rig, lease, answer_throttle(SECONDS(30)));
    expect_lease(2, NULL);
    struct weir_grant grant = rig_try(&rig);
    ck_assert_int_eq(grant.status, WEIR_E_WOULD_WAIT);
    ck_assert_uint_eq(grant.refusal.connection, 0);
    ck_assert(grant.refusal.retry_after_us == SECONDS(31));
    /* Nothing goes to the throttled connection, and nothing overtakes it. */
    rig.now_us += SECONDS(30);
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig.now_us += SECONDS(2.1);
    expect_lease(0, NULL);
    expect_lease(1, NULL);
    rig_release(&rig);
}
END_TEST

START_TEST(least_connections_takes_the_fewest_leases_ties_in_configuration_order)
{
    setup("LeastConnections", 3, 10);
    struct weir_lease leases[6];
    for (uint32_t i = 0; i < 6; i++)
        expect_lease(i % 3, &leases[i]);
    rig_settle(&rig, leases[1], answer_ok(1));
    rig_settle(&rig, leases[4], answer_ok(1));
    rig_settle(&rig, leases[2], answer_ok(1));
    expect_lease(1, NULL); /* 2 0 1 */
    expect_lease(1, NULL); /* 2 1 1: the tie goes to the first */
    expect_lease(2, NULL); /* 2 2 1 */
    expect_lease(0, NULL); /* 2 2 2 */
    rig_release(&rig);
}
END_TEST

START_TEST(least_connections_waits_for_a_throttled_choice_even_when_another_is_free)
{
    setup("LeastConnections", 2, 10);
    struct weir_lease lease;
    expect_lease(0, &lease);
    rig_settle(&rig, lease, answer_throttle(SECONDS(30)));
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig.now_us += SECONDS(32.1);
    expect_lease(0, NULL);
    rig_release(&rig);
}
END_TEST

START_TEST(throttle_aware_takes_the_least_recently_leased)
{
    setup("ThrottleAware", 3, 10);
    struct weir_lease leases[3];
    for (uint32_t i = 0; i < 3; i++)
        expect_lease(i, &leases[i]);
    expect_lease(0, NULL);
    /* Giving back does not change who was leased least recently. */
    rig_settle(&rig, leases[2], answer_ok(1));
    expect_lease(1, NULL);
    expect_lease(2, NULL);
    rig_release(&rig);
}
END_TEST

START_TEST(throttle_aware_passes_throttled_full_and_set_aside_connections)
{
    setup("ThrottleAware", 4, 1);
    struct weir_lease lease;
    expect_lease(0, &lease);
    rig_settle(&rig, lease, answer_throttle(SECONDS(30)));
    weir_core_set_aside(&rig.core, 1, rig.now_us);
    expect_lease(2, NULL); /* now full */
    expect_lease(3, NULL);
    ck_assert_int_eq(rig_try(&rig).status, WEIR_E_WOULD_WAIT);
    rig_release(&rig);
}
END_TEST

START_TEST(throttle_aware_returns_the_shortest_expiry_when_all_are_throttled)
{
    setup("ThrottleAware", 3, 5);
    const int64_t retry_after[] = { SECONDS(60), SECONDS(20), SECONDS(40) };
    struct weir_lease leases[3];
    for (uint32_t i = 0; i < 3; i++)
        expect_lease(i, &leases[i]);
    for (uint32_t i = 0; i < 3; i++)
        rig_settle(&rig, leases[i], answer_throttle(retry_after[i]));
    struct weir_grant grant = rig_try(&rig);
    ck_assert_int_eq(grant.status, WEIR_E_WOULD_WAIT);
    ck_assert_uint_eq(grant.refusal.connection, 1);
    ck_assert(grant.refusal.retry_after_us == SECONDS(21));
    rig.now_us += SECONDS(22.1);
    expect_lease(1, NULL);
    rig_release(&rig);
}
END_TEST

START_TEST(the_request_table_of_the_selection_document)
{
    setup("ThrottleAware", 3, 5);
    struct weir_lease leases[7];
    expect_lease(0, &leases[1]); /* Request 1 → AppUser1 */
    expect_lease(1, &leases[2]); /* Request 2 → AppUser2 */
    expect_lease(2, &leases[3]); /* Request 3 → AppUser3 */
    for (int i = 1; i <= 3; i++)
        rig_settle(&rig, leases[i], answer_ok(SECONDS(1)));
    expect_lease(0, &leases[4]); /* Request 4 → AppUser1 → 429, five minutes */
    ck_assert_str_eq(leases[4].connection_name, "AppUser1");
    rig_settle(&rig, leases[4], answer_throttle(MINUTES(5)));
    ck_assert(weir_core_is_throttled(&rig.core, 0, rig.now_us));
    expect_lease(1, &leases[5]); /* Request 5, the retry of 4 → AppUser2 */
    rig_settle(&rig, leases[5], answer_ok(SECONDS(1)));
    expect_lease(2, &leases[6]); /* Request 6 → AppUser3 */
    rig_settle(&rig, leases[6], answer_ok(SECONDS(1)));

    /* AppUser1 returns at expiry + buffer + jitter, not a moment earlier. */
    int64_t reopening = weir_core_reopening_us(&rig.core, 0);
    ck_assert(reopening >= rig.now_us + MINUTES(5) + SECONDS(1));
    ck_assert(reopening <= rig.now_us + MINUTES(5) + SECONDS(2));
    for (rig.now_us += SECONDS(1); rig.now_us < reopening; rig.now_us += SECONDS(7)) {
        struct weir_lease lease = rig_lease(&rig);
        ck_assert_uint_ne(lease.connection, 0);
        rig_settle(&rig, lease, answer_ok(SECONDS(1)));
    }
    rig.now_us = reopening - 1;
    ck_assert_uint_ne(rig_lease(&rig).connection, 0);
    rig.now_us = reopening;
    expect_lease(0, NULL);
    rig_release(&rig);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("strategy");
    suite_add(&s, strategies_are_found_by_name_in_any_case_and_nothing_else_is);
    suite_add(&s, round_robin_is_a_simple_rotation);
    suite_add(&s, round_robin_passes_a_full_connection_which_waits_for_its_next_turn);
    suite_add(&s, round_robin_waits_for_a_throttled_choice_even_when_another_is_free);
    suite_add(&s, least_connections_takes_the_fewest_leases_ties_in_configuration_order);
    suite_add(&s, least_connections_waits_for_a_throttled_choice_even_when_another_is_free);
    suite_add(&s, throttle_aware_takes_the_least_recently_leased);
    suite_add(&s, throttle_aware_passes_throttled_full_and_set_aside_connections);
    suite_add(&s, throttle_aware_returns_the_shortest_expiry_when_all_are_throttled);
    suite_add(&s, the_request_table_of_the_selection_document);
    return suite_run(&s);
}

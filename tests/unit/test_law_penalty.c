/* SPDX-License-Identifier: MIT */
/* Retry-After: escalation, forgetting, offences. */
#include "base/clock.h"
#include "sim/law/penalty.h"
#include "support/suite.h"

#define S WEIR_US_PER_S

static struct sim_retry_after default_rules(void)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    return scenario.retry_after;
}

static int64_t violate(struct sim_penalty *penalty, int64_t clear_us, int64_t now_us)
{
    struct sim_retry_after rules = default_rules();
    return sim_penalty_violate(penalty, &rules, SIM_THROTTLE_REQUESTS, clear_us, now_us);
}

static int64_t offend(struct sim_penalty *penalty, int64_t now_us)
{
    struct sim_retry_after rules = default_rules();
    return sim_penalty_offend(penalty, &rules, now_us);
}

START_TEST(a_fresh_account_is_not_in_penalty)
{
    struct sim_penalty penalty = { 0 };
    ck_assert(!sim_penalty_holds(&penalty, 0));
    ck_assert(!sim_penalty_holds(&penalty, -5 * S));
}
END_TEST

START_TEST(retry_after_is_the_time_to_clear_but_at_least_the_base)
{
    struct sim_penalty a = { 0 }, b = { 0 };
    ck_assert_int_eq(violate(&a, 7 * S + 3, 0), 7 * S + 3);
    ck_assert_int_eq(violate(&b, S / 2, 0), S);
}
END_TEST

START_TEST(a_penalty_refuses_until_its_end_and_not_at_it)
{
    struct sim_penalty penalty = { 0 };
    violate(&penalty, 7 * S, 100 * S);
    ck_assert(sim_penalty_holds(&penalty, 100 * S));
    ck_assert(sim_penalty_holds(&penalty, 107 * S - 1));
    ck_assert(!sim_penalty_holds(&penalty, 107 * S));
}
END_TEST

START_TEST(each_strike_makes_it_half_as_long_again_up_to_the_cap)
{
    struct sim_penalty penalty = { 0 };
    int64_t now_us = 0;
    const double expected_s[] = { 100, 150, 225, 337.5, 480 };
    for (int i = 0; i < 5; i++) {
        int64_t wait_us = violate(&penalty, 100 * S, now_us);
        ck_assert_int_eq(wait_us, (int64_t)(expected_s[i] * 1e6));
        now_us += 350 * S;
    }
}
END_TEST

START_TEST(the_cap_holds_for_the_first_violation_too)
{
    struct sim_penalty penalty = { 0 };
    ck_assert_int_eq(violate(&penalty, 1000 * S, 0), 480 * S);
    ck_assert_int_eq(violate(&penalty, WEIR_FOREVER, 1), 480 * S);
}
END_TEST

START_TEST(strikes_are_forgotten_after_a_quiet_time)
{
    struct sim_penalty a = { 0 }, b = { 0 };
    violate(&a, 10 * S, 0);
    violate(&b, 10 * S, 0);
    ck_assert_int_eq(violate(&a, 10 * S, 360 * S - 1), 15 * S);
    ck_assert_int_eq(violate(&b, 10 * S, 360 * S), 10 * S);
}
END_TEST

START_TEST(an_offence_is_no_violation)
{
    struct sim_penalty penalty = { 0 };
    violate(&penalty, 300 * S, 0);
    offend(&penalty, 200 * S);
    ck_assert_uint_eq(penalty.strikes, 1);
    ck_assert_int_eq(violate(&penalty, 10 * S, 360 * S), 10 * S);
}
END_TEST

START_TEST(each_offence_lengthens_the_penalty_by_a_minute_at_most_in_all)
{
    struct sim_penalty penalty = { 0 };
    violate(&penalty, 100 * S, 0);
    for (int i = 1; i <= 60; i++)
        ck_assert_int_eq(offend(&penalty, i * S), 100 * S);
    ck_assert_int_eq(offend(&penalty, 60 * S), 100 * S);
    ck_assert_int_eq(penalty.until_us, 160 * S);
    ck_assert_int_eq(penalty.kind, SIM_THROTTLE_REQUESTS);
    /* The next penalty may be lengthened again. */
    violate(&penalty, 100 * S, 200 * S);
    ck_assert_int_eq(offend(&penalty, 200 * S), 151 * S);
}
END_TEST

START_TEST(the_last_offence_adds_only_what_is_left_of_the_minute)
{
    struct sim_penalty penalty = { 0 };
    struct sim_retry_after rules = default_rules();
    rules.per_offence_us = 25 * S;
    sim_penalty_violate(&penalty, &rules, SIM_THROTTLE_REQUESTS, 10 * S, 0);
    ck_assert_int_eq(sim_penalty_offend(&penalty, &rules, 0), 35 * S);
    ck_assert_int_eq(sim_penalty_offend(&penalty, &rules, 0), 60 * S);
    ck_assert_int_eq(sim_penalty_offend(&penalty, &rules, 0), 70 * S);
    ck_assert_int_eq(sim_penalty_offend(&penalty, &rules, 0), 70 * S);
}
END_TEST

START_TEST(a_concurrency_violation_starts_from_two_seconds)
{
    struct sim_penalty penalty = { 0 };
    struct sim_retry_after rules = default_rules();
    rules.base_us = 30 * S;
    ck_assert_int_eq(sim_penalty_violate(&penalty, &rules, SIM_THROTTLE_CONCURRENCY, 0, 0), 2 * S);
    ck_assert_int_eq(sim_penalty_violate(&penalty, &rules, SIM_THROTTLE_CONCURRENCY, 0, 9 * S),
                     3 * S);
}
END_TEST

START_TEST(time_in_penalty_adds_up)
{
    struct sim_penalty penalty = { 0 };
    ck_assert_int_eq(sim_penalty_spent_us(&penalty, 50 * S), 0);
    violate(&penalty, 10 * S, 100 * S);
    ck_assert_int_eq(sim_penalty_spent_us(&penalty, 100 * S), 0);
    ck_assert_int_eq(sim_penalty_spent_us(&penalty, 104 * S), 4 * S);
    offend(&penalty, 104 * S);
    ck_assert_int_eq(sim_penalty_spent_us(&penalty, 104 * S), 4 * S);
    ck_assert_int_eq(sim_penalty_spent_us(&penalty, 111 * S), 11 * S);
    ck_assert_int_eq(sim_penalty_spent_us(&penalty, 500 * S), 11 * S);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("law_penalty");
    suite_add(&s, a_fresh_account_is_not_in_penalty);
    suite_add(&s, retry_after_is_the_time_to_clear_but_at_least_the_base);
    suite_add(&s, a_penalty_refuses_until_its_end_and_not_at_it);
    suite_add(&s, each_strike_makes_it_half_as_long_again_up_to_the_cap);
    suite_add(&s, the_cap_holds_for_the_first_violation_too);
    suite_add(&s, strikes_are_forgotten_after_a_quiet_time);
    suite_add(&s, an_offence_is_no_violation);
    suite_add(&s, each_offence_lengthens_the_penalty_by_a_minute_at_most_in_all);
    suite_add(&s, the_last_offence_adds_only_what_is_left_of_the_minute);
    suite_add(&s, a_concurrency_violation_starts_from_two_seconds);
    suite_add(&s, time_in_penalty_adds_up);
    return suite_run(&s);
}

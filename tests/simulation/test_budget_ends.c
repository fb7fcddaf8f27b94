/* SPDX-License-Identifier: MIT */
/* Budget in the laboratory: how a job ends. */
#include "base/clock.h"
#include "support/lab_rig.h"
#include "support/suite.h"

/* One connection, 600 requests of two seconds a window. */
static void make_even(struct sim_scenario *scenario, int64_t work_items)
{
    sim_scenario_init(scenario);
    scenario->connections = 1;
    scenario->services[0].sigma = 0;
    scenario->work_items = work_items;
}

static double makespan_s(const struct sim_scenario *scenario)
{
    struct lab_figures figures = run(scenario, "budget", 1);
    ck_assert_uint_eq(figures.throttles, 0);
    return figures.makespan_s;
}

/* Twelve requests more than four windows hold: they go with the fourth, not with a fifth. */
START_TEST(the_last_requests_do_not_wait_for_another_window)
{
    struct sim_scenario scenario;
    make_even(&scenario, 4 * 600 + 12);
    ck_assert_double_lt(makespan_s(&scenario), 1000);
    scenario.limits.charge = SIM_CHARGE_COMPLETION;
    ck_assert_double_lt(makespan_s(&scenario), 1100);
    scenario.limits.charge = SIM_CHARGE_ACCRUAL;
    scenario.connections = 3;
    scenario.work_items *= 3;
    ck_assert_double_lt(makespan_s(&scenario), 1000);
}
END_TEST

/* Where time is charged on arrival they would be refused; and a tenth of a window more is too much,
 * though all of them could go at once. */
START_TEST(the_last_requests_wait_where_they_would_be_refused)
{
    struct sim_scenario scenario;
    make_even(&scenario, 4 * 600 + 12);
    scenario.limits.charge = SIM_CHARGE_ARRIVAL;
    ck_assert_double_gt(makespan_s(&scenario), 1200);
    make_even(&scenario, 4 * 150 + 15);
    scenario.services[0].median_s = 8;
    ck_assert_double_gt(makespan_s(&scenario), 1200);
}
END_TEST

/* One request that failed comes back when the rest is over: it fits, and goes at once. */
START_TEST(the_very_last_request_goes_if_it_fits)
{
    struct sim_scenario scenario;
    make_even(&scenario, 2329);
    scenario.services[0].median_s = 1;
    scenario.failures = 0.03;
    struct lab_figures figures = run(&scenario, "budget", 2);
    ck_assert_uint_eq(figures.throttles, 0);
    ck_assert_double_lt(figures.makespan_s, 400);
}
END_TEST

/* He works for two minutes and rests for two. If he went on as he has begun, with all that chance
 * may add, what is left of the job would not fit beside him; it does as it is. */
START_TEST(what_is_left_of_a_short_job_goes_beside_somebody_as_he_has_begun)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct sim_scenario scenario;
        sim_scenario_init(&scenario);
        scenario.foreign = (struct sim_foreign_load){ 0.2, SIM_PATTERN_ONOFF };
        scenario.work_items = 551; /* 0.6 windows of what he leaves on the mean */
        struct lab_figures figures = run(&scenario, "budget", seed);
        ck_assert_double_lt(figures.makespan_s, 60);
        ck_assert_double_gt(figures.foreign_served, 0.85);
    }
}
END_TEST

/* One account for all servers, and somebody who comes and goes: what he used before it was known is
 * not taken for something that leaves, and what of ours is missing elsewhere not for his. */
START_TEST(somebody_is_not_forgotten_when_servers_turn_out_to_be_one_account)
{
    double sum_s = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct sim_scenario scenario;
        sim_scenario_init(&scenario);
        scenario.servers = 4;
        scenario.limits.shared = true;
        scenario.foreign = (struct sim_foreign_load){ 0.2, SIM_PATTERN_ONOFF };
        scenario.work_items = 2300;
        struct lab_figures figures = run(&scenario, "budget", seed);
        ck_assert_double_gt(figures.foreign_served, 0.95);
        sum_s += figures.makespan_s;
    }
    ck_assert_double_lt(sum_s, 5 * 750);
}
END_TEST

/* A job of the published limits, two connections and requests of two seconds: of so many items,
 * done after so long at most. */
static void expect_done_within(const struct sim_scenario *scenario, uint64_t seed, double most_s)
{
    double took_s = run(scenario, "budget", seed).makespan_s;
    if (took_s > most_s)
        ck_abort_msg("seed %lu: %.0f s", (unsigned long)seed, took_s);
}

/* Four windows of work are done with the fourth also where the service forgets in steps: after 955,
 * 1,015 and 1,105 s, by the oracle. What a step has taken along while nothing was heard does not
 * say that the window slides, and a window is spent at its beginning, but for the length of a step.
 */
START_TEST(a_window_that_moves_in_steps_is_spent_at_its_beginning_too)
{
    static const struct {
        double bucket_s;
        double most_s;
    } table[] = { { 10, 1060 }, { 30, 1150 }, { 60, 1300 } };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct sim_scenario scenario;
        sim_scenario_init(&scenario);
        scenario.limits.bucket_us = (int64_t)(table[i].bucket_s * 1e6);
        scenario.work_items = 4589;
        expect_done_within(&scenario, 1, table[i].most_s);
        expect_done_within(&scenario, 3, table[i].most_s);
    }
}
END_TEST

/* Two windows of work where time is charged at the end or on arrival: 325 s by the oracle. */
START_TEST(a_window_is_spent_at_its_beginning_however_time_is_charged)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.work_items = 2294;
    for (int charge = 0; charge < 2; charge++) {
        scenario.limits.charge = charge ? SIM_CHARGE_ARRIVAL : SIM_CHARGE_COMPLETION;
        expect_done_within(&scenario, 1, 375);
        expect_done_within(&scenario, 3, 375);
    }
}
END_TEST

/* Two windows of work: 325 s by the oracle. Nobody tells what is left; the last requests go all the
 * same, and if they are refused, that takes no longer than another window. */
START_TEST(where_no_header_tells_the_last_requests_go_at_their_own_risk)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.work_items = 2294;
    for (int wrong = 0; wrong < 2; wrong++) {
        scenario.headers = wrong ? SIM_HEADERS_WRONG : SIM_HEADERS_ABSENT;
        expect_done_within(&scenario, 1, 375);
        expect_done_within(&scenario, 3, 375);
    }
}
END_TEST

/* Half of what requests take is charged. The first header has said what the whole is, so what is
 * left beyond that is not a higher limit: two windows of work, 348 s by the oracle. */
START_TEST(a_share_that_is_charged_is_not_a_higher_limit)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.services[0].exec_share = SIM_WHOLE_SHARE / 2;
    scenario.work_items = 4589;
    expect_done_within(&scenario, 1, 380);
    expect_done_within(&scenario, 3, 380);
    scenario.limits.execution_us *= 2; /* which the first header has said */
    scenario.limits.requests *= 2;
    scenario.work_items *= 2;
    expect_done_within(&scenario, 3, 420);
}
END_TEST

/* Seven tenths of a window of work: 18 to 20 s by the oracle. */
START_TEST(old_headers_are_not_taken_for_somebody_else_in_a_hurry)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.headers = SIM_HEADERS_STALE;
    scenario.work_items = 803;
    for (uint64_t seed = 1; seed <= 3; seed++)
        expect_done_within(&scenario, seed, 24);
}
END_TEST

/* A third of a window of work for each of twelve servers, of which the hint tells: it does not have
 * to be known first that there are twelve. 11.4 to 11.7 s by the oracle. */
START_TEST(a_job_that_is_short_for_as_many_servers_as_the_hint_says_hurries_from_the_start)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.servers = 12;
    scenario.affinity = SIM_AFFINITY_PINNED;
    scenario.dop_hint = 48;
    scenario.work_items = 5000;
    for (uint64_t seed = 1; seed <= 3; seed++)
        expect_done_within(&scenario, seed, 15.7);
}
END_TEST

/* 107 requests of 15 s: the first fifty of each connection do not wait to be told what they
 * take. 27.6 to 33.1 s by the oracle; a part of them first took five to ten more. */
START_TEST(a_job_of_two_waves_does_not_learn_first)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.services[0].median_s = 15;
    scenario.work_items = 107;
    expect_done_within(&scenario, 2, 34);
    expect_done_within(&scenario, 3, 31);
}
END_TEST

/* A third of a window of work, one account for four servers: what one of them misses may have gone
 * to the others, and if all fits into one account it does not matter whose it was. 8.6 to 9 s by
 * the oracle. */
START_TEST(a_short_job_does_not_hold_back_for_its_own_requests_elsewhere)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.servers = 4;
    scenario.limits.shared = true;
    scenario.work_items = 344;
    for (uint64_t seed = 1; seed <= 3; seed++)
        expect_done_within(&scenario, seed, 10.8);
}
END_TEST

/* All answers of a wave come at once, and charged on arrival looks like charged as it runs. */
START_TEST(requests_that_take_all_the_same_are_not_trusted_to_say_how_they_are_charged)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.services[0].sigma = 0;
    scenario.limits.charge = SIM_CHARGE_ARRIVAL;
    for (uint64_t seed = 1; seed <= 3; seed++)
        ck_assert_uint_eq(run(&scenario, "budget", seed).throttles, 0);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_ends");
    suite_add(&s, the_last_requests_do_not_wait_for_another_window);
    suite_add(&s, the_last_requests_wait_where_they_would_be_refused);
    suite_add(&s, the_very_last_request_goes_if_it_fits);
    suite_add(&s, what_is_left_of_a_short_job_goes_beside_somebody_as_he_has_begun);
    suite_add(&s, somebody_is_not_forgotten_when_servers_turn_out_to_be_one_account);
    suite_add(&s, a_window_that_moves_in_steps_is_spent_at_its_beginning_too);
    suite_add(&s, a_window_is_spent_at_its_beginning_however_time_is_charged);
    suite_add(&s, where_no_header_tells_the_last_requests_go_at_their_own_risk);
    suite_add(&s, a_share_that_is_charged_is_not_a_higher_limit);
    suite_add(&s, old_headers_are_not_taken_for_somebody_else_in_a_hurry);
    suite_add(&s, a_job_that_is_short_for_as_many_servers_as_the_hint_says_hurries_from_the_start);
    suite_add(&s, a_job_of_two_waves_does_not_learn_first);
    suite_add(&s, a_short_job_does_not_hold_back_for_its_own_requests_elsewhere);
    suite_add(&s, requests_that_take_all_the_same_are_not_trusted_to_say_how_they_are_charged);
    return suite_run(&s);
}

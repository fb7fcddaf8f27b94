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

int main(void)
{
    struct suite s = suite_new("budget_ends");
    suite_add(&s, the_last_requests_do_not_wait_for_another_window);
    suite_add(&s, the_last_requests_wait_where_they_would_be_refused);
    suite_add(&s, the_very_last_request_goes_if_it_fits);
    suite_add(&s, what_is_left_of_a_short_job_goes_beside_somebody_as_he_has_begun);
    suite_add(&s, somebody_is_not_forgotten_when_servers_turn_out_to_be_one_account);
    return suite_run(&s);
}

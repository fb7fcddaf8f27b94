/* SPDX-License-Identifier: MIT */
/* Budget in the laboratory: servers that cannot be chosen, as where no cookie is kept. */
#include "base/clock.h"
#include "support/lab_rig.h"
#include "support/suite.h"

/* Requests of two seconds, `windows` of work for each connection on all servers. */
static struct sim_scenario world(uint32_t servers, uint32_t connections, double windows)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.servers = servers;
    scenario.connections = connections;
    scenario.dop_hint = 4 * (int)servers;
    scenario.duration_us = 3600 * WEIR_US_PER_S;
    scenario.work_items = (int64_t)(windows * 574 * servers * connections);
    return scenario;
}

/* The least of three seeds, as a share of what the oracle has, which chooses servers; and hardly
 * anybody is throttled for what chance brings to one of them: in one run at most. */
static double least_share(const struct sim_scenario *scenario)
{
    double least = 1;
    uint32_t throttled = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct lab_oracle oracle;
        lab_oracle(scenario, seed, LAB_ORACLE_COMPLIANT, &oracle, NULL);
        struct lab_figures figures = run(scenario, "budget", seed);
        throttled += figures.throttles > 0;
        double share = oracle.makespan_s / figures.makespan_s;
        least = share < least ? share : least;
    }
    ck_assert_uint_le(throttled, 1);
    return least;
}

/* What is in flight may be anywhere, so sums of time are noisy, and the line of old headers seemed
 * to explain them better: half of the connections stood still for half a minute. 0.95 at the least
 * now, 0.86 then. */
START_TEST(headers_are_not_taken_for_old_where_requests_tell_that_they_are_not)
{
    struct sim_scenario scenario = world(8, 2, 2.5);
    ck_assert_double_gt(least_share(&scenario), 0.93);
}
END_TEST

/* Noise in our own use makes the share that is charged look smaller than it is, and the rest of
 * what is missing like somebody else's. 0.91 at the least, 0.82 without. */
START_TEST(the_share_that_is_charged_is_not_read_too_small)
{
    struct sim_scenario scenario = world(4, 6, 1.81);
    scenario.failures = 0.02;
    ck_assert_double_gt(least_share(&scenario), 0.88);
}
END_TEST

/* 0.92 and 0.93 at the least, 0.88 and 0.86 before. */
START_TEST(a_window_is_spent_at_its_beginning_where_servers_cannot_be_chosen)
{
    struct sim_scenario two = world(2, 2, 1.74);
    ck_assert_double_gt(least_share(&two), 0.91);
    struct sim_scenario four = world(4, 2, 1.74);
    ck_assert_double_gt(least_share(&four), 0.91);
}
END_TEST

/* A server gets slower with more than six at a time. Once the guard has started, one more is a
 * fourth of one on each: counted as a whole one, a cap of three meant nine at a time, not twelve,
 * for good. 0.78 and more of the oracle in half an hour, 0.61 to 0.64 before. */
START_TEST(one_more_is_a_part_of_one_on_each_server)
{
    struct sim_scenario scenario = world(4, 2, 1);
    scenario.duration_us = 1800 * WEIR_US_PER_S;
    scenario.work_items = SIM_NO_WORK_ITEMS;
    scenario.contention = (struct sim_contention){ .knee = 6, .kappa = 0.5 };
    for (uint64_t seed = 1; seed <= 3; seed++)
        ck_assert_double_gt(of_oracle(&scenario, "budget", seed), 0.73);
}
END_TEST

/* 0.95 at the least, 0.93 before. */
START_TEST(headers_that_are_old_cost_nothing)
{
    struct sim_scenario scenario = world(2, 2, 2.5);
    scenario.headers = SIM_HEADERS_STALE;
    ck_assert_double_gt(least_share(&scenario), 0.94);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_scattered");
    suite_add(&s, headers_are_not_taken_for_old_where_requests_tell_that_they_are_not);
    suite_add(&s, the_share_that_is_charged_is_not_read_too_small);
    suite_add(&s, a_window_is_spent_at_its_beginning_where_servers_cannot_be_chosen);
    suite_add(&s, one_more_is_a_part_of_one_on_each_server);
    suite_add(&s, headers_that_are_old_cost_nothing);
    return suite_run(&s);
}

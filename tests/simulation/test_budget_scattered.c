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

/* The least of three seeds, as a share of what the oracle has, which chooses servers; and nobody is
 * throttled: not for what chance brings to one of them either. */
static double least_share(const struct sim_scenario *scenario)
{
    double least = 1;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct lab_oracle oracle;
        lab_oracle(scenario, seed, LAB_ORACLE_COMPLIANT, &oracle, NULL);
        struct lab_figures figures = run(scenario, "budget", seed);
        ck_assert_uint_eq(figures.throttles, 0);
        double share = oracle.makespan_s / figures.makespan_s;
        least = share < least ? share : least;
    }
    return least;
}

/* What is in flight may be anywhere, so sums of time are noisy, and the line of old headers seemed
 * to explain them better: half of the connections stood still for half a minute. */
START_TEST(headers_are_not_taken_for_old_where_requests_tell_that_they_are_not)
{
    struct sim_scenario scenario = world(8, 2, 2.5);
    ck_assert_double_gt(least_share(&scenario), 0.93);
}
END_TEST

/* Noise in our own use makes the share that is charged look smaller than it is, and the rest of
 * what is missing like somebody else's. */
START_TEST(the_share_that_is_charged_is_not_read_too_small)
{
    struct sim_scenario scenario = world(4, 6, 1.81);
    scenario.failures = 0.02;
    ck_assert_double_gt(least_share(&scenario), 0.88);
}
END_TEST

START_TEST(a_window_is_spent_at_its_beginning_where_servers_cannot_be_chosen)
{
    struct sim_scenario two = world(2, 2, 1.74);
    ck_assert_double_gt(least_share(&two), 0.91);
    struct sim_scenario four = world(4, 2, 1.74);
    ck_assert_double_gt(least_share(&four), 0.91);
}
END_TEST

/* A server gets slower with more than twelve at a time. After the guard has fallen, one more is a
 * fourth of one on each: counted as a whole one, a cap of three meant nine at a time, not twelve.
 */
START_TEST(one_more_is_a_part_of_one_on_each_server)
{
    struct sim_scenario scenario = world(4, 2, 4);
    scenario.contention = (struct sim_contention){ .knee = 12, .kappa = 0.96 };
    ck_assert_double_gt(least_share(&scenario), 0.75);
}
END_TEST

START_TEST(headers_that_are_old_are_known_to_be)
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
    suite_add(&s, headers_that_are_old_are_known_to_be);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/*
 * Budget in the laboratory: what must hold whatever the world is like. Scenarios are made from a
 * number, so that one that fails can be run again.
 */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "lab/oracle.h"
#include "lab/policies.h"
#include "lab/run.h"
#include "support/suite.h"

#define WORLDS      200
#define WORLDS_FULL 10000

static struct lab_figures run(const struct sim_scenario *scenario, const char *name, uint64_t seed)
{
    struct lab_policy policy;
    struct lab_figures figures;
    ck_assert_int_eq(lab_policy_find(weir_str_from(name), &policy, NULL), WEIR_OK);
    lab_run(scenario, &policy, seed, &figures);
    return figures;
}

static double between(struct weir_rng *rng, double least, double most)
{
    return least + (most - least) * weir_rng_unit(rng);
}

static int64_t seconds(double s)
{
    return (int64_t)(s * 1e6);
}

/* A world without secrets: limits, headers and charging are as they say, nobody else is there. */
static void make_honest(struct sim_scenario *scenario, uint64_t number)
{
    static const double windows_s[] = { 6, 30, 60, 300 };
    struct weir_rng rng;
    weir_rng_init(&rng, number, 0);
    sim_scenario_init(scenario);
    double window_s = windows_s[weir_rng_below(&rng, 4)];
    double scale = window_s / 300; /* as Budget takes them to be */
    scenario->connections = 1 + (uint32_t)weir_rng_below(&rng, 3);
    scenario->servers = 1 + (uint32_t)weir_rng_below(&rng, 4);
    scenario->affinity = SIM_AFFINITY_PINNED;
    scenario->limits.window_us = seconds(window_s);
    scenario->limits.requests = (int64_t)(6000 * scale);
    scenario->limits.execution_us = seconds(1200 * scale);
    scenario->limits.charge = (enum sim_charge)weir_rng_below(&rng, 3);
    scenario->duration_us = seconds(window_s * between(&rng, 2.5, 5));
    scenario->failures = weir_rng_below(&rng, 3) ? 0 : between(&rng, 0, 0.1);
    scenario->retry_after.base_us = seconds(1);
    struct sim_service *service = &scenario->services[0];
    service->median_s = window_s * exp(between(&rng, log(1 / 3000.0), log(1 / 40.0)));
    service->sigma = between(&rng, 0, 0.6);
    service->exec_share = (int64_t)between(&rng, 0.5 * SIM_WHOLE_SHARE, SIM_WHOLE_SHARE);
    service->overhead_us = seconds(service->median_s * between(&rng, 0.005, 0.1));
}

START_TEST(in_an_honest_world_nothing_is_ever_throttled)
{
    uint64_t worlds = getenv("WEIR_FULL") ? WORLDS_FULL : WORLDS;
    for (uint64_t i = 0; i < worlds; i++) {
        struct sim_scenario scenario;
        make_honest(&scenario, i);
        struct lab_figures figures = run(&scenario, "budget", i);
        if (figures.throttles)
            ck_abort_msg("world %llu: %llu throttles", (unsigned long long)i,
                         (unsigned long long)figures.throttles);
    }
}
END_TEST

/* The small world of the other tests: everything fifty times faster than the real one. */
static void make_small(struct sim_scenario *scenario)
{
    sim_scenario_init(scenario);
    scenario->limits.window_us = seconds(6);
    scenario->limits.requests = 120;
    scenario->limits.execution_us = seconds(24);
    scenario->duration_us = seconds(36);
    scenario->services[0].median_s = 0.08;
    scenario->services[0].overhead_us = seconds(0.002);
}

static double of_oracle(const struct sim_scenario *scenario, const char *name, uint64_t seed)
{
    struct lab_oracle oracle;
    lab_oracle(scenario, seed, LAB_ORACLE_COMPLIANT, &oracle, NULL);
    return (double)run(scenario, name, seed).items / (double)oracle.items;
}

START_TEST(twice_the_time_takes_twice_as_long)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct sim_scenario once, twice;
        make_small(&once);
        once.work_items = 1200;
        once.retry_after.base_us = seconds(1);
        twice = once;
        twice.limits.window_us *= 2;
        twice.limits.execution_us *= 2;
        twice.services[0].median_s *= 2;
        twice.services[0].overhead_us *= 2;
        double ratio =
            run(&twice, "budget", seed).makespan_s / run(&once, "budget", seed).makespan_s;
        ck_assert_double_gt(ratio, 1.8);
        ck_assert_double_lt(ratio, 2.2);
    }
}
END_TEST

START_TEST(connections_are_alike_whatever_their_order)
{
    struct sim_scenario scenario;
    make_small(&scenario);
    scenario.connections = 4;
    for (uint64_t seed = 1; seed <= 5; seed++)
        ck_assert_double_gt(run(&scenario, "budget", seed).jain, 0.99);
}
END_TEST

START_TEST(one_more_connection_never_costs_goodput)
{
    struct sim_scenario scenario;
    make_small(&scenario);
    uint64_t before = 0;
    for (uint32_t connections = 1; connections <= 4; connections++) {
        scenario.connections = connections;
        uint64_t items = run(&scenario, "budget", 1).items;
        ck_assert_uint_gt(items, before);
        before = items;
    }
}
END_TEST

/* Limits that were cut and come back: what was learned in bad times must not stay. */
START_TEST(bad_times_leave_no_lasting_mark)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct sim_scenario scenario;
        make_small(&scenario);
        scenario.duration_us = seconds(90);
        scenario.changes[0] = (struct sim_change){ seconds(12), 40, seconds(8), SIM_UNCHANGED };
        scenario.changes[1] = (struct sim_change){ seconds(24), 120, seconds(24), SIM_UNCHANGED };
        scenario.change_count = 2;
        scenario.failures = 0.05;
        ck_assert_double_gt(of_oracle(&scenario, "budget", seed), 0.85);
    }
}
END_TEST

START_TEST(none_of_the_product_gets_more_done_and_none_is_throttled_less)
{
    static const char *const others[] = { "aimd", "dop", "fixed:52" };
    struct sim_scenario scenario;
    make_small(&scenario);
    scenario.duration_us = seconds(60);
    scenario.dop_hint = 5;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct lab_figures budget = run(&scenario, "budget", seed);
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
            struct lab_figures other = run(&scenario, others[i], seed);
            ck_assert_uint_ge(budget.items, other.items);
            ck_assert_uint_le(budget.throttles, other.throttles);
        }
    }
}
END_TEST

START_TEST(another_user_of_the_connection_is_served)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct sim_scenario scenario;
        sim_scenario_init(&scenario);
        scenario.foreign.share = 0.3;
        struct lab_figures figures = run(&scenario, "budget", seed);
        ck_assert_double_gt(figures.foreign_served, 0.95);
        ck_assert_double_gt(of_oracle(&scenario, "budget", seed), 0.90);
    }
}
END_TEST

START_TEST(unknown_limits_are_found_by_exploring_if_it_is_allowed)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.headers = SIM_HEADERS_ABSENT;
    scenario.limits.requests *= 2;
    scenario.limits.execution_us *= 2;
    ck_assert_double_gt(of_oracle(&scenario, "budget:explore", 1), 0.85);
    ck_assert_double_lt(of_oracle(&scenario, "budget", 1), 0.70);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_lab");
    suite_add(&s, in_an_honest_world_nothing_is_ever_throttled);
    suite_add(&s, twice_the_time_takes_twice_as_long);
    suite_add(&s, connections_are_alike_whatever_their_order);
    suite_add(&s, one_more_connection_never_costs_goodput);
    suite_add(&s, bad_times_leave_no_lasting_mark);
    suite_add(&s, none_of_the_product_gets_more_done_and_none_is_throttled_less);
    suite_add(&s, another_user_of_the_connection_is_served);
    suite_add(&s, unknown_limits_are_found_by_exploring_if_it_is_allowed);
    return suite_run(&s);
}

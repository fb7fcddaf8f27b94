/* SPDX-License-Identifier: MIT */
/*
 * The laboratory: the production pool and policies against the simulator's law in virtual time.
 * These tests are about the laboratory, not about which policy is best.
 */
#include <math.h>
#include <string.h>

#include "lab/oracle.h"
#include "lab/policies.h"
#include "lab/run.h"
#include "support/rig.h"
#include "support/suite.h"

static struct sim_scenario scenario;

static void setup(double median_s)
{
    sim_scenario_init(&scenario);
    scenario.services[0].median_s = median_s;
}

static struct lab_figures run(const char *name, uint64_t seed)
{
    struct lab_policy policy;
    struct weir_error err;
    struct lab_figures figures;
    ck_assert_msg(lab_policy_find(weir_str_from(name), &policy, &err) == WEIR_OK, "%s",
                  err.message);
    lab_run(&scenario, &policy, seed, &figures);
    return figures;
}

START_TEST(policies_are_found_by_name_and_wrong_names_are_explained)
{
    struct lab_policy policy;
    struct weir_error err;
    const char *const good[] = { "aimd",          "Aimd:Conservative",
                                 "dop",           "fixed:52",
                                 "aimd-seed",     "aimd:balanced@RoundRobin",
                                 "aimd-tuned",    "gradient2",
                                 "AWS",           "azcopy",
                                 "cosmos",        "token-bucket",
                                 "retry-after",   "budget",
                                 "Budget:explore" };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_int_eq(lab_policy_find(weir_str_from(good[i]), &policy, &err), WEIR_OK);
        ck_assert_str_eq(policy.name, good[i]);
    }
    const char *const bad[] = { "",       "aimd:",       "aimd:x",        "dop:4",       "fixed",
                                "fixed:", "fixed:0",     "fixed:53",      "aimd-seed:1", "aimd@",
                                "aimd@x", "@RoundRobin", "retry-after:3", "aws:1",       "vegas" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_int_eq(lab_policy_find(weir_str_from(bad[i]), &policy, &err), WEIR_E_INVALID);
    ck_assert_str_eq(
        err.message,
        "no policy is called \"vegas\": there are aimd, aimd:conservative, aimd:balanced, "
        "aimd:aggressive, budget, budget:explore, dop, fixed:1 to fixed:52, retry-after, "
        "aimd-seed, aimd-tuned, gradient2, "
        "aws, azcopy, cosmos and token-bucket, each with @RoundRobin or @LeastConnections behind "
        "it if not ThrottleAware");
    lab_policy_find(weir_str_from("dop@leastconnections"), &policy, &err);
    ck_assert_str_eq(policy.strategy, "LeastConnections");
    lab_policy_find(weir_str_from("aimd:aggressive"), &policy, &err);
    ck_assert_int_eq(policy.options.execution_time_ceiling_factor, 320);
    ck_assert_int_eq(policy.options.slow_batch_threshold_ms, 11000);
}
END_TEST

/* Users that are out of step leave somebody to route to: the strategy that looks is done sooner. */
START_TEST(routing_away_is_worth_it_where_users_are_out_of_step)
{
    setup(5.0);
    scenario.services[0].sigma = 0.3;
    scenario.connections = 3;
    scenario.dop_hint = 52;
    scenario.work_items = 2880; /* four windows */
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct lab_figures aware = run("aimd", seed);
        struct lab_figures in_turn = run("aimd@RoundRobin", seed);
        ck_assert_msg(aware.makespan_s < in_turn.makespan_s, "seed %lu: %f s, %f s",
                      (unsigned long)seed, aware.makespan_s, in_turn.makespan_s);
    }
}
END_TEST

START_TEST(the_same_seed_gives_the_same_figures_and_another_seed_others)
{
    setup(2.0);
    scenario.dop_hint = 10;
    struct lab_figures a = run("aimd", 7);
    struct lab_figures b = run("aimd", 7);
    struct lab_figures c = run("aimd", 8);
    ck_assert_int_eq(memcmp(&a, &b, sizeof(a)), 0);
    ck_assert_uint_ne(a.items, c.items);
}
END_TEST

START_TEST(without_limits_every_slot_is_busy_all_the_time)
{
    setup(2.0);
    scenario.limits.requests = 0;
    scenario.limits.execution_us = 0;
    scenario.services[0].sigma = 0;
    scenario.services[0].overhead_us = 0;
    struct lab_figures figures = run("fixed:10", 1);
    /* Two connections, ten in flight each, 2 s: 10 a second. */
    ck_assert_uint_eq(figures.items, 18000);
    ck_assert_uint_eq(figures.throttles, 0);
    ck_assert(fabs(figures.jain - 1) < 1e-9);
    ck_assert(figures.penalty_fraction == 0);
    ck_assert(figures.makespan_s < 0);
}
END_TEST

START_TEST(a_finite_job_ends_when_its_last_item_is_done)
{
    setup(2.0);
    scenario.services[0].sigma = 0;
    scenario.services[0].overhead_us = 0;
    scenario.work_items = 400;
    struct lab_figures figures = run("fixed:4", 1);
    ck_assert_uint_eq(figures.items, 400);
    ck_assert(fabs(figures.makespan_s - 100) < 1e-6);
}
END_TEST

START_TEST(failures_are_tried_again_until_every_item_is_done)
{
    setup(2.0);
    scenario.work_items = 400;
    scenario.failures = 0.2;
    struct lab_figures figures = run("fixed:4", 1);
    ck_assert_uint_eq(figures.items, 400);
    scenario.failures = 0;
    ck_assert(figures.makespan_s > run("fixed:4", 1).makespan_s * 1.1);
}
END_TEST

START_TEST(the_oracle_never_exceeds_what_the_limits_allow_and_comes_close)
{
    setup(2.0);
    scenario.duration_us = 3000 * WEIR_US_PER_S;
    struct lab_oracle oracle;
    lab_oracle(&scenario, 1, LAB_ORACLE_COMPLIANT, &oracle, NULL);
    /* Ten windows of 1,200 s for two users, and what is left of the first burst of the eleventh. */
    double mean_s = 2.0 * exp(0.3 * 0.3 / 2);
    double most = 10 * 2 * 1200 / mean_s;
    ck_assert_msg((double)oracle.items < most * 1.02, "%lu of %f", (unsigned long)oracle.items,
                  most);
    ck_assert_msg((double)oracle.items > most * 0.97, "%lu of %f", (unsigned long)oracle.items,
                  most);
}
END_TEST

START_TEST(the_oracle_meets_the_known_optimum_of_a_window_of_requests)
{
    /* One user, at most three requests in any 10 s, each 1 s long: the optimum is known. */
    setup(1.0);
    scenario.connections = 1;
    scenario.limits.window_us = 10 * WEIR_US_PER_S;
    scenario.limits.requests = 3;
    scenario.limits.execution_us = 0;
    scenario.services[0].sigma = 0;
    scenario.services[0].overhead_us = 0;
    for (int items = 1; items <= 12; items++) {
        scenario.work_items = items;
        struct lab_oracle oracle;
        lab_oracle(&scenario, 1, LAB_ORACLE_COMPLIANT, &oracle, NULL);
        /* The k-th item cannot begin before floor(k / 3) windows have passed. */
        double best = (items - 1) / 3 * 10 + 1;
        ck_assert_msg(oracle.makespan_s >= best - 1e-6 && oracle.makespan_s <= best + 0.1 * items,
                      "%d items: %f, the best is %f", items, oracle.makespan_s, best);
    }
}
END_TEST

START_TEST(the_execution_window_of_the_oracle_is_exact)
{
    /* One user, 10 s of execution in any 20 s, batches of 4 s: two at once, and no third before the
     * first has begun to leave. */
    setup(4.0);
    scenario.connections = 1;
    scenario.limits.window_us = 20 * WEIR_US_PER_S;
    scenario.limits.requests = 0;
    scenario.limits.execution_us = 10 * WEIR_US_PER_S;
    scenario.services[0].sigma = 0;
    scenario.services[0].overhead_us = 0;
    scenario.work_items = 2;
    struct lab_oracle oracle;
    lab_oracle(&scenario, 1, LAB_ORACLE_COMPLIANT, &oracle, NULL);
    ck_assert(fabs(oracle.makespan_s - 4) < 0.21);
    /* The first two ran side by side in (0, 4] and leave, 2 s a second, from 20 on; until then they
     * count 8 s, so of the third no more than 2 s may have run at 20: it runs from 18 to 22. */
    scenario.work_items = 3;
    lab_oracle(&scenario, 1, LAB_ORACLE_COMPLIANT, &oracle, NULL);
    ck_assert_msg(fabs(oracle.makespan_s - 22) < 0.25, "%f", oracle.makespan_s);
}
END_TEST

START_TEST(no_policy_beats_the_oracle_where_greedy_is_optimal)
{
    const char *const policies[] = { "aimd", "dop", "fixed:4", "fixed:26", "aimd-seed" };
    const double medians[] = { 0.1, 2.0, 8.0 };
    for (int m = 0; m < 3; m++) {
        setup(medians[m]);
        scenario.dop_hint = 26;
        struct lab_oracle oracle;
        lab_oracle(&scenario, 3, LAB_ORACLE_COMPLIANT, &oracle, NULL);
        for (int p = 0; p < 5; p++) {
            struct lab_figures figures = run(policies[p], 3);
            /* Under check-at-arrival what is in flight may overshoot a little. */
            ck_assert_msg((double)figures.items <= (double)oracle.items * 1.12,
                          "%s at %.1f s: %lu of %lu", policies[p], medians[m],
                          (unsigned long)figures.items, (unsigned long)oracle.items);
            ck_assert_uint_gt(figures.items, oracle.items / 3);
        }
    }
}
END_TEST

START_TEST(the_seeds_controller_is_throttled_more_often_than_the_corrected_one)
{
    setup(8.0);
    scenario.dop_hint = 52;
    struct lab_figures seed = run("aimd-seed", 1);
    struct lab_figures aimd = run("aimd", 1);
    ck_assert_uint_gt(seed.throttles, 4 * aimd.throttles);
}
END_TEST

START_TEST(the_foreign_client_is_reported)
{
    setup(2.0);
    scenario.dop_hint = 26;
    scenario.foreign.share = 0.3;
    struct lab_figures figures = run("dop", 1);
    ck_assert(figures.foreign_served > 0 && figures.foreign_served < 1);
    scenario.foreign.share = 0;
    ck_assert(run("dop", 1).foreign_served == 1);
}
END_TEST

START_TEST(jains_index_is_one_for_even_shares_and_one_nth_for_one_winner)
{
    const uint64_t even[] = { 5, 5, 5, 5 };
    const uint64_t one[] = { 7, 0, 0, 0 };
    const uint64_t none[] = { 0, 0 };
    ck_assert(fabs(lab_jain(even, 4) - 1) < 1e-12);
    ck_assert(fabs(lab_jain(one, 4) - 0.25) < 1e-12);
    ck_assert(lab_jain(none, 2) == 1);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("lab");
    suite_add(&s, policies_are_found_by_name_and_wrong_names_are_explained);
    suite_add(&s, routing_away_is_worth_it_where_users_are_out_of_step);
    suite_add(&s, the_same_seed_gives_the_same_figures_and_another_seed_others);
    suite_add(&s, without_limits_every_slot_is_busy_all_the_time);
    suite_add(&s, a_finite_job_ends_when_its_last_item_is_done);
    suite_add(&s, failures_are_tried_again_until_every_item_is_done);
    suite_add(&s, the_oracle_never_exceeds_what_the_limits_allow_and_comes_close);
    suite_add(&s, the_oracle_meets_the_known_optimum_of_a_window_of_requests);
    suite_add(&s, the_execution_window_of_the_oracle_is_exact);
    suite_add(&s, no_policy_beats_the_oracle_where_greedy_is_optimal);
    suite_add(&s, the_seeds_controller_is_throttled_more_often_than_the_corrected_one);
    suite_add(&s, the_foreign_client_is_reported);
    suite_add(&s, jains_index_is_one_for_even_shares_and_one_nth_for_one_winner);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/*
 * Budget in the laboratory: what must hold whatever the world is like.
 */
#include "simulation/lab_worlds.h"
#include "support/lab_rig.h"
#include "support/suite.h"

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

/* 120 requests a window on each of two connections: 1,200 would be five windows to the last one,
 * where a single request that is late waits for a sixth. */
START_TEST(twice_the_time_takes_twice_as_long)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct sim_scenario once, twice;
        make_small(&once);
        once.work_items = 1300;
        once.retry_after.base_us = seconds(1);
        twice = once;
        twice.limits.window_us *= 2;
        twice.limits.execution_us *= 2;
        twice.services[0].median_s *= 2;
        twice.services[0].overhead_us *= 2;
        double ratio =
            run(&twice, "budget", seed).makespan_s / run(&once, "budget", seed).makespan_s;
        ck_assert_double_gt(ratio, 1.98);
        ck_assert_double_lt(ratio, 2.02);
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

/* What was used before us drains, though headers say so five seconds late. */
START_TEST(a_window_that_was_used_is_not_a_lower_limit)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.headers = SIM_HEADERS_STALE;
    scenario.prefill = 0.8;
    ck_assert_uint_eq(run(&scenario, "budget", 1).throttles, 0);
    ck_assert_double_gt(of_oracle(&scenario, "budget", 1), 0.96);
}
END_TEST

/* It fits into the window at once: whoever begins with a few at a time has lost. */
START_TEST(a_third_of_a_window_of_work_is_done_nearly_as_fast_as_can_be)
{
    static const struct {
        double median_s;
        int64_t items;
    } jobs[] = { { 2, 360 }, { 8, 90 }, { 0.5, 1440 } };
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct sim_scenario scenario;
            struct lab_oracle oracle;
            sim_scenario_init(&scenario);
            scenario.services[0].median_s = jobs[i].median_s;
            scenario.work_items = jobs[i].items;
            lab_oracle(&scenario, seed, LAB_ORACLE_COMPLIANT, &oracle, NULL);
            struct lab_figures figures = run(&scenario, "budget", seed);
            ck_assert_uint_eq(figures.throttles, 0);
            ck_assert_msg(oracle.makespan_s > 0.8 * figures.makespan_s, "%g s each: %g s for %g",
                          jobs[i].median_s, figures.makespan_s, oracle.makespan_s);
        }
    }
}
END_TEST

/* So many requests in a plain world. */
static struct sim_scenario job_of(int64_t items)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.work_items = items;
    return scenario;
}

static void expect_makespan(const struct sim_scenario *scenario, double part)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct lab_oracle oracle;
        lab_oracle(scenario, seed, LAB_ORACLE_COMPLIANT, &oracle, NULL);
        struct lab_figures figures = run(scenario, "budget", seed);
        ck_assert_uint_eq(figures.throttles, 0);
        ck_assert_msg(oracle.makespan_s > part * figures.makespan_s, "seed %llu: %g s for %g",
                      (unsigned long long)seed, figures.makespan_s, oracle.makespan_s);
    }
}

/* The limit was taken for what was left when it showed: our own use was then taken for less than it
 * was, and the difference for somebody else's. */
START_TEST(a_higher_limit_is_what_is_left_and_what_we_use)
{
    struct sim_scenario scenario = job_of(720);
    scenario.limits.requests *= 2;
    scenario.limits.execution_us *= 2;
    expect_makespan(&scenario, 0.8);
}
END_TEST

/* Time that seems to be missing, and no requests, was taken to go on missing. */
START_TEST(a_short_job_of_mixed_durations_is_not_taken_for_somebody_else)
{
    struct sim_scenario scenario = job_of(1043);
    scenario.services[1] = scenario.services[0];
    scenario.services[0].weight = 9;
    scenario.services[0].median_s = 0.1;
    scenario.services[1].median_s = 6;
    scenario.service_count = 2;
    expect_makespan(&scenario, 0.8);
}
END_TEST

/* Once it is known that there are several servers, and that each has an account of its own. */
START_TEST(a_short_job_hurries_on_several_servers_too)
{
    struct sim_scenario scenario = job_of(1440);
    scenario.servers = 4;
    expect_makespan(&scenario, 0.45);
    scenario.servers = 2;
    scenario.affinity = SIM_AFFINITY_PINNED;
    expect_makespan(&scenario, 0.6);
}
END_TEST

/* So many requests to four servers with one account. */
static struct sim_scenario job_on_one_account(int64_t items)
{
    struct sim_scenario scenario = job_of(items);
    scenario.servers = 4;
    scenario.limits.shared = true;
    return scenario;
}

/* Our time on other servers was taken for somebody else's that grows, and the hurry ended. */
START_TEST(a_short_job_hurries_on_one_account_for_all_servers)
{
    struct sim_scenario scenario = job_on_one_account(688);
    expect_makespan(&scenario, 0.7);
}
END_TEST

/* How it charges was learned by a part of what we use: not until the window was over were headers
 * trusted again. */
START_TEST(one_account_for_all_servers_is_trusted_as_soon_as_it_is_known)
{
    struct sim_scenario scenario = job_on_one_account(2180);
    expect_makespan(&scenario, 0.91);
}
END_TEST

/* Where requests slow each other, a short job was left no more than what makes a budget last. */
START_TEST(a_short_job_is_not_held_back_to_make_its_budget_last)
{
    struct sim_scenario scenario = job_of(344);
    scenario.contention = (struct sim_contention){ 12, 0.96 };
    expect_makespan(&scenario, 0.82);
    scenario.contention = (struct sim_contention){ 8, 0.3 };
    expect_makespan(&scenario, 0.63);
}
END_TEST

/* A hint of several servers: each gets less of the first wave, so it may be larger. */
START_TEST(a_hint_makes_the_first_wave_larger)
{
    struct sim_scenario scenario = job_of(360);
    double without_s = 0, with_s = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        scenario.dop_hint = 4;
        without_s += run(&scenario, "budget", seed).makespan_s;
        scenario.dop_hint = 8;
        with_s += run(&scenario, "budget", seed).makespan_s;
    }
    ck_assert_msg(with_s < 0.98 * without_s, "%g s, without %g", with_s, without_s);
}
END_TEST

/* Where it lands is chance: what is more than its share on a server was taken for somebody else's,
 * and room was left on every server for what may be on another. */
START_TEST(servers_that_cannot_be_chosen_are_used_all_the_same)
{
    static const struct {
        uint32_t servers;
        double median_s, part;
    } rows[] = { { 2, 8, 0.925 }, { 4, 6, 0.895 }, { 12, 6, 0.84 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sim_scenario scenario;
        sim_scenario_init(&scenario);
        scenario.servers = rows[i].servers;
        scenario.services[0].median_s = rows[i].median_s;
        double part = 0;
        uint64_t throttles = 0;
        for (uint64_t seed = 1; seed <= 5; seed++) {
            part += of_oracle(&scenario, "budget", seed) / 5;
            throttles += run(&scenario, "budget", seed).throttles;
        }
        ck_assert_uint_le(throttles, 1); /* in five hours of a connection */
        ck_assert_msg(part > rows[i].part, "%u servers: %g", rows[i].servers, part);
    }
}
END_TEST

/* A part of what may go at a time is less than one, and nothing went any more. */
START_TEST(fewer_at_a_time_than_servers_are_enough)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.servers = 4;
    scenario.limits.shared = true;
    scenario.limits.concurrent = 3;
    ck_assert_double_gt(of_oracle(&scenario, "budget", 1), 0.9);
}
END_TEST

/* A tenth of the requests gets to another server than it was sent to: they looked like another
 * client's, who would go on for a whole window. */
START_TEST(requests_that_go_astray_are_not_somebody_else)
{
    struct sim_scenario scenario = job_of(1376);
    scenario.servers = 4;
    scenario.affinity = SIM_AFFINITY_SOFT;
    expect_makespan(&scenario, 0.6);
}
END_TEST

/* Of so much work 1.3 times as much does not fit once the first are done, and it need not. */
START_TEST(a_job_that_hurries_is_not_stopped_while_it_fits)
{
    struct sim_scenario scenario = job_of(917); /* four fifths of a window */
    expect_makespan(&scenario, 0.85);
    scenario.connections = 8;
    scenario.work_items *= 4;
    expect_makespan(&scenario, 0.85);
}
END_TEST

/* What is spent at the beginning of the first window comes free at the beginning of the second, in
 * which a job of 1.9 windows ends. Spread over an eighth of each it takes 1.15 times as long as the
 * oracle, and 1.2 times on four servers. */
START_TEST(a_job_that_ends_spends_each_window_at_its_beginning)
{
    struct sim_scenario scenario = job_of(2180);
    expect_makespan(&scenario, 0.93);
    scenario.servers = 4;
    scenario.affinity = SIM_AFFINITY_PINNED;
    scenario.work_items *= 4;
    expect_makespan(&scenario, 0.89);
}
END_TEST

/* It fits into a window, but not with some to spare: what the hurry has shown stays. */
START_TEST(a_job_that_just_fits_does_not_begin_again)
{
    struct sim_scenario scenario = job_of(1101); /* 0.96 of a window */
    expect_makespan(&scenario, 0.75);
}
END_TEST

/* Of four windows of requests none is left for a fifth; nor of three, where the limit is a higher
 * one than is published and what was on its way when it showed was taken for somebody else's. */
START_TEST(requests_are_used_to_the_last_one)
{
    struct sim_scenario scenario = job_of(48000);
    scenario.services[0].median_s = 0.1;
    expect_makespan(&scenario, 0.88);
    scenario.services[0].median_s = 0.07;
    scenario.connections = 1;
    scenario.limits.requests = 8000;
    scenario.work_items = 24000;
    expect_makespan(&scenario, 0.83);
}
END_TEST

/* The first wave comes back in the order in which it was sent: no second one after it. */
START_TEST(a_short_job_does_not_hurry_where_requests_slow_each_other)
{
    struct sim_scenario scenario = job_of(360);
    scenario.contention.knee = 8;
    scenario.contention.kappa = 1;
    expect_makespan(&scenario, 0.7);
}
END_TEST

START_TEST(unknown_limits_are_found_by_exploring_if_it_is_allowed)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.headers = SIM_HEADERS_ABSENT;
    scenario.limits.requests *= 2;
    scenario.limits.execution_us *= 2;
    double more = 0; /* smaller shares that are tried come near it, but not as far */
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double explored = of_oracle(&scenario, "budget:explore", seed);
        ck_assert_double_gt(explored, 0.90);
        more += explored - of_oracle(&scenario, "budget", seed);
    }
    ck_assert_double_gt(more / 5, 0.05);
}
END_TEST

START_TEST(one_account_for_all_servers_is_told_by_its_throttles_alone)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.headers = SIM_HEADERS_ABSENT;
    scenario.limits.shared = true;
    scenario.servers = 8;
    for (int i = 0; i < 2; i++) {
        scenario.affinity = i ? SIM_AFFINITY_PINNED : SIM_AFFINITY_NONE;
        struct lab_figures figures = run(&scenario, "budget", 1);
        ck_assert_double_gt(of_oracle(&scenario, "budget", 1), 0.93);
        ck_assert_double_lt(figures.penalty_fraction, 0.1);
    }
}
END_TEST

/* What we sent to the other servers was missing on each of them, and taken for somebody else's. */
START_TEST(one_account_for_all_servers_is_not_taken_for_somebody_else)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.limits.shared = true;
    scenario.servers = 4;
    scenario.services[0].median_s = 8;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        ck_assert_uint_eq(run(&scenario, "budget", seed).throttles, 0);
        ck_assert_double_gt(of_oracle(&scenario, "budget", seed), 0.95);
    }
}
END_TEST

/* Each server was tried while the one account was still in Retry-After, and each time it was taken
 * for too many at a time, down to one. */
START_TEST(a_throttle_that_still_holds_is_not_one_more)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.affinity = SIM_AFFINITY_PINNED;
    scenario.servers = 12;
    scenario.limits.shared = true;
    scenario.limits.bucket_us = seconds(5);
    scenario.services[0].median_s = 2.5;
    for (uint64_t seed = 1; seed <= 2; seed++)
        ck_assert_double_gt(of_oracle(&scenario, "budget", seed), 0.95);
}
END_TEST

START_TEST(without_headers_the_share_that_is_charged_is_found)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.headers = SIM_HEADERS_ABSENT;
    scenario.services[0].median_s = 0.5;
    scenario.services[0].exec_share = SIM_WHOLE_SHARE * 6 / 10;
    ck_assert_double_gt(of_oracle(&scenario, "budget", 1), 0.85);
    scenario.services[0].median_s = 2;
    scenario.services[0].exec_share = SIM_WHOLE_SHARE * 3 / 10;
    ck_assert_double_gt(of_oracle(&scenario, "budget", 1), 0.78);
    scenario.headers = SIM_HEADERS_WRONG; /* the same whatever is sent: as good as none */
    ck_assert_double_gt(of_oracle(&scenario, "budget", 1), 0.78);
}
END_TEST

/* Two classes of work, and a server that gets slower with more than sixteen at a time. The short
 * ones came back first, and more and more went before the long ones told: 0.77 to 0.85 of the
 * oracle. */
START_TEST(a_knee_is_seen_though_the_short_ones_come_back_first)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.contention = (struct sim_contention){ .knee = 16, .kappa = 0.6 };
    scenario.services[1] = scenario.services[0];
    scenario.service_count = 2;
    scenario.services[0].weight = 4;
    scenario.services[0].median_s = 0.6;
    scenario.services[0].sigma = 0.4;
    scenario.services[1].weight = 1;
    scenario.services[1].median_s = 5;
    for (uint64_t seed = 1; seed <= 3; seed++)
        ck_assert_double_gt(of_oracle(&scenario, "budget", seed), 0.87);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_lab");
    suite_add(&s, twice_the_time_takes_twice_as_long);
    suite_add(&s, connections_are_alike_whatever_their_order);
    suite_add(&s, one_more_connection_never_costs_goodput);
    suite_add(&s, none_of_the_product_gets_more_done_and_none_is_throttled_less);
    suite_add(&s, a_window_that_was_used_is_not_a_lower_limit);
    suite_add(&s, a_third_of_a_window_of_work_is_done_nearly_as_fast_as_can_be);
    suite_add(&s, a_higher_limit_is_what_is_left_and_what_we_use);
    suite_add(&s, a_short_job_of_mixed_durations_is_not_taken_for_somebody_else);
    suite_add(&s, a_short_job_hurries_on_several_servers_too);
    suite_add(&s, a_short_job_hurries_on_one_account_for_all_servers);
    suite_add(&s, one_account_for_all_servers_is_trusted_as_soon_as_it_is_known);
    suite_add(&s, a_short_job_is_not_held_back_to_make_its_budget_last);
    suite_add(&s, a_hint_makes_the_first_wave_larger);
    suite_add(&s, servers_that_cannot_be_chosen_are_used_all_the_same);
    suite_add(&s, fewer_at_a_time_than_servers_are_enough);
    suite_add(&s, requests_that_go_astray_are_not_somebody_else);
    suite_add(&s, a_job_that_hurries_is_not_stopped_while_it_fits);
    suite_add(&s, a_job_that_ends_spends_each_window_at_its_beginning);
    suite_add(&s, a_job_that_just_fits_does_not_begin_again);
    suite_add(&s, requests_are_used_to_the_last_one);
    suite_add(&s, a_short_job_does_not_hurry_where_requests_slow_each_other);
    suite_add(&s, one_account_for_all_servers_is_told_by_its_throttles_alone);
    suite_add(&s, one_account_for_all_servers_is_not_taken_for_somebody_else);
    suite_add(&s, a_throttle_that_still_holds_is_not_one_more);
    suite_add(&s, without_headers_the_share_that_is_charged_is_found);
    suite_add(&s, unknown_limits_are_found_by_exploring_if_it_is_allowed);
    suite_add(&s, a_knee_is_seen_though_the_short_ones_come_back_first);
    return suite_run(&s);
}

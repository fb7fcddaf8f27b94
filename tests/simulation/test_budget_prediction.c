/* SPDX-License-Identifier: MIT */
/*
 * PredictedThrottleInSeconds against the law: a client that keeps Budget's books and does not hold
 * back, so many in flight at all times, until the service throttles it. What was foretold at each
 * answer on the way is compared with when it came; errors are parts of the window.
 */
#include <math.h>

#include "base/clock.h"
#include "simulation/lab_worlds.h"
#include "support/lab_rig.h"
#include "support/suite.h"

#define SAMPLES_MAX 20000
#define SEEDS       3
#define NEAR        0.045 /* error, in the last fifth */

static struct {
    uint32_t in_flight;
    uint32_t at_first; /* in flight before … */
    int64_t hurries_us;
    int64_t throttled_us; /* WEIR_NEVER: not yet */
    uint32_t count;
    struct {
        int64_t at_us;
        int64_t in_us;
    } samples[SAMPLES_MAX];
} heedless;

static void admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                  struct weir_admission *ret)
{
    weir_policy_budget.admit(state, ask, now_us, ret);
    ret->ok =
        ask->in_flight < (now_us < heedless.hurries_us ? heedless.at_first : heedless.in_flight);
    ret->paced = false;
    ret->not_before_us = WEIR_FOREVER;
}

static int level(const void *state)
{
    (void)state;
    return (int)heedless.in_flight;
}

/* All are in flight again: what is foretold now? */
static void leased(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    struct weir_adaptive_rate_stats stats = { 0 };
    weir_policy_budget.leased(state, lease, now_us);
    if (heedless.throttled_us != WEIR_NEVER)
        return;
    must(heedless.count < SAMPLES_MAX);
    weir_policy_budget.stats(state, now_us, &stats);
    heedless.samples[heedless.count].at_us = now_us;
    heedless.samples[heedless.count++].in_us = stats.predicted_throttle_in_us;
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    weir_policy_budget.answered(state, lease, answer, reopens_us, now_us);
    if (heedless.throttled_us == WEIR_NEVER && answer->verdict.class_ == WEIR_CLASS_THROTTLE)
        heedless.throttled_us = lease->sent_us;
}

static void go_without_holding_back(const struct sim_scenario *scenario, uint32_t in_flight,
                                    uint64_t seed)
{
    struct lab_policy policy;
    struct lab_figures figures;
    ck_assert_int_eq(lab_policy_find(weir_str_from("budget"), &policy, NULL), WEIR_OK);
    struct weir_policy wrapped = *policy.policy;
    wrapped.admit = admit;
    wrapped.level = level;
    wrapped.leased = leased;
    wrapped.answered = answered;
    policy.policy = &wrapped;
    heedless.in_flight = in_flight;
    heedless.throttled_us = WEIR_NEVER;
    heedless.count = 0;
    struct sim_scenario early = *scenario;
    early.duration_us = scenario->limits.window_us * 3 / 2; /* whatever comes after it */
    lab_run(&early, &policy, seed, &figures);
    ck_assert_int_ne(heedless.throttled_us, WEIR_NEVER);
}

/* The largest error from a moment on; above 0: foretold too late. */
static double largest_error(const struct sim_scenario *scenario, int64_t since_us)
{
    double largest = 0;
    for (uint32_t i = 0; i < heedless.count; i++) {
        int64_t at_us = heedless.samples[i].at_us;
        int64_t in_us = heedless.samples[i].in_us;
        if (at_us < since_us)
            continue;
        must(in_us >= 0); /* it will come, and it is not said that it will not */
        double error =
            (double)(at_us + in_us - heedless.throttled_us) / (double)scenario->limits.window_us;
        if (fabs(error) > fabs(largest))
            largest = error;
    }
    return largest;
}

/* From a tenth of the way on, because before that nobody knows what requests take; and in the last
 * fifth, when it is near. */
static void expect_error_below(double most, const struct sim_scenario *scenario, uint32_t in_flight)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        go_without_holding_back(scenario, in_flight, seed);
        int64_t since_us = heedless.throttled_us / 10;
        if (since_us < heedless.hurries_us)
            since_us = heedless.hurries_us + seconds(3 * scenario->services[0].median_s);
        double error = largest_error(scenario, since_us);
        ck_assert_msg(fabs(error) < most, "seed %d: wrong by %+.3f of a window", (int)seed, error);
        error = largest_error(scenario, heedless.throttled_us * 8 / 10);
        ck_assert_msg(fabs(error) < NEAR, "seed %d: wrong by %+.3f when it is near", (int)seed,
                      error);
    }
}

static struct sim_scenario one_connection(void)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.connections = 1;
    heedless.hurries_us = 0;
    return scenario;
}

/* Ten at a time use 1,200 s up in 120 s. A window is looked ahead in 64 steps. */
START_TEST(time_that_will_be_used_up_is_foretold)
{
    struct sim_scenario scenario = one_connection();
    for (int charge = 0; charge < 3; charge++) {
        scenario.limits.charge = (enum sim_charge)charge;
        expect_error_below(0.03, &scenario, 10);
    }
    scenario.services[0].median_s = 8;
    expect_error_below(0.03, &scenario, 10);
    scenario.limits.execution_us /= 2;
    expect_error_below(0.03, &scenario, 10);
}
END_TEST

START_TEST(a_share_of_the_time_is_foretold_once_it_is_known)
{
    struct sim_scenario scenario = one_connection();
    scenario.services[0].exec_share = SIM_WHOLE_SHARE * 6 / 10;
    expect_error_below(0.04, &scenario, 12);
}
END_TEST

START_TEST(headers_that_are_old_or_missing_make_it_hardly_worse)
{
    struct sim_scenario scenario = one_connection();
    scenario.headers = SIM_HEADERS_ABSENT;
    expect_error_below(0.03, &scenario, 10);
    scenario.headers = SIM_HEADERS_STALE; /* five seconds, a sixtieth of the window */
    expect_error_below(0.05, &scenario, 10);
}
END_TEST

/* Five at a time of 0.1 s and what the way takes are 32 a second: 6,000 in three minutes. */
START_TEST(requests_that_will_be_used_up_are_foretold)
{
    struct sim_scenario scenario = one_connection();
    scenario.services[0].median_s = 0.1;
    expect_error_below(0.05, &scenario, 5);
    scenario.headers = SIM_HEADERS_ABSENT;
    expect_error_below(0.05, &scenario, 5);
}
END_TEST

/* He goes on as he did, and it is taken that he uses no more than he does now: the less is known of
 * him the later it seems. */
START_TEST(beside_somebody_else_it_is_foretold_too_late_but_not_by_much)
{
    struct sim_scenario scenario = one_connection();
    scenario.foreign.share = 0.1;
    expect_error_below(0.06, &scenario, 10);
    scenario.foreign.share = 0.3;
    expect_error_below(0.08, &scenario, 10);
    scenario.services[0].median_s = 0.1;
    expect_error_below(0.15, &scenario, 5);
}
END_TEST

START_TEST(what_was_used_before_us_counts)
{
    struct sim_scenario scenario = one_connection();
    scenario.prefill = 0.5;
    expect_error_below(0.08, &scenario, 10);
}
END_TEST

/* Two at a time for 270 s, then six: at 300 s 720 s are used, and then two of six go: the rest of
 * 480 s is used up after 120 s more. */
START_TEST(what_leaves_the_window_counts)
{
    struct sim_scenario scenario = one_connection();
    heedless.at_first = 2;
    heedless.hurries_us = seconds(270);
    expect_error_below(0.04, &scenario, 6);
    ck_assert_int_gt(heedless.throttled_us, seconds(410));
    ck_assert_int_lt(heedless.throttled_us, seconds(435));
}
END_TEST

/* The first of them that is full. */
START_TEST(on_two_servers_it_is_the_first_that_throttles)
{
    struct sim_scenario scenario = one_connection();
    scenario.servers = 2;
    expect_error_below(0.05, &scenario, 20);
    scenario.affinity = SIM_AFFINITY_PINNED;
    expect_error_below(0.05, &scenario, 20);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_prediction");
    suite_add(&s, time_that_will_be_used_up_is_foretold);
    suite_add(&s, a_share_of_the_time_is_foretold_once_it_is_known);
    suite_add(&s, headers_that_are_old_or_missing_make_it_hardly_worse);
    suite_add(&s, requests_that_will_be_used_up_are_foretold);
    suite_add(&s, beside_somebody_else_it_is_foretold_too_late_but_not_by_much);
    suite_add(&s, what_was_used_before_us_counts);
    suite_add(&s, what_leaves_the_window_counts);
    suite_add(&s, on_two_servers_it_is_the_first_that_throttles);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/*
 * The calibrated world against what was measured on a real environment. The client is the simplest
 * one: a fixed number in flight on each user, the next request sent when the last one was answered.
 */
#include "base/clock.h"
#include "sim/law/law.h"
#include "support/suite.h"

#define S WEIR_US_PER_S

struct load {
    struct sim_law law;
    uint64_t number[4];
    uint32_t user_of[4096]; /* by ticket */
    int64_t now_us;
    int64_t throttled_us; /* the first throttle; -1: none */
    int64_t latency_sum_us;
    int64_t answered;
};

static bool send_one(struct load *load, uint32_t user)
{
    struct sim_request request = { .service = SIM_ANY_SERVICE, .number = load->number[user]++ };
    struct sim_decision decision =
        sim_law_arrive(&load->law, user, SIM_ANY_SERVER, &request, load->now_us);
    if (!decision.accepted) {
        load->throttled_us = load->now_us;
        return false;
    }
    load->user_of[decision.ticket] = user;
    load->latency_sum_us += decision.service_us + decision.overhead_us;
    load->answered++;
    return true;
}

/* Until `until_us` or the first throttle. */
static void run(struct load *load, const struct sim_scenario *scenario, uint32_t users,
                int in_flight, int64_t until_us)
{
    *load = (struct load){ .throttled_us = -1 };
    sim_law_init(&load->law, scenario, 5);
    for (uint32_t user = 0; user < users; user++) {
        for (int i = 0; i < in_flight; i++)
            send_one(load, user);
    }
    uint32_t ticket;
    while (sim_law_next_end(&load->law, &ticket, &load->now_us) && load->now_us < until_us) {
        uint32_t user = load->user_of[ticket];
        sim_law_finish(&load->law, ticket, load->now_us);
        if (!send_one(load, user))
            return;
    }
}

static struct load load;

START_TEST(five_in_flight_are_never_throttled_in_an_hour)
{
    struct sim_scenario scenario;
    sim_scenario_calibrated(&scenario);
    run(&load, &scenario, 2, 5, 3600 * S);
    ck_assert_int_eq(load.throttled_us, -1);
    ck_assert_int_ge(load.now_us, 3600 * S);
    struct sim_headers headers = sim_law_headers(&load.law, 0, 0, 3600 * S);
    /* 3.6 execution-seconds a second leave 120 of 1,200. */
    ck_assert_int_ge(headers.execution_remaining_us, 119 * S);
    ck_assert_int_le(headers.execution_remaining_us, 121 * S);
    ck_assert_int_eq(headers.dop_hint, 5);
    sim_law_release(&load.law);
}
END_TEST

START_TEST(ten_in_flight_are_throttled)
{
    struct sim_scenario scenario;
    sim_scenario_calibrated(&scenario);
    run(&load, &scenario, 1, 10, 3600 * S);
    ck_assert_int_ge(load.throttled_us, 160 * S);
    ck_assert_int_le(load.throttled_us, 175 * S);
    ck_assert_uint_eq(sim_law_stats(&load.law, 0)->throttled[SIM_THROTTLE_EXECUTION_TIME], 1);
    sim_law_release(&load.law);
}
END_TEST

START_TEST(thirty_two_in_flight_over_two_users_exhaust_the_budget_after_104_seconds)
{
    struct sim_scenario scenario;
    sim_scenario_calibrated(&scenario);
    run(&load, &scenario, 2, 16, 3600 * S);
    ck_assert_double_eq_tol((double)load.throttled_us / 1e6, 104, 104 * 0.05);
    sim_law_release(&load.law);
}
END_TEST

START_TEST(thirty_seven_in_flight_take_seven_and_a_half_seconds_each)
{
    struct sim_scenario scenario;
    sim_scenario_calibrated(&scenario);
    scenario.limits.execution_us = 0;
    run(&load, &scenario, 1, 37, 60 * S);
    load.latency_sum_us = load.answered = 0;
    while (load.now_us < 1800 * S) {
        uint32_t ticket;
        ck_assert(sim_law_next_end(&load.law, &ticket, &load.now_us));
        sim_law_finish(&load.law, ticket, load.now_us);
        send_one(&load, 0);
    }
    double mean_s = (double)load.latency_sum_us / (double)load.answered / 1e6;
    ck_assert_double_eq_tol(mean_s, 7.5, 7.5 * 0.02);
    ck_assert_uint_eq(sim_law_stats(&load.law, 0)->max_concurrent, 37);
    sim_law_release(&load.law);
}
END_TEST

START_TEST(the_published_runs_come_out)
{
    /* 72,493 records in batches of 100: one user 358 s, two users 183 s. */
    struct sim_scenario scenario;
    sim_scenario_calibrated(&scenario);
    for (uint32_t users = 1; users <= 2; users++) {
        run(&load, &scenario, users, 5, 3600 * S);
        double rate = (double)load.answered / 3600;
        double measured = users == 1 ? 725 / 358.0 : 725 / 183.0;
        ck_assert_double_eq_tol(rate, measured, measured * 0.05);
        sim_law_release(&load.law);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("law_calibration");
    suite_add(&s, five_in_flight_are_never_throttled_in_an_hour);
    suite_add(&s, ten_in_flight_are_throttled);
    suite_add(&s, thirty_two_in_flight_over_two_users_exhaust_the_budget_after_104_seconds);
    suite_add(&s, thirty_seven_in_flight_take_seven_and_a_half_seconds_each);
    suite_add(&s, the_published_runs_come_out);
    return suite_run(&s);
}

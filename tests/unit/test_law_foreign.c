/* SPDX-License-Identifier: MIT */
/* The other client: how much it uses, how it behaves, and that looking at it changes nothing. */
#include "base/clock.h"
#include "sim/law/law.h"
#include "sim/law/service_time.h"
#include "support/suite.h"

#define S      WEIR_US_PER_S
#define LONG_S 60000

static struct sim_law law;

static struct sim_scenario shared_with(double share, enum sim_pattern pattern)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.foreign = (struct sim_foreign_load){ share, pattern };
    return scenario;
}

/* The mean use of an account over a long run, as a share of its budget, sampled every 7 s. */
static double mean_use(const struct sim_scenario *scenario, bool of_requests)
{
    sim_law_init(&law, scenario, 11);
    double sum = 0;
    int samples = 0;
    for (int64_t t = 300; t < LONG_S; t += 7) {
        struct sim_headers headers = sim_law_headers(&law, (uint32_t)(t % 2), 0, t * S);
        struct sim_budget budget = sim_scenario_budget(scenario, t * S);
        double requests = (double)headers.requests_remaining / (double)budget.requests;
        double execution = (double)headers.execution_remaining_us / (double)budget.execution_us;
        sum += 1 - (of_requests ? requests : execution);
        samples++;
    }
    sim_law_release(&law);
    return sum / samples;
}

static void check_use(const struct sim_scenario *scenario, bool of_requests)
{
    double share = scenario->foreign.share;
    ck_assert_double_eq_tol(mean_use(scenario, of_requests), share, share * 0.05);
}

START_TEST(its_mean_use_is_its_share_of_the_execution_budget)
{
    for (int pattern = 0; pattern < 3; pattern++) {
        /* Little enough that bursts of six times the share meet no limit. */
        struct sim_scenario scenario = shared_with(0.12, (enum sim_pattern)pattern);
        scenario.limits.concurrent = 0;
        check_use(&scenario, false);
    }
}
END_TEST

START_TEST(its_mean_use_is_its_share_of_the_request_budget_if_that_binds)
{
    struct sim_scenario scenario = shared_with(0.3, SIM_PATTERN_CONSTANT);
    scenario.services[0].median_s = 0.1;
    check_use(&scenario, true);
}
END_TEST

START_TEST(its_use_keeps_to_the_share_with_servers_sharing_drift_and_change)
{
    struct sim_scenario scenario = shared_with(0.4, SIM_PATTERN_CONSTANT);
    scenario.servers = 2;
    check_use(&scenario, false);
    scenario.limits.shared = true;
    check_use(&scenario, false);
    scenario.services[0].drift = (struct sim_drift){ SIM_DRIFT_STEP, 3 };
    scenario.duration_us = LONG_S * S;
    check_use(&scenario, false);
    scenario.change_count = 1;
    scenario.changes[0] = (struct sim_change){ LONG_S / 3 * S, 3000, 600 * S, SIM_UNCHANGED };
    check_use(&scenario, false);
}
END_TEST

/* What it wanted in [from, to) seconds, all users. */
static uint64_t wanted_between(const struct sim_scenario *scenario, int64_t from_s, int64_t to_s)
{
    uint64_t wanted = 0;
    sim_law_init(&law, scenario, 12);
    sim_law_advance(&law, from_s * S - 1);
    for (uint32_t user = 0; user < scenario->connections; user++)
        wanted -= sim_law_foreign(&law, user).wanted;
    sim_law_advance(&law, to_s * S - 1);
    for (uint32_t user = 0; user < scenario->connections; user++)
        wanted += sim_law_foreign(&law, user).wanted;
    sim_law_release(&law);
    return wanted;
}

START_TEST(onoff_and_bursty_are_silent_between)
{
    struct sim_scenario onoff = shared_with(0.5, SIM_PATTERN_ONOFF);
    ck_assert_uint_gt(wanted_between(&onoff, 0, 120), 100);
    ck_assert_uint_eq(wanted_between(&onoff, 120, 240), 0);
    ck_assert_uint_gt(wanted_between(&onoff, 240, 360), 100);
    struct sim_scenario bursty = shared_with(0.5, SIM_PATTERN_BURSTY);
    ck_assert_uint_gt(wanted_between(&bursty, 0, 20), 50);
    ck_assert_uint_eq(wanted_between(&bursty, 20, 120), 0);
    ck_assert_uint_gt(wanted_between(&bursty, 120, 140), 50);
}
END_TEST

START_TEST(rates_are_twice_and_six_times_the_share)
{
    struct sim_scenario scenario = shared_with(0.1, SIM_PATTERN_CONSTANT);
    double rate = sim_foreign_rate(&scenario, 0);
    ck_assert_double_eq_tol(rate, 0.1 * 4 / sim_service_mean_s(&scenario.services[0], 1), 1e-12);
    scenario.foreign.pattern = SIM_PATTERN_ONOFF;
    ck_assert_double_eq(sim_foreign_rate(&scenario, 119 * S), 2 * rate);
    ck_assert_double_eq(sim_foreign_rate(&scenario, 120 * S), 0);
    scenario.foreign.pattern = SIM_PATTERN_BURSTY;
    ck_assert_double_eq(sim_foreign_rate(&scenario, 139 * S), 6 * rate);
    ck_assert_double_eq(sim_foreign_rate(&scenario, 140 * S), 0);
}
END_TEST

START_TEST(it_honours_its_retry_after_and_loses_what_it_holds_back)
{
    struct sim_scenario scenario = shared_with(0.5, SIM_PATTERN_CONSTANT);
    scenario.connections = 1;
    scenario.limits.concurrent = 1;
    sim_law_init(&law, &scenario, 13);
    struct sim_request request = { .service = SIM_ANY_SERVICE };
    ck_assert(sim_law_arrive(&law, 0, SIM_ANY_SERVER, &request, 0).accepted);
    /* Refused at 2, 3, 4.5, 6.75, 10.1, 15.2 and 22.8 s of penalty: seven times a minute or less.
     */
    sim_law_advance(&law, 60 * S);
    struct sim_foreign_counts counts = sim_law_foreign(&law, 0);
    ck_assert_uint_gt(counts.wanted, 30);
    ck_assert_uint_ge(counts.sent, 3);
    ck_assert_uint_le(counts.sent, 7);
    ck_assert_uint_eq(counts.served, 0);
    ck_assert_int_eq(law.accounts[0].penalty.lengthened_us, 0);
    ck_assert_uint_eq(sim_law_stats(&law, 0)->requests, 1);
    sim_law_release(&law);
}
END_TEST

START_TEST(a_greedy_client_starves_it)
{
    struct sim_scenario scenario = shared_with(0.3, SIM_PATTERN_CONSTANT);
    scenario.connections = 1;
    sim_law_init(&law, &scenario, 14);
    struct sim_request request = { .service = SIM_ANY_SERVICE };
    int64_t now_us = 0;
    for (; now_us < 1800 * S; now_us += S / 10) {
        uint32_t ticket;
        int64_t ends_us;
        while (sim_law_next_end(&law, &ticket, &ends_us) && ends_us <= now_us)
            sim_law_finish(&law, ticket, ends_us);
        request.number++;
        if (now_us >= sim_law_penalty_until_us(&law, 0, 0))
            sim_law_arrive(&law, 0, SIM_ANY_SERVER, &request, now_us);
    }
    struct sim_foreign_counts counts = sim_law_foreign(&law, 0);
    ck_assert_uint_lt(counts.served * 2, counts.wanted);
    sim_law_release(&law);
}
END_TEST

START_TEST(looking_often_or_once_makes_no_difference)
{
    struct sim_scenario scenario = shared_with(0.6, SIM_PATTERN_BURSTY);
    scenario.servers = 3;
    struct sim_foreign_counts counts[2];
    struct sim_headers headers[2];
    for (int often = 0; often < 2; often++) {
        sim_law_init(&law, &scenario, 15);
        for (int64_t t = 0; often && t < 2000 * S; t += S / 7)
            sim_law_headers(&law, (uint32_t)(t % 2), (uint32_t)(t % 3), t);
        sim_law_advance(&law, 2000 * S);
        counts[often] = sim_law_foreign(&law, 1);
        headers[often] = sim_law_headers(&law, 1, 2, 2000 * S);
        sim_law_release(&law);
    }
    ck_assert_uint_gt(counts[0].served, 100);
    ck_assert_uint_eq(counts[0].wanted, counts[1].wanted);
    ck_assert_uint_eq(counts[0].sent, counts[1].sent);
    ck_assert_uint_eq(counts[0].served, counts[1].served);
    ck_assert_int_eq(headers[0].requests_remaining, headers[1].requests_remaining);
    ck_assert_int_eq(headers[0].execution_remaining_us, headers[1].execution_remaining_us);
}
END_TEST

START_TEST(it_competes_for_concurrency_and_slows_the_web_server_down)
{
    struct sim_scenario scenario = shared_with(1, SIM_PATTERN_CONSTANT);
    scenario.connections = 1;
    scenario.services[0].sigma = 0;
    scenario.services[0].median_s = 60;
    scenario.services[0].exec_share = 1000;
    scenario.limits.concurrent = 10;
    scenario.contention = (struct sim_contention){ 1, 1 };
    sim_law_init(&law, &scenario, 16);
    struct sim_request request = { .service = SIM_ANY_SERVICE };
    struct sim_decision slowed = sim_law_arrive(&law, 0, SIM_ANY_SERVER, &request, 12 * S);
    ck_assert(slowed.accepted);
    ck_assert_int_gt(slowed.service_us, 60 * S);
    struct sim_decision refused = sim_law_arrive(&law, 0, SIM_ANY_SERVER, &request, 60 * S);
    ck_assert_int_eq(refused.kind, SIM_THROTTLE_CONCURRENCY);
    ck_assert_uint_eq(sim_law_stats(&law, 0)->max_concurrent, 1);
    sim_law_release(&law);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("law_foreign");
    suite_add(&s, its_mean_use_is_its_share_of_the_execution_budget);
    suite_add(&s, its_mean_use_is_its_share_of_the_request_budget_if_that_binds);
    suite_add(&s, its_use_keeps_to_the_share_with_servers_sharing_drift_and_change);
    suite_add(&s, onoff_and_bursty_are_silent_between);
    suite_add(&s, rates_are_twice_and_six_times_the_share);
    suite_add(&s, it_honours_its_retry_after_and_loses_what_it_holds_back);
    suite_add(&s, a_greedy_client_starves_it);
    suite_add(&s, looking_often_or_once_makes_no_difference);
    suite_add(&s, it_competes_for_concurrency_and_slows_the_web_server_down);
    return suite_run(&s);
}

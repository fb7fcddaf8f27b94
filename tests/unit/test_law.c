/* SPDX-License-Identifier: MIT */
/* The law's rules, one by one, on requests whose durations are known. */
#include "base/clock.h"
#include "sim/law/law.h"
#include "support/suite.h"

#define S WEIR_US_PER_S

static struct sim_law law;

/* One user, one server, requests of exactly one second. */
static struct sim_scenario plain(void)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.connections = 1;
    scenario.services[0].median_s = 1;
    scenario.services[0].sigma = 0;
    return scenario;
}

static struct sim_decision arrive_at(uint32_t user, uint32_t server, uint64_t number,
                                     int64_t now_us)
{
    struct sim_request request = { .service = SIM_ANY_SERVICE, .number = number };
    return sim_law_arrive(&law, user, server, &request, now_us);
}

static struct sim_decision arrive(int64_t now_us)
{
    return arrive_at(0, SIM_ANY_SERVER, 0, now_us);
}

/* Arrive, and end at once. */
static struct sim_decision touch(int64_t now_us)
{
    struct sim_decision decision = arrive(now_us);
    if (decision.accepted)
        sim_law_finish(&law, decision.ticket, now_us);
    return decision;
}

/* Arrive, and run for the planned time. */
static struct sim_decision serve(int64_t now_us)
{
    struct sim_decision decision = arrive(now_us);
    if (decision.accepted)
        sim_law_finish(&law, decision.ticket, decision.ends_us);
    return decision;
}

START_TEST(an_accepted_request_is_told_how_long_it_runs)
{
    struct sim_scenario scenario = plain();
    scenario.services[0].overhead_us = 123;
    sim_law_init(&law, &scenario, 1);
    struct sim_decision decision = arrive(5 * S);
    ck_assert(decision.accepted);
    ck_assert_uint_eq(decision.server, 0);
    ck_assert_int_eq(decision.service_us, S);
    ck_assert_int_eq(decision.ends_us, 6 * S);
    ck_assert_int_eq(decision.overhead_us, 123);
    ck_assert_int_eq(decision.kind, SIM_THROTTLE_NONE);
    uint32_t ticket;
    int64_t ends_us;
    ck_assert(sim_law_next_end(&law, &ticket, &ends_us));
    ck_assert_uint_eq(ticket, decision.ticket);
    ck_assert_int_eq(ends_us, 6 * S);
    sim_law_finish(&law, ticket, 6 * S);
    ck_assert(!sim_law_next_end(&law, &ticket, &ends_us));
    sim_law_release(&law);
}
END_TEST

START_TEST(the_6000th_request_of_a_window_is_accepted_and_the_next_one_refused)
{
    struct sim_scenario scenario = plain();
    sim_law_init(&law, &scenario, 1);
    for (int i = 0; i < 6000; i++)
        ck_assert(touch(i).accepted);
    struct sim_decision refused = touch(7000);
    ck_assert(!refused.accepted);
    ck_assert_int_eq(refused.kind, SIM_THROTTLE_REQUESTS);
    ck_assert_int_eq(refused.limit, 6000);
    ck_assert_int_eq(refused.window_us, 300 * S);
    /* 98 %: until 120 of them have left; the last of these came at 119 µs. */
    ck_assert_int_eq(refused.retry_after_us, 300 * S + 119 - 7000);
    sim_law_release(&law);
}
END_TEST

START_TEST(a_request_leaves_the_window_after_exactly_300_seconds)
{
    for (int64_t early_us = 0; early_us <= 1; early_us++) {
        struct sim_scenario scenario = plain();
        scenario.limits.requests = 3;
        sim_law_init(&law, &scenario, 1);
        for (int i = 0; i < 3; i++)
            ck_assert(touch(10 * S + i).accepted);
        ck_assert(touch(310 * S - early_us).accepted == (early_us == 0));
        sim_law_release(&law);
    }
}
END_TEST

START_TEST(execution_is_refused_once_the_sum_reaches_the_limit)
{
    for (int64_t early_us = 0; early_us <= 1; early_us++) {
        struct sim_scenario scenario = plain();
        scenario.limits.execution_us = 10 * S;
        scenario.services[0].median_s = 100;
        sim_law_init(&law, &scenario, 1);
        arrive(0);
        arrive(0);
        /* Two in flight accrue two seconds a second. */
        struct sim_decision decision = arrive(5 * S - early_us);
        ck_assert(decision.accepted == (early_us == 1));
        if (!decision.accepted) {
            ck_assert_int_eq(decision.kind, SIM_THROTTLE_EXECUTION_TIME);
            ck_assert_int_eq(decision.limit, 10 * S);
        }
        sim_law_release(&law);
    }
}
END_TEST

START_TEST(accrual_charges_while_it_runs_completion_at_its_end_arrival_at_its_start)
{
    const int64_t after_start[] = { 0, 0, 72 * S / 100 * 10 };
    const int64_t after_4s[] = { 72 * S / 100 * 4, 0, 72 * S / 100 * 10 };
    for (int charge = 0; charge < 3; charge++) {
        struct sim_scenario scenario = plain();
        scenario.limits.charge = (enum sim_charge)charge;
        scenario.services[0].median_s = 10;
        scenario.services[0].exec_share = 7200;
        sim_law_init(&law, &scenario, 1);
        struct sim_decision decision = arrive(20 * S);
        ck_assert_int_eq(sim_law_headers(&law, 0, 0, 20 * S).execution_remaining_us,
                         1200 * S - after_start[charge]);
        ck_assert_int_eq(sim_law_headers(&law, 0, 0, 24 * S).execution_remaining_us,
                         1200 * S - after_4s[charge]);
        sim_law_finish(&law, decision.ticket, decision.ends_us);
        ck_assert_int_eq(sim_law_headers(&law, 0, 0, 30 * S).execution_remaining_us,
                         1200 * S - 7200000);
        ck_assert_int_eq(sim_law_stats(&law, 0)->execution_us, 7200000);
        /* Leaving: bit by bit from 320 s to 330 s; at 330 s; at 320 s. */
        const int64_t left_at_325s[] = { 3600000, 7200000, 0 };
        ck_assert_int_eq(sim_law_headers(&law, 0, 0, 325 * S).execution_remaining_us,
                         1200 * S - left_at_325s[charge]);
        ck_assert_int_eq(sim_law_headers(&law, 0, 0, 330 * S).execution_remaining_us, 1200 * S);
        sim_law_release(&law);
    }
}
END_TEST

START_TEST(work_in_flight_may_exceed_the_limit_and_is_never_aborted)
{
    struct sim_scenario scenario = plain();
    scenario.limits.execution_us = 10 * S;
    scenario.services[0].median_s = 60;
    sim_law_init(&law, &scenario, 1);
    struct sim_decision first = arrive(0), second = arrive(0);
    ck_assert(!arrive(30 * S).accepted);
    sim_law_finish(&law, first.ticket, first.ends_us);
    sim_law_finish(&law, second.ticket, second.ends_us);
    ck_assert_int_eq(sim_law_stats(&law, 0)->execution_us, 120 * S);
    ck_assert_int_eq(sim_law_headers(&law, 0, 0, 60 * S).execution_remaining_us, 0);
    sim_law_release(&law);
}
END_TEST

START_TEST(retry_after_reckons_with_the_planned_ends_of_what_is_in_flight)
{
    struct sim_scenario scenario = plain();
    scenario.limits.execution_us = 100 * S;
    scenario.services[0].median_s = 60;
    sim_law_init(&law, &scenario, 1);
    arrive(0);
    arrive(0);
    /* 120 s will have been used by 60 s. They fall to 98 s when 22 s of them, at two a second, have
       left the window: at 311 s. */
    struct sim_decision refused = arrive(50 * S);
    ck_assert_int_eq(refused.kind, SIM_THROTTLE_EXECUTION_TIME);
    ck_assert_int_eq(refused.retry_after_us, 261 * S);
    sim_law_release(&law);
}
END_TEST

START_TEST(the_53rd_concurrent_request_is_refused_at_once)
{
    struct sim_scenario scenario = plain();
    sim_law_init(&law, &scenario, 1);
    for (int i = 0; i < 52; i++)
        ck_assert(arrive(0).accepted);
    struct sim_decision refused = arrive(0);
    ck_assert(!refused.accepted);
    ck_assert_int_eq(refused.kind, SIM_THROTTLE_CONCURRENCY);
    ck_assert_int_eq(refused.limit, 52);
    ck_assert_int_eq(refused.retry_after_us, 2 * S);
    ck_assert_uint_eq(sim_law_stats(&law, 0)->max_concurrent, 52);
    sim_law_release(&law);
}
END_TEST

START_TEST(a_request_during_the_penalty_is_refused_for_the_same_reason_and_lengthens_it)
{
    struct sim_scenario scenario = plain();
    scenario.limits.concurrent = 1;
    sim_law_init(&law, &scenario, 1);
    struct sim_decision first = arrive(0);
    ck_assert_int_eq(arrive(0).retry_after_us, 2 * S);
    sim_law_finish(&law, first.ticket, S);
    struct sim_decision offence = arrive(S);
    ck_assert_int_eq(offence.kind, SIM_THROTTLE_CONCURRENCY);
    ck_assert_int_eq(offence.retry_after_us, 2 * S);
    ck_assert_int_eq(sim_law_penalty_until_us(&law, 0, 0), 3 * S);
    ck_assert_int_eq(sim_law_penalty_us(&law, 0, 0, 2 * S), 2 * S);
    ck_assert(!arrive(3 * S - 1).accepted);
    ck_assert(arrive(4 * S).accepted);
    const struct sim_stats *stats = sim_law_stats(&law, 0);
    ck_assert_uint_eq(stats->requests, 5);
    ck_assert_uint_eq(stats->accepted, 2);
    ck_assert_uint_eq(stats->throttled[SIM_THROTTLE_CONCURRENCY], 3);
    ck_assert_uint_eq(stats->sent_while_throttled, 2);
    sim_law_release(&law);
}
END_TEST

START_TEST(violations_escalate_and_are_forgotten)
{
    struct sim_scenario scenario = plain();
    scenario.limits.concurrent = 1;
    scenario.services[0].median_s = 3600;
    sim_law_init(&law, &scenario, 1);
    arrive(0);
    ck_assert_int_eq(arrive(0).retry_after_us, 2 * S);
    ck_assert_int_eq(arrive(2 * S).retry_after_us, 3 * S);
    ck_assert_int_eq(arrive(5 * S).retry_after_us, 45 * S / 10);
    ck_assert_int_eq(arrive(364 * S).retry_after_us, 675 * S / 100);
    ck_assert_int_eq(arrive(724 * S).retry_after_us, 2 * S);
    sim_law_release(&law);
}
END_TEST

START_TEST(refused_requests_count_only_if_the_scenario_says_so)
{
    for (int counted = 0; counted <= 1; counted++) {
        struct sim_scenario scenario = plain();
        scenario.limits.requests = 100;
        scenario.limits.concurrent = 1;
        scenario.limits.count_throttled = counted;
        sim_law_init(&law, &scenario, 1);
        arrive(0);
        for (int i = 0; i < 10; i++)
            ck_assert(!arrive(0).accepted);
        ck_assert_int_eq(sim_law_headers(&law, 0, 0, 0).requests_remaining, counted ? 89 : 99);
        sim_law_release(&law);
    }
}
END_TEST

static struct sim_scenario four_servers(enum sim_affinity affinity)
{
    struct sim_scenario scenario = plain();
    scenario.servers = 4;
    scenario.affinity = affinity;
    scenario.limits.concurrent = 0;
    scenario.limits.requests = 0;
    return scenario;
}

/* How many of 4,000 requests that want server 2 land there. */
static int landed(enum sim_affinity affinity, uint32_t wanted)
{
    struct sim_scenario scenario = four_servers(affinity);
    sim_law_init(&law, &scenario, 1);
    int count = 0;
    for (int i = 0; i < 4000; i++)
        count += arrive_at(0, wanted, 0, 0).server == 2;
    sim_law_release(&law);
    return count;
}

START_TEST(the_cookie_is_honoured_as_the_affinity_says)
{
    ck_assert_int_eq(landed(SIM_AFFINITY_PINNED, 2), 4000);
    /* 90 %, and a quarter of the rest by chance. */
    ck_assert_int_ge(landed(SIM_AFFINITY_SOFT, 2), 3640);
    ck_assert_int_le(landed(SIM_AFFINITY_SOFT, 2), 3760);
    ck_assert_int_ge(landed(SIM_AFFINITY_NONE, 2), 900);
    ck_assert_int_le(landed(SIM_AFFINITY_NONE, 2), 1100);
    ck_assert_int_ge(landed(SIM_AFFINITY_PINNED, SIM_ANY_SERVER), 900);
    ck_assert_int_le(landed(SIM_AFFINITY_PINNED, SIM_ANY_SERVER), 1100);
    ck_assert_int_le(landed(SIM_AFFINITY_PINNED, 4), 1100);
}
END_TEST

START_TEST(each_web_server_has_limits_of_its_own_unless_they_are_shared)
{
    for (int shared = 0; shared <= 1; shared++) {
        struct sim_scenario scenario = four_servers(SIM_AFFINITY_PINNED);
        scenario.limits.concurrent = 1;
        scenario.limits.shared = shared;
        sim_law_init(&law, &scenario, 1);
        ck_assert(arrive_at(0, 0, 0, 0).accepted);
        ck_assert(arrive_at(0, 1, 0, 0).accepted == !shared);
        ck_assert(!arrive_at(0, 0, 0, 0).accepted);
        sim_law_release(&law);
    }
}
END_TEST

START_TEST(users_do_not_share_limits_but_they_do_share_the_web_server)
{
    struct sim_scenario scenario = plain();
    scenario.connections = 2;
    scenario.limits.concurrent = 1;
    scenario.contention = (struct sim_contention){ 1, 1 };
    sim_law_init(&law, &scenario, 1);
    ck_assert_int_eq(arrive_at(0, SIM_ANY_SERVER, 0, 0).service_us, S);
    struct sim_decision second = arrive_at(1, SIM_ANY_SERVER, 0, 0);
    ck_assert(second.accepted);
    ck_assert_int_eq(second.service_us, 2 * S);
    sim_law_release(&law);
}
END_TEST

START_TEST(limits_and_hint_change_at_their_time)
{
    struct sim_scenario scenario = plain();
    scenario.change_count = 2;
    scenario.changes[0] = (struct sim_change){ 900 * S, 3000, 600 * S, 8 };
    scenario.changes[1] = (struct sim_change){ 1000 * S, SIM_UNCHANGED, SIM_UNCHANGED, 2 };
    sim_law_init(&law, &scenario, 1);
    struct sim_headers before = sim_law_headers(&law, 0, 0, 900 * S - 1);
    struct sim_headers after = sim_law_headers(&law, 0, 0, 900 * S);
    struct sim_headers last = sim_law_headers(&law, 0, 0, 1000 * S);
    ck_assert_int_eq(before.requests_remaining, 6000);
    ck_assert_int_eq(before.dop_hint, 4);
    ck_assert_int_eq(after.requests_remaining, 3000);
    ck_assert_int_eq(after.execution_remaining_us, 600 * S);
    ck_assert_int_eq(after.dop_hint, 8);
    ck_assert_int_eq(last.requests_remaining, 3000);
    ck_assert_int_eq(last.dop_hint, 2);
    sim_law_release(&law);
}
END_TEST

START_TEST(a_halved_limit_refuses_what_was_allowed_before)
{
    struct sim_scenario scenario = plain();
    scenario.limits.requests = 10;
    scenario.change_count = 1;
    scenario.changes[0] = (struct sim_change){ 100 * S, 5, SIM_UNCHANGED, SIM_UNCHANGED };
    sim_law_init(&law, &scenario, 1);
    for (int i = 0; i < 7; i++)
        ck_assert(touch(10 * S + i).accepted);
    struct sim_decision refused = touch(100 * S);
    ck_assert_int_eq(refused.kind, SIM_THROTTLE_REQUESTS);
    ck_assert_int_eq(refused.limit, 5);
    /* 98 % of 5 are 4: three of the seven must leave. */
    ck_assert_int_eq(refused.retry_after_us, 210 * S + 2);
    sim_law_release(&law);
}
END_TEST

START_TEST(headers_are_exact_stale_wrong_or_absent)
{
    const enum sim_header_mode modes[] = { SIM_HEADERS_EXACT, SIM_HEADERS_STALE, SIM_HEADERS_WRONG,
                                           SIM_HEADERS_ABSENT };
    const int64_t requests[] = { 5998, 5999, 6000, -1 };
    const int64_t execution_us[] = { 1198 * S, 1199 * S, 1200 * S, -1 };
    for (int i = 0; i < 4; i++) {
        struct sim_scenario scenario = plain();
        scenario.headers = modes[i];
        sim_law_init(&law, &scenario, 1);
        serve(10 * S);
        serve(20 * S);
        struct sim_headers headers = sim_law_headers(&law, 0, 0, 24 * S);
        ck_assert_int_eq(headers.requests_remaining, requests[i]);
        ck_assert_int_eq(headers.execution_remaining_us, execution_us[i]);
        ck_assert_int_eq(headers.dop_hint, 4);
        headers = sim_law_headers(&law, 0, 0, 26 * S);
        ck_assert_int_eq(headers.requests_remaining, i == 1 ? 5998 : requests[i]);
        sim_law_release(&law);
    }
}
END_TEST

START_TEST(remaining_quota_never_goes_below_nothing)
{
    struct sim_scenario scenario = plain();
    scenario.limits.requests = 2;
    scenario.limits.count_throttled = true;
    sim_law_init(&law, &scenario, 1);
    for (int i = 0; i < 5; i++)
        touch(i);
    ck_assert_int_eq(sim_law_headers(&law, 0, 0, 5).requests_remaining, 0);
    sim_law_release(&law);
}
END_TEST

START_TEST(prefill_is_spread_evenly_over_the_window_before_the_start)
{
    for (int charge = 0; charge < 3; charge++) {
        struct sim_scenario scenario = plain();
        scenario.prefill = 0.8;
        scenario.limits.charge = (enum sim_charge)charge;
        sim_law_init(&law, &scenario, 1);
        struct sim_headers headers = sim_law_headers(&law, 0, 0, 0);
        ck_assert_int_eq(headers.requests_remaining, 1200);
        ck_assert_int_eq(headers.execution_remaining_us, 240 * S);
        headers = sim_law_headers(&law, 0, 0, 75 * S);
        ck_assert_int_eq(headers.requests_remaining, 2400);
        ck_assert_int_eq(headers.execution_remaining_us, 480 * S);
        headers = sim_law_headers(&law, 0, 0, 300 * S);
        ck_assert_int_eq(headers.requests_remaining, 6000);
        ck_assert_int_eq(headers.execution_remaining_us, 1200 * S);
        sim_law_release(&law);
    }
}
END_TEST

START_TEST(a_prefill_of_a_huge_budget_is_laid_down_in_portions)
{
    struct sim_scenario scenario = plain();
    scenario.prefill = 0.5;
    scenario.limits.requests = 1000000000;
    sim_law_init(&law, &scenario, 1);
    ck_assert_int_eq(sim_law_headers(&law, 0, 0, 0).requests_remaining, 500000000);
    ck_assert_int_eq(sim_law_headers(&law, 0, 0, 150 * S).requests_remaining, 750000000);
    ck_assert_uint_le(law.accounts[0].requests.capacity, 16384);
    sim_law_release(&law);
}
END_TEST

START_TEST(a_full_prefill_refuses_the_first_request)
{
    struct sim_scenario scenario = plain();
    scenario.prefill = 1;
    sim_law_init(&law, &scenario, 1);
    ck_assert_int_eq(arrive(0).kind, SIM_THROTTLE_REQUESTS);
    sim_law_release(&law);
}
END_TEST

START_TEST(without_limits_nothing_is_refused_or_remembered)
{
    struct sim_scenario scenario = plain();
    scenario.limits.requests = scenario.limits.execution_us = scenario.limits.concurrent = 0;
    scenario.prefill = 1;
    sim_law_init(&law, &scenario, 1);
    for (int i = 0; i < 20000; i++)
        ck_assert(arrive(i).accepted);
    ck_assert_int_eq(sim_law_headers(&law, 0, 0, S).requests_remaining, -1);
    ck_assert_int_eq(sim_law_headers(&law, 0, 0, S).execution_remaining_us, -1);
    ck_assert_uint_eq(law.accounts[0].requests.capacity, 0);
    ck_assert_uint_eq(law.accounts[0].execution.capacity, 0);
    sim_law_release(&law);
}
END_TEST

START_TEST(failures_have_their_share_and_depend_on_the_number_alone)
{
    struct sim_scenario scenario = plain();
    scenario.failures = 0.2;
    scenario.limits.requests = scenario.limits.concurrent = 0;
    static bool failed[5000];
    int count = 0;
    sim_law_init(&law, &scenario, 9);
    for (uint64_t i = 0; i < 5000; i++)
        count += failed[i] = arrive_at(0, SIM_ANY_SERVER, i, 0).fails;
    sim_law_release(&law);
    ck_assert_int_ge(count, 920);
    ck_assert_int_le(count, 1080);
    sim_law_init(&law, &scenario, 9);
    for (uint64_t i = 5000; i > 0; i--)
        ck_assert(arrive_at(0, SIM_ANY_SERVER, i - 1, 0).fails == failed[i - 1]);
    sim_law_release(&law);
}
END_TEST

START_TEST(durations_do_not_depend_on_order_time_or_other_users)
{
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.limits.requests = scenario.limits.concurrent = scenario.limits.execution_us = 0;
    int64_t service_us[50];
    sim_law_init(&law, &scenario, 4);
    for (uint64_t i = 0; i < 50; i++)
        service_us[i] = arrive_at(0, SIM_ANY_SERVER, i, 0).service_us;
    sim_law_release(&law);
    scenario.foreign.share = 0.5;
    sim_law_init(&law, &scenario, 4);
    for (uint64_t i = 50; i > 0; i--) {
        int64_t now_us = (int64_t)(60 - i) * 37 * S;
        ck_assert_int_ne(arrive_at(1, SIM_ANY_SERVER, i - 1, now_us).service_us, service_us[i - 1]);
        ck_assert_int_eq(arrive_at(0, SIM_ANY_SERVER, i - 1, now_us).service_us, service_us[i - 1]);
    }
    sim_law_release(&law);
}
END_TEST

START_TEST(a_request_may_name_its_entry_its_operation_and_its_rows)
{
    struct sim_scenario scenario = plain();
    scenario.service_count = 2;
    scenario.services[1] = scenario.services[0];
    scenario.services[1].median_s = 8;
    scenario.services[1].weight = 1e-6;
    strcpy(scenario.services[1].operation, "DeleteMultiple");
    sim_law_init(&law, &scenario, 1);
    struct sim_request by_index = { .service = 1 };
    struct sim_request by_name = { .service = SIM_ANY_SERVICE,
                                   .rows = 50,
                                   .operation = weir_str_from("DeleteMultiple") };
    ck_assert_int_eq(sim_law_arrive(&law, 0, 0, &by_index, 0).service_us, 8 * S);
    ck_assert_int_eq(sim_law_arrive(&law, 0, 0, &by_name, 0).service_us, 4 * S);
    ck_assert_int_eq(arrive(0).service_us, S);
    sim_law_release(&law);
}
END_TEST

START_TEST(drift_is_taken_at_arrival)
{
    struct sim_scenario scenario = plain();
    scenario.services[0].drift = (struct sim_drift){ SIM_DRIFT_STEP, 6 };
    sim_law_init(&law, &scenario, 1);
    ck_assert_int_eq(serve(899 * S).service_us, S);
    ck_assert_int_eq(serve(900 * S).service_us, 6 * S);
    sim_law_release(&law);
}
END_TEST

START_TEST(what_ran_is_charged_if_the_end_comes_early_or_late)
{
    struct sim_scenario scenario = plain();
    sim_law_init(&law, &scenario, 1);
    struct sim_decision early = arrive(0), late = arrive(0);
    sim_law_finish(&law, early.ticket, S / 2);
    sim_law_finish(&law, late.ticket, 3 * S);
    ck_assert_int_eq(sim_law_headers(&law, 0, 0, 9 * S).execution_remaining_us,
                     1200 * S - 35 * S / 10);
    sim_law_release(&law);
}
END_TEST

START_TEST(time_does_not_run_backwards)
{
    struct sim_scenario scenario = plain();
    sim_law_init(&law, &scenario, 1);
    sim_law_advance(&law, 10 * S);
    ck_assert_int_eq(arrive(3 * S).ends_us, 11 * S);
    sim_law_release(&law);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("law");
    suite_add(&s, an_accepted_request_is_told_how_long_it_runs);
    suite_add(&s, the_6000th_request_of_a_window_is_accepted_and_the_next_one_refused);
    suite_add(&s, a_request_leaves_the_window_after_exactly_300_seconds);
    suite_add(&s, execution_is_refused_once_the_sum_reaches_the_limit);
    suite_add(&s, accrual_charges_while_it_runs_completion_at_its_end_arrival_at_its_start);
    suite_add(&s, work_in_flight_may_exceed_the_limit_and_is_never_aborted);
    suite_add(&s, retry_after_reckons_with_the_planned_ends_of_what_is_in_flight);
    suite_add(&s, the_53rd_concurrent_request_is_refused_at_once);
    suite_add(&s, a_request_during_the_penalty_is_refused_for_the_same_reason_and_lengthens_it);
    suite_add(&s, violations_escalate_and_are_forgotten);
    suite_add(&s, refused_requests_count_only_if_the_scenario_says_so);
    suite_add(&s, the_cookie_is_honoured_as_the_affinity_says);
    suite_add(&s, each_web_server_has_limits_of_its_own_unless_they_are_shared);
    suite_add(&s, users_do_not_share_limits_but_they_do_share_the_web_server);
    suite_add(&s, limits_and_hint_change_at_their_time);
    suite_add(&s, a_halved_limit_refuses_what_was_allowed_before);
    suite_add(&s, headers_are_exact_stale_wrong_or_absent);
    suite_add(&s, remaining_quota_never_goes_below_nothing);
    suite_add(&s, prefill_is_spread_evenly_over_the_window_before_the_start);
    suite_add(&s, a_prefill_of_a_huge_budget_is_laid_down_in_portions);
    suite_add(&s, a_full_prefill_refuses_the_first_request);
    suite_add(&s, without_limits_nothing_is_refused_or_remembered);
    suite_add(&s, failures_have_their_share_and_depend_on_the_number_alone);
    suite_add(&s, durations_do_not_depend_on_order_time_or_other_users);
    suite_add(&s, a_request_may_name_its_entry_its_operation_and_its_rows);
    suite_add(&s, drift_is_taken_at_arrival);
    suite_add(&s, what_ran_is_charged_if_the_end_comes_early_or_late);
    suite_add(&s, time_does_not_run_backwards);
    return suite_run(&s);
}

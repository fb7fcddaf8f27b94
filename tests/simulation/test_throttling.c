/* SPDX-License-Identifier: MIT */
/*
 * Whole jobs in virtual time against the small throttling service: the integration and load tests
 * that the design documents list.
 */
#include <string.h>

#include "support/job.h"
#include "support/rig.h"
#include "support/suite.h"

static struct rig rig;
static struct service service;

static const struct service_limits real_limits = {
    .window_us = INT64_C(300000000),
    .requests = 6000,
    .execution_us = INT64_C(1200000000),
    .concurrent = 52,
};

static struct job job_of(uint32_t batches, double seconds)
{
    return (struct job){
        .core = &rig.core,
        .service = &service,
        .batches = batches,
        .duration_us = SECONDS(seconds),
        .dop_hint = 52,
        .now_us = rig.now_us,
        .deadline_us = rig.now_us + 24 * WEIR_US_PER_HOUR,
    };
}

static void finish(void)
{
    rig_release(&rig);
    service_release(&service);
}

/* Nothing of what must never happen has happened. */
static void expect_clean(const struct job *job)
{
    ck_assert_uint_eq(job->over_cap, 0);
    ck_assert_uint_eq(job->while_closed, 0);
    for (uint32_t i = 0; i < service.user_count; i++)
        ck_assert_uint_eq(service.users[i].sent_while_throttled, 0);
    ck_assert_uint_eq(job->throttled, rig_stats(&rig).total_throttle_events);
}

/* --- seed 000: integration tests -------------------------------------------------------------- */

START_TEST(simulated_throttling_switches_connection_and_waits_as_long_as_retry_after_says)
{
    rig_init(&rig, 2);
    rig_start(&rig);
    rig_hint_all(&rig, 52);
    /* All three codes: detected, recorded against the right connection, routed around. */
    const uint32_t codes[] = { WEIR_CODE_REQUESTS, WEIR_CODE_EXECUTION_TIME,
                               WEIR_CODE_CONCURRENCY };
    for (int i = 0; i < 3; i++) {
        struct weir_lease lease = rig_lease(&rig);
        struct weir_http_header headers[] = { { "Retry-After", "37" } };
        char code[16];
        snprintf(code, sizeof(code), "0x%08x", codes[i]);
        struct weir_http_answer http = {
            .status = 429, .sent = true, .headers = headers, .header_count = 1, .error_code = code
        };
        struct weir_answer answer;
        weir_answer_read(&http, 0, &answer);
        rig_settle(&rig, lease, answer);
        ck_assert(weir_core_is_throttled(&rig.core, lease.connection, rig.now_us));
        ck_assert(!weir_core_is_throttled(&rig.core, 1 - lease.connection, rig.now_us));
        struct weir_lease retry = rig_lease(&rig); /* at once, on the other connection */
        ck_assert_uint_eq(retry.connection, 1 - lease.connection);
        rig_settle(&rig, retry, answer_ok(SECONDS(1)));
        int64_t reopening = weir_core_reopening_us(&rig.core, lease.connection);
        ck_assert(reopening >= rig.now_us + SECONDS(38) && reopening <= rig.now_us + SECONDS(39));
        rig.now_us = reopening;
        struct weir_lease back = rig_lease(&rig);
        ck_assert_uint_eq(back.connection, lease.connection);
        rig_settle(&rig, back, answer_ok(SECONDS(1)));
    }
    ck_assert_uint_eq(rig_stats(&rig).total_throttle_events, 3);
    rig_release(&rig);
}
END_TEST

START_TEST(multi_connection_routing_around_user1_and_back)
{
    rig_init(&rig, 3);
    rig.options.adaptive_rate.policy = "Fixed";
    rig.options.adaptive_rate.fixed_parallelism = 8;
    rig_start(&rig);
    struct weir_lease leases[32];
    /* User1 is throttled … */
    struct weir_lease lease = rig_lease(&rig);
    ck_assert_str_eq(lease.connection_name, "AppUser1");
    rig_settle(&rig, lease, answer_throttle(SECONDS(60)));
    /* … so work goes to User2 and User3, within their own caps. */
    int count = 0;
    uint32_t by[3] = { 0 };
    struct weir_grant grant;
    while ((grant = rig_try(&rig)).status == WEIR_OK) {
        by[grant.lease.connection]++;
        leases[count++] = grant.lease;
    }
    ck_assert_uint_eq(by[0], 0);
    ck_assert_uint_eq(by[1], 8);
    ck_assert_uint_eq(by[2], 8);
    for (int i = 0; i < count; i++)
        rig_settle(&rig, leases[i], answer_of_class(WEIR_CLASS_OTHER));
    /* User1 is back: one probe, then doubling. */
    rig.now_us = weir_core_reopening_us(&rig.core, 0);
    uint32_t expected[] = { 1, 2, 8 }; /* two successes double twice */
    for (int round = 0; round < 3; round++) {
        memset(by, 0, sizeof(by));
        count = 0;
        while ((grant = rig_try(&rig)).status == WEIR_OK) {
            by[grant.lease.connection]++;
            leases[count++] = grant.lease;
        }
        ck_assert_uint_eq(by[0], expected[round]);
        ck_assert_uint_eq(by[1], 8);
        ck_assert_uint_eq(by[2], 8);
        for (int i = 0; i < count; i++)
            rig_settle(&rig, leases[i],
                       leases[i].connection ? answer_of_class(WEIR_CLASS_OTHER) : answer_ok(1));
    }
    rig_release(&rig);
}
END_TEST

/* --- seed 003: integration tests -------------------------------------------------------------- */

START_TEST(simulated_throttle_scenario_recovers)
{
    rig_init(&rig, 1);
    rig_start(&rig);
    service_init(&service, 1, real_limits);
    rig_hint_all(&rig, 52);
    struct job job = job_of(4000, 2.0);
    job_run(&job);
    ck_assert_uint_eq(job.done, 4000);
    ck_assert_uint_gt(job.throttled, 0);
    expect_clean(&job);
    /* 4,000 × 2 s against 4 s/s: 2,000 s at the best. AIMD loses some of it to its saw-tooth. */
    ck_assert_int_lt(job.now_us - rig.now_us, SECONDS(2000 * 1.5));
    finish();
}
END_TEST

START_TEST(long_running_simulation_sees_ttl_and_idle_reset)
{
    rig_init(&rig, 1);
    rig_start(&rig);
    service_init(&service, 1, real_limits);
    rig_hint_all(&rig, 52);
    bool stale_seen = false;
    for (int burst = 0; burst < 20;
         burst++) { /* work, five and a half minutes of nothing, work … */
        struct job job = job_of(700, 2.0);
        job_run(&job);
        ck_assert_uint_eq(job.done, 700);
        ck_assert_uint_eq(job.over_cap + job.while_closed, 0);
        rig.now_us = job.now_us + SECONDS(330);
        stale_seen |= rig_rate(&rig, 0).is_last_known_good_stale;
        struct weir_lease lease = rig_lease(&rig);
        ck_assert_int_eq(rig_rate(&rig, 0).current_parallelism, 26); /* a fresh start */
        rig_settle(&rig, lease, answer_of_class(WEIR_CLASS_UNSENT));
    }
    ck_assert(stale_seen);
    finish();
}
END_TEST

START_TEST(multi_connection_state_is_isolated)
{
    rig_init(&rig, 3);
    rig_start(&rig);
    rig_hint_all(&rig, 52);
    struct weir_adaptive_rate_stats before[3];
    for (uint32_t i = 0; i < 3; i++) {
        rig_settle(&rig, rig_lease(&rig), answer_ok(SECONDS(1)));
        before[i] = rig_rate(&rig, i);
    }
    for (int i = 0; i < 30; i++) {
        struct weir_lease lease = rig_lease(&rig);
        rig_settle(&rig, lease,
                   lease.connection == 1 ? answer_throttle(SECONDS(2))
                                         : answer_of_class(WEIR_CLASS_OTHER));
        rig.now_us += SECONDS(3);
    }
    ck_assert_int_lt(rig_rate(&rig, 1).current_parallelism, 4);
    for (uint32_t i = 0; i < 3; i += 2) {
        struct weir_adaptive_rate_stats after = rig_rate(&rig, i);
        ck_assert_int_eq(after.current_parallelism, before[i].current_parallelism);
        ck_assert_int_eq(after.last_known_good_parallelism, before[i].last_known_good_parallelism);
        ck_assert_int_eq(after.successes_since_throttle, before[i].successes_since_throttle);
        ck_assert_uint_eq(after.total_throttle_events, 0);
    }
    rig_release(&rig);
}
END_TEST

/* --- seed 000: load test ---------------------------------------------------------------------- */

static struct job run_strategy(const char *strategy, uint32_t batches)
{
    rig_init(&rig, 3);
    rig.options.pool.selection_strategy = strategy;
    rig_start(&rig);
    rig_hint_all(&rig, 52);
    service_init(&service, 3, real_limits);
    /* AppUser2 shares its quota with somebody: half of it is gone before we begin. */
    for (int i = 0; i < 3000; i++) {
        service.users[1].running++;
        service_finish(&service, 1, SECONDS(0.2), rig.now_us);
    }
    struct job job = job_of(batches, 2.0);
    job_run(&job);
    return job;
}

START_TEST(push_to_throttle_is_logged_counted_and_routed_around)
{
    struct job job = run_strategy("ThrottleAware", 6000);
    ck_assert_uint_eq(job.done, 6000);
    ck_assert_uint_gt(job.throttled, 0);
    expect_clean(&job);
    ck_assert_uint_eq(rig_stats(&rig).total_throttle_events, job.throttled);
    ck_assert(rig_stats(&rig).total_backoff_time_us > 0);
    struct weir_pool_event event;
    bool logged = rig.core.events.lost > 0;
    while (weir_core_event(&rig.core, &event))
        logged |= event.type == WEIR_EVENT_THROTTLE && event.verdict.code != 0;
    ck_assert(logged);
    int64_t aware_us = job.now_us - SECONDS(1000);
    finish();

    job = run_strategy("RoundRobin", 6000);
    ck_assert_uint_eq(job.done, 6000);
    expect_clean(&job);
    int64_t blind_us = job.now_us - SECONDS(1000);
    finish();
    /* Routing away pays: the blind strategy waits for every throttled connection in turn. */
    ck_assert_msg(aware_us < blind_us, "ThrottleAware %.0f s, RoundRobin %.0f s",
                  (double)aware_us / 1e6, (double)blind_us / 1e6);
}
END_TEST

START_TEST(fixed_at_the_sustainable_level_reaches_nine_tenths_of_what_the_limits_allow)
{
    rig_init(&rig, 3);
    rig.options.adaptive_rate.policy = "Fixed";
    rig.options.adaptive_rate.fixed_parallelism = 4;
    rig_start(&rig);
    service_init(&service, 3, real_limits);
    struct job job = job_of(UINT32_MAX, 2.0);
    job.deadline_us = rig.now_us + 2 * WEIR_US_PER_HOUR;
    job_run(&job);
    expect_clean(&job);
    /* 4 s/s × 3 users ÷ 2 s × 7,200 s = 43,200 batches. */
    ck_assert_uint_ge(job.done, 43200 * 9 / 10);
    finish();
}
END_TEST

START_TEST(ten_virtual_hours_of_pressure_under_every_policy_and_strategy)
{
    static const char *const policies[] = { "Aimd", "Dop", "Fixed", "Budget" };
    static const char *const strategies[] = { "ThrottleAware", "RoundRobin", "LeastConnections",
                                              "Headroom" };
    rig_init(&rig, 3);
    rig.options.adaptive_rate.policy = policies[_i % 4];
    rig.options.adaptive_rate.fixed_parallelism = 30;
    rig.options.pool.selection_strategy = strategies[_i / 4];
    rig_start(&rig);
    rig_hint_all(&rig, 52);
    service_init(&service, 3, real_limits);
    struct job job = job_of(UINT32_MAX, 2.0);
    job.deadline_us = rig.now_us + 10 * WEIR_US_PER_HOUR;
    job_run(&job);
    expect_clean(&job);
    if (rig.core.policy == &weir_policy_budget)
        ck_assert_uint_gt(job.done, 216000 / 10 * 9); /* it knows better than to be throttled */
    else
        ck_assert_uint_gt(job.throttled, 0);
    ck_assert_uint_gt(job.done, 216000 / 4); /* a quarter of 4 s/s × 3 ÷ 2 s for ten hours */
    finish();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("throttling");
    suite_add(&s, simulated_throttling_switches_connection_and_waits_as_long_as_retry_after_says);
    suite_add(&s, multi_connection_routing_around_user1_and_back);
    suite_add(&s, simulated_throttle_scenario_recovers);
    suite_add(&s, long_running_simulation_sees_ttl_and_idle_reset);
    suite_add(&s, multi_connection_state_is_isolated);
    suite_add(&s, push_to_throttle_is_logged_counted_and_routed_around);
    suite_add(&s, fixed_at_the_sustainable_level_reaches_nine_tenths_of_what_the_limits_allow);
    suite_add_loop(&s, "ten_virtual_hours_of_pressure_under_every_policy_and_strategy",
                   ten_virtual_hours_of_pressure_under_every_policy_and_strategy, 16);
    return suite_run(&s);
}

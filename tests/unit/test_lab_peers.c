/* SPDX-License-Identifier: MIT */
/*
 * The peers of the laboratory: steps worked out by hand from their published rules, and what holds
 * for all of them in a run.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "lab/peer.h"
#include "lab/policies.h"
#include "lab/run.h"
#include "support/suite.h"

static const struct weir_policy *policy;
static void *state;
static int64_t now;

static void setup(const struct weir_policy *wanted)
{
    static struct weir_adaptive_rate_options options;
    policy = wanted;
    free(state);
    state = weir_calloc(1, policy->state_bytes);
    policy->init(state, &options);
    now = 0;
}

static struct weir_admission ask(uint32_t in_flight)
{
    static const struct weir_ask wish;
    struct weir_policy_ask question = { .ask = &wish, .in_flight = in_flight };
    struct weir_admission admission;
    policy->admit(state, &question, now, &admission);
    return admission;
}

static struct weir_policy_lease send(void)
{
    struct weir_policy_lease lease = { .leased_us = now, .sent_us = now };
    policy->leased(state, &lease, now);
    return lease;
}

static void answer(struct weir_policy_lease lease, enum weir_class class_)
{
    struct weir_answer it = { .verdict = { .class_ = class_, .retry_after_us = -1 },
                              .duration_us = now - lease.sent_us };
    policy->answered(state, &lease, &it, WEIR_NEVER, now);
}

/* One request of `seconds`, alone. */
static void do_one(double seconds, enum weir_class class_)
{
    struct weir_policy_lease lease = send();
    now += (int64_t)(seconds * 1e6);
    answer(lease, class_);
}

static double level(void)
{
    const struct lab_peer *peer = state;
    return peer->level;
}

START_TEST(tuned_aimd_adds_a_quarter_a_minute_and_cuts_once_a_window)
{
    setup(&lab_policy_aimd_tuned);
    policy->hint(state, 8, 0);
    ck_assert(ask(7).ok && !ask(8).ok);
    now = 120 * WEIR_US_PER_S;
    do_one(0, WEIR_CLASS_OK);
    ck_assert_double_eq(level(), 8.5);
    do_one(0, WEIR_CLASS_THROTTLE);
    ck_assert_double_eq_tol(level(), 6.8, 1e-9);
    now += 299 * WEIR_US_PER_S;
    do_one(0, WEIR_CLASS_THROTTLE);
    ck_assert_double_eq_tol(level(), 6.8, 1e-9);
    now += 1 * WEIR_US_PER_S;
    do_one(0, WEIR_CLASS_THROTTLE);
    ck_assert_double_eq_tol(level(), 5.44, 1e-9);
}
END_TEST

START_TEST(gradient2_grows_by_its_queue_and_takes_throttles_for_quick_answers)
{
    setup(&lab_policy_gradient2);
    struct weir_policy_lease leases[10];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 10; i++)
            leases[i] = send();
        now += 2 * WEIR_US_PER_S;
        for (int i = 0; i < 10; i++)
            answer(leases[i], k ? WEIR_CLASS_THROTTLE : WEIR_CLASS_OK);
        /* Both averages are the same, so the gradient is 1: 0.8 × 20 + 0.2 × 24. Ten of 20.8 in
         * flight are less than half: left alone the second time. */
        ck_assert_double_eq_tol(level(), 20.8, 1e-9);
    }
    /* Twelve in flight, ten of them back after 40 s, when the long average is (2 + 2 + 40) / 3:
     * the gradient is 1.5 × 14.67 / 40 = 0.55. But never below 20. */
    for (int i = 0; i < 12; i++)
        leases[i % 10] = send();
    now += 40 * WEIR_US_PER_S;
    for (int i = 0; i < 10; i++)
        answer(leases[i], WEIR_CLASS_OK);
    ck_assert_double_eq_tol(level(), 20, 1e-9);
}
END_TEST

START_TEST(aws_is_off_until_a_throttle_and_back_where_it_was_after_k_seconds)
{
    setup(&lab_policy_aws);
    for (int i = 0; i < 200; i++) { /* twenty a second */
        ck_assert(ask(0).ok);
        do_one(0.05, WEIR_CLASS_OK);
    }
    do_one(0, WEIR_CLASS_THROTTLE);
    /* Smoothed, what is measured is 20 a second: 0.7 of it, so a token every 1/14 s. */
    ck_assert(!ask(0).ok && ask(0).paced);
    int64_t wait_us = ask(0).not_before_us - now;
    ck_assert_msg(llabs(wait_us - 71429) < 2000, "%ld", (long)wait_us);
    /* K = cube root of 20 × 0.3 / 0.4 = 2.466 s: then the rate is 20 a second again. */
    double sent = 0;
    int64_t from = now + 2466000;
    while (now < from + WEIR_US_PER_S) {
        struct weir_admission admission = ask(0);
        if (admission.ok) {
            sent += now >= from;
            struct weir_policy_lease lease = send();
            answer(lease, WEIR_CLASS_OK);
        } else {
            now = admission.not_before_us;
        }
    }
    ck_assert_msg(sent >= 18 && sent <= 24, "%f", sent);
}
END_TEST

START_TEST(azcopy_falls_to_65_percent_and_is_quiet_for_twenty_seconds)
{
    setup(&lab_policy_azcopy);
    const int64_t second = WEIR_US_PER_S;
    struct weir_policy_lease lease = send();
    ck_assert_int_eq(ask(0).not_before_us, second / 20);
    answer(lease, WEIR_CLASS_THROTTLE);
    now = second;
    ask(0); /* the tick: 13 a second, until second 20 */
    for (now = 2 * second; now <= 20 * second; now += second) {
        send();
        ck_assert_int_eq(ask(0).not_before_us - now, second / 13);
    }
    now = 21 * second;
    ask(0); /* a tenth of the way from 13 to 20 */
    send();
    ck_assert_int_eq(ask(0).not_before_us - now, (int64_t)(1e6 / 13.7));
}
END_TEST

START_TEST(cosmos_adds_one_an_interval_and_takes_five_or_half)
{
    setup(&lab_policy_cosmos);
    for (int i = 1; i <= 20; i++) {
        ck_assert_double_eq(level(), i);
        do_one(1, WEIR_CLASS_OK);
    }
    do_one(1, WEIR_CLASS_THROTTLE);
    ck_assert_double_eq(level(), 16); /* five less than 21 */
    do_one(1, WEIR_CLASS_OK);
    ck_assert_double_eq(level(), 16); /* intervals are two seconds now */
    do_one(1, WEIR_CLASS_OK);
    ck_assert_double_eq(level(), 17);
    setup(&lab_policy_cosmos);
    for (int i = 1; i < 7; i++)
        do_one(1, WEIR_CLASS_OK);
    do_one(1, WEIR_CLASS_THROTTLE);
    ck_assert_double_eq(level(), 4); /* half of seven is three */
}
END_TEST

START_TEST(the_safe_bucket_never_lets_more_than_the_budget_pass)
{
    setup(&lab_policy_token_bucket);
    static int64_t sent[20000];
    int count = 0;
    while (now < 1000 * WEIR_US_PER_S) {
        struct weir_admission admission = ask(0);
        if (admission.ok) {
            sent[count++] = now;
            answer(send(), WEIR_CLASS_OK); /* of no length: requests bind */
        } else {
            now = admission.not_before_us;
        }
    }
    ck_assert_int_gt(count, 18000);
    for (int i = 6000; i < count; i++)
        must(sent[i] - sent[i - 6000] >= 300 * WEIR_US_PER_S - 1000);
}
END_TEST

START_TEST(every_peer_gets_along_with_the_pool)
{
    char list[] = LAB_POLICIES_ALL;
    struct sim_scenario scenario;
    sim_scenario_init(&scenario);
    scenario.dop_hint = 8;
    int count = 0;
    char *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        struct lab_policy found;
        struct weir_error err;
        struct lab_figures first, second;
        ck_assert_msg(!lab_policy_find(weir_str_from(name), &found, &err), "%s", err.message);
        lab_run(&scenario, &found, 1, &first);
        lab_run(&scenario, &found, 1, &second);
        ck_assert_msg(!memcmp(&first, &second, sizeof(first)), "%s", name);
        ck_assert_msg(first.items > 4000 && first.items < 7500, "%s: %lu", name,
                      (unsigned long)first.items);
        ck_assert_msg(first.jain > 0.98, "%s: %f", name, first.jain);
        count++;
    }
    ck_assert_int_eq(count, 16);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("lab_peers");
    suite_add(&s, tuned_aimd_adds_a_quarter_a_minute_and_cuts_once_a_window);
    suite_add(&s, gradient2_grows_by_its_queue_and_takes_throttles_for_quick_answers);
    suite_add(&s, aws_is_off_until_a_throttle_and_back_where_it_was_after_k_seconds);
    suite_add(&s, azcopy_falls_to_65_percent_and_is_quiet_for_twenty_seconds);
    suite_add(&s, cosmos_adds_one_an_interval_and_takes_five_or_half);
    suite_add(&s, the_safe_bucket_never_lets_more_than_the_budget_pass);
    suite_add(&s, every_peer_gets_along_with_the_pool);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* Budget: whether headers are old, by the requests that they count. */
#include "base/clock.h"
#include "support/suite.h"
#include "throttle/policy_budget_age.h"

#define OLD_US (5 * WEIR_US_PER_S)
#define STEP_S 3
#define LIMIT  6000

/* Requests sent by a second: none before the first, then more each second. */
static double sent_by(int s)
{
    return s < 0 ? 0 : 4.0 * s * s;
}

/* What a header says at a second that is `late_s` old, beside somebody who has used `foreign`. */
static struct weir_age_sample hear(int s, int late_s, double foreign)
{
    return (struct weir_age_sample){
        .known = true,
        .at_us = s * WEIR_US_PER_S,
        .remaining = LIMIT - foreign - sent_by(s - late_s),
        .used = sent_by(s),
        .used_early = sent_by(s - 5),
    };
}

/* Ten steps; he uses `foreign` more each time. */
static struct weir_age after_steps(int late_s, double foreign)
{
    struct weir_age age = { 0 };
    struct weir_age_sample last = hear(0, late_s, 0);
    for (int i = 1; i <= 10; i++) {
        struct weir_age_sample sample = hear(i * STEP_S, late_s, foreign * i);
        weir_age_step(&age, &last, &sample);
        last = sample;
    }
    return age;
}

START_TEST(requests_tell_headers_of_now_from_old_ones)
{
    struct weir_age current = after_steps(0, 0);
    ck_assert(weir_age_is_current(&current));
    ck_assert_double_eq(current.old, 0);
    struct weir_age old = after_steps(5, 0);
    ck_assert_double_gt(old.old, 5);
    ck_assert_double_eq(old.current, 0);
    ck_assert(!weir_age_is_current(&old));
}
END_TEST

START_TEST(a_few_requests_of_somebody_else_do_not_matter)
{
    struct weir_age current = after_steps(0, 5);
    ck_assert(weir_age_is_current(&current));
    struct weir_age old = after_steps(5, 5);
    ck_assert_double_gt(old.old, 5);
    ck_assert_double_eq(old.current, 0);
}
END_TEST

/* Many of somebody else's, or a limit that is changed: neither explains it, so it is no vote. */
START_TEST(what_neither_explains_says_nothing)
{
    struct weir_age age = after_steps(0, 5000);
    ck_assert_double_eq(age.current, 0);
    ck_assert_double_eq(age.old, 0);
}
END_TEST

/* A header fell by ten; by our books that is off by `current` for one of now, by `old` for one
 * that is old. */
static void step_off_by(struct weir_age *age, double current, double old)
{
    struct weir_age_sample last = { .known = true, .remaining = 100 };
    struct weir_age_sample sample = {
        .known = true, .remaining = 90, .used = 10 + current, .used_early = 10 - old
    };
    weir_age_step(age, &last, &sample);
}

START_TEST(a_vote_is_off_by_half_of_the_other_and_one_request_less)
{
    struct weir_age age = { 0 };
    step_off_by(&age, 0, 2);
    ck_assert_double_eq(age.current, 0);
    step_off_by(&age, 0, 2.1);
    ck_assert_double_eq(age.current, 1);
    age = (struct weir_age){ 0 };
    step_off_by(&age, 4, 10);
    ck_assert_double_eq(age.current, 0);
    step_off_by(&age, 3.9, 10);
    ck_assert_double_eq(age.current, 1);
    step_off_by(&age, 10, 3.9);
    ck_assert_double_eq(age.old, 1);
}
END_TEST

START_TEST(two_votes_say_that_headers_are_not_old_unless_half_as_many_say_so)
{
    struct weir_age age = { 0 };
    step_off_by(&age, 0, 10);
    ck_assert(!weir_age_is_current(&age));
    step_off_by(&age, 0, 10);
    ck_assert(weir_age_is_current(&age));
    age = (struct weir_age){ .current = 10, .old = 4.9 };
    ck_assert(weir_age_is_current(&age));
    age.old = 5;
    ck_assert(!weir_age_is_current(&age));
}
END_TEST

/* However long nothing changes: what was known stays known. */
START_TEST(votes_fade_with_votes_and_not_with_steps_that_say_nothing)
{
    struct weir_age age = { .current = 10, .old = 2 };
    for (int i = 0; i < 100; i++)
        step_off_by(&age, 0, 0);
    ck_assert_double_eq(age.current, 10);
    step_off_by(&age, 10, 0);
    ck_assert_double_eq_tol(age.current, 9.5, 1e-9);
    ck_assert_double_eq_tol(age.old, 2.9, 1e-9);
}
END_TEST

START_TEST(a_step_takes_half_of_the_time_that_headers_may_be_old_by)
{
    struct weir_age_sample last = { 0 };
    ck_assert(weir_age_is_due(&last, OLD_US, 0));
    last.known = true;
    ck_assert(!weir_age_is_due(&last, OLD_US, OLD_US / 2 - 1));
    ck_assert(weir_age_is_due(&last, OLD_US, OLD_US / 2));
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_age");
    suite_add(&s, requests_tell_headers_of_now_from_old_ones);
    suite_add(&s, a_few_requests_of_somebody_else_do_not_matter);
    suite_add(&s, what_neither_explains_says_nothing);
    suite_add(&s, a_vote_is_off_by_half_of_the_other_and_one_request_less);
    suite_add(&s, two_votes_say_that_headers_are_not_old_unless_half_as_many_say_so);
    suite_add(&s, votes_fade_with_votes_and_not_with_steps_that_say_nothing);
    suite_add(&s, a_step_takes_half_of_the_time_that_headers_may_be_old_by);
    return suite_run(&s);
}

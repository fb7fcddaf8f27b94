/* SPDX-License-Identifier: MIT */
/* What is done after each kind of answer, how often, and what the caller learns at the end. */
#include "base/clock.h"
#include "base/rng.h"
#include "support/suite.h"
#include "throttle/attempt.h"
#include "throttle/signal.h"

#define S   WEIR_US_PER_S
#define NOW (1000 * S)

static const struct weir_resilience_options defaults = {
    .max_throttle_retries = 3,
    .enable_throttle_tracking = true,
    .fallback_retry_after_us = 30 * S,
    .retry_after_buffer_us = 1 * S,
};

static struct weir_attempt new_attempt(void)
{
    return (struct weir_attempt){ .options = &defaults, .repeatable = true };
}

static struct weir_verdict throttled(void)
{
    return (struct weir_verdict){
        .class_ = WEIR_CLASS_THROTTLE,
        .outcome = WEIR_OUTCOME_NOT_EXECUTED,
        .throttle = WEIR_THROTTLE_REQUESTS,
        .http_status = 429,
        .code = WEIR_CODE_REQUESTS,
        .retry_after_us = 30 * S,
    };
}

static struct weir_verdict of_class(enum weir_class class_, enum weir_outcome outcome)
{
    return (struct weir_verdict){
        .class_ = class_, .outcome = outcome, .http_status = 503, .retry_after_us = -1
    };
}

static struct weir_attempt_scene all_throttled_until(int64_t reopening_us)
{
    return (struct weir_attempt_scene){ .connection_name = "AppUser1",
                                        .shortest_reopening_us = reopening_us };
}

static struct weir_attempt_scene others_open(void)
{
    return (struct weir_attempt_scene){ .connection_name = "AppUser1",
                                        .others_open = true,
                                        .shortest_reopening_us = NOW + 31 * S };
}

static enum weir_attempt_action action(struct weir_attempt *attempt, struct weir_verdict verdict)
{
    struct weir_attempt_scene scene = others_open();
    return weir_attempt_decide(attempt, &verdict, &scene, NOW, NULL).action;
}

/* Asserts that the decision is to wait and returns for how long. */
static int64_t waits(struct weir_attempt *attempt, struct weir_verdict verdict,
                     struct weir_attempt_scene scene)
{
    struct weir_attempt_decision decision =
        weir_attempt_decide(attempt, &verdict, &scene, NOW, NULL);
    ck_assert_int_eq(decision.action, WEIR_ATTEMPT_WAIT);
    return decision.until_us - NOW;
}

START_TEST(immediate_retry_when_other_connections_available)
{
    struct weir_attempt attempt = new_attempt();
    ck_assert_int_eq(action(&attempt, throttled()), WEIR_ATTEMPT_RETRY_NOW);
    ck_assert_int_eq(action(&attempt, throttled()), WEIR_ATTEMPT_RETRY_NOW);
}
END_TEST

START_TEST(wait_and_retry_when_all_connections_throttled)
{
    struct weir_attempt attempt = new_attempt();
    ck_assert_int_eq(waits(&attempt, throttled(), all_throttled_until(NOW + 12 * S)), 12 * S);
}
END_TEST

START_TEST(a_reopening_that_is_past_is_not_waited_for)
{
    struct weir_attempt attempt = new_attempt();
    struct weir_verdict verdict = throttled();
    struct weir_attempt_scene scene = all_throttled_until(NOW);
    ck_assert_int_eq(weir_attempt_decide(&attempt, &verdict, &scene, NOW, NULL).action,
                     WEIR_ATTEMPT_RETRY_NOW);
    scene.shortest_reopening_us = NOW + 1;
    ck_assert_int_eq(weir_attempt_decide(&attempt, &verdict, &scene, NOW, NULL).action,
                     WEIR_ATTEMPT_WAIT);
}
END_TEST

/* As a caller would: send, decide, wait, until it is given up. */
static void count_requests_and_waits(int max, int *requests, int *pauses)
{
    struct weir_resilience_options options = defaults;
    options.max_throttle_retries = max;
    struct weir_attempt attempt = { .options = &options };
    struct weir_verdict verdict = throttled();
    int64_t now_us = NOW;
    *requests = *pauses = 0;
    for (;;) {
        ++*requests;
        struct weir_attempt_scene scene = all_throttled_until(now_us + 31 * S);
        struct weir_attempt_decision decision =
            weir_attempt_decide(&attempt, &verdict, &scene, now_us, NULL);
        if (decision.action == WEIR_ATTEMPT_GIVE_UP)
            return;
        ck_assert_int_eq(decision.action, WEIR_ATTEMPT_WAIT);
        ++*pauses;
        now_us = decision.until_us;
    }
}

START_TEST(max_retries_is_respected)
{
    static const int maxima[] = { 1, 2, 3, 100 };
    for (size_t i = 0; i < sizeof(maxima) / sizeof(maxima[0]); i++) {
        int requests, pauses;
        count_requests_and_waits(maxima[i], &requests, &pauses);
        ck_assert_int_eq(requests, maxima[i]);
        ck_assert_int_eq(pauses, maxima[i] - 1);
    }
}
END_TEST

START_TEST(giving_up_says_who_throttled_why_and_for_how_long)
{
    struct weir_attempt attempt = new_attempt();
    struct weir_verdict verdict = throttled();
    struct weir_attempt_scene scene = others_open();
    struct weir_error err = { .status = WEIR_OK };
    weir_attempt_decide(&attempt, &verdict, &scene, NOW, &err);
    weir_attempt_decide(&attempt, &verdict, &scene, NOW, &err);
    ck_assert_int_eq(err.status, WEIR_OK);
    ck_assert_int_eq(weir_attempt_decide(&attempt, &verdict, &scene, NOW, &err).action,
                     WEIR_ATTEMPT_GIVE_UP);

    ck_assert_int_eq(err.status, WEIR_E_SERVICE_PROTECTION);
    ck_assert_str_eq(err.connection, "AppUser1");
    ck_assert_int_eq(err.http_status, 429);
    ck_assert_uint_eq(err.service_code, WEIR_CODE_REQUESTS);
    ck_assert_int_eq(err.retry_after_us, 30 * S);
    ck_assert(err.retryable);
    ck_assert(err.outcome_known);
    ck_assert_str_eq(err.message, "throttled 3 times, last by \"AppUser1\": requests limit "
                                  "(0x80072322), retry after 30.0 s");
}
END_TEST

START_TEST(a_throttle_without_a_code_is_named_by_its_status)
{
    struct weir_resilience_options options = defaults;
    options.max_throttle_retries = 1;
    struct weir_attempt attempt = { .options = &options };
    struct weir_verdict verdict = throttled();
    verdict.throttle = WEIR_THROTTLE_OTHER;
    verdict.code = 0;
    verdict.retry_after_us = 1300000;
    struct weir_attempt_scene scene = others_open();
    struct weir_error err;
    weir_attempt_decide(&attempt, &verdict, &scene, NOW, &err);
    ck_assert_str_eq(err.message, "throttled 1 time, last by \"AppUser1\": other limit "
                                  "(HTTP 429), retry after 1.3 s");
}
END_TEST

START_TEST(a_throttle_with_every_connection_set_aside_is_given_up)
{
    struct weir_attempt attempt = new_attempt();
    struct weir_verdict verdict = throttled();
    struct weir_attempt_scene scene = all_throttled_until(WEIR_FOREVER);
    struct weir_error err;
    ck_assert_int_eq(weir_attempt_decide(&attempt, &verdict, &scene, NOW, &err).action,
                     WEIR_ATTEMPT_GIVE_UP);
    ck_assert_int_eq(err.status, WEIR_E_SERVICE_PROTECTION);
    ck_assert_uint_eq(err.service_code, WEIR_CODE_REQUESTS);
    ck_assert_str_eq(err.message, "throttled 1 time, last by \"AppUser1\": requests limit "
                                  "(0x80072322), retry after 30.0 s, no connection is left");
}
END_TEST

START_TEST(without_tracking_the_request_itself_waits_whatever_is_open)
{
    struct weir_resilience_options options = defaults;
    options.enable_throttle_tracking = false;
    struct weir_attempt attempt = { .options = &options };
    ck_assert_int_eq(waits(&attempt, throttled(), others_open()), 31 * S);
    ck_assert_int_eq(waits(&attempt, throttled(), all_throttled_until(WEIR_FOREVER)), 31 * S);
    ck_assert_int_eq(action(&attempt, throttled()), WEIR_ATTEMPT_GIVE_UP);
}
END_TEST

/* The waits of one class with no chance and with an even one; the last goes on for ever. */
static void check_back_off(enum weir_class class_, const int64_t *full_us, int count)
{
    struct weir_resilience_options options = defaults;
    options.max_throttle_retries = 100;
    struct weir_attempt least = { .options = &options };
    struct weir_attempt even = { .options = &options };
    struct weir_verdict verdict = of_class(class_, WEIR_OUTCOME_NOT_EXECUTED);
    struct weir_attempt_scene scene = others_open();
    for (int i = 0; i < options.max_throttle_retries - 1; i++) {
        int64_t full = full_us[i < count ? i : count - 1];
        scene.chance = 0.0;
        ck_assert_int_eq(waits(&least, verdict, scene), full / 2);
        scene.chance = 0.5;
        ck_assert_int_eq(waits(&even, verdict, scene), full * 3 / 4);
    }
}

START_TEST(transient_failures_back_off_from_one_second_to_thirty)
{
    static const int64_t full_us[] = { 1 * S, 2 * S, 4 * S, 8 * S, 16 * S, 30 * S };
    check_back_off(WEIR_CLASS_TRANSIENT, full_us, 6);
}
END_TEST

START_TEST(races_back_off_from_half_a_second_to_two)
{
    static const int64_t full_us[] = { S / 2, 1 * S, 2 * S };
    check_back_off(WEIR_CLASS_RACE, full_us, 3);
}
END_TEST

START_TEST(jitter_stays_between_half_and_whole)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 0);
    int64_t shortest = INT64_MAX, longest = 0;
    for (int i = 0; i < 1000; i++) {
        struct weir_attempt attempt = new_attempt();
        struct weir_attempt_scene scene = others_open();
        scene.chance = weir_rng_unit(&rng);
        int64_t span = waits(&attempt, of_class(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN), scene);
        shortest = span < shortest ? span : shortest;
        longest = span > longest ? span : longest;
    }
    ck_assert(shortest >= S / 2 && shortest < S / 2 + S / 50);
    ck_assert(longest < S && longest > S - S / 50);
}
END_TEST

START_TEST(a_transient_failure_waits_for_its_retry_after_if_no_other_connection_is_open)
{
    struct weir_verdict verdict = of_class(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN);
    struct weir_attempt attempt = new_attempt();
    struct weir_attempt_scene alone = others_open();
    alone.others_open = false;
    verdict.retry_after_us = 20 * S;
    ck_assert_int_eq(waits(&attempt, verdict, alone), 20 * S);
    verdict.retry_after_us = 1; /* shorter than the second back-off */
    ck_assert_int_eq(waits(&attempt, verdict, alone), 1 * S);
    attempt = new_attempt();
    verdict.retry_after_us = 20 * S;
    ck_assert_int_eq(waits(&attempt, verdict, others_open()), S / 2);
}
END_TEST

START_TEST(transient_failures_and_races_are_given_up_after_the_third)
{
    static const struct {
        enum weir_class class_;
        const char *message;
    } rows[] = {
        { WEIR_CLASS_TRANSIENT, "failed 3 times, last on \"AppUser1\": HTTP 503" },
        { WEIR_CLASS_RACE, "lost a race 3 times, last on \"AppUser1\": HTTP 503" },
    };
    for (size_t i = 0; i < 2; i++) {
        struct weir_attempt attempt = new_attempt();
        struct weir_verdict verdict = of_class(rows[i].class_, WEIR_OUTCOME_NOT_EXECUTED);
        struct weir_attempt_scene scene = others_open();
        struct weir_error err;
        waits(&attempt, verdict, scene);
        waits(&attempt, verdict, scene);
        ck_assert_int_eq(weir_attempt_decide(&attempt, &verdict, &scene, NOW, &err).action,
                         WEIR_ATTEMPT_GIVE_UP);
        ck_assert_int_eq(err.status, WEIR_E_UNAVAILABLE);
        ck_assert_str_eq(err.message, rows[i].message);
        ck_assert_int_eq(err.retry_after_us, -1);
        ck_assert(err.retryable && err.outcome_known);
    }
}
END_TEST

START_TEST(silence_is_named_as_such)
{
    struct weir_resilience_options options = defaults;
    options.max_throttle_retries = 1;
    struct weir_attempt attempt = { .options = &options, .repeatable = true };
    struct weir_verdict verdict = of_class(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN);
    verdict.http_status = 0;
    struct weir_attempt_scene scene = others_open();
    struct weir_error err;
    weir_attempt_decide(&attempt, &verdict, &scene, NOW, &err);
    ck_assert_str_eq(err.message, "failed 1 time, last on \"AppUser1\": no answer");
    ck_assert_int_eq(err.http_status, 0);
    ck_assert(!err.outcome_known);
}
END_TEST

START_TEST(classes_do_not_share_their_counts)
{
    struct weir_attempt attempt = new_attempt();
    struct weir_verdict transient = of_class(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_NOT_EXECUTED);
    struct weir_verdict race = of_class(WEIR_CLASS_RACE, WEIR_OUTCOME_NOT_EXECUTED);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(action(&attempt, throttled()), WEIR_ATTEMPT_RETRY_NOW);
        ck_assert_int_eq(action(&attempt, transient), WEIR_ATTEMPT_WAIT);
        ck_assert_int_eq(action(&attempt, race), WEIR_ATTEMPT_WAIT);
    }
    ck_assert_int_eq(action(&attempt, throttled()), WEIR_ATTEMPT_GIVE_UP);
    ck_assert_int_eq(action(&attempt, transient), WEIR_ATTEMPT_GIVE_UP);
    ck_assert_int_eq(action(&attempt, race), WEIR_ATTEMPT_GIVE_UP);
}
END_TEST

START_TEST(refused_credentials_are_handed_over)
{
    struct weir_attempt attempt = new_attempt();
    struct weir_verdict verdict = of_class(WEIR_CLASS_BAD_CREDENTIALS, WEIR_OUTCOME_NOT_EXECUTED);
    ck_assert_int_eq(action(&attempt, verdict), WEIR_ATTEMPT_RETURN);
    ck_assert_int_eq(action(&attempt, verdict), WEIR_ATTEMPT_RETURN);
}
END_TEST

START_TEST(what_a_retry_would_not_mend_is_the_callers)
{
    static const enum weir_class classes[] = { WEIR_CLASS_OK,       WEIR_CLASS_TOO_BIG,
                                               WEIR_CLASS_BAD_ROWS, WEIR_CLASS_PRIVILEGE,
                                               WEIR_CLASS_OTHER,    WEIR_CLASS_UNSENT };
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        struct weir_attempt attempt = new_attempt();
        ck_assert_int_eq(action(&attempt, of_class(classes[i], WEIR_OUTCOME_NOT_EXECUTED)),
                         WEIR_ATTEMPT_RETURN);
    }
}
END_TEST

START_TEST(an_unknown_outcome_of_what_cannot_be_repeated_is_the_callers_in_any_class)
{
    for (int class_ = 0; class_ < WEIR_CLASS_COUNT; class_++) {
        struct weir_attempt attempt = new_attempt();
        attempt.repeatable = false;
        ck_assert_int_eq(action(&attempt, of_class((enum weir_class)class_, WEIR_OUTCOME_UNKNOWN)),
                         WEIR_ATTEMPT_RETURN);
    }
}
END_TEST

START_TEST(what_cannot_be_repeated_is_still_retried_if_it_was_not_executed)
{
    struct weir_attempt attempt = new_attempt();
    attempt.repeatable = false;
    ck_assert_int_eq(action(&attempt, throttled()), WEIR_ATTEMPT_RETRY_NOW);
    ck_assert_int_eq(action(&attempt, of_class(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_NOT_EXECUTED)),
                     WEIR_ATTEMPT_WAIT);
}
END_TEST

START_TEST(one_attempt_with_an_unknown_outcome_makes_the_end_unknown)
{
    struct weir_attempt attempt = new_attempt();
    struct weir_verdict verdict = throttled();
    struct weir_attempt_scene scene = others_open();
    struct weir_error err;
    action(&attempt, of_class(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN));
    action(&attempt, throttled());
    action(&attempt, throttled());
    ck_assert_int_eq(weir_attempt_decide(&attempt, &verdict, &scene, NOW, &err).action,
                     WEIR_ATTEMPT_GIVE_UP);
    ck_assert(!err.outcome_known);
}
END_TEST

START_TEST(waits_at_the_end_of_time_do_not_overflow)
{
    struct weir_attempt attempt = new_attempt();
    struct weir_verdict verdict = of_class(WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN);
    struct weir_attempt_scene scene = others_open();
    verdict.retry_after_us = WEIR_US_PER_HOUR;
    ck_assert_int_eq(
        weir_attempt_decide(&attempt, &verdict, &scene, WEIR_FOREVER - 1, NULL).until_us,
        WEIR_FOREVER);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("attempt");
    suite_add(&s, immediate_retry_when_other_connections_available);
    suite_add(&s, wait_and_retry_when_all_connections_throttled);
    suite_add(&s, a_reopening_that_is_past_is_not_waited_for);
    suite_add(&s, max_retries_is_respected);
    suite_add(&s, giving_up_says_who_throttled_why_and_for_how_long);
    suite_add(&s, a_throttle_without_a_code_is_named_by_its_status);
    suite_add(&s, a_throttle_with_every_connection_set_aside_is_given_up);
    suite_add(&s, without_tracking_the_request_itself_waits_whatever_is_open);
    suite_add(&s, transient_failures_back_off_from_one_second_to_thirty);
    suite_add(&s, races_back_off_from_half_a_second_to_two);
    suite_add(&s, jitter_stays_between_half_and_whole);
    suite_add(&s, a_transient_failure_waits_for_its_retry_after_if_no_other_connection_is_open);
    suite_add(&s, transient_failures_and_races_are_given_up_after_the_third);
    suite_add(&s, silence_is_named_as_such);
    suite_add(&s, classes_do_not_share_their_counts);
    suite_add(&s, refused_credentials_are_handed_over);
    suite_add(&s, what_a_retry_would_not_mend_is_the_callers);
    suite_add(&s, an_unknown_outcome_of_what_cannot_be_repeated_is_the_callers_in_any_class);
    suite_add(&s, what_cannot_be_repeated_is_still_retried_if_it_was_not_executed);
    suite_add(&s, one_attempt_with_an_unknown_outcome_makes_the_end_unknown);
    suite_add(&s, waits_at_the_end_of_time_do_not_overflow);
    return suite_run(&s);
}

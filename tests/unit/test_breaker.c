/* SPDX-License-Identifier: MIT */
/* The circuit breaker: its rules one by one, then against a model that writes its states down. */
#include <limits.h>

#include "base/clock.h"
#include "base/rng.h"
#include "support/suite.h"
#include "throttle/breaker.h"

#define S WEIR_US_PER_S

static const struct weir_circuit_breaker_options defaults = {
    .enabled = true,
    .failures = 10,
    .open_for_us = 30 * S,
    .open_max_us = 600 * S,
};

/* A request that leaves and fails at the same moment. */
static bool fail_at(struct weir_breaker *breaker, int64_t now_us)
{
    return weir_breaker_failed(breaker, &defaults, now_us, now_us);
}

static void open_at(struct weir_breaker *breaker, int64_t now_us)
{
    for (int i = 1; i < defaults.failures; i++)
        ck_assert(!fail_at(breaker, now_us));
    ck_assert(fail_at(breaker, now_us));
}

START_TEST(a_zeroed_breaker_is_closed)
{
    struct weir_breaker breaker = { 0 };
    ck_assert_int_eq(weir_breaker_state(&breaker, 0), WEIR_BREAKER_CLOSED);
    ck_assert_int_eq(weir_breaker_state(&breaker, WEIR_FOREVER), WEIR_BREAKER_CLOSED);
}
END_TEST

START_TEST(it_opens_at_the_tenth_failure_in_a_row)
{
    struct weir_breaker breaker = { 0 };
    for (int i = 1; i < 10; i++) {
        ck_assert(!fail_at(&breaker, i * S));
        ck_assert_int_eq(weir_breaker_state(&breaker, i * S), WEIR_BREAKER_CLOSED);
    }
    ck_assert(fail_at(&breaker, 10 * S));
    ck_assert_int_eq(weir_breaker_state(&breaker, 10 * S), WEIR_BREAKER_OPEN);
}
END_TEST

START_TEST(a_success_starts_the_count_afresh)
{
    struct weir_breaker breaker = { 0 };
    for (int i = 1; i < 10; i++)
        fail_at(&breaker, 0);
    weir_breaker_succeeded(&breaker);
    for (int i = 1; i < 10; i++)
        ck_assert(!fail_at(&breaker, 0));
    ck_assert(fail_at(&breaker, 0));
}
END_TEST

START_TEST(it_is_half_open_after_thirty_seconds_to_the_microsecond)
{
    struct weir_breaker breaker = { 0 };
    open_at(&breaker, 5 * S);
    ck_assert_int_eq(weir_breaker_state(&breaker, 35 * S - 1), WEIR_BREAKER_OPEN);
    ck_assert_int_eq(weir_breaker_state(&breaker, 35 * S), WEIR_BREAKER_HALF_OPEN);
}
END_TEST

START_TEST(failed_probes_double_the_time_up_to_ten_minutes)
{
    static const int64_t spans_s[] = { 30, 60, 120, 240, 480, 600, 600, 600 };
    struct weir_breaker breaker = { 0 };
    int64_t now_us = 0;
    open_at(&breaker, now_us);
    for (size_t i = 0; i < sizeof(spans_s) / sizeof(spans_s[0]); i++) {
        ck_assert_int_eq(breaker.open_for_us, spans_s[i] * S);
        ck_assert_int_eq(weir_breaker_state(&breaker, now_us + spans_s[i] * S - 1),
                         WEIR_BREAKER_OPEN);
        now_us += spans_s[i] * S;
        ck_assert_int_eq(weir_breaker_state(&breaker, now_us), WEIR_BREAKER_HALF_OPEN);
        ck_assert_msg(fail_at(&breaker, now_us), "probe %zu did not reopen it", i);
    }
}
END_TEST

START_TEST(the_new_time_runs_from_the_failure_of_the_probe)
{
    struct weir_breaker breaker = { 0 };
    open_at(&breaker, 0);
    ck_assert(weir_breaker_failed(&breaker, &defaults, 30 * S, 45 * S));
    ck_assert_int_eq(weir_breaker_state(&breaker, 105 * S - 1), WEIR_BREAKER_OPEN);
    ck_assert_int_eq(weir_breaker_state(&breaker, 105 * S), WEIR_BREAKER_HALF_OPEN);
}
END_TEST

START_TEST(a_successful_probe_closes_it_and_resets_the_doubling)
{
    struct weir_breaker breaker = { 0 };
    open_at(&breaker, 0);
    ck_assert(fail_at(&breaker, 30 * S));
    weir_breaker_succeeded(&breaker);
    ck_assert_int_eq(weir_breaker_state(&breaker, 31 * S), WEIR_BREAKER_CLOSED);
    open_at(&breaker, 100 * S);
    ck_assert_int_eq(breaker.open_for_us, 30 * S);
}
END_TEST

START_TEST(failures_of_requests_sent_before_it_opened_are_ignored)
{
    struct weir_breaker breaker = { 0 };
    open_at(&breaker, 10 * S);
    struct weir_breaker opened = breaker;
    ck_assert(!weir_breaker_failed(&breaker, &defaults, 9 * S, 11 * S));
    ck_assert(!weir_breaker_failed(&breaker, &defaults, 9 * S, 41 * S));
    ck_assert_int_eq(breaker.until_us, opened.until_us);
    ck_assert_int_eq(breaker.open_for_us, opened.open_for_us);
    ck_assert_int_eq(weir_breaker_state(&breaker, 41 * S), WEIR_BREAKER_HALF_OPEN);
}
END_TEST

START_TEST(a_second_failed_probe_does_not_double_again)
{
    struct weir_breaker breaker = { 0 };
    open_at(&breaker, 0);
    ck_assert(weir_breaker_failed(&breaker, &defaults, 30 * S, 31 * S));
    ck_assert(!weir_breaker_failed(&breaker, &defaults, 30 * S, 32 * S));
    ck_assert_int_eq(breaker.open_for_us, 60 * S);
}
END_TEST

START_TEST(a_breaker_that_is_switched_off_never_opens)
{
    struct weir_circuit_breaker_options off = defaults;
    off.enabled = false;
    struct weir_breaker breaker = { 0 };
    for (int i = 0; i < 1000; i++)
        ck_assert(!weir_breaker_failed(&breaker, &off, i, i));
    ck_assert_int_eq(weir_breaker_state(&breaker, 1000), WEIR_BREAKER_CLOSED);
}
END_TEST

START_TEST(a_probe_may_be_had_sooner_and_the_time_doubles_from_there)
{
    struct weir_breaker breaker = { 0 };
    ck_assert(!weir_breaker_hasten(&breaker, 30 * S, 0)); /* closed */
    open_at(&breaker, 0);
    ck_assert(!weir_breaker_hasten(&breaker, 30 * S, 0));
    ck_assert(fail_at(&breaker, 30 * S));
    ck_assert(fail_at(&breaker, 90 * S)); /* open for two minutes */
    ck_assert(weir_breaker_hasten(&breaker, 30 * S, 100 * S));
    ck_assert(!weir_breaker_hasten(&breaker, 30 * S, 100 * S));
    ck_assert_int_eq(weir_breaker_state(&breaker, 130 * S - 1), WEIR_BREAKER_OPEN);
    ck_assert_int_eq(weir_breaker_state(&breaker, 130 * S), WEIR_BREAKER_HALF_OPEN);
    ck_assert(!weir_breaker_hasten(&breaker, 30 * S, 200 * S)); /* half open */
    ck_assert(fail_at(&breaker, 200 * S));
    ck_assert_int_eq(weir_breaker_state(&breaker, 260 * S - 1), WEIR_BREAKER_OPEN);
    ck_assert_int_eq(weir_breaker_state(&breaker, 260 * S), WEIR_BREAKER_HALF_OPEN);
    ck_assert(weir_breaker_hasten(&breaker, 0, 200 * S));
    ck_assert_int_eq(weir_breaker_state(&breaker, 200 * S), WEIR_BREAKER_HALF_OPEN);
}
END_TEST

START_TEST(it_never_opens_for_longer_than_the_maximum)
{
    struct weir_circuit_breaker_options options = defaults;
    options.failures = 1;
    options.open_for_us = 900 * S;
    struct weir_breaker breaker = { 0 };
    ck_assert(weir_breaker_failed(&breaker, &options, 0, 0));
    ck_assert_int_eq(breaker.open_for_us, 600 * S);
}
END_TEST

START_TEST(it_opens_even_if_it_may_be_open_for_no_time)
{
    struct weir_circuit_breaker_options options = { .enabled = true, .failures = 1 };
    struct weir_breaker breaker = { 0 };
    ck_assert(weir_breaker_failed(&breaker, &options, 0, 0));
    ck_assert_int_eq(weir_breaker_state(&breaker, 0), WEIR_BREAKER_OPEN);
    ck_assert_int_eq(weir_breaker_state(&breaker, 1), WEIR_BREAKER_HALF_OPEN);
}
END_TEST

START_TEST(the_longest_times_do_not_overflow)
{
    struct weir_circuit_breaker_options options = { true, 1, INT64_MAX / 2 + 2, INT64_MAX };
    struct weir_breaker breaker = { 0 };
    ck_assert(weir_breaker_failed(&breaker, &options, 0, 0));
    int64_t probe_us = breaker.until_us;
    ck_assert(weir_breaker_failed(&breaker, &options, probe_us, probe_us));
    ck_assert_int_eq(breaker.open_for_us, INT64_MAX);
    ck_assert_int_eq(breaker.until_us, WEIR_FOREVER);
}
END_TEST

START_TEST(the_count_of_failures_does_not_overflow)
{
    struct weir_circuit_breaker_options options = defaults;
    options.failures = INT_MAX;
    struct weir_breaker breaker = { .failures = INT_MAX };
    ck_assert(weir_breaker_failed(&breaker, &options, 0, 0));
    ck_assert_int_eq(breaker.failures, INT_MAX);
}
END_TEST

/* The same breaker with its state written down and moved by hand. */
struct model {
    enum weir_breaker_state state;
    int in_a_row;
    int openings; /* since the last success */
    int64_t opened_us;
};

static int64_t model_span(const struct model *model)
{
    int64_t span_us = defaults.open_for_us;
    for (int i = 1; i < model->openings; i++)
        span_us = span_us * 2 > defaults.open_max_us ? defaults.open_max_us : span_us * 2;
    return span_us;
}

static void model_tick(struct model *model, int64_t now_us)
{
    if (model->state == WEIR_BREAKER_OPEN && now_us - model->opened_us >= model_span(model))
        model->state = WEIR_BREAKER_HALF_OPEN;
}

static bool model_fail(struct model *model, int64_t sent_us, int64_t now_us)
{
    bool opens = false;
    if (model->state == WEIR_BREAKER_CLOSED)
        opens = ++model->in_a_row == defaults.failures;
    else if (model->state == WEIR_BREAKER_HALF_OPEN)
        opens = sent_us > model->opened_us;
    if (opens) {
        model->state = WEIR_BREAKER_OPEN;
        model->opened_us = now_us;
        model->openings++;
    }
    return opens;
}

#define FLIGHTS 16

struct traffic {
    struct weir_rng rng;
    struct weir_breaker breaker;
    struct model model;
    int64_t sent_us[FLIGHTS]; /* -1: free */
    int64_t now_us;
    int failing_percent;
    int opened;
    int closed;
};

/* A free place is used if the breaker lets a request go: any number closed, one half open. */
static void send(struct traffic *t, size_t place)
{
    bool probing = false;
    for (size_t i = 0; i < FLIGHTS; i++)
        probing |= t->sent_us[i] > t->model.opened_us;
    if (t->model.state == WEIR_BREAKER_CLOSED ||
        (t->model.state == WEIR_BREAKER_HALF_OPEN && !probing))
        t->sent_us[place] = t->now_us;
}

static void answer(struct traffic *t, size_t place)
{
    int64_t sent_us = t->sent_us[place];
    t->sent_us[place] = -1;
    if ((int)weir_rng_below(&t->rng, 100) < t->failing_percent) {
        bool opens = model_fail(&t->model, sent_us, t->now_us);
        ck_assert(weir_breaker_failed(&t->breaker, &defaults, sent_us, t->now_us) == opens);
        t->opened += opens;
        return;
    }
    t->closed += t->model.state != WEIR_BREAKER_CLOSED;
    weir_breaker_succeeded(&t->breaker);
    t->model = (struct model){ .opened_us = t->model.opened_us };
}

START_TEST(it_equals_a_naive_model_on_random_traffic)
{
    struct traffic t = { .now_us = 1 };
    weir_rng_init(&t.rng, (uint64_t)_i, 0);
    for (size_t i = 0; i < FLIGHTS; i++)
        t.sent_us[i] = -1;
    for (int step = 0; step < 50000; step++) {
        if (step % 500 == 0)
            t.failing_percent = step % 1000 ? 97 : (int)weir_rng_below(&t.rng, 100);
        t.now_us += (int64_t)weir_rng_below(&t.rng, 5 * S) + 1;
        model_tick(&t.model, t.now_us);
        ck_assert_int_eq(weir_breaker_state(&t.breaker, t.now_us), t.model.state);
        size_t place = (size_t)weir_rng_below(&t.rng, FLIGHTS);
        if (t.sent_us[place] < 0)
            send(&t, place);
        else
            answer(&t, place);
    }
    ck_assert_int_gt(t.opened, 10);
    ck_assert_int_gt(t.closed, 3);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("breaker");
    suite_add(&s, a_zeroed_breaker_is_closed);
    suite_add(&s, it_opens_at_the_tenth_failure_in_a_row);
    suite_add(&s, a_success_starts_the_count_afresh);
    suite_add(&s, it_is_half_open_after_thirty_seconds_to_the_microsecond);
    suite_add(&s, failed_probes_double_the_time_up_to_ten_minutes);
    suite_add(&s, the_new_time_runs_from_the_failure_of_the_probe);
    suite_add(&s, a_successful_probe_closes_it_and_resets_the_doubling);
    suite_add(&s, failures_of_requests_sent_before_it_opened_are_ignored);
    suite_add(&s, a_second_failed_probe_does_not_double_again);
    suite_add(&s, a_breaker_that_is_switched_off_never_opens);
    suite_add(&s, a_probe_may_be_had_sooner_and_the_time_doubles_from_there);
    suite_add(&s, it_never_opens_for_longer_than_the_maximum);
    suite_add(&s, it_opens_even_if_it_may_be_open_for_no_time);
    suite_add(&s, the_longest_times_do_not_overflow);
    suite_add(&s, the_count_of_failures_does_not_overflow);
    suite_add_loop(&s, "it_equals_a_naive_model_on_random_traffic",
                   it_equals_a_naive_model_on_random_traffic, 20);
    return suite_run(&s);
}

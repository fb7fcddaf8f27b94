/* SPDX-License-Identifier: MIT */
/* The rhythm of another client alone, fed by clients that are formulas. */
#include "throttle/policy_budget_rhythm.h"

#include <math.h>

#include "base/rng.h"
#include "support/suite.h"

#define WINDOW_S 300
#define SPAN_S   (WINDOW_S / 64.0)

/* Requests a second at a time. */
typedef double formula(int at_s);

static struct weir_rhythm rhythm;
static struct weir_rng rng;
static double sums[20000]; /* requests until each second */
static int now_s;

static double on_and_off(int at_s)
{
    return at_s % 240 < 120 ? 4 : 0;
}

static double in_bursts(int at_s)
{
    return at_s % 120 < 20 ? 12 : 0;
}

static int period_s;

static double every_period(int at_s)
{
    return at_s % period_s < period_s / 4 ? 8 : 0;
}

static double steady(int at_s)
{
    (void)at_s;
    return 2;
}

static double nobody(int at_s)
{
    (void)at_s;
    return 0;
}

/* Now and then a burst, at times that nobody foresees. */
static double now_and_then(int at_s)
{
    static const int begins[] = { 0, 170, 230, 410, 700, 770, 1010, 1210, 1330, 1640 };
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        if (at_s >= begins[i] && at_s < begins[i] + 20)
            return 12;
    }
    return 0;
}

/* As many in a second as chance brings: seconds are cut so small that one comes in them or none. */
static double come(double rate)
{
    double sum = 0;
    for (int i = 0; i < 64; i++)
        sum += weir_rng_unit(&rng) < rate / 64;
    return sum;
}

static double in_window(int at_s)
{
    return sums[at_s] - sums[at_s > WINDOW_S ? at_s - WINDOW_S : 0];
}

static void setup(void)
{
    rhythm = (struct weir_rhythm){ .counts = true };
    weir_rhythm_forget(&rhythm);
    weir_rng_init(&rng, 7, 0);
    now_s = 0;
    sums[0] = 0;
}

/* A sample a second, but for the time in between, of which none is told. */
static void hear(formula *rate, int for_s, int silent_from_s, int silent_to_s)
{
    for (int end_s = now_s + for_s; now_s < end_s;) {
        double sum = sums[now_s] + come(rate(now_s));
        sums[++now_s] = sum;
        if (now_s >= silent_from_s && now_s < silent_to_s)
            continue;
        weir_rhythm_note(&rhythm, in_window(now_s), WINDOW_S * INT64_C(1000000),
                         now_s * INT64_C(1000000));
        weir_rhythm_seek(&rhythm, true);
    }
}

/* What will have come and gone a time ahead, against what chance brings to it. */
static void foretells(formula *rate)
{
    ck_assert(weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS));
    for (int ahead_s = 10; ahead_s <= WINDOW_S; ahead_s += 10) {
        double due = 0;
        for (int i = 0; i < ahead_s; i++)
            due += rate(now_s + i);
        double comes = weir_rhythm_comes(&rhythm, ahead_s / SPAN_S);
        double goes = weir_rhythm_goes(&rhythm, ahead_s / SPAN_S);
        double gone = sums[now_s - WINDOW_S + ahead_s] - sums[now_s - WINDOW_S];
        ck_assert_msg(fabs(comes - due) < 4 * sqrt(due) + 40, "in %d s: %g, not %g", ahead_s, comes,
                      due);
        ck_assert_msg(fabs(goes - gone) < 60, "in %d s: %g goes, not %g", ahead_s, goes, gone);
    }
}

START_TEST(a_rhythm_is_known_after_three_periods_or_two_windows)
{
    static const struct {
        formula *rate;
        int period_s;
    } clients[] = { { on_and_off, 240 }, { in_bursts, 120 } };
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
        setup();
        hear(clients[i].rate, 2 * WINDOW_S, 0, 0);
        ck_assert_double_eq_tol(rhythm.period * SPAN_S, clients[i].period_s, 8);
        foretells(clients[i].rate);
        for (int k = 0; k < 60; k++) { /* and stays so, whatever has just come or gone */
            hear(clients[i].rate, 27, 0, 0);
            ck_assert(rhythm.uneven);
            foretells(clients[i].rate);
        }
    }
}
END_TEST

/* Somebody who comes by chance fits with every period, and is not said to have one. */
START_TEST(who_comes_at_any_time_has_no_rhythm)
{
    setup();
    for (int i = 0; i < 300; i++) {
        hear(steady, 19, 0, 0);
        ck_assert(!rhythm.uneven);
        ck_assert(!weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS));
    }
}
END_TEST

START_TEST(bursts_at_odd_times_are_uneven_and_no_rhythm)
{
    setup();
    hear(now_and_then, 600, 0, 0);
    for (int i = 0; i < 50; i++) {
        hear(now_and_then, 19, 0, 0);
        ck_assert(rhythm.uneven);
        ck_assert_msg(!weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS), "%g s at %d s",
                      rhythm.period * SPAN_S, now_s);
    }
}
END_TEST

START_TEST(what_does_not_move_has_no_rhythm)
{
    setup();
    hear(in_bursts, 3 * WINDOW_S, 0, 0);
    ck_assert(weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS));
    for (int i = 0; i < 8; i++) {
        now_s += 5;
        sums[now_s] = sums[now_s - 5];
        weir_rhythm_note(&rhythm, in_window(now_s), WINDOW_S * INT64_C(1000000),
                         now_s * INT64_C(1000000));
        weir_rhythm_seek(&rhythm, false);
    }
    ck_assert(!weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS));
    ck_assert(!rhythm.uneven);
}
END_TEST

START_TEST(who_stays_away_has_no_rhythm_any_more)
{
    setup();
    hear(on_and_off, 4 * WINDOW_S, 0, 0);
    ck_assert(weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS));
    hear(nobody, 2 * WINDOW_S, 0, 0);
    ck_assert(!weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS));
}
END_TEST

/* What came meanwhile is taken to have come as it did a period ago. */
START_TEST(a_minute_without_a_sample_does_not_disturb_it)
{
    setup();
    hear(in_bursts, 3 * WINDOW_S, 0, 0);
    for (int i = 0; i < 20; i++) {
        hear(in_bursts, 131, now_s + 10, now_s + 70);
        foretells(in_bursts);
    }
}
END_TEST

/* It was foretold for two windows: the longer nothing is heard, the less of it is ahead. */
START_TEST(what_comes_is_known_until_where_it_was_foretold)
{
    setup();
    hear(on_and_off, 4 * WINDOW_S, 0, 0);
    double ahead = (double)(rhythm.told + WEIR_RHYTHM_FORETOLD) - rhythm.at;
    ck_assert_double_gt(ahead, 2 * WEIR_RHYTHM_SPANS);
    ck_assert(weir_rhythm_can_tell(&rhythm, ahead - 0.01));
    ck_assert(!weir_rhythm_can_tell(&rhythm, ahead + 0.01));
    ck_assert_double_ge(weir_rhythm_comes(&rhythm, ahead), weir_rhythm_comes(&rhythm, ahead - 2));
    ck_assert_double_eq(weir_rhythm_comes(&rhythm, 2 * ahead), weir_rhythm_comes(&rhythm, ahead));
}
END_TEST

/* Requests cannot be taken back: if they seem to be, it was our books that were off. */
START_TEST(what_is_gone_before_its_time_was_no_rhythm)
{
    setup();
    hear(on_and_off, 4 * WINDOW_S, 0, 0);
    ck_assert(weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS));
    weir_rhythm_note(&rhythm, 0.7 * in_window(now_s), WINDOW_S * INT64_C(1000000),
                     now_s * INT64_C(1000000) + 1);
    ck_assert(!weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS));
}
END_TEST

/* Beyond a window, what goes is what has yet to come. */
START_TEST(what_will_come_will_also_go)
{
    setup();
    hear(on_and_off, 4 * WINDOW_S, 0, 0);
    double all = weir_rhythm_goes(&rhythm, WEIR_RHYTHM_SPANS);
    ck_assert_double_eq_tol(all, in_window(now_s), 1);
    for (double more = 0; more <= WEIR_RHYTHM_SPANS; more += 4)
        ck_assert_double_eq_tol(weir_rhythm_goes(&rhythm, WEIR_RHYTHM_SPANS + more),
                                all + weir_rhythm_comes(&rhythm, more), 1e-6);
}
END_TEST

/* A period of less than an eighth of a window, or of more than two, is none. */
START_TEST(only_periods_that_can_be_told_are_looked_for)
{
    static const int periods_s[] = { 20, 660 };
    for (size_t i = 0; i < sizeof(periods_s) / sizeof(periods_s[0]); i++) {
        setup();
        period_s = periods_s[i];
        hear(every_period, 5 * WINDOW_S, 0, 0);
        ck_assert_msg(!weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS), "%d s: %g", period_s,
                      rhythm.period * SPAN_S);
    }
}
END_TEST

START_TEST(a_window_without_a_sample_is_a_new_beginning)
{
    setup();
    hear(in_bursts, 3 * WINDOW_S, 0, 0);
    hear(in_bursts, WINDOW_S + 20, now_s, now_s + WINDOW_S + 10);
    ck_assert(!weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS));
    ck_assert_int_ge(rhythm.since, (int64_t)((now_s - 20) / SPAN_S));
    hear(in_bursts, 3 * WINDOW_S, 0, 0); /* what was in the window then does not mislead for good */
    foretells(in_bursts);
}
END_TEST

START_TEST(a_clock_that_goes_back_is_a_new_beginning)
{
    setup();
    hear(in_bursts, 3 * WINDOW_S, 0, 0);
    weir_rhythm_note(&rhythm, 100, WINDOW_S * INT64_C(1000000), 5000000);
    ck_assert(!weir_rhythm_can_tell(&rhythm, WEIR_RHYTHM_SPANS));
    ck_assert_double_eq(rhythm.total, 100);
}
END_TEST

/* The other budget has the same client, and goes by his period. Its sum may fall: it is not a
 * number of requests, and less well known. */
START_TEST(another_budget_follows_the_same_period)
{
    struct weir_rhythm time = { .counts = false };
    setup();
    weir_rhythm_forget(&time);
    for (int i = 0; i < 4 * WINDOW_S; i++) {
        hear(on_and_off, 1, 0, 0);
        weir_rhythm_note(&time, 2e6 * in_window(now_s), WINDOW_S * INT64_C(1000000),
                         now_s * INT64_C(1000000));
        weir_rhythm_follow(&time, rhythm.period);
    }
    ck_assert(weir_rhythm_can_tell(&time, WEIR_RHYTHM_SPANS));
    for (double ahead = 0; ahead <= 64; ahead++) {
        double due = 2e6 * weir_rhythm_comes(&rhythm, ahead);
        ck_assert_double_eq_tol(weir_rhythm_comes(&time, ahead), due, 0.02 * due + 2e6);
    }
    weir_rhythm_follow(&time, 0);
    ck_assert(!weir_rhythm_can_tell(&time, WEIR_RHYTHM_SPANS));
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_rhythm");
    suite_add(&s, a_rhythm_is_known_after_three_periods_or_two_windows);
    suite_add(&s, who_comes_at_any_time_has_no_rhythm);
    suite_add(&s, bursts_at_odd_times_are_uneven_and_no_rhythm);
    suite_add(&s, what_does_not_move_has_no_rhythm);
    suite_add(&s, who_stays_away_has_no_rhythm_any_more);
    suite_add(&s, a_minute_without_a_sample_does_not_disturb_it);
    suite_add(&s, what_comes_is_known_until_where_it_was_foretold);
    suite_add(&s, what_is_gone_before_its_time_was_no_rhythm);
    suite_add(&s, what_will_come_will_also_go);
    suite_add(&s, only_periods_that_can_be_told_are_looked_for);
    suite_add(&s, a_window_without_a_sample_is_a_new_beginning);
    suite_add(&s, a_clock_that_goes_back_is_a_new_beginning);
    suite_add(&s, another_budget_follows_the_same_period);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* The efficiency guard alone, fed by a server that is a formula. */
#include "throttle/policy_budget_guard.h"

#include "support/suite.h"

#define FLOOR    4.0
#define CEILING  50.0
#define WINDOW_S 300
#define ROUND_S  5

/* What a request takes with so many in flight, so long after the beginning. */
typedef double formula(double in_flight, double at_s);

static struct weir_guard guard;
static double now_s;

static int64_t us(double s)
{
    return (int64_t)(s * 1e6);
}

/* One answer after the other, with as many in flight as may be or as `most` says. */
static void go_on(formula *seconds, double most, double for_s)
{
    double end_s = now_s + for_s;
    while (now_s < end_s) {
        double n = guard.cap < 1 ? 1 : guard.cap < most ? (double)(int)guard.cap : most;
        double took_s = seconds(n, now_s);
        now_s += took_s / n;
        weir_guard_sample(&guard, n, us(took_s), us(now_s));
        guard.reached = n >= (double)(int)guard.cap;
        weir_guard_turn(&guard, FLOOR, CEILING, us(ROUND_S), us(WINDOW_S), us(now_s));
    }
}

static void setup(void)
{
    guard = (struct weir_guard){ 0 };
    now_s = 0;
    weir_guard_turn(&guard, FLOOR, CEILING, us(ROUND_S), us(WINDOW_S), 0);
}

static double steady(double in_flight, double at_s)
{
    (void)in_flight;
    (void)at_s;
    return 2;
}

/* Above six at a time each takes as much longer as it took with every three more. */
static double contended(double in_flight, double at_s)
{
    (void)at_s;
    return in_flight <= 6 ? 2 : 2 * (1 + (in_flight - 6) / 3);
}

/* Batches that get slower by themselves, all at once. */
static double changing(double in_flight, double at_s)
{
    (void)in_flight;
    return at_s < 20 ? 2 : 6;
}

START_TEST(a_server_that_does_not_get_slower_is_used_to_the_ceiling)
{
    setup();
    go_on(steady, CEILING, WINDOW_S);
    ck_assert_double_eq_tol(guard.cap, CEILING, 1e-9);
    ck_assert(!guard.fallen);
}
END_TEST

START_TEST(a_server_that_gets_slower_is_left_with_what_it_bears)
{
    setup();
    go_on(contended, CEILING, WINDOW_S);
    for (int i = 0; i < 20; i++) { /* and it stays so, but for a try now and then */
        go_on(contended, CEILING, WINDOW_S / 4.0);
        ck_assert_double_le(guard.cap, 3 * FLOOR);
    }
    ck_assert(guard.fallen);
}
END_TEST

/* At first only a few are sent, later all that may be: it looks as if it were their number. */
/* A few take as long as all others together, whoever is beside them. */
static double differing(void)
{
    static const double times[] = { 0.8, 4.5, 0.2, 1.7, 0.6, 8, 0.4, 1.3, 2.5, 1 };
    static int next;
    return times[next++ % 10];
}

static double steady_but_differing(double in_flight, double at_s)
{
    return differing() * steady(in_flight, at_s);
}

static double contended_and_differing(double in_flight, double at_s)
{
    return differing() * contended(in_flight, at_s);
}

START_TEST(where_durations_differ_widely_it_shows_too_what_a_server_bears)
{
    setup();
    go_on(steady_but_differing, CEILING, WINDOW_S);
    ck_assert_double_eq_tol(guard.cap, CEILING, 1e-9);
    setup();
    go_on(contended_and_differing, CEILING, WINDOW_S);
    ck_assert_double_le(guard.cap, 6);
}
END_TEST

START_TEST(a_fall_that_makes_nothing_faster_is_taken_back)
{
    setup();
    go_on(changing, FLOOR, 20);
    ck_assert(!guard.fallen);
    for (int i = 0; i < 60 && !guard.fallen; i++)
        go_on(changing, CEILING, 1);
    ck_assert(guard.fallen);
    double before = guard.before;
    ck_assert_double_gt(before, FLOOR);
    go_on(changing, CEILING, 90);
    ck_assert(!guard.fallen);
    ck_assert_double_ge(guard.cap, before);
}
END_TEST

/* --- a short job ------------------------------------------------------------------------------ */

static void hurry(double cap)
{
    weir_guard_hurry(&guard, cap, FLOOR, false, us(now_s));
    weir_guard_turn(&guard, FLOOR, CEILING, us(ROUND_S), us(WINDOW_S), us(now_s));
}

/* The first wave comes back: each of them had one more beside it than the one before. */
static void answer_wave(formula *seconds, int count)
{
    for (int n = 1; n <= count; n++)
        weir_guard_sample(&guard, n, us(seconds(n, now_s)), us(now_s));
}

static void start_in_a_hurry(double cap)
{
    guard = (struct weir_guard){ 0 };
    now_s = 0;
    hurry(cap);
}

START_TEST(a_short_job_begins_with_more_than_others)
{
    start_in_a_hurry(26);
    ck_assert_double_eq(guard.cap, 26);
    start_in_a_hurry(3); /* which is less than what every job may begin with */
    ck_assert_double_eq(guard.cap, 2 * FLOOR);
    start_in_a_hurry(0);
    ck_assert_double_eq(guard.cap, 2 * FLOOR);
}
END_TEST

START_TEST(when_it_is_known_what_requests_take_all_may_go_if_their_number_does_not_show)
{
    start_in_a_hurry(26);
    answer_wave(steady, 26);
    hurry(CEILING);
    ck_assert_double_eq(guard.cap, CEILING);
    start_in_a_hurry(26);
    answer_wave(contended, 26);
    double cap = guard.cap;
    hurry(CEILING);
    ck_assert_double_le(guard.cap, cap);
    ck_assert_double_lt(guard.cap, CEILING);
}
END_TEST

/* Those that were sent first come first if they slow each other; the rest is still out. */
START_TEST(a_wave_that_comes_back_in_order_is_not_followed_by_a_larger_one)
{
    static const double waves[][3] = { { 1, 2, 3 }, { 2, 11, 25 } };
    for (int i = 0; i < 2; i++) {
        start_in_a_hurry(26);
        for (int k = 0; k < 3; k++) {
            hurry(CEILING);
            ck_assert_double_lt(guard.cap, CEILING);
            weir_guard_sample(&guard, waves[i][k], us(2), us(now_s));
        }
        hurry(CEILING);
        ck_assert(i ? guard.cap >= CEILING : guard.cap < CEILING);
    }
    start_in_a_hurry(26); /* of several servers each has only some of the wave */
    weir_guard_sample(&guard, 1, us(2), us(now_s));
    weir_guard_hurry(&guard, CEILING, FLOOR, true, us(now_s));
    ck_assert_double_eq(guard.cap, CEILING);
}
END_TEST

START_TEST(a_job_that_turns_out_not_to_be_short_starts_as_others_do)
{
    start_in_a_hurry(26);
    hurry(0);
    ck_assert_double_eq(guard.cap, 2 * FLOOR);
    start_in_a_hurry(CEILING + 1); /* also if the start seems to be over */
    ck_assert(guard.started);
    hurry(0);
    ck_assert_double_eq(guard.cap, 2 * FLOOR);
    ck_assert(!guard.started);
    hurry(0); /* there is nothing more to take back */
    go_on(steady, CEILING, WINDOW_S);
    ck_assert_double_eq_tol(guard.cap, CEILING, 1e-9);
}
END_TEST

/* Falls are learned, and nobody gives back more than others begin with. */
START_TEST(what_fell_in_a_hurry_stays_down)
{
    start_in_a_hurry(26);
    go_on(contended, CEILING, 60);
    ck_assert(guard.fallen);
    double cap = guard.cap;
    hurry(0);
    ck_assert_double_le(guard.cap, cap);
    ck_assert_double_le(guard.before, 2 * FLOOR);
    ck_assert(guard.fallen && guard.started);
    guard.hurried = true; /* and when it has risen again */
    guard.cap = 5 * FLOOR;
    guard.before = FLOOR;
    hurry(0);
    ck_assert_double_eq(guard.cap, 2 * FLOOR);
    ck_assert_double_eq(guard.before, FLOOR);
}
END_TEST

START_TEST(after_the_start_nothing_is_hurried)
{
    setup();
    go_on(contended, CEILING, WINDOW_S);
    ck_assert(guard.started);
    double cap = guard.cap;
    hurry(CEILING);
    ck_assert_double_le(guard.cap, cap);
    hurry(0);
    ck_assert_double_le(guard.cap, cap);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_guard");
    suite_add(&s, a_server_that_does_not_get_slower_is_used_to_the_ceiling);
    suite_add(&s, a_server_that_gets_slower_is_left_with_what_it_bears);
    suite_add(&s, where_durations_differ_widely_it_shows_too_what_a_server_bears);
    suite_add(&s, a_fall_that_makes_nothing_faster_is_taken_back);
    suite_add(&s, a_short_job_begins_with_more_than_others);
    suite_add(&s, when_it_is_known_what_requests_take_all_may_go_if_their_number_does_not_show);
    suite_add(&s, a_wave_that_comes_back_in_order_is_not_followed_by_a_larger_one);
    suite_add(&s, a_job_that_turns_out_not_to_be_short_starts_as_others_do);
    suite_add(&s, what_fell_in_a_hurry_stays_down);
    suite_add(&s, after_the_start_nothing_is_hurried);
    return suite_run(&s);
}

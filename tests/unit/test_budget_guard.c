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
static double needed; /* at a time, to use the budget up */

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
        weir_guard_await(&guard, us(now_s - took_s));
        weir_guard_turn(&guard, needed, false, CEILING, us(ROUND_S), us(WINDOW_S), us(now_s));
    }
}

static void setup_needing(double floor)
{
    guard = (struct weir_guard){ 0 };
    now_s = 0;
    needed = floor;
    weir_guard_turn(&guard, needed, false, CEILING, us(ROUND_S), us(WINDOW_S), 0);
}

static void setup(void)
{
    setup_needing(FLOOR);
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

/* At first only a few are sent, later all that may be: it looks as if it were their number. */
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

/* --- levels ----------------------------------------------------------------------------------- */

/* Of so many at a time nothing is remembered; the slope leads down to those of which it is. */
START_TEST(more_at_a_time_than_levels_are_kept_of_come_down_to_what_a_server_bears)
{
    setup_needing(WEIR_GUARD_LEVELS + 3);
    go_on(contended, CEILING, WINDOW_S);
    ck_assert(guard.fallen);
    go_on(contended, CEILING, 20.0 * WINDOW_S);
    ck_assert_double_ge(guard.cap, 5);
    ck_assert_double_le(guard.cap, 8);
}
END_TEST

/* It has fallen, and goes on with so many at a time. */
static void setup_fallen_to(double cap)
{
    setup();
    guard.fallen = guard.started = true;
    guard.cap = cap;
}

START_TEST(a_level_that_is_not_reached_is_not_left_for_the_next)
{
    setup_fallen_to(2);
    go_on(steady, 1, 3.0 * WINDOW_S);
    ck_assert_double_eq(guard.cap, 2);
    go_on(steady, CEILING, WINDOW_S);
    ck_assert_double_ge(guard.cap, 3);
    setup_fallen_to(1); /* nor down, if there is nothing below */
    go_on(steady, CEILING, WINDOW_S);
    ck_assert_double_ge(guard.cap, 3);
}
END_TEST

/* With three at a time less gets done than with two. */
static double bears_two(double in_flight, double at_s)
{
    (void)at_s;
    return in_flight <= 2 ? 2 : 4;
}

START_TEST(a_level_that_was_no_better_is_not_tried_again_before_it_is_forgotten)
{
    setup_fallen_to(2);
    while (guard.cap < 3 && now_s < WINDOW_S)
        go_on(bears_two, CEILING, 1);
    ck_assert_double_eq(guard.cap, 3);
    while (guard.cap > 2 && now_s < WINDOW_S)
        go_on(bears_two, CEILING, 1);
    double back_s = now_s;
    while (guard.cap <= 2 && now_s < back_s + 10.0 * WINDOW_S)
        go_on(bears_two, CEILING, 1);
    ck_assert_double_gt(now_s - back_s, 2.5 * WINDOW_S);
    ck_assert_double_lt(now_s - back_s, 3.5 * WINDOW_S);
}
END_TEST

/* One level after the other would take more than a minute. */
START_TEST(where_durations_differ_so_far_that_no_level_tells_it_is_the_floor_again)
{
    setup_fallen_to(1);
    go_on(steady_but_differing, CEILING, 60);
    ck_assert_double_ge(guard.cap, FLOOR);
}
END_TEST

/* With three at a time a little more gets done than with two, and with four less. */
static double bears_three(double in_flight, double at_s)
{
    (void)at_s;
    return in_flight <= 2 ? 2 : in_flight <= 3 ? 2.43 : 4;
}

START_TEST(a_level_that_was_a_little_better_is_gone_back_to_after_a_while)
{
    setup_fallen_to(3);
    go_on(bears_three, CEILING, 20);
    guard.cap = 2;
    guard.changed_us = us(now_s);
    go_on(bears_three, CEILING, WINDOW_S / 8.0 - ROUND_S);
    ck_assert_double_eq(guard.cap, 2);
    go_on(bears_three, CEILING, 4.0 * ROUND_S);
    ck_assert_double_eq(guard.cap, 3);
}
END_TEST

/* From fewer than before the last fall, which was taken back or was not. */
static void fall_again(bool fallen)
{
    setup_fallen_to(3 * FLOOR);
    guard.fallen = fallen;
    guard.before = CEILING;
    guard.fell_us = -us(WINDOW_S);
    for (int i = 0; i < 100 && guard.cap > FLOOR; i++)
        go_on(contended, CEILING, 1);
    ck_assert_double_eq(guard.cap, FLOOR);
    ck_assert_int_gt(guard.fell_us, 0);
}

START_TEST(if_falls_do_not_help_as_many_may_go_as_before_the_first_of_them)
{
    fall_again(true);
    ck_assert_double_eq(guard.before, CEILING);
    fall_again(false);
    ck_assert_double_ge(guard.before, 3 * FLOOR);
    ck_assert_double_lt(guard.before, CEILING);
}
END_TEST

/* --- a short job ------------------------------------------------------------------------------ */

static void hurry(double cap)
{
    weir_guard_hurry(&guard, cap, FLOOR, false, us(now_s));
    weir_guard_turn(&guard, FLOOR, false, CEILING, us(ROUND_S), us(WINDOW_S), us(now_s));
}

static void turn_brief(bool brief)
{
    weir_guard_turn(&guard, FLOOR, brief, CEILING, us(ROUND_S), us(WINDOW_S), us(now_s));
}

/* Once, when it turns out that what is left needs no more than there is. */
START_TEST(what_fell_goes_up_again_as_soon_as_its_budget_need_not_last)
{
    fall_again(true);
    turn_brief(false);
    ck_assert_double_eq(guard.cap, FLOOR);
    turn_brief(true);
    ck_assert_double_eq(guard.cap, 2 * FLOOR);
    guard.cap = FLOOR;
    turn_brief(true);
    ck_assert_double_eq(guard.cap, FLOOR);
}
END_TEST

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
    needed = FLOOR;
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

/* Thirty answers tell that so many may go at a time; one fewer does not. */
START_TEST(what_a_hurry_has_shown_stays_when_it_ends)
{
    for (int answers = 29; answers <= 30; answers++) {
        start_in_a_hurry(26);
        answer_wave(steady, 26);
        hurry(CEILING);
        guard.weight = answers; /* old ones fade, so it is not just their number */
        hurry(0);
        ck_assert_double_eq(guard.cap, answers < 30 ? 2 * FLOOR : CEILING);
        ck_assert(!guard.hurried);
    }
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

/* Rounds with all that may go in flight, of which the oldest was sent at `sent_s`, until there are
 * more; at most so many. */
static int rounds_until_more(double sent_s, int most)
{
    double cap = guard.cap;
    for (int i = 1; i <= most; i++) {
        now_s += ROUND_S;
        guard.reached = true;
        weir_guard_await(&guard, us(sent_s));
        turn_brief(false);
        if (guard.cap > cap)
            return i;
    }
    return most + 1;
}

/* The short ones come first: until the long ones do, more at a time seem to cost nothing. One that
 * never comes back is not waited for. */
START_TEST(no_more_go_before_the_long_ones_have_come_back)
{
    setup();
    guard.started = true;
    ck_assert_int_eq(rounds_until_more(now_s, 20), 1);
    double risen_s = now_s;
    ck_assert_int_gt(rounds_until_more(risen_s - 1, 6), 6);
    ck_assert_int_eq(rounds_until_more(risen_s, 1), 1);
    ck_assert_int_eq(rounds_until_more(now_s - 1, 20), 9);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_guard");
    suite_add(&s, no_more_go_before_the_long_ones_have_come_back);
    suite_add(&s, a_server_that_does_not_get_slower_is_used_to_the_ceiling);
    suite_add(&s, a_server_that_gets_slower_is_left_with_what_it_bears);
    suite_add(&s, where_durations_differ_widely_it_shows_too_what_a_server_bears);
    suite_add(&s, a_fall_that_makes_nothing_faster_is_taken_back);
    suite_add(&s, more_at_a_time_than_levels_are_kept_of_come_down_to_what_a_server_bears);
    suite_add(&s, a_level_that_is_not_reached_is_not_left_for_the_next);
    suite_add(&s, a_level_that_was_no_better_is_not_tried_again_before_it_is_forgotten);
    suite_add(&s, where_durations_differ_so_far_that_no_level_tells_it_is_the_floor_again);
    suite_add(&s, a_level_that_was_a_little_better_is_gone_back_to_after_a_while);
    suite_add(&s, if_falls_do_not_help_as_many_may_go_as_before_the_first_of_them);
    suite_add(&s, what_fell_goes_up_again_as_soon_as_its_budget_need_not_last);
    suite_add(&s, a_short_job_begins_with_more_than_others);
    suite_add(&s, when_it_is_known_what_requests_take_all_may_go_if_their_number_does_not_show);
    suite_add(&s, a_wave_that_comes_back_in_order_is_not_followed_by_a_larger_one);
    suite_add(&s, a_job_that_turns_out_not_to_be_short_starts_as_others_do);
    suite_add(&s, what_a_hurry_has_shown_stays_when_it_ends);
    suite_add(&s, what_fell_in_a_hurry_stays_down);
    suite_add(&s, after_the_start_nothing_is_hurried);
    return suite_run(&s);
}

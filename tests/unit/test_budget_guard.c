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
        weir_guard_sample(&guard, n, 1, us(took_s), us(now_s));
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

int main(void)
{
    struct suite s = suite_new("budget_guard");
    suite_add(&s, a_server_that_does_not_get_slower_is_used_to_the_ceiling);
    suite_add(&s, a_server_that_gets_slower_is_left_with_what_it_bears);
    suite_add(&s, a_fall_that_makes_nothing_faster_is_taken_back);
    return suite_run(&s);
}

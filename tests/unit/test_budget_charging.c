/* SPDX-License-Identifier: MIT */
/* Budget: how time is charged, from headers that are made here. */
#include "base/clock.h"
#include "base/rng.h"
#include "support/suite.h"
#include "throttle/policy_budget_charging.h"

#define WINDOW_US (300 * WEIR_US_PER_S)
#define LIMIT_US  1200e6

/* What one server is heard to say, and our use of it by the books. */
static struct weir_charging charging;
static struct weir_heard heard;
static struct weir_setting setting;
static double used;
static double limit;
static int64_t now_us;

static void setup(void)
{
    weir_charging_init(&charging);
    heard = (struct weir_heard){ 0 };
    setting = (struct weir_setting){ .budget = LIMIT_US, .window_us = WINDOW_US };
    used = 0;
    limit = LIMIT_US;
    now_us = 0;
}

/* An answer: the server has charged `share` of what we used, and our books are off by `off`. */
static void answer(double step, double share, double off)
{
    now_us += WEIR_US_PER_S / 4;
    used += step;
    double books[WEIR_CHARGING_GUESSES];
    for (int i = 0; i < WEIR_CHARGING_GUESSES; i++)
        books[i] = used + off;
    weir_charging_hear(&charging, &heard, limit - share * used, books, &setting, now_us);
}

/* Short requests move a header by less than a thousandth of the limit. That comes back by a
 * third, which is not enough for a leap, before anything is known. */
START_TEST(a_limit_that_comes_back_does_not_hide_what_we_use)
{
    setup();
    limit = 0.66 * LIMIT_US;
    for (int i = 0; i < 5; i++)
        answer(LIMIT_US / 3000, 0.8, 0);
    limit = LIMIT_US;
    for (int i = 0; i < 50; i++)
        answer(LIMIT_US / 3000 * (3 - i % 3), 0.8, 0);
    ck_assert(charging.trusted);
}
END_TEST

/* What is read off the long run where our books are off by chance, up to a fiftieth of the limit.
 */
static double share_read(bool scattered)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 7, 0);
    setup();
    setting.scattered = scattered;
    for (int i = 0; i < 800; i++) {
        double step = i / 200 % 2 ? LIMIT_US / 600 : 0; /* now much, now nothing */
        answer(step, 0.7, LIMIT_US / 24 * (weir_rng_unit(&rng) - 0.5));
    }
    return charging.rho;
}

START_TEST(noise_in_our_own_use_does_not_make_the_share_too_small)
{
    double forward = share_read(false);
    double turned = share_read(true);
    ck_assert_double_lt(forward, turned - 0.03);
    ck_assert_double_eq_tol(turned, 0.7, 0.02);
}
END_TEST

START_TEST(headers_that_are_not_old_are_not_taken_for_old)
{
    setup();
    setting.current = true;
    charging.best = WEIR_CHARGING_RULES; /* as they run, five seconds ago */
    for (int i = 0; i < 50; i++)
        answer(LIMIT_US / 1000, 1, 0);
    ck_assert_uint_lt(charging.best, WEIR_CHARGING_RULES);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_charging");
    suite_add(&s, a_limit_that_comes_back_does_not_hide_what_we_use);
    suite_add(&s, noise_in_our_own_use_does_not_make_the_share_too_small);
    suite_add(&s, headers_that_are_not_old_are_not_taken_for_old);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* Budget at the end of a job: what its last requests may take. The books are filled in by hand. */
#include "base/clock.h"
#include "support/budget_rig.h"
#include "support/suite.h"
#include "throttle/policy_budget_short.h"

#define WINDOW_US SECONDS(300)
#define LIMIT_US  1200e6

/* One server, whose books are exact, of which 1,150 seconds are used; requests of two. */
static void setup(void)
{
    budget_rig_start(SECONDS(3600));
    budget->lane_count = 1;
    struct weir_budget_lane *lane = &budget->lanes[0];
    weir_budget_lane_init(budget, lane, 100, 6000, LIMIT_US, now_us);
    weir_ledger_add(&lane->ledger, WEIR_SERIES_ACCRUED, now_us, SECONDS(1150));
    budget->average_us = 2e6;
    budget->guard.cap = 50;
    budget->charging.trusted = budget->charging.later = true;
    budget->charging.rho = 1;
    budget->coarse.verdict = WEIR_WINDOW_FINE;
}

static double overdraft(double left, double flying)
{
    struct weir_budget_flying load = { .count = flying };
    return weir_budget_overdraft(budget, &budget->lanes[0], &load, left, 2e6, LIMIT_US, now_us);
}

START_TEST(a_twentieth_of_the_limit_may_be_overdrawn)
{
    setup();
    ck_assert_double_eq_tol(overdraft(40, 0), 60e6, 1);
    ck_assert_double_eq(overdraft(0, 0), 0); /* it is not known how many are left */
    weir_ledger_add(&budget->lanes[0].ledger, WEIR_SERIES_ACCRUED, now_us, SECONDS(31));
    ck_assert_double_eq(overdraft(40, 0), 0); /* 1,261 seconds would be more than that */
}
END_TEST

START_TEST(all_that_is_left_has_to_go_at_once)
{
    setup();
    ck_assert_double_gt(overdraft(40, 10), 0);
    ck_assert_double_eq(overdraft(40, 11), 0);
    budget->guard.cap = 39;
    ck_assert_double_eq(overdraft(40, 0), 0);
}
END_TEST

START_TEST(nothing_is_overdrawn_where_the_books_are_not_exact)
{
    setup();
    budget->charging.later = false; /* it may be charged on arrival */
    ck_assert_double_eq(overdraft(40, 0), 0);
    setup();
    budget->charging.trusted = false;
    budget->lanes[0].moves = true; /* headers tell something else */
    ck_assert_double_eq(overdraft(40, 0), 0);
    setup();
    budget->lanes[0].quotas[WEIR_BUDGET_EXECUTION].highest[0] = 100e6; /* somebody is there */
    ck_assert_double_eq(overdraft(40, 0), 0);
    setup();
    budget->lane_count = 2; /* and servers cannot be chosen */
    ck_assert_double_eq(overdraft(40, 0), 0);
    budget->pinned = true;
    ck_assert_double_gt(overdraft(40, 0), 0);
}
END_TEST

/* Where no header ever tells, a throttle costs no more than the wait for another window. */
START_TEST(where_nothing_tells_more_may_be_overdrawn)
{
    setup();
    budget->charging.trusted = budget->charging.later = false;
    ck_assert_double_eq_tol(overdraft(40, 0), 144e6, 1);
    weir_ledger_add(&budget->lanes[0].ledger, WEIR_SERIES_ACCRUED, now_us, SECONDS(121));
    ck_assert_double_eq(overdraft(40, 0), 0);
}
END_TEST

/* What a window that moves in steps keeps of ours looks like somebody else's. */
START_TEST(what_a_coarse_window_keeps_does_not_forbid_an_overdraft)
{
    setup();
    budget->coarse.verdict = WEIR_WINDOW_COARSE;
    budget->lanes[0].quotas[WEIR_BUDGET_EXECUTION].highest[0] = 100e6;
    ck_assert_double_gt(overdraft(40, 0), 0);
    for (int i = 0; i <= WEIR_QUOTA_SPANS; i++) /* it never goes: somebody is there */
        budget->lanes[0].quotas[WEIR_BUDGET_EXECUTION].lowest[i] = 500e6;
    ck_assert_double_eq(overdraft(40, 0), 0);
}
END_TEST

/* He has used `seen` of the limit within a tenth of the first window. */
static double beside(double seen, bool finishing)
{
    setup();
    struct weir_quota *quotas = budget->lanes[0].quotas;
    for (int which = 0; which < WEIR_BUDGET_COUNT; which++) {
        quotas[which].first_us = now_us - WINDOW_US / 10;
        quotas[which].sample_us = now_us;
        quotas[which].foreign = quotas[which].lately[0] = seen * quotas[which].limit;
    }
    budget->finishing = finishing;
    return weir_budget_beside(budget, &budget->lanes[0], WEIR_BUDGET_REQUESTS, false, false,
                              now_us) /
           quotas[WEIR_BUDGET_REQUESTS].limit;
}

START_TEST(the_end_of_a_job_takes_others_as_they_have_begun)
{
    ck_assert_double_eq_tol(beside(0.03, true), 0.7, 0.02);
    ck_assert_double_lt(beside(0.03, false), 0.68); /* chance may bring more */
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_short");
    suite_add(&s, a_twentieth_of_the_limit_may_be_overdrawn);
    suite_add(&s, all_that_is_left_has_to_go_at_once);
    suite_add(&s, nothing_is_overdrawn_where_the_books_are_not_exact);
    suite_add(&s, where_nothing_tells_more_may_be_overdrawn);
    suite_add(&s, what_a_coarse_window_keeps_does_not_forbid_an_overdraft);
    suite_add(&s, the_end_of_a_job_takes_others_as_they_have_begun);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/*
 * Golden tables: an observation a row, and what has to follow from it. Of the policies that keep
 * one level (Aimd has its script in test_aimd.c, Budget its rows in test_budget.c), and of what
 * Budget takes others to use.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "support/rig.h"
#include "support/suite.h"
#include "throttle/policy.h"
#include "throttle/policy_budget_quota.h"

START_TEST(dop_and_fixed_go_by_one_number)
{
    static const struct {
        const struct weir_policy *policy;
        int fixed;
        int hint; /* 0: none */
        uint32_t in_flight;
        bool ok;
        int level;
        enum weir_bound bound_by;
    } table[] = {
        { &weir_policy_dop, 9, 0, 3, true, 4, WEIR_BOUND_DOP },
        { &weir_policy_dop, 9, 0, 4, false, 4, WEIR_BOUND_DOP },
        { &weir_policy_dop, 9, 1, 0, true, 1, WEIR_BOUND_DOP },
        { &weir_policy_dop, 9, 1, 1, false, 1, WEIR_BOUND_DOP },
        { &weir_policy_dop, 9, 48, 47, true, 48, WEIR_BOUND_DOP },
        { &weir_policy_dop, 9, 48, 48, false, 48, WEIR_BOUND_DOP },
        { &weir_policy_fixed, 9, 0, 8, true, 9, WEIR_BOUND_USER },
        { &weir_policy_fixed, 9, 0, 9, false, 9, WEIR_BOUND_USER },
        { &weir_policy_fixed, 9, 2, 8, true, 9, WEIR_BOUND_USER },
        { &weir_policy_fixed, 1, 48, 1, false, 1, WEIR_BOUND_USER },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        static const struct weir_ask plain;
        struct weir_options all;
        struct weir_admission ret;
        weir_options_defaults(&all);
        all.adaptive_rate.fixed_parallelism = table[i].fixed;
        void *state = weir_calloc(1, table[i].policy->state_bytes);
        table[i].policy->init(state, &all.adaptive_rate);
        if (table[i].hint)
            table[i].policy->hint(state, table[i].hint, 0);
        struct weir_policy_ask wish = { .ask = &plain, .in_flight = table[i].in_flight };
        table[i].policy->admit(state, &wish, WEIR_US_PER_S, &ret);
        ck_assert_msg(ret.ok == table[i].ok, "row %zu", i);
        ck_assert_msg(table[i].policy->level(state) == table[i].level, "row %zu", i);
        ck_assert_msg(ret.bound_by == table[i].bound_by, "row %zu", i);
        free(state);
    }
}
END_TEST

#define WINDOW (320 * WEIR_US_PER_S) /* a span is ten seconds */

/* A limit of 1,000. Others use `first` at first and `then` from the second window on but for one
 * span at `peak`; asked two windows later, `late_s` after the last sample. */
START_TEST(what_others_may_use_by_now)
{
    static const struct {
        double first, then, peak;
        int late_s;
        double foreign;
    } table[] = {
        { 0, 0, 0, 0, 0 },         { 0, 100, 100, 0, 100 }, /* steady: as it is */
        { 0, 100, 300, 0, 100 },                            /* now it is low */
        { 0, 100, 300, 5, 200 },   /* half a span since the last sample: half the rise */
        { 0, 100, 300, 40, 300 },  /* no more than the most that was seen */
        { 500, 100, 100, 0, 100 }, /* what was there at first has drained */
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct weir_quota quota;
        weir_quota_init(&quota, 1000);
        int64_t now_us = WEIR_US_PER_S;
        for (int64_t end_us = now_us + 3 * WINDOW; now_us < end_us; now_us += WEIR_US_PER_S) {
            int64_t s = now_us / WEIR_US_PER_S;
            double left = s < 320 ? table[i].first * (double)(320 - s) / 320 : 0;
            double foreign = s >= 800 && s < 810 ? table[i].peak : s >= 320 ? table[i].then : left;
            weir_quota_sample(&quota, 1000 - foreign, 0, 1, true, true, WINDOW, now_us);
        }
        now_us += table[i].late_s * WEIR_US_PER_S - WEIR_US_PER_S;
        double foreign = weir_quota_foreign(&quota, 1, false, WINDOW, now_us);
        ck_assert_msg(foreign > table[i].foreign - 1 && foreign < table[i].foreign + 1,
                      "row %zu: %.1f", i, foreign);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("policy_tables");
    suite_add(&s, dop_and_fixed_go_by_one_number);
    suite_add(&s, what_others_may_use_by_now);
    return suite_run(&s);
}

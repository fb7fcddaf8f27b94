/* SPDX-License-Identifier: MIT */
/*
 * Golden tables: an observation a row, and what has to follow from it. Of the policies that keep
 * one level (Aimd has its script in test_aimd.c), of what Budget takes others to use, and of what
 * it decides by its books.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "support/rig.h"
#include "support/suite.h"
#include "throttle/policy.h"
#include "throttle/policy_budget_quota.h"
#include "throttle/policy_budget_state.h"

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

/* The books of one server, whose window is 300 s, and a request that asks. */
struct books {
    double requests, execution_s; /* limits */
    double foreign, foreign_s;    /* what others use of them */
    int used;                     /* requests, … */
    double used_s;                /* … and their time, … */
    double ago_s;                 /* … all of it so long ago */
    double each_s;                /* what a request takes */
    uint32_t in_flight;           /* each half through */
    double guard;                 /* its cap; 0: as it starts */
    double concurrent;
    bool told; /* headers are trusted, and say the same */
};

static void keep_guard(struct weir_guard *guard, double cap, int64_t now_us)
{
    if (cap <= 0)
        return;
    guard->cap = guard->start_cap = cap;
    guard->started = true;
    guard->round_us = now_us;
}

static void keep_books(struct weir_budget *budget, const struct books *books, int64_t now_us)
{
    struct weir_budget_lane *lane = &budget->lanes[0];
    int64_t then_us = now_us - SECONDS(books->ago_s);
    double limits[] = { books->requests, books->execution_s * 1e6 };
    double foreign[] = { books->foreign, books->foreign_s * 1e6 };
    for (int which = 0; which < WEIR_BUDGET_COUNT; which++) {
        weir_quota_init(&lane->quotas[which], limits[which]);
        weir_quota_haunt(&lane->quotas[which], foreign[which], now_us);
    }
    weir_ledger_advance(&lane->ledger, now_us);
    weir_ledger_add(&lane->ledger, WEIR_SERIES_REQUESTS, then_us, books->used);
    weir_ledger_charge(&lane->ledger, then_us, then_us, SECONDS(books->used_s));
    budget->kinds[0] = (struct weir_budget_kind){ .samples = 16, .mean_us = books->each_s * 1e6 };
    budget->average_us = books->each_s * 1e6;
    budget->concurrent = books->concurrent;
    budget->charging.trusted = books->told;
    keep_guard(&budget->guard, books->guard, now_us);
    for (uint32_t i = 0; i < books->in_flight; i++) {
        struct weir_policy_lease lease = { .serial = i + 1, .leased_us = now_us };
        weir_policy_budget.leased(budget, &lease, now_us);
        budget->flights[i].sent_us = now_us - SECONDS(books->each_s / 2);
    }
}

#define PLAIN    .requests = 6000, .execution_s = 1200, .each_s = 2, .concurrent = 50
#define AS_MANY  PLAIN, .guard = 50 /* the guard has nothing against it */
#define TWENTY   PLAIN, .guard = 20 /* it allows fewer than the pacing of a window that is free */
#define SHORT    6000, 1200, .each_s = 0.1, .concurrent = 50
#define HALF     3000, 600, .each_s = 2, .concurrent = 50, .guard = 50
#define FEW      6000, 1200, .each_s = 2, .concurrent = 3, .guard = 50
#define ANY      (-1)
#define REQUESTS WEIR_BOUND_BUDGET_REQUESTS
#define TIME     WEIR_BOUND_BUDGET_EXECUTION
#define PACING   WEIR_BOUND_PACING
#define GUARD    WEIR_BOUND_GUARD
#define AT_ONCE  WEIR_BOUND_CONCURRENCY

/*
 * What is ours is the limit without what others use, less 1 % where no header tells: of 6,000
 * requests 5,940, of 1,200 s 1,188. A request goes if
 *
 *     requests    used + in flight + itself + 1 to spare                           <= ours
 *     time, now   used + 1 s for each in flight + 1.5 times 2 s to spare            < ours
 *     its end     used without what has left by then + 2 s for each + its own 2 s  <= ours
 *
 * and if there are fewer in flight than the pacing, the guard and the service allow, of which the
 * least is the level. Over how long a window is spread is the pacing's own affair: of that the
 * table has only that it is, and ANY for a level that follows from it.
 */
START_TEST(budget_decides_by_its_books)
{
    static const struct {
        struct books books;
        bool ok;
        int bound_by;
        int level;
    } table[] = {
        /* The start: 1,200 s in 300 s are 4 at a time (0.97 of it, rounded up), twice as many go;
         * 6,000 of 0.1 s in 300 s are 2. */
        { { PLAIN }, true, GUARD, 8 },
        { { PLAIN, .in_flight = 7 }, true, GUARD, 8 },
        { { PLAIN, .in_flight = 8 }, false, GUARD, 8 },
        { { SHORT, .in_flight = 3 }, true, GUARD, 4 },
        { { SHORT, .in_flight = 4 }, false, GUARD, 4 },
        /* The guard has learned that twelve are better. */
        { { PLAIN, .guard = 12, .in_flight = 11 }, true, GUARD, 12 },
        { { PLAIN, .guard = 12, .in_flight = 12 }, false, GUARD, 12 },
        /* A window of which 100 s are left is not spent by thirty at a time: all of it would be
         * in flight. */
        { { AS_MANY, .used_s = 1082, .ago_s = 100, .in_flight = 30 }, false, PACING, ANY },
        /* Requests: 5,937 + 2 are within 5,940, 5,939 + 2 are not; nor are 5,929 + 10 + 2. */
        { { AS_MANY, .used = 5937, .ago_s = 100 }, true, PACING, ANY },
        { { AS_MANY, .used = 5939, .ago_s = 100 }, false, REQUESTS, ANY },
        { { TWENTY, .used = 5927, .ago_s = 290, .in_flight = 10 }, true, GUARD, 20 },
        { { TWENTY, .used = 5929, .ago_s = 290, .in_flight = 10 }, false, REQUESTS, 20 },
        /* Time: 1,184.5 + 3 s are below 1,188 s, 1,185.5 + 3 s are not. */
        { { AS_MANY, .used_s = 1184.5, .ago_s = 100 }, true, PACING, ANY },
        { { AS_MANY, .used_s = 1185.5, .ago_s = 100 }, false, TIME, ANY },
        /* Five in flight: 1,176.5 + 5 + 3 s are below 1,188 s now, and 1,176.5 + 10 + 2 s are not
         * at the end; but if the 1,176.5 s leave in half a second, they have left by then. */
        { { AS_MANY, .used_s = 1176.5, .ago_s = 100, .in_flight = 5 }, false, TIME, ANY },
        { { TWENTY, .used_s = 1176.5, .ago_s = 299.5, .in_flight = 5 }, true, GUARD, 20 },
        /* A full window, until it has left. A bucket is 0.6 s and is forgotten late. */
        { { TWENTY, .used = 6000, .used_s = 1200, .ago_s = 299 }, false, REQUESTS, 20 },
        { { TWENTY, .used_s = 1200, .ago_s = 299 }, false, TIME, 20 },
        { { TWENTY, .used = 6000, .used_s = 1200, .ago_s = 301 }, true, GUARD, 20 },
        /* Others use 300 s: 0.99 × 900 s are 891; 600 requests: 0.99 × 5,400 are 5,346. */
        { { AS_MANY, .foreign_s = 300, .used_s = 887.5, .ago_s = 100 }, true, PACING, ANY },
        { { AS_MANY, .foreign_s = 300, .used_s = 888.5, .ago_s = 100 }, false, TIME, ANY },
        { { AS_MANY, .foreign = 600, .used = 5343, .ago_s = 100 }, true, PACING, ANY },
        { { AS_MANY, .foreign = 600, .used = 5345, .ago_s = 100 }, false, REQUESTS, ANY },
        /* They use all of it: a twentieth is ours in any case, 0.99 × 60 s = 59.4 s. */
        { { AS_MANY, .foreign_s = 1200, .used_s = 55, .ago_s = 100 }, true, PACING, ANY },
        { { AS_MANY, .foreign_s = 1200, .used_s = 57, .ago_s = 100 }, false, TIME, ANY },
        /* Half the limits: 594 s. */
        { { HALF, .used_s = 590.5, .ago_s = 100 }, true, PACING, ANY },
        { { HALF, .used_s = 591.5, .ago_s = 100 }, false, TIME, ANY },
        /* Headers tell, and nothing is in flight: requests go to the last one. */
        { { AS_MANY, .told = true, .used = 5999, .ago_s = 100 }, true, PACING, ANY },
        { { AS_MANY, .told = true, .used = 6000, .ago_s = 100 }, false, REQUESTS, ANY },
        /* Three at a time is all that the service bears; the guard has nothing to add to that. */
        { { FEW, .in_flight = 2 }, true, AT_ONCE, 3 },
        { { FEW, .in_flight = 3 }, false, AT_ONCE, 3 },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        static const struct weir_ask plain;
        struct weir_options all;
        struct weir_admission ret;
        weir_options_defaults(&all);
        struct weir_budget *budget = weir_calloc(1, sizeof(*budget));
        weir_policy_budget.init(budget, &all.adaptive_rate);
        keep_books(budget, &table[i].books, SECONDS(1000));
        struct weir_policy_ask wish = { .ask = &plain, .in_flight = table[i].books.in_flight };
        weir_policy_budget.admit(budget, &wish, SECONDS(1000), &ret);
        ck_assert_msg(ret.ok == table[i].ok, "row %zu: ok is %d", i, ret.ok);
        ck_assert_msg(table[i].bound_by == ANY || (int)ret.bound_by == table[i].bound_by,
                      "row %zu: bound by %s", i, weir_bound_name(ret.bound_by));
        int level = weir_policy_budget.level(budget);
        ck_assert_msg(table[i].level == ANY || level == table[i].level, "row %zu: level %d", i,
                      level);
        free(budget);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("policy_tables");
    suite_add(&s, dop_and_fixed_go_by_one_number);
    suite_add(&s, what_others_may_use_by_now);
    suite_add(&s, budget_decides_by_its_books);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/*
 * The ledger of Budget against a naive one: a list of entries that is added up anew each time.
 */
#include <stdbool.h>

#include "base/clock.h"
#include "base/rng.h"
#include "support/suite.h"
#include "throttle/policy_budget_ledger.h"

#define ENTRIES_MAX 4000

struct entry {
    int64_t at_us;
    int64_t amount;
};

static struct entry entries[ENTRIES_MAX];
static size_t entry_count;
static struct weir_ledger ledger;

static int64_t bucket(int64_t at_us)
{
    int64_t q = at_us / ledger.bucket_us;
    return q * ledger.bucket_us > at_us ? q - 1 : q;
}

/* What the naive ledger has in the buckets from since to until. */
static int64_t naive(int64_t since_us, int64_t until_us)
{
    int64_t sum = 0;
    for (size_t i = 0; i < entry_count; i++) {
        if (bucket(entries[i].at_us) >= bucket(since_us) &&
            bucket(entries[i].at_us) <= bucket(until_us))
            sum += entries[i].amount;
    }
    return sum;
}

static int64_t naive_expiry(int64_t now_us)
{
    int64_t first = WEIR_FOREVER;
    for (size_t i = 0; i < entry_count; i++) {
        int64_t at = (bucket(entries[i].at_us) + 1) * ledger.bucket_us + ledger.window_us;
        if (entries[i].amount && at > now_us && at < first)
            first = at;
    }
    return first;
}

static void book(int64_t at_us, int64_t amount)
{
    must(entry_count < ENTRIES_MAX);
    entries[entry_count++] = (struct entry){ at_us, amount };
    weir_ledger_add(&ledger, WEIR_SERIES_AT_END, at_us, amount);
}

/* Gaps from nothing to more than all that is kept. */
static int64_t gap(struct weir_rng *rng, int64_t window_us)
{
    switch (weir_rng_below(rng, 40)) {
    case 0:
        return (int64_t)weir_rng_below(rng, (uint64_t)(2 * window_us));
    case 1:
        return 0;
    default:
        return (int64_t)weir_rng_below(rng, (uint64_t)(window_us / 50));
    }
}

/* An empty ledger of one of several windows, at some time; returns that time. */
static int64_t begin(struct weir_rng *rng, uint64_t seed, uint64_t stream, int64_t *ret_window_us)
{
    static const int64_t windows[] = { 512, 6000, 6 * WEIR_US_PER_S, 300 * WEIR_US_PER_S };
    weir_rng_init(rng, seed, stream);
    *ret_window_us = windows[seed % 4];
    int64_t now_us = seed % 3 ? (int64_t)weir_rng_below(rng, 1u << 30) : -5 * *ret_window_us;
    weir_ledger_init(&ledger, *ret_window_us, now_us);
    return now_us;
}

START_TEST(sums_are_those_of_a_naive_ledger)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct weir_rng rng;
        int64_t window_us;
        int64_t now_us = begin(&rng, seed, 0, &window_us);
        entry_count = 0;
        for (int i = 0; i < 1500; i++) {
            now_us += gap(&rng, window_us);
            weir_ledger_advance(&ledger, now_us);
            int64_t late_us = (int64_t)weir_rng_below(&rng, (uint64_t)(window_us / 10 + 1));
            book(now_us - late_us, (int64_t)weir_rng_below(&rng, 1000000));
            int64_t ahead_us = (int64_t)weir_rng_below(&rng, (uint64_t)window_us);
            must(weir_ledger_used(&ledger, WEIR_SERIES_AT_END, now_us) ==
                 naive(now_us - window_us, now_us));
            must(weir_ledger_used(&ledger, WEIR_SERIES_AT_END, now_us + ahead_us) ==
                 naive(now_us + ahead_us - window_us, now_us + ahead_us));
            must(weir_ledger_next_expiry_us(&ledger, WEIR_SERIES_AT_END, now_us) ==
                 naive_expiry(now_us));
        }
    }
}
END_TEST

/*
 * The same with requests that run for a while: each is in three series, at its end, at its
 * beginning and evenly in between. The naive one keeps the runs and cuts them anew each time.
 */
#define RUNS_MAX 500

struct run {
    int64_t begin_us;
    int64_t end_us;
    int64_t amount;
};

static struct run runs[RUNS_MAX];
static size_t run_count;

/* The part of the time from `a` to `b` that lies between two moments; a moment is inside or not. */
static double inside(int64_t a, int64_t b, int64_t since_us, int64_t until_us)
{
    if (a == b)
        return a >= since_us && a < until_us;
    int64_t from = a > since_us ? a : since_us;
    int64_t to = b < until_us ? b : until_us;
    return to > from ? (double)(to - from) / (double)(b - a) : 0;
}

/* What a run has in a series between two moments. */
static double of_run(const struct run *run, enum weir_series series, int64_t since_us,
                     int64_t until_us)
{
    int64_t from = series == WEIR_SERIES_AT_END ? run->end_us : run->begin_us;
    int64_t to = series == WEIR_SERIES_AT_BEGIN ? run->begin_us : run->end_us;
    return (double)run->amount * inside(from, to, since_us, until_us);
}

/* In the buckets from since to until, as weir_ledger_span() has it. */
static double naive_span(enum weir_series series, int64_t since_us, int64_t until_us)
{
    double sum = 0;
    for (size_t i = 0; i < run_count; i++)
        sum += of_run(&runs[i], series, bucket(since_us) * ledger.bucket_us,
                      (bucket(until_us) + 1) * ledger.bucket_us);
    return sum;
}

/* As weir_ledger_measure() has it: a bucket counts by how much of it lies in the span, the newest
 * one, which is not over, as a whole from its beginning on. */
static double naive_measure(enum weir_series series, int64_t since_us, int64_t until_us)
{
    double sum = 0;
    for (int64_t b = bucket(since_us); b <= bucket(until_us); b++) {
        int64_t begin_us = b * ledger.bucket_us;
        int64_t end_us = begin_us + ledger.bucket_us;
        double part = inside(begin_us, end_us, since_us, until_us);
        if (b == ledger.head)
            part = b > bucket(since_us);
        for (size_t i = 0; part > 0 && i < run_count; i++)
            sum += part * of_run(&runs[i], series, begin_us, end_us);
    }
    return sum;
}

/* Of each run the ledger keeps whole microseconds, so a sum may be off by one for each. */
static bool is_near(double ring, double plain, enum weir_series series)
{
    double off = series == WEIR_SERIES_ACCRUED ? (double)run_count : 0;
    double diff = ring > plain ? ring - plain : plain - ring;
    return diff <= off + 1e-9 * plain + 1e-3;
}

static void compare_spans(struct weir_rng *rng, int64_t now_us)
{
    int64_t window_us = ledger.window_us;
    int64_t ahead_us = (int64_t)weir_rng_below(rng, (uint64_t)window_us);
    int64_t since_us = now_us - (int64_t)weir_rng_below(rng, (uint64_t)(window_us * 5 / 4));
    int64_t until_us = since_us + (int64_t)weir_rng_below(rng, (uint64_t)(now_us - since_us + 1));
    for (int i = 0; i <= WEIR_SERIES_AT_BEGIN; i++) {
        enum weir_series series = (enum weir_series)i;
        int64_t then_us = now_us + ahead_us;
        must(is_near((double)weir_ledger_used(&ledger, series, now_us),
                     naive_span(series, now_us - window_us, now_us), series));
        must(is_near((double)weir_ledger_used(&ledger, series, then_us),
                     naive_span(series, then_us - window_us, then_us), series));
        must(is_near((double)weir_ledger_span(&ledger, series, since_us, until_us),
                     naive_span(series, since_us, until_us), series));
    }
}

static void compare_measures(struct weir_rng *rng, int64_t now_us)
{
    int64_t span_us = ledger.bucket_us * 20;
    int64_t since_us = now_us - (int64_t)weir_rng_below(rng, (uint64_t)(ledger.window_us * 5 / 4));
    int64_t until_us = since_us + (int64_t)weir_rng_below(rng, (uint64_t)span_us);
    if (until_us > now_us)
        until_us = now_us;
    for (int i = 0; i <= WEIR_SERIES_AT_BEGIN; i++) {
        enum weir_series series = (enum weir_series)i;
        must(is_near(weir_ledger_measure(&ledger, series, since_us, until_us),
                     naive_measure(series, since_us, until_us), series));
    }
}

START_TEST(runs_are_spread_as_in_a_naive_ledger)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct weir_rng rng;
        int64_t window_us;
        int64_t now_us = begin(&rng, seed, 1, &window_us);
        run_count = 0;
        while (run_count < RUNS_MAX) {
            now_us += gap(&rng, window_us);
            weir_ledger_advance(&ledger, now_us);
            int64_t late_us = (int64_t)weir_rng_below(&rng, (uint64_t)(window_us / 20 + 1));
            int64_t took_us = (int64_t)weir_rng_below(&rng, (uint64_t)(window_us / 5));
            int64_t end_us = now_us - (weir_rng_below(&rng, 4) ? 0 : late_us);
            struct run run = { weir_rng_below(&rng, 8) ? end_us - took_us : end_us, end_us,
                               (int64_t)weir_rng_below(&rng, 1000000) };
            runs[run_count++] = run;
            weir_ledger_charge(&ledger, run.begin_us, run.end_us, run.amount);
            compare_spans(&rng, now_us);
            compare_measures(&rng, now_us);
        }
    }
}
END_TEST

START_TEST(where_nothing_is_booked_nothing_expires)
{
    int64_t window_us = 60 * WEIR_US_PER_S;
    weir_ledger_init(&ledger, window_us, 0);
    for (int series = 0; series < WEIR_SERIES_COUNT; series++)
        ck_assert(weir_ledger_next_expiry_us(&ledger, (enum weir_series)series, 0) == WEIR_FOREVER);
    weir_ledger_request(&ledger, 0);
    int64_t at_us = weir_ledger_next_expiry_us(&ledger, WEIR_SERIES_REQUESTS, 0);
    ck_assert(at_us > window_us && at_us <= window_us + ledger.bucket_us);
    ck_assert(weir_ledger_next_expiry_us(&ledger, WEIR_SERIES_AT_END, 0) == WEIR_FOREVER);
    weir_ledger_advance(&ledger, 3 * window_us); /* and when all of it has left */
    ck_assert(weir_ledger_next_expiry_us(&ledger, WEIR_SERIES_REQUESTS, 3 * window_us) ==
              WEIR_FOREVER);
}
END_TEST

START_TEST(a_charge_is_the_same_amount_in_every_series_and_is_never_forgotten_early)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 7, 0);
    int64_t window_us = 60 * WEIR_US_PER_S;
    weir_ledger_init(&ledger, window_us, 0);
    for (int i = 0; i < 2000; i++) {
        int64_t begin_us = i * WEIR_US_PER_S / 10;
        int64_t end_us = begin_us + (int64_t)weir_rng_below(&rng, 20 * WEIR_US_PER_S);
        int64_t amount = (int64_t)weir_rng_below(&rng, 20 * WEIR_US_PER_S);
        weir_ledger_advance(&ledger, end_us);
        weir_ledger_init(&ledger, window_us, begin_us);
        weir_ledger_advance(&ledger, end_us);
        weir_ledger_charge(&ledger, begin_us, end_us, amount);
        for (int series = 0; series <= WEIR_SERIES_AT_BEGIN; series++)
            must(weir_ledger_used(&ledger, (enum weir_series)series, end_us) == amount);
        must(weir_ledger_used(&ledger, WEIR_SERIES_AT_END, end_us + window_us) == amount);
        must(weir_ledger_used(&ledger, WEIR_SERIES_AT_BEGIN, begin_us + window_us) == amount);
        int64_t middle =
            weir_ledger_used(&ledger, WEIR_SERIES_ACCRUED, (begin_us + end_us) / 2 + window_us);
        must(middle >= amount / 2 - 1 && middle <= amount);
        int64_t gone_us = end_us + window_us + 2 * ledger.bucket_us;
        for (int series = 0; series <= WEIR_SERIES_AT_BEGIN; series++)
            must(weir_ledger_used(&ledger, (enum weir_series)series, gone_us) == 0);
    }
}
END_TEST

START_TEST(another_window_keeps_what_is_still_inside)
{
    weir_ledger_init(&ledger, 300 * WEIR_US_PER_S, 0);
    for (int64_t s = 0; s < 100; s++) {
        weir_ledger_advance(&ledger, s * WEIR_US_PER_S);
        weir_ledger_request(&ledger, s * WEIR_US_PER_S);
    }
    int64_t now_us = 99 * WEIR_US_PER_S;
    weir_ledger_set_window(&ledger, 50 * WEIR_US_PER_S, now_us);
    int64_t kept = weir_ledger_used(&ledger, WEIR_SERIES_REQUESTS, now_us);
    ck_assert_int_ge(kept, 50);
    ck_assert_int_le(kept, 52);
    weir_ledger_advance(&ledger, now_us + 25 * WEIR_US_PER_S);
    kept = weir_ledger_used(&ledger, WEIR_SERIES_REQUESTS, now_us + 25 * WEIR_US_PER_S);
    ck_assert_int_ge(kept, 25);
    ck_assert_int_le(kept, 27);
}
END_TEST

START_TEST(a_measure_is_between_the_sums_of_whole_buckets)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 11, 0);
    weir_ledger_init(&ledger, 6 * WEIR_US_PER_S, 0);
    for (int i = 1; i < 3000; i++) {
        int64_t now_us = i * 7919;
        weir_ledger_advance(&ledger, now_us);
        weir_ledger_request(&ledger, now_us);
        int64_t since_us = now_us - (int64_t)weir_rng_below(&rng, 6 * WEIR_US_PER_S);
        double measure = weir_ledger_measure(&ledger, WEIR_SERIES_REQUESTS, since_us, now_us);
        int64_t most = weir_ledger_span(&ledger, WEIR_SERIES_REQUESTS, since_us, now_us);
        int64_t least =
            weir_ledger_span(&ledger, WEIR_SERIES_REQUESTS, since_us + ledger.bucket_us, now_us);
        must(measure <= (double)most + 1e-6 && measure >= (double)least - 1e-6);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_ledger");
    suite_add(&s, sums_are_those_of_a_naive_ledger);
    suite_add(&s, runs_are_spread_as_in_a_naive_ledger);
    suite_add(&s, where_nothing_is_booked_nothing_expires);
    suite_add(&s, a_charge_is_the_same_amount_in_every_series_and_is_never_forgotten_early);
    suite_add(&s, another_window_keeps_what_is_still_inside);
    suite_add(&s, a_measure_is_between_the_sums_of_whole_buckets);
    return suite_run(&s);
}

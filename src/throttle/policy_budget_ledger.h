/* SPDX-License-Identifier: MIT */
/*
 * The ledger of Budget: a mirror of what one web server has booked for one connection.
 *
 * Time is cut into buckets, WEIR_LEDGER_PER_WINDOW to a window. Each series keeps, for every
 * bucket, the running total at its end, so that the sum over any span is one subtraction:
 *
 *     totals   ── 3 ── 3 ── 7 ── 9 ── 9 ── 12 ◀─ head
 *                      └── used since then: 12 − 3 ──┘
 *
 * A bucket counts as a whole until its end has left the window: the mirror forgets late, never
 * early. When a server charges execution time is not known beforehand, so three series are kept:
 * the same time charged at the beginning of its request, at its end, and evenly in between.
 *
 * Times are microseconds, amounts are integers. A time before the newest one seen is a late entry
 * and goes where it belongs; one before the kept span goes into the oldest bucket.
 */
#ifndef WEIR_THROTTLE_POLICY_BUDGET_LEDGER_H
#define WEIR_THROTTLE_POLICY_BUDGET_LEDGER_H

#include <stdint.h>

#define WEIR_LEDGER_PER_WINDOW 512
#define WEIR_LEDGER_BUCKETS    768 /* kept: one window and a half */

enum weir_series {
    WEIR_SERIES_ACCRUED,  /* execution time, spread over the run of its request */
    WEIR_SERIES_AT_END,   /* the same, all at the end */
    WEIR_SERIES_AT_BEGIN, /* the same, all at the beginning */
    WEIR_SERIES_REQUESTS, /* requests, when they were sent */
    WEIR_SERIES_COUNT
};

struct weir_ledger {
    int64_t window_us;
    int64_t bucket_us;
    int64_t head; /* number of the newest bucket; bucket b is [b, b + 1) × bucket_us */
    int64_t totals[WEIR_SERIES_COUNT][WEIR_LEDGER_BUCKETS]; /* bucket b at b modulo the size */
};

/* Empty, from `now_us` on. */
void weir_ledger_init(struct weir_ledger *ledger, int64_t window_us, int64_t now_us);

/* Another window: what was booked stays, as precisely as the old buckets were. */
void weir_ledger_set_window(struct weir_ledger *ledger, int64_t window_us, int64_t now_us);

/* Time passes. Every other function wants the newest time to have been told. */
void weir_ledger_advance(struct weir_ledger *ledger, int64_t now_us);

/* One request, sent at `at_us`. */
void weir_ledger_request(struct weir_ledger *ledger, int64_t at_us);

/* A request that ran from `begin_us` to `end_us` and took `amount_us` of execution time. */
void weir_ledger_charge(struct weir_ledger *ledger, int64_t begin_us, int64_t end_us,
                        int64_t amount_us);

/* An amount of one series at one moment. */
void weir_ledger_add(struct weir_ledger *ledger, enum weir_series series, int64_t at_us,
                     int64_t amount);

/* What is booked after `since_us` until `until_us`, the bucket of either included. */
int64_t weir_ledger_span(const struct weir_ledger *ledger, enum weir_series series,
                         int64_t since_us, int64_t until_us);

/* What is booked in the window that ends at `at_us`; later than now: of what is booked by now. */
static inline int64_t weir_ledger_used(const struct weir_ledger *ledger, enum weir_series series,
                                       int64_t at_us)
{
    return weir_ledger_span(ledger, series, at_us - ledger->window_us, at_us);
}

/* The same as precisely as can be told, for comparing with what the server says: a bucket that is
 * cut by an end of the span counts in part. */
double weir_ledger_measure(const struct weir_ledger *ledger, enum weir_series series,
                           int64_t since_us, int64_t until_us);

/* When the next bucket that holds something leaves the window; WEIR_FOREVER: there is none. */
int64_t weir_ledger_next_expiry_us(const struct weir_ledger *ledger, enum weir_series series,
                                   int64_t now_us);

#endif

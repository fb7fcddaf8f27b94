/* SPDX-License-Identifier: MIT */
/*
 * A sliding window that knows what is coming: the oracle's book of one budget.
 *
 * Use is written down as changes, lumps and rates as in the simulator's window (sim/law/window.h,
 * where buckets are explained too), but those of the future as well: when a request that runs now
 * will end is known. So the sum can be foretold for every moment to come, if nobody begins anything
 * more:
 *
 *     sum(x)  ────────╲                      room(x) = limit − sum(x)
 *                      ╲______╱╲
 *          now                  ╲_____▶ x
 *
 * A claim is what one more request would use. It may begin at s if its use fits into the room at
 * every x from then on. The later it begins, the less of it there is at any x, so there is an
 * earliest s: the largest, over all x whose room is less than the whole claim, of x − lead(room),
 * where the lead is how long before x it may begin and still fit:
 *
 *     accrual      room / rate      so much of it fits into the room at x
 *     completion   its duration     it must not end before x is over
 *     arrival      0                it must not begin before x is over
 *
 * A claim that is larger than the limit counts as the limit: it goes when nothing else does.
 */
#ifndef LAB_LEDGER_H
#define LAB_LEDGER_H

#include "sim/law/scenario.h"

struct lab_change {
    int64_t at_us;
    int64_t amount; /* a lump */
    int64_t rate;   /* a change of rate, in units a microsecond */
};

/* Where the two ends of the window stand, and what is between them. */
struct lab_view {
    int64_t head_us;
    int64_t tail_us;
    uint32_t head; /* the first change that the end has not passed */
    uint32_t tail;
    int64_t head_rate;
    int64_t tail_rate;
    int64_t sum;
};

struct lab_ledger {
    struct lab_change *changes; /* ascending in time */
    uint32_t count;
    uint32_t capacity;
    int64_t window_us;
    int64_t bucket_us; /* 0: exact */
    struct lab_view now;
};

struct lab_claim {
    enum sim_charge charge;
    int64_t amount;
    int64_t rate; /* accrual: units a microsecond */
    int64_t duration_us;
};

/* An empty ledger whose time is one window before 0. */
void lab_ledger_init(struct lab_ledger *ledger, int64_t window_us, int64_t bucket_us);
void lab_ledger_release(struct lab_ledger *ledger);

/* Write a change down, of now or of the future. */
void lab_ledger_add(struct lab_ledger *ledger, struct lab_change change);

/* Write down what a request uses that begins at `from_us`. */
void lab_ledger_charge(struct lab_ledger *ledger, const struct lab_claim *claim, int64_t from_us);

/* Time goes on. */
void lab_ledger_advance(struct lab_ledger *ledger, int64_t now_us);

/* The earliest moment, not before now, when the claim may begin. */
int64_t lab_ledger_earliest(const struct lab_ledger *ledger, const struct lab_claim *claim,
                            int64_t limit);

/* The first moment, not before now, when the sum is at most `target`; WEIR_FOREVER: never. */
int64_t lab_ledger_falls_us(const struct lab_ledger *ledger, int64_t target);

/* How much leaves the window from now until `span_us` later. */
int64_t lab_ledger_leaving(const struct lab_ledger *ledger, int64_t span_us);

/* How much is still to come of what has been written down. */
int64_t lab_ledger_coming(const struct lab_ledger *ledger);

#endif

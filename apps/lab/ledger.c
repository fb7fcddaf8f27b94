/* SPDX-License-Identifier: MIT */
/*
 * A sliding window that knows what is coming; see ledger.h.
 *
 * Vocabulary. Between two stops the sum is a straight line: a piece. It bends where the head passes
 * a change and where the tail does, and with buckets it falls in jumps where the tail moves on.
 */
#include "lab/ledger.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define CAPACITY_MIN 64
#define PASSED_MIN   1024 /* so many that nobody needs any more are thrown away at once */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t floor_to(int64_t x, int64_t step)
{
    int64_t rest = x % step;
    return x - (rest < 0 ? rest + step : rest);
}

/* Where the window that ends at `x` begins. */
static int64_t tail_of(const struct lab_ledger *ledger, int64_t x)
{
    int64_t tail_us = x - ledger->window_us;
    return ledger->bucket_us ? floor_to(tail_us, ledger->bucket_us) : tail_us;
}

void lab_ledger_init(struct lab_ledger *ledger, int64_t window_us, int64_t bucket_us)
{
    *ledger = (struct lab_ledger){ .window_us = window_us, .bucket_us = bucket_us };
    ledger->now.head_us = -window_us;
    ledger->now.tail_us = tail_of(ledger, -window_us);
}

void lab_ledger_release(struct lab_ledger *ledger)
{
    free(ledger->changes);
    *ledger = (struct lab_ledger){ 0 };
}

/* --- moving ----------------------------------------------------------------------------------- */

/* Move one end to `to_us`; returns what it passed. */
static int64_t pass(const struct lab_ledger *ledger, int64_t *at_us, uint32_t *next, int64_t *rate,
                    int64_t to_us)
{
    int64_t mass = 0;
    for (; *next < ledger->count && ledger->changes[*next].at_us <= to_us; (*next)++) {
        const struct lab_change *change = &ledger->changes[*next];
        mass += *rate * (change->at_us - *at_us) + change->amount;
        *at_us = change->at_us;
        *rate += change->rate;
    }
    mass += *rate * (to_us - *at_us);
    *at_us = to_us;
    return mass;
}

static int64_t pass_tail(const struct lab_ledger *ledger, struct lab_view *view, int64_t to_us)
{
    return pass(ledger, &view->tail_us, &view->tail, &view->tail_rate, tail_of(ledger, to_us));
}

static void move(const struct lab_ledger *ledger, struct lab_view *view, int64_t to_us)
{
    view->sum += pass(ledger, &view->head_us, &view->head, &view->head_rate, to_us);
    view->sum -= pass_tail(ledger, view, to_us);
}

void lab_ledger_charge(struct lab_ledger *ledger, const struct lab_claim *claim, int64_t from_us)
{
    int64_t end_us = from_us + claim->duration_us;
    switch (claim->charge) {
    case SIM_CHARGE_ACCRUAL:
        lab_ledger_add(ledger, (struct lab_change){ from_us, 0, claim->rate });
        lab_ledger_add(ledger, (struct lab_change){ end_us, 0, -claim->rate });
        break;
    case SIM_CHARGE_COMPLETION:
        lab_ledger_add(ledger, (struct lab_change){ end_us, claim->amount, 0 });
        break;
    case SIM_CHARGE_ARRIVAL:
        lab_ledger_add(ledger, (struct lab_change){ from_us, claim->amount, 0 });
        break;
    }
}

void lab_ledger_advance(struct lab_ledger *ledger, int64_t now_us)
{
    if (now_us <= ledger->now.head_us)
        return;
    move(ledger, &ledger->now, now_us);
    uint32_t passed = ledger->now.tail;
    if (passed < PASSED_MIN || passed < ledger->count / 2)
        return;
    ledger->count -= passed;
    memmove(ledger->changes, ledger->changes + passed, ledger->count * sizeof(*ledger->changes));
    ledger->now.head -= passed;
    ledger->now.tail = 0;
}

void lab_ledger_add(struct lab_ledger *ledger, struct lab_change change)
{
    if (ledger->count == ledger->capacity) {
        ledger->capacity = ledger->capacity ? 2 * ledger->capacity : CAPACITY_MIN;
        ledger->changes = weir_realloc(ledger->changes, ledger->capacity, sizeof(*ledger->changes));
    }
    uint32_t place = ledger->count++;
    struct lab_change *changes = ledger->changes;
    for (; place > ledger->now.head && changes[place - 1].at_us > change.at_us; place--)
        changes[place] = changes[place - 1];
    changes[place] = change;
    move(ledger, &ledger->now, ledger->now.head_us); /* what is of now has been passed */
}

/* --- looking ahead ---------------------------------------------------------------------------- */

/* When the tail passes something next. */
static int64_t next_leaving(const struct lab_ledger *ledger, const struct lab_view *view)
{
    int64_t bucket_us = ledger->bucket_us;
    if (bucket_us && view->tail_rate)
        return view->tail_us + bucket_us + ledger->window_us;
    if (view->tail == ledger->count)
        return WEIR_FOREVER;
    int64_t at_us = ledger->changes[view->tail].at_us;
    return (bucket_us ? floor_to(at_us + bucket_us - 1, bucket_us) : at_us) + ledger->window_us;
}

/* The end of the piece that begins where the view stands. */
static int64_t next_stop(const struct lab_ledger *ledger, const struct lab_view *view)
{
    int64_t leaving_us = next_leaving(ledger, view);
    if (view->head == ledger->count)
        return leaving_us;
    return smaller(leaving_us, ledger->changes[view->head].at_us);
}

/* How fast the sum falls along the piece. */
static int64_t fall(const struct lab_ledger *ledger, const struct lab_view *view)
{
    return (ledger->bucket_us ? 0 : view->tail_rate) - view->head_rate;
}

/* How long before a moment of so much room the claim may begin. */
static int64_t lead_us(const struct lab_claim *claim, int64_t room)
{
    if (room < 0)
        return 0;
    switch (claim->charge) {
    case SIM_CHARGE_ACCRUAL:
        return claim->rate ? room / claim->rate : 0;
    case SIM_CHARGE_COMPLETION:
        return claim->duration_us;
    case SIM_CHARGE_ARRIVAL:
        break;
    }
    return 0;
}

/* The earliest beginning as far as one piece has a say; it has less room than `amount` somewhere.
 */
static int64_t piece_allows(const struct lab_claim *claim, int64_t amount,
                            const struct lab_view *view, int64_t room, int64_t falling,
                            int64_t stop_us)
{
    int64_t at_end = room + falling * (stop_us - view->head_us);
    int64_t begin_us = room < amount ? view->head_us - lead_us(claim, room) : INT64_MIN;
    if (room < 0 && at_end >= 0) /* not before there is any room at all */
        begin_us = view->head_us + (falling - 1 - room) / falling;
    if (at_end < amount)
        return larger(begin_us, stop_us - lead_us(claim, at_end));
    int64_t enough_us = view->head_us + (amount - room + falling - 1) / falling;
    return larger(begin_us, enough_us - lead_us(claim, amount));
}

int64_t lab_ledger_earliest(const struct lab_ledger *ledger, const struct lab_claim *claim,
                            int64_t limit)
{
    struct lab_view view = ledger->now;
    int64_t amount = smaller(claim->amount, limit);
    int64_t earliest_us = view.head_us;
    for (;;) {
        int64_t room = limit - view.sum;
        if (view.head == ledger->count && room >= amount)
            return earliest_us; /* from here on it only grows */
        int64_t stop_us = next_stop(ledger, &view);
        if (stop_us == WEIR_FOREVER)
            return earliest_us;
        int64_t falling = fall(ledger, &view);
        if (room < amount || room + falling * (stop_us - view.head_us) < amount)
            earliest_us =
                larger(earliest_us, piece_allows(claim, amount, &view, room, falling, stop_us));
        move(ledger, &view, stop_us);
    }
}

int64_t lab_ledger_falls_us(const struct lab_ledger *ledger, int64_t target)
{
    struct lab_view view = ledger->now;
    while (view.sum > target) {
        int64_t stop_us = next_stop(ledger, &view);
        int64_t falling = fall(ledger, &view);
        if (falling > 0) {
            int64_t there_us = view.head_us + (view.sum - target + falling - 1) / falling;
            if (there_us < stop_us)
                return there_us;
        }
        if (stop_us == WEIR_FOREVER)
            return WEIR_FOREVER;
        move(ledger, &view, stop_us);
    }
    return view.head_us;
}

int64_t lab_ledger_leaving(const struct lab_ledger *ledger, int64_t span_us)
{
    struct lab_view view = ledger->now;
    return pass_tail(ledger, &view, view.head_us + span_us);
}

int64_t lab_ledger_coming(const struct lab_ledger *ledger)
{
    struct lab_view view = ledger->now;
    if (view.head == ledger->count)
        return 0;
    int64_t last_us = ledger->changes[ledger->count - 1].at_us;
    return pass(ledger, &view.head_us, &view.head, &view.head_rate, last_us);
}

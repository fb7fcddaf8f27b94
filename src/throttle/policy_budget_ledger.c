/* SPDX-License-Identifier: MIT */
/* The ledger of Budget; see policy_budget_ledger.h. */
#include "throttle/policy_budget_ledger.h"

#include <string.h>

#include "base/clock.h"

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q * b > a ? q - 1 : q;
}

static int64_t bucket_of(const struct weir_ledger *ledger, int64_t at_us)
{
    return floor_div(at_us, ledger->bucket_us);
}

static int64_t oldest(const struct weir_ledger *ledger)
{
    return ledger->head - WEIR_LEDGER_BUCKETS + 1;
}

static int64_t clamp(const struct weir_ledger *ledger, int64_t bucket)
{
    if (bucket > ledger->head)
        return ledger->head;
    return bucket < oldest(ledger) ? oldest(ledger) : bucket;
}

static uint32_t place(int64_t bucket)
{
    int64_t rest = bucket % WEIR_LEDGER_BUCKETS;
    return (uint32_t)(rest < 0 ? rest + WEIR_LEDGER_BUCKETS : rest);
}

void weir_ledger_init(struct weir_ledger *ledger, int64_t window_us, int64_t now_us)
{
    memset(ledger, 0, sizeof(*ledger));
    ledger->window_us = window_us;
    ledger->bucket_us = window_us / WEIR_LEDGER_PER_WINDOW;
    if (ledger->bucket_us < 1)
        ledger->bucket_us = 1;
    ledger->head = bucket_of(ledger, now_us);
}

void weir_ledger_advance(struct weir_ledger *ledger, int64_t now_us)
{
    int64_t head = bucket_of(ledger, now_us);
    if (head <= ledger->head)
        return;
    int64_t first = ledger->head + 1;
    if (head - first >= WEIR_LEDGER_BUCKETS)
        first = head - WEIR_LEDGER_BUCKETS + 1;
    for (int series = 0; series < WEIR_SERIES_COUNT; series++) {
        int64_t *totals = ledger->totals[series];
        int64_t total = totals[place(ledger->head)];
        for (int64_t bucket = first; bucket <= head; bucket++)
            totals[place(bucket)] = total;
    }
    ledger->head = head;
}

void weir_ledger_add(struct weir_ledger *ledger, enum weir_series series, int64_t at_us,
                     int64_t amount)
{
    for (int64_t b = clamp(ledger, bucket_of(ledger, at_us)); b <= ledger->head; b++)
        ledger->totals[series][place(b)] += amount;
}

void weir_ledger_request(struct weir_ledger *ledger, int64_t at_us)
{
    weir_ledger_add(ledger, WEIR_SERIES_REQUESTS, at_us, 1);
}

/* The share of `amount` that had accrued by the end of bucket b. */
static int64_t accrued(const struct weir_ledger *ledger, int64_t bucket, int64_t begin_us,
                       int64_t end_us, int64_t amount)
{
    int64_t until_us = (bucket + 1) * ledger->bucket_us;
    if (until_us >= end_us)
        return amount;
    return (int64_t)((double)amount *
                     ((double)(until_us - begin_us) / (double)(end_us - begin_us)));
}

void weir_ledger_charge(struct weir_ledger *ledger, int64_t begin_us, int64_t end_us,
                        int64_t amount_us)
{
    weir_ledger_add(ledger, WEIR_SERIES_AT_BEGIN, begin_us, amount_us);
    weir_ledger_add(ledger, WEIR_SERIES_AT_END, end_us, amount_us);
    for (int64_t b = clamp(ledger, bucket_of(ledger, begin_us)); b < ledger->head; b++)
        ledger->totals[WEIR_SERIES_ACCRUED][place(b)] +=
            accrued(ledger, b, begin_us, end_us, amount_us);
    ledger->totals[WEIR_SERIES_ACCRUED][place(ledger->head)] += amount_us;
}

int64_t weir_ledger_span(const struct weir_ledger *ledger, enum weir_series series,
                         int64_t since_us, int64_t until_us)
{
    int64_t before = bucket_of(ledger, since_us) - 1; /* the last bucket that is all outside */
    int64_t last = bucket_of(ledger, until_us);
    if (last < oldest(ledger) || last <= before)
        return 0;
    int64_t upto = ledger->totals[series][place(clamp(ledger, last))];
    return upto - ledger->totals[series][place(clamp(ledger, before))];
}

/* The running total at a moment, as if a bucket had been filled evenly. */
static double total_at(const struct weir_ledger *ledger, enum weir_series series, int64_t at_us)
{
    const int64_t *totals = ledger->totals[series];
    int64_t bucket = bucket_of(ledger, at_us);
    if (bucket >= ledger->head)
        return (double)totals[place(ledger->head)];
    if (bucket <= oldest(ledger))
        return (double)totals[place(oldest(ledger))];
    double part = (double)(at_us - bucket * ledger->bucket_us) / (double)ledger->bucket_us;
    double before = (double)totals[place(bucket - 1)];
    return before + part * ((double)totals[place(bucket)] - before);
}

double weir_ledger_measure(const struct weir_ledger *ledger, enum weir_series series,
                           int64_t since_us, int64_t until_us)
{
    return total_at(ledger, series, until_us) - total_at(ledger, series, since_us);
}

int64_t weir_ledger_next_expiry_us(const struct weir_ledger *ledger, enum weir_series series,
                                   int64_t now_us)
{
    const int64_t *totals = ledger->totals[series];
    int64_t before = clamp(ledger, bucket_of(ledger, now_us - ledger->window_us) - 1);
    for (int64_t b = before + 1; b <= ledger->head; b++) {
        if (totals[place(b)] != totals[place(before)])
            return (b + 1) * ledger->bucket_us + ledger->window_us;
    }
    return WEIR_FOREVER;
}

void weir_ledger_set_window(struct weir_ledger *ledger, int64_t window_us, int64_t now_us)
{
    struct weir_ledger old = *ledger;
    weir_ledger_init(ledger, window_us, now_us);
    for (int series = 0; series < WEIR_SERIES_COUNT; series++) {
        for (int64_t b = oldest(&old) + 1; b <= old.head; b++) {
            int64_t amount = old.totals[series][place(b)] - old.totals[series][place(b - 1)];
            int64_t at_us = (b + 1) * old.bucket_us - 1;
            if (amount && at_us > now_us - window_us - ledger->bucket_us)
                weir_ledger_add(ledger, (enum weir_series)series, at_us < now_us ? at_us : now_us,
                                amount);
        }
    }
}

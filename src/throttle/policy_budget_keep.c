/* SPDX-License-Identifier: MIT */
/*
 * Budget: what outlives a restart, as bytes: limits, how the service charges, and what is booked in
 * each lane's window, with its age. Little-endian words of 64 bits:
 *
 *     magic  window  concurrent  rho  guess  lanes, then for each lane
 *     server  requests limit  execution limit, then for each of its entries
 *     series  age  amount
 *
 * An entry is one sixty-fourth of a window, as old as its end.
 */
#include <string.h>

#include "base/clock.h"
#include "throttle/policy_budget_state.h"

#define MAGIC      UINT64_C(0x5745495242554431) /* WEIRBUD1 */
#define PORTIONS   64
#define HEAD_WORDS 6
#define LANE_WORDS 3
#define UNIT       1000.0 /* fractions are kept in thousandths */

struct words {
    unsigned char *bytes;
    size_t used;
    size_t max; /* in words */
};

static void put(struct words *words, int64_t value)
{
    uint64_t bits = (uint64_t)value;
    for (int i = 0; words->used < words->max && i < 8; i++)
        words->bytes[words->used * 8 + (size_t)i] = (unsigned char)(bits >> (8 * i));
    words->used++;
}

static int64_t get(struct words *words)
{
    uint64_t bits = 0;
    for (int i = 0; words->used < words->max && i < 8; i++)
        bits |= (uint64_t)words->bytes[words->used * 8 + (size_t)i] << (8 * i);
    words->used++;
    return (int64_t)bits;
}

static void put_entries(struct words *words, const struct weir_budget *budget,
                        const struct weir_ledger *ledger, int64_t now_us)
{
    int64_t portion_us = budget->window_us / PORTIONS;
    for (int series = 0; series < WEIR_SERIES_COUNT; series++) {
        for (int i = 0; i < PORTIONS; i++) {
            int64_t until_us = now_us - portion_us * i;
            double amount = weir_ledger_measure(ledger, (enum weir_series)series,
                                                until_us - portion_us, until_us);
            put(words, series);
            put(words, portion_us * i);
            put(words, (int64_t)(amount + 0.5));
        }
    }
}

size_t weir_budget_save(const void *state, int64_t now_us, void *bytes, size_t bytes_max)
{
    const struct weir_budget *budget = state;
    struct words words = { bytes, 0, bytes_max / 8 };
    put(&words, (int64_t)MAGIC);
    put(&words, budget->window_us);
    put(&words, (int64_t)budget->concurrent);
    put(&words, (int64_t)(weir_budget_rho(budget) * UNIT));
    put(&words, budget->charging.best);
    put(&words, budget->lane_count);
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        const struct weir_budget_lane *lane = &budget->lanes[i];
        put(&words, (int64_t)lane->server_id);
        put(&words, (int64_t)lane->quotas[WEIR_BUDGET_REQUESTS].limit);
        put(&words, (int64_t)lane->quotas[WEIR_BUDGET_EXECUTION].limit);
        put_entries(&words, budget, &lane->ledger, now_us);
    }
    return words.used <= words.max ? words.used * 8 : 0;
}

static bool check_lane(struct words *words)
{
    get(words);
    int64_t requests = get(words);
    int64_t execution_us = get(words);
    bool good = weir_budget_is_limit(WEIR_BUDGET_REQUESTS, (double)requests) &&
                weir_budget_is_limit(WEIR_BUDGET_EXECUTION, (double)execution_us);
    for (int left = PORTIONS * WEIR_SERIES_COUNT; left > 0; left--) {
        int64_t series = get(words);
        int64_t age_us = get(words);
        int64_t amount = get(words);
        good = good && series >= 0 && series < WEIR_SERIES_COUNT && age_us >= 0 &&
               age_us <= WEIR_US_PER_HOUR && amount >= 0 &&
               amount <= 2 * WEIR_BUDGET_EXECUTION_MAX_US;
    }
    return good;
}

/* Bytes that are not ours, or of another time, are refused before anything is changed. */
static bool check(const void *bytes, size_t len)
{
    struct words words = { (unsigned char *)bytes, 0, len / 8 };
    if (len % 8 || len / 8 < HEAD_WORDS || get(&words) != (int64_t)MAGIC)
        return false;
    int64_t window_us = get(&words);
    int64_t concurrent = get(&words);
    int64_t rho = get(&words);
    int64_t guess = get(&words);
    int64_t lanes = get(&words);
    size_t lane_words = LANE_WORDS + (size_t)PORTIONS * WEIR_SERIES_COUNT * 3;
    bool good = weir_budget_is_window(window_us) && concurrent >= 1 &&
                concurrent <= WEIR_BUDGET_FLIGHTS_MAX && rho >= 1 && rho <= 2 * (int64_t)UNIT &&
                guess >= 0 && guess < WEIR_CHARGING_GUESSES && lanes >= 1 &&
                lanes <= WEIR_LANES_MAX && len / 8 == HEAD_WORDS + (size_t)lanes * lane_words;
    for (int64_t i = 0; good && i < lanes; i++)
        good = check_lane(&words);
    return good;
}

static void load_lane(struct words *words, struct weir_budget *budget,
                      struct weir_budget_lane *lane, int64_t age_us, int64_t now_us)
{
    uint64_t server_id = (uint64_t)get(words);
    double requests = (double)get(words);
    double execution = (double)get(words);
    weir_budget_lane_init(budget, lane, server_id, requests, execution, now_us);
    for (int left = PORTIONS * WEIR_SERIES_COUNT; left > 0; left--) {
        int64_t series = get(words);
        int64_t at_us = now_us - age_us - get(words);
        int64_t amount = get(words);
        if (at_us > now_us - budget->window_us && amount > 0)
            weir_ledger_add(&lane->ledger, (enum weir_series)series, at_us, amount);
    }
}

bool weir_budget_load(void *state, const void *bytes, size_t len, int64_t age_us, int64_t now_us)
{
    if (age_us < 0 || !check(bytes, len))
        return false;
    struct weir_budget *budget = state;
    struct words words = { (unsigned char *)bytes, 1, len / 8 };
    budget->window_us = get(&words);
    budget->concurrent = (double)get(&words);
    budget->blind_rho = (double)get(&words) / UNIT;
    budget->charging.rho = budget->blind_rho;
    budget->charging.best = (uint32_t)get(&words);
    budget->lane_count = (uint32_t)get(&words);
    for (uint32_t i = 0; i < budget->lane_count; i++)
        load_lane(&words, budget, &budget->lanes[i], age_us, now_us);
    return true;
}

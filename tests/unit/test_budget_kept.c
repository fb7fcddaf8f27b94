/* SPDX-License-Identifier: MIT */
/*
 * What Budget takes from disk is hostile: whatever the bytes say, loading them neither crashes nor
 * takes long, bytes that are refused change nothing, and with those that are accepted the policy
 * stays within its bounds and gets going again.
 */
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "support/rig.h"
#include "support/suite.h"

#define ROUNDS 400

static const struct weir_policy *const budget = &weir_policy_budget;
static struct weir_adaptive_rate_options options;
static unsigned char bytes[WEIR_LESSON_BYTES_MAX];

static void *fresh(void)
{
    struct weir_options all;
    weir_options_defaults(&all);
    options = all.adaptive_rate;
    void *state = weir_calloc(1, budget->state_bytes);
    budget->init(state, &options);
    return state;
}

/* So many seconds of one request a second, answered by one of four servers. How many got through.
 */
static int work(void *state, int64_t *now_us, int seconds)
{
    int granted = 0;
    for (int i = 0; i < seconds; i++, *now_us += SECONDS(1)) {
        struct weir_ask ask = { .rows = 100 };
        struct weir_policy_ask asked = { .ask = &ask };
        struct weir_admission admission = { 0 };
        budget->admit(state, &asked, *now_us, &admission);
        if (!admission.ok) {
            must(admission.not_before_us > *now_us);
            continue;
        }
        must(admission.lane < WEIR_LANES_MAX);
        struct weir_policy_lease lease = { .serial = (uint64_t)++granted,
                                           .lane = admission.lane,
                                           .server_id = admission.server_id,
                                           .rows = 100,
                                           .leased_us = *now_us,
                                           .sent_us = *now_us };
        struct weir_answer answer = answer_ok(MS(500));
        answer.budget.server_id = 1 + (uint64_t)i % 4;
        budget->leased(state, &lease, *now_us);
        budget->sent(state, &lease, *now_us);
        budget->answered(state, &lease, &answer, WEIR_NEVER, *now_us + MS(500));
    }
    return granted;
}

static uint64_t get(size_t word)
{
    uint64_t value = 0;
    for (size_t i = 0; i < 8; i++)
        value |= (uint64_t)bytes[word * 8 + i] << (8 * i);
    return value;
}

static void put(size_t word, uint64_t value)
{
    for (size_t i = 0; i < 8; i++)
        bytes[word * 8 + i] = (unsigned char)(value >> (8 * i));
}

/* What Budget keeps after some minutes. */
static size_t keep(void)
{
    void *state = fresh();
    int64_t now_us = SECONDS(1000);
    work(state, &now_us, 200);
    size_t len = budget->save(state, now_us, bytes, sizeof(bytes));
    ck_assert_uint_gt(len, 0);
    ck_assert_uint_eq(len % 8, 0);
    free(state);
    return len;
}

/* Values that arithmetic stumbles over, and some that are nearly right. */
static uint64_t any_value(struct weir_rng *rng, uint64_t old)
{
    static const uint64_t odd[] = { 0,          1,          UINT64_MAX, INT64_MAX,
                                    1ull << 63, 1ull << 53, UINT32_MAX, 1ull << 62,
                                    3600000000, 300000000,  1ull << 40 };
    switch (weir_rng_below(rng, 4)) {
    case 0:
        return odd[weir_rng_below(rng, sizeof(odd) / sizeof(odd[0]))];
    case 1:
        return old ^ 1ull << weir_rng_below(rng, 64);
    case 2:
        return old + weir_rng_below(rng, 5) - 2;
    default:
        return weir_rng_u64(rng) >> weir_rng_below(rng, 64);
    }
}

static size_t mutate(struct weir_rng *rng, size_t len)
{
    size_t words = len / 8;
    for (uint64_t left = 1 + weir_rng_below(rng, 6); left > 0; left--) {
        bool head = weir_rng_below(rng, 2);
        size_t word = weir_rng_below(rng, head && words > 16 ? 16 : words);
        put(word, any_value(rng, get(word)));
    }
    if (weir_rng_below(rng, 8) == 0)
        len = weir_rng_below(rng, len + 1);
    return len;
}

static void check_sane(void *state, int64_t now_us)
{
    struct weir_adaptive_rate_stats stats = { 0 };
    budget->stats(state, now_us, &stats);
    must(stats.current_parallelism >= 0 && stats.current_parallelism <= WEIR_PARALLELISM_MAX * 16);
    must((unsigned)stats.bound_by < WEIR_BOUND_COUNT);
    must(stats.predicted_throttle_in_us >= -1);
    double headroom = budget->headroom(state, now_us);
    must(headroom >= 0 && headroom <= 1);
}

START_TEST(mutated_bytes_are_refused_or_taken_with_sense)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 7);
    int taken = 0;
    size_t whole = keep();
    unsigned char *right = weir_calloc(1, whole);
    memcpy(right, bytes, whole);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(bytes, right, whole);
        size_t len = mutate(&rng, whole);
        void *state = fresh(), *before = fresh();
        int64_t now_us = SECONDS(500000);
        int64_t age_us = (int64_t)weir_rng_below(&rng, (uint64_t)WEIR_LESSON_AGE_MAX_US);
        if (weir_rng_below(&rng, 2))
            age_us %= MINUTES(10);
        if (budget->load(state, bytes, len, age_us, now_us)) {
            taken++;
            check_sane(state, now_us);
            must(work(state, &now_us, 2 * 3600) > 0);
            check_sane(state, now_us);
        } else {
            must(memcmp(state, before, budget->state_bytes) == 0);
        }
        free(before);
        free(state);
    }
    free(right);
    ck_assert_int_gt(taken, 0);
}
END_TEST

START_TEST(random_bytes_are_refused)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 3, 7);
    void *state = fresh();
    for (int round = 0; round < 1000; round++) {
        size_t len = weir_rng_below(&rng, 2000);
        for (size_t i = 0; i < len; i++)
            bytes[i] = (unsigned char)weir_rng_below(&rng, 256);
        ck_assert(!budget->load(state, bytes, len, 0, SECONDS(1000)));
    }
    free(state);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("budget_kept");
    suite_add_loop(&s, "mutated_bytes_are_refused_or_taken_with_sense",
                   mutated_bytes_are_refused_or_taken_with_sense, 4);
    suite_add(&s, random_bytes_are_refused);
    return suite_run(&s);
}

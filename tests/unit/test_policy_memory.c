/* SPDX-License-Identifier: MIT */
/*
 * No policy and no strategy of the product asks for memory once the pool has begun: every policy
 * with every strategy that the configuration knows decides thousands of times, over several
 * windows, with answers of all kinds from several web servers, and the allocator is not called
 * once. The linker hands every call of this program to us (--wrap).
 */
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "config/keys.h"
#include "support/allocator_calls.h"
#include "support/rig.h"
#include "support/suite.h"

#define CONNECTIONS 3
#define SERVERS     5
#define LEASES_MAX  60 /* at the same time; the pool has memory for 64 from the first on */
#define STEPS       6000

/* ---- the names that there are ---- */

static const char *const *choices_of(const char *path)
{
    for (size_t i = 0; i < weir_key_count; i++) {
        if (strcmp(weir_keys[i].path, path) == 0)
            return weir_keys[i].choices;
    }
    ck_abort_msg("there is no key %s", path);
    return NULL;
}

/* ---- decisions ---- */

struct flight {
    struct weir_lease lease;
    int64_t begun_us;
};

static struct rig rig;
static struct weir_rng rng;
static struct flight flights[LEASES_MAX];
static uint32_t flying;
static uint64_t granted;
static uint64_t throttled;

/* What servers say: mostly a success with headers, now and then anything else. */
static struct weir_answer draw_answer(int64_t duration_us)
{
    static const enum weir_class others[] = { WEIR_CLASS_TRANSIENT, WEIR_CLASS_UNSENT };
    struct weir_answer answer = answer_ok(duration_us);
    uint64_t chance = weir_rng_below(&rng, 100);
    if (chance < 2) {
        answer = answer_throttle(SECONDS(1 + (double)weir_rng_below(&rng, 20)));
        answer.verdict.throttle = (enum weir_throttle_kind)(1 + weir_rng_below(&rng, 4));
        answer.verdict.limit.value = chance ? 0 : (int64_t)weir_rng_below(&rng, 2000000);
        throttled++;
    } else if (chance < 6) {
        answer = answer_of_class(others[chance % 2]);
    }
    answer.budget = (struct weir_budget_headers){
        .requests_known = chance < 90,
        .execution_known = chance < 85,
        .requests_remaining = (int64_t)weir_rng_below(&rng, 6000),
        .execution_remaining_us = (int64_t)weir_rng_below(&rng, 1200000000),
        .dop_hint = chance < 50 ? 0 : (int)(1 + weir_rng_below(&rng, 52)),
        .server_id = weir_rng_below(&rng, SERVERS + 1),
    };
    return answer;
}

static void begin_one(void)
{
    struct weir_ask ask = { .kind = (uint32_t)weir_rng_below(&rng, 20), .rows = 100 };
    struct weir_grant grant;
    weir_core_try(&rig.core, &ask, rig.now_us, &grant);
    if (grant.status != WEIR_OK)
        return;
    granted++;
    if (weir_core_begin(&rig.core, &grant.lease, rig.now_us) == WEIR_OK)
        flights[flying++] = (struct flight){ grant.lease, rig.now_us };
}

static void end_one(void)
{
    uint64_t place = weir_rng_below(&rng, flying);
    struct flight flight = flights[place];
    flights[place] = flights[--flying];
    struct weir_answer answer = draw_answer(rig.now_us - flight.begun_us);
    if (weir_core_settle(&rig.core, &flight.lease, &answer, rig.now_us) != WEIR_OK)
        ck_abort_msg("a lease was not out"); /* an assertion that holds would allocate, too */
}

static void decide(uint32_t steps)
{
    struct weir_pool_event event;
    for (uint32_t i = 0; i < steps; i++) {
        rig.now_us += (int64_t)weir_rng_below(&rng, 400000);
        if (flying < LEASES_MAX)
            begin_one();
        if (flying && weir_rng_below(&rng, 2))
            end_one();
        while (weir_core_event(&rig.core, &event))
            ;
        if (i % 100 == 0) {
            for (uint32_t c = 0; c < CONNECTIONS; c++)
                rig_rate(&rig, c);
        }
    }
}

static void start(const char *policy, const char *strategy)
{
    rig_init(&rig, CONNECTIONS);
    rig.options.adaptive_rate.policy = policy;
    rig.options.adaptive_rate.fixed_parallelism = 20;
    rig.options.adaptive_rate.budget.explore = true;
    rig.options.pool.selection_strategy = strategy;
    rig_start(&rig);
    weir_rng_init(&rng, 1, 0);
    flying = 0;
    granted = 0;
    throttled = 0;
    begin_one(); /* the pool's memory for leases */
}

START_TEST(no_policy_and_no_strategy_asks_for_memory_after_the_start)
{
    const char *const *policies = choices_of("AdaptiveRate:Policy");
    const char *const *strategies = choices_of("Pool:SelectionStrategy");
    uint64_t pairs = 0;
    for (; *policies; policies++) {
        for (const char *const *strategy = strategies; *strategy; strategy++, pairs++) {
            start(*policies, *strategy);
            uint64_t before = allocator_calls;
            decide(STEPS);
            ck_assert_msg(allocator_calls == before, "%s with %s: %llu calls in %llu decisions",
                          *policies, *strategy, (unsigned long long)(allocator_calls - before),
                          (unsigned long long)granted);
            ck_assert_uint_gt(granted, STEPS / 20);
            ck_assert_uint_gt(throttled, 0);
            rig_release(&rig);
        }
    }
    ck_assert_uint_ge(pairs, 16);
}
END_TEST

START_TEST(calls_are_counted)
{
    uint64_t before = allocator_calls;
    free(weir_calloc(1, 1));
    free(weir_realloc(NULL, 1, 1));
    ck_assert_uint_eq(allocator_calls - before, 2);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("policy_memory");
    suite_add(&s, calls_are_counted);
    suite_add(&s, no_policy_and_no_strategy_asks_for_memory_after_the_start);
    return suite_run(&s);
}

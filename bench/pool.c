/* SPDX-License-Identifier: MIT */
/*
 * What a lease costs: ask + begin + settle through the pool's core, at 1 … 10,000 connections, by
 * strategy and by policy, and at 1,000 connections with all of their 52 slots lent; beside one heap
 * operation of the same size. Processor time; medians of rounds that take turns. A policy's
 * decisions are what it costs more than Fixed, which decides nothing. Budget@N: answers of N web
 * servers have budget headers, so that each connection keeps the books of N lanes.
 *
 *     build/release/bench/bench_pool [quick]     quick: 100 connections, and no more than that
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "base/rng.h"
#include "measure.h"
#include "pool/core.h"

#define TURNS 200000
#define HINT  8

struct contest {
    uint32_t connections;
    uint32_t lent; /* of each, all the time */
    uint32_t hint;
    const char *strategy;
    const char *policy;
    uint32_t servers; /* whose answers have budget headers; 0: none has */
};

static void make_names(struct weir_connection_options *connections, char (*names)[16],
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "app%u", i);
        connections[i].name = names[i];
    }
}

/* Lend as many as are to be out; fewer if the policy allows no more yet. */
static uint32_t lend(struct weir_core *core, struct weir_lease *out, uint32_t most, int64_t now_us)
{
    uint32_t count = 0;
    struct weir_grant grant;
    while (count < most) {
        weir_core_try(core, NULL, now_us, &grant);
        if (grant.status)
            break;
        out[count++] = grant.lease;
    }
    return count;
}

/* What a server says after so many answers, one for every second and slot: up to a window of them
 * have been booked. */
static void add_headers(struct weir_answer *answer, const struct contest *contest,
                        uint64_t server_id, uint64_t answers)
{
    uint64_t turn = answers / contest->connections;
    uint64_t booked = turn < 300 * contest->lent ? turn : 300 * contest->lent;
    answer->budget = (struct weir_budget_headers){
        .requests_known = true,
        .requests_remaining = (int64_t)(6000 - booked / contest->servers),
        .execution_known = true,
        .execution_remaining_us = (int64_t)(1200 - booked / contest->servers) * WEIR_US_PER_S,
        .server_id = server_id ? server_id : 1 + answers % contest->servers,
    };
}

/* Every turn gives the oldest back, after a second, and takes another. */
static double take_turns(struct weir_core *core, const struct contest *contest,
                         struct weir_lease *out, uint32_t count, int64_t now_us)
{
    struct weir_answer answer = { .verdict = { .retry_after_us = -1 },
                                  .duration_us = WEIR_US_PER_S };
    struct weir_grant grant;
    int64_t step_us = WEIR_US_PER_S / count + 1;
    double begun_s = processor_s();
    for (uint32_t i = 0; i < TURNS; i++) {
        struct weir_lease *lease = &out[i % count];
        now_us += step_us;
        if (contest->servers)
            add_headers(&answer, contest, lease->server_id, i);
        weir_core_settle(core, lease, &answer, now_us);
        weir_core_try(core, NULL, now_us, &grant);
        if (grant.status)
            abort();
        *lease = grant.lease;
        weir_core_begin(core, lease, now_us);
    }
    return (processor_s() - begun_s) * 1e9 / TURNS;
}

static double measure_pool(const struct contest *contest, uint32_t *ret_lent)
{
    uint32_t count = contest->connections;
    struct weir_connection_options *connections = weir_calloc(count, sizeof(*connections));
    char(*names)[16] = weir_calloc(count, sizeof(*names));
    struct weir_lease *out = weir_calloc((size_t)count * contest->lent, sizeof(*out));
    struct weir_options options;
    struct weir_core core;
    int64_t now_us = WEIR_US_PER_HOUR;
    make_names(connections, names, count);
    weir_options_defaults(&options);
    options.connections = connections;
    options.connection_count = count;
    options.pool.selection_strategy = contest->strategy;
    options.adaptive_rate.policy = contest->policy;
    options.adaptive_rate.fixed_parallelism = (int)contest->hint;
    if (weir_core_init(&core, &options, NULL, 1, false, NULL))
        abort();
    for (uint32_t i = 0; i < count; i++)
        weir_core_hint(&core, i, contest->hint, now_us);
    *ret_lent = lend(&core, out, count * contest->lent, now_us);
    double ns = take_turns(&core, contest, out, *ret_lent, now_us);
    weir_core_release(&core);
    free(out);
    free(connections);
    free(names);
    return ns;
}

static double measure_heap(uint32_t count)
{
    struct weir_heap heap;
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 0);
    weir_heap_init(&heap, count);
    for (uint32_t i = 0; i < count; i++)
        weir_heap_set(&heap, i, (int64_t)(weir_rng_u64(&rng) >> 8));
    double begun_s = processor_s();
    for (uint32_t i = 0; i < TURNS; i++)
        weir_heap_set(&heap, weir_heap_top(&heap), (int64_t)(weir_rng_u64(&rng) >> 8));
    double ns = (processor_s() - begun_s) * 1e9 / TURNS;
    weir_heap_release(&heap);
    return ns;
}

static void run(const struct contest *contest)
{
    struct contest undecided = *contest;
    double took[ROUNDS], more[ROUNDS], heap[ROUNDS];
    uint32_t lent = 0, lent_undecided;
    undecided.policy = "Fixed";
    for (int i = 0; i < ROUNDS; i++) {
        took[i] = measure_pool(contest, &lent);
        more[i] = took[i] - measure_pool(&undecided, &lent_undecided);
        heap[i] = measure_heap(contest->connections);
    }
    double decided = median_of(more, ROUNDS);
    char policy[32];
    snprintf(policy, sizeof(policy), contest->servers ? "%s@%u" : "%s", contest->policy,
             contest->servers);
    printf("%u connections, %u lent, %s %s: %.0f ns, %.0f decided, heap %.0f ns\n",
           contest->connections, lent, contest->strategy, policy, median_of(took, ROUNDS),
           decided > 0 && strcmp(contest->policy, "Fixed") ? decided : 0.0,
           median_of(heap, ROUNDS));
}

int main(int argc, char **argv)
{
    static const char *const strategies[] = { "ThrottleAware", "RoundRobin", "LeastConnections" };
    static const char *const policies[] = { "Dop", "Budget", "Fixed" };
    static const struct contest budgets[] = {
        { 100, 2, HINT, "Headroom", "Budget", 1 },
        { 25, 8, HINT, "Headroom", "Budget", 4 },
        { 250, 8, HINT, "Headroom", "Budget", 4 },
    };
    bool quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    for (uint32_t count = quick ? 100 : 1; count <= (quick ? 100 : 10000); count *= 10) {
        for (int i = 0; i < (quick ? 1 : 3); i++)
            run(&(struct contest){ count, 2, HINT, strategies[i], "Aimd", 0 });
        for (int i = 0; i < (quick ? 0 : 3); i++)
            run(&(struct contest){ count, 2, HINT, strategies[0], policies[i], 0 });
    }
    for (int i = 0; i < (quick ? 0 : 3); i++) /* a hundred lanes, and a thousand */
        run(&budgets[i]);
    for (int i = 0; i < (quick ? 0 : 3); i++)
        run(&(struct contest){ 1000, WEIR_PARALLELISM_MAX, WEIR_PARALLELISM_MAX, strategies[i],
                               "Dop", 0 });
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * What a lease costs: ask + begin + settle through the pool's core, at 1 … 10,000 connections,
 * beside the cost of one heap operation of the same size in the same run.
 *
 *     build/release/bench/bench_pool
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/heap.h"
#include "base/mem.h"
#include "base/rng.h"
#include "pool/core.h"

#define ROUNDS 1000000

static void make_names(struct weir_connection_options *connections, char (*names)[16],
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "app%u", i);
        connections[i].name = names[i];
    }
}

/* Half of the slots are out all the time; every round gives the oldest back and takes another. */
static double measure_pool(uint32_t count, const char *strategy, const char *policy)
{
    struct weir_connection_options *connections = weir_calloc(count, sizeof(*connections));
    char(*names)[16] = weir_calloc(count, sizeof(*names));
    make_names(connections, names, count);
    struct weir_options options;
    weir_options_defaults(&options);
    options.connections = connections;
    options.connection_count = count;
    options.pool.selection_strategy = strategy;
    options.adaptive_rate.policy = policy;
    struct weir_core core;
    if (weir_core_init(&core, &options, NULL, 1, false, NULL))
        abort();

    uint32_t out_max = count * 2;
    struct weir_lease *out = weir_calloc(out_max, sizeof(*out));
    struct weir_answer answer = { .verdict = { .retry_after_us = -1 }, .duration_us = 1000000 };
    struct weir_grant grant;
    int64_t now_us = WEIR_US_PER_HOUR;
    for (uint32_t i = 0; i < count; i++)
        weir_core_hint(&core, i, 8, now_us);
    for (uint32_t i = 0; i < out_max; i++) {
        weir_core_try(&core, NULL, now_us, &grant);
        out[i] = grant.lease;
    }
    int64_t begun_us = weir_clock_now_us();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct weir_lease *lease = &out[i % out_max];
        now_us += 10;
        weir_core_settle(&core, lease, &answer, now_us);
        weir_core_try(&core, NULL, now_us, &grant);
        *lease = grant.lease;
        weir_core_begin(&core, lease, now_us);
    }
    double ns = (double)(weir_clock_now_us() - begun_us) * 1000.0 / ROUNDS;
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
    int64_t begun_us = weir_clock_now_us();
    for (uint32_t i = 0; i < ROUNDS; i++)
        weir_heap_set(&heap, weir_heap_top(&heap), (int64_t)(weir_rng_u64(&rng) >> 8));
    double ns = (double)(weir_clock_now_us() - begun_us) * 1000.0 / ROUNDS;
    weir_heap_release(&heap);
    return ns;
}

int main(void)
{
    static const char *const strategies[] = { "ThrottleAware", "RoundRobin", "LeastConnections" };
    printf("%-12s %-8s %14s %14s %18s %10s\n", "connections", "policy", strategies[0],
           strategies[1], strategies[2], "heap");
    for (uint32_t count = 1; count <= 10000; count *= 10) {
        printf("%-12u %-8s", count, "Aimd");
        for (int i = 0; i < 3; i++)
            printf(" %*.0f ns", i == 2 ? 15 : 11, measure_pool(count, strategies[i], "Aimd"));
        printf(" %7.0f ns\n", measure_heap(count));
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* The indexed heap against an array that is searched from end to end. */
#include "base/heap.h"
#include "base/rng.h"
#include "support/suite.h"

#define IDS 64

static uint32_t naive_top(const bool *in, const int64_t *keys)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t id = 0; id < IDS; id++) {
        if (in[id] && (best == UINT32_MAX || keys[id] < keys[best]))
            best = id;
    }
    return best;
}

START_TEST(heap_equals_a_naive_search_on_random_traffic)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    struct weir_heap heap;
    weir_heap_init(&heap, 1);
    weir_heap_reserve(&heap, IDS);
    bool in[IDS] = { false };
    int64_t keys[IDS] = { 0 };

    for (int step = 0; step < 2000; step++) {
        uint32_t id = (uint32_t)weir_rng_below(&rng, IDS);
        if (weir_rng_below(&rng, 3)) {
            keys[id] = (int64_t)weir_rng_below(&rng, 40) - 20;
            in[id] = true;
            weir_heap_set(&heap, id, keys[id]);
        } else {
            in[id] = false;
            weir_heap_remove(&heap, id);
        }
        must(weir_heap_has(&heap, id) == in[id]);
        uint32_t best = naive_top(in, keys);
        if (best == UINT32_MAX) {
            must(heap.count == 0);
            must(weir_heap_min(&heap) == INT64_MAX);
        } else {
            must(weir_heap_top(&heap) == best);
            must(weir_heap_min(&heap) == keys[best]);
        }
    }
    weir_heap_release(&heap);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("heap");
    suite_add_loop(&s, "heap_equals_a_naive_search_on_random_traffic",
                   heap_equals_a_naive_search_on_random_traffic, 20);
    return suite_run(&s);
}

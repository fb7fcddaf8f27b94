/* SPDX-License-Identifier: MIT */
/*
 * An indexed binary min-heap: small integers (ids) ordered by a 64-bit key, ties by id, so the
 * order is a function of the contents alone. An id is in the heap at most once; changing its key
 * and taking it out cost O(log n), asking for its key O(1).
 *
 *     ids[]        heap order: ids[0] has the smallest key
 *     places[id]   where the id stands in ids[], plus one; 0: not in the heap
 *     keys[id]     its key
 */
#ifndef WEIR_BASE_HEAP_H
#define WEIR_BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct weir_heap {
    uint32_t *ids;
    uint32_t *places;
    int64_t *keys;
    uint32_t count;
    uint32_t capacity; /* ids are below this */
};

/* Ids from 0 to capacity - 1. */
void weir_heap_init(struct weir_heap *heap, uint32_t capacity);
void weir_heap_release(struct weir_heap *heap);

/* Allow ids up to capacity - 1; never shrinks. */
void weir_heap_reserve(struct weir_heap *heap, uint32_t capacity);

/* Put `id` in, or change its key. */
void weir_heap_set(struct weir_heap *heap, uint32_t id, int64_t key);

/* Take `id` out; nothing happens if it is not in. */
void weir_heap_remove(struct weir_heap *heap, uint32_t id);

static inline bool weir_heap_has(const struct weir_heap *heap, uint32_t id)
{
    return heap->places[id] != 0;
}

/* The smallest key, or INT64_MAX of an empty heap. */
static inline int64_t weir_heap_min(const struct weir_heap *heap)
{
    return heap->count ? heap->keys[heap->ids[0]] : INT64_MAX;
}

/* The id with the smallest key; the heap must not be empty. */
static inline uint32_t weir_heap_top(const struct weir_heap *heap)
{
    return heap->ids[0];
}

#endif

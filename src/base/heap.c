/* SPDX-License-Identifier: MIT */
/* An indexed binary min-heap; see heap.h. */
#include "base/heap.h"

#include <string.h>

#include "base/mem.h"

void weir_heap_init(struct weir_heap *heap, uint32_t capacity)
{
    *heap = (struct weir_heap){ 0 };
    weir_heap_reserve(heap, capacity);
}

void weir_heap_release(struct weir_heap *heap)
{
    free(heap->ids);
    free(heap->places);
    free(heap->keys);
    *heap = (struct weir_heap){ 0 };
}

void weir_heap_reserve(struct weir_heap *heap, uint32_t capacity)
{
    if (capacity <= heap->capacity)
        return;
    heap->ids = weir_realloc(heap->ids, capacity, sizeof(*heap->ids));
    heap->places = weir_realloc(heap->places, capacity, sizeof(*heap->places));
    heap->keys = weir_realloc(heap->keys, capacity, sizeof(*heap->keys));
    memset(heap->places + heap->capacity, 0, (capacity - heap->capacity) * sizeof(*heap->places));
    heap->capacity = capacity;
}

static bool before(const struct weir_heap *heap, uint32_t a, uint32_t b)
{
    if (heap->keys[a] != heap->keys[b])
        return heap->keys[a] < heap->keys[b];
    return a < b;
}

static void place(struct weir_heap *heap, uint32_t at, uint32_t id)
{
    heap->ids[at] = id;
    heap->places[id] = at + 1;
}

static void sift_up(struct weir_heap *heap, uint32_t at, uint32_t id)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (!before(heap, id, heap->ids[parent]))
            break;
        place(heap, at, heap->ids[parent]);
        at = parent;
    }
    place(heap, at, id);
}

static void sift_down(struct weir_heap *heap, uint32_t at, uint32_t id)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && before(heap, heap->ids[child + 1], heap->ids[child]))
            child++;
        if (!before(heap, heap->ids[child], id))
            break;
        place(heap, at, heap->ids[child]);
        at = child;
    }
    place(heap, at, id);
}

static void settle(struct weir_heap *heap, uint32_t at, uint32_t id)
{
    if (at > 0 && before(heap, id, heap->ids[(at - 1) / 2]))
        sift_up(heap, at, id);
    else
        sift_down(heap, at, id);
}

void weir_heap_set(struct weir_heap *heap, uint32_t id, int64_t key)
{
    heap->keys[id] = key;
    if (heap->places[id])
        settle(heap, heap->places[id] - 1, id);
    else
        sift_up(heap, heap->count++, id);
}

void weir_heap_remove(struct weir_heap *heap, uint32_t id)
{
    if (!heap->places[id])
        return;
    uint32_t at = heap->places[id] - 1;
    heap->places[id] = 0;
    uint32_t last = heap->ids[--heap->count];
    if (last != id)
        settle(heap, at, last);
}

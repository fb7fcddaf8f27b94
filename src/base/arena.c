/* SPDX-License-Identifier: MIT */
/*
 * Memory of things that end together; see arena.h.
 *
 *     arena ─▶ block ─▶ block ─▶ first block ─▶ NULL      only the newest is taken from
 *
 * Blocks double in size, so that a large batch costs few of them. A piece that does not fit into
 * the next block's size gets a block just for itself. The maximum counts what was taken, not the
 * blocks: whether something fits does not depend on what was there before a reset.
 */
#include "base/arena.h"

#include <stddef.h>

#include "base/limits.h"
#include "base/mem.h"

#define BLOCK_BYTES_MAX ((size_t)1024 * 1024)

struct block {
    struct block *older;
    size_t len;
    size_t capacity;
    max_align_t bytes[];
};

struct weir_arena {
    struct block *newest;
    size_t used;
    size_t bytes_max;
    size_t owners;
};

struct weir_arena *weir_arena_new(size_t bytes_max)
{
    struct weir_arena *arena = weir_calloc(1, sizeof(*arena));
    arena->bytes_max = bytes_max;
    arena->owners = 1;
    return arena;
}

struct weir_arena *weir_arena_ref(struct weir_arena *arena)
{
    arena->owners++;
    return arena;
}

static void free_blocks(struct block *block, const struct block *until)
{
    while (block != until) {
        struct block *older = block->older;
        free(block);
        block = older;
    }
}

void weir_arena_unref(struct weir_arena *arena)
{
    if (!arena || --arena->owners)
        return;
    free_blocks(arena->newest, NULL);
    free(arena);
}

void weir_arena_reset(struct weir_arena *arena)
{
    struct block *first = arena->newest;
    while (first && first->older)
        first = first->older;
    free_blocks(arena->newest, first);
    if (first)
        first->len = 0;
    arena->newest = first;
    arena->used = 0;
}

static size_t aligned(size_t len)
{
    size_t unit = _Alignof(max_align_t);
    return (len + unit - 1) & ~(unit - 1);
}

static void add_block(struct weir_arena *arena, size_t len)
{
    size_t capacity = arena->newest ? 2 * arena->newest->capacity : WEIR_ARENA_BLOCK_BYTES;
    if (capacity > BLOCK_BYTES_MAX)
        capacity = BLOCK_BYTES_MAX;
    if (capacity < len)
        capacity = len;
    struct block *block = weir_realloc(NULL, sizeof(*block) + capacity, 1);
    *block = (struct block){ .older = arena->newest, .capacity = capacity };
    arena->newest = block;
}

bool weir_arena_fits(const struct weir_arena *arena, size_t len)
{
    return len <= SIZE_MAX / 2 && aligned(len) <= arena->bytes_max - arena->used;
}

void *weir_arena_take(struct weir_arena *arena, size_t len)
{
    if (!weir_arena_fits(arena, len))
        return NULL;
    len = aligned(len);
    if (!arena->newest || len > arena->newest->capacity - arena->newest->len)
        add_block(arena, len);
    struct block *block = arena->newest;
    char *piece = (char *)block->bytes + block->len;
    block->len += len;
    arena->used += len;
    return piece;
}

size_t weir_arena_used(const struct weir_arena *arena)
{
    return arena->used;
}

/* SPDX-License-Identifier: MIT */
/*
 * Memory of things that end together, such as the rows of a batch: taking is a step of a pointer,
 * nothing is given back singly, and what was taken never moves. An arena is given a maximum.
 *
 * It belongs to one thread at a time and is handed over whole. Whoever keeps it counts as one
 * owner: the maker is the first, weir_arena_ref() adds one (a batch that was split has as many as
 * parts), and the memory goes with the last weir_arena_unref(). The count is not atomic.
 */
#ifndef WEIR_BASE_ARENA_H
#define WEIR_BASE_ARENA_H

#include "base/str.h"

struct weir_arena;

/* An empty arena of which at most `bytes_max` can be taken. Never NULL. */
struct weir_arena *weir_arena_new(size_t bytes_max);

struct weir_arena *weir_arena_ref(struct weir_arena *arena); /* returns `arena` */
void weir_arena_unref(struct weir_arena *arena);             /* NULL is fine */

/* Empty again, for the next batch; keeps its first block. Only the single owner may do this. */
void weir_arena_reset(struct weir_arena *arena);

/*
 * `len` bytes, aligned for any object, not zeroed; they live as long as the arena is not reset.
 * NULL: the maximum would be exceeded; nothing has changed.
 */
void *weir_arena_take(struct weir_arena *arena, size_t len);

/* Bytes taken so far, what alignment costs included. */
size_t weir_arena_used(const struct weir_arena *arena);

/* Whether `len` more can be taken. */
bool weir_arena_fits(const struct weir_arena *arena, size_t len);

#endif

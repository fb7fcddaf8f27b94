/* SPDX-License-Identifier: MIT */
/*
 * Turns: which batch waits for which, because rows with the same key are on their way. Every batch
 * has one, from the time it is there until it stands in nobody's way:
 *
 *     open ──close──▶ due at the moment when nothing that it left unknown can still be executed
 *                      └─▶ those who wait for it have one less to wait for; it is forgotten
 *                      └─▶ or it lapsed, a row of it was given up: they are given up as well, and
 *                          it is kept for those who are still to come
 *
 * A turn knows who waits for it, so that its end costs as much as there are of those.
 */
#ifndef WEIR_BULK_TURN_H
#define WEIR_BULK_TURN_H

#include "base/heap.h"
#include "base/table64.h"
#include "bulk/load.h"

struct weir_turn {
    uint64_t serial;        /* of the batch; 0: the place is free */
    struct weir_load *load; /* that is blocked; NULL: none */
    uint32_t ahead;         /* turns that it waits for */
    uint64_t *waiters;      /* serials of those who wait for this one */
    uint32_t waiter_count;
    uint32_t waiter_capacity;
    bool closed;
    bool lapsed;
};

struct weir_turns {
    struct weir_turn *table;
    uint32_t *free_places;
    uint32_t free_count;
    uint32_t capacity;
    struct weir_table64 by_serial; /* places */
    struct weir_heap due;          /* closed, by the moment when they are out of the way */
};

void weir_turns_init(struct weir_turns *turns);
void weir_turns_release(struct weir_turns *turns);

/* A batch is there. Pointers to turns are good until the next one is opened. */
void weir_turns_open(struct weir_turns *turns, uint64_t serial);

/* No row of it is open. Nothing happens the second time. */
void weir_turns_close(struct weir_turns *turns, uint64_t serial, bool lapsed, int64_t due_us);

/*
 * The load, of a batch whose turn is open, waits for those that its batch names. False: one of them
 * has lapsed, it is not to be sent. `ahead` 0 afterwards: there is nothing to wait for.
 */
bool weir_turns_wait(struct weir_turns *turns, struct weir_load *load, uint32_t *ret_ahead);

/* One that is due, to be handed to weir_turns_end() when its waiters were seen to; NULL: none. */
struct weir_turn *weir_turns_due(struct weir_turns *turns, int64_t now_us);

/* The load that waits for it, in the place `i` of its waiters, if this was the last that it waited
 * for or if this one has lapsed; NULL: none. It waits no longer. */
struct weir_load *weir_turns_free(struct weir_turns *turns, const struct weir_turn *turn,
                                  uint32_t i);
void weir_turns_end(struct weir_turns *turns, struct weir_turn *turn);

#endif

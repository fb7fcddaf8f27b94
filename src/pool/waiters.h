/* SPDX-License-Identifier: MIT */
/*
 * Those who wait for a lease, in the order in which they came.
 *
 * A ticket names a waiter. Its deadline is on the *slot clock*, which the pool lets run only while
 * somebody waits for a slot and stops while everybody waits for a throttle; so AcquireTimeout never
 * runs out during a Retry-After, however long it is.
 */
#ifndef WEIR_POOL_WAITERS_H
#define WEIR_POOL_WAITERS_H

#include "base/heap.h"
#include "weir/pool.h"

struct weir_waiter {
    struct weir_ask ask;
    uint64_t ticket; /* 0: free */
    uint32_t next;   /* in the queue or in the free list; UINT32_MAX: the last */
    uint32_t previous;
};

struct weir_waiters {
    struct weir_waiter *records;
    struct weir_heap deadlines; /* slots by deadline on the slot clock */
    uint32_t capacity;
    uint32_t first; /* the one to be served next; UINT32_MAX: nobody waits */
    uint32_t last;
    uint32_t first_free;
    uint32_t count;
    uint64_t last_serial;
};

void weir_waiters_init(struct weir_waiters *waiters);
void weir_waiters_release(struct weir_waiters *waiters);

/* Queue up; `deadline_us` on the slot clock, WEIR_FOREVER for none. Returns the ticket. The caller
 * keeps the count within WEIR_WAITERS_MAX. */
uint64_t weir_waiters_add(struct weir_waiters *waiters, const struct weir_ask *ask,
                          int64_t deadline_us);

/* The one to be served next; NULL: nobody waits. Valid until the next change. */
const struct weir_waiter *weir_waiters_first(const struct weir_waiters *waiters);

/* Leave the queue. False: nobody waits with that ticket. */
bool weir_waiters_remove(struct weir_waiters *waiters, uint64_t ticket);

/* The earliest deadline on the slot clock; WEIR_FOREVER: none. And whose it is. */
int64_t weir_waiters_deadline_us(const struct weir_waiters *waiters);
uint64_t weir_waiters_earliest(const struct weir_waiters *waiters);

#endif

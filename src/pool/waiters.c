/* SPDX-License-Identifier: MIT */
/* Those who wait for a lease; see waiters.h. A ticket is serial number and slot in one. */
#include "pool/waiters.h"

#include "base/clock.h"
#include "base/mem.h"

#define NONE           UINT32_MAX
#define FIRST_CAPACITY 16
#define SLOT_BITS      21
#define SLOT_MASK      ((UINT64_C(1) << SLOT_BITS) - 1)

void weir_waiters_init(struct weir_waiters *waiters)
{
    *waiters = (struct weir_waiters){ .first = NONE, .last = NONE, .first_free = NONE };
}

void weir_waiters_release(struct weir_waiters *waiters)
{
    free(waiters->records);
    weir_heap_release(&waiters->deadlines);
    weir_waiters_init(waiters);
}

static void grow(struct weir_waiters *waiters)
{
    uint32_t capacity = waiters->capacity ? waiters->capacity * 2 : FIRST_CAPACITY;
    waiters->records = weir_realloc(waiters->records, capacity, sizeof(*waiters->records));
    weir_heap_reserve(&waiters->deadlines, capacity);
    for (uint32_t slot = capacity; slot-- > waiters->capacity;) {
        waiters->records[slot] = (struct weir_waiter){ .next = waiters->first_free };
        waiters->first_free = slot;
    }
    waiters->capacity = capacity;
}

uint64_t weir_waiters_add(struct weir_waiters *waiters, const struct weir_ask *ask,
                          int64_t deadline_us)
{
    if (waiters->first_free == NONE)
        grow(waiters);
    uint32_t slot = waiters->first_free;
    struct weir_waiter *waiter = &waiters->records[slot];
    waiters->first_free = waiter->next;

    *waiter = (struct weir_waiter){
        .ask = *ask,
        .ticket = ++waiters->last_serial << SLOT_BITS | slot,
        .next = NONE,
        .previous = waiters->last,
    };
    if (waiters->last == NONE)
        waiters->first = slot;
    else
        waiters->records[waiters->last].next = slot;
    waiters->last = slot;
    waiters->count++;
    if (deadline_us != WEIR_FOREVER)
        weir_heap_set(&waiters->deadlines, slot, deadline_us);
    return waiter->ticket;
}

const struct weir_waiter *weir_waiters_first(const struct weir_waiters *waiters)
{
    return waiters->first == NONE ? NULL : &waiters->records[waiters->first];
}

static void unlink_slot(struct weir_waiters *waiters, const struct weir_waiter *waiter)
{
    if (waiter->previous == NONE)
        waiters->first = waiter->next;
    else
        waiters->records[waiter->previous].next = waiter->next;
    if (waiter->next == NONE)
        waiters->last = waiter->previous;
    else
        waiters->records[waiter->next].previous = waiter->previous;
}

bool weir_waiters_remove(struct weir_waiters *waiters, uint64_t ticket)
{
    uint32_t slot = (uint32_t)(ticket & SLOT_MASK);
    if (ticket == 0 || slot >= waiters->capacity || waiters->records[slot].ticket != ticket)
        return false;
    unlink_slot(waiters, &waiters->records[slot]);
    weir_heap_remove(&waiters->deadlines, slot);
    waiters->records[slot] = (struct weir_waiter){ .next = waiters->first_free };
    waiters->first_free = slot;
    waiters->count--;
    return true;
}

int64_t weir_waiters_deadline_us(const struct weir_waiters *waiters)
{
    return weir_heap_min(&waiters->deadlines);
}

uint64_t weir_waiters_earliest(const struct weir_waiters *waiters)
{
    return waiters->records[weir_heap_top(&waiters->deadlines)].ticket;
}

/* SPDX-License-Identifier: MIT */
/* Which batch waits for which; see turn.h. */
#include "bulk/turn.h"

#include <assert.h>

#include "base/mem.h"

#define FIRST_CAPACITY 64

void weir_turns_init(struct weir_turns *turns)
{
    *turns = (struct weir_turns){ 0 };
    weir_table64_init(&turns->by_serial);
    weir_heap_init(&turns->due, FIRST_CAPACITY);
}

void weir_turns_release(struct weir_turns *turns)
{
    for (uint32_t i = 0; i < turns->capacity; i++)
        free(turns->table[i].waiters);
    free(turns->table);
    free(turns->free_places);
    weir_table64_release(&turns->by_serial);
    weir_heap_release(&turns->due);
    *turns = (struct weir_turns){ 0 };
}

static struct weir_turn *find_turn(const struct weir_turns *turns, uint64_t serial)
{
    uint64_t place;
    return weir_table64_find(&turns->by_serial, serial, &place) ? &turns->table[place] : NULL;
}

static uint32_t place_of(const struct weir_turns *turns, const struct weir_turn *turn)
{
    return (uint32_t)(turn - turns->table);
}

static void grow(struct weir_turns *turns)
{
    uint32_t capacity = turns->capacity ? 2 * turns->capacity : FIRST_CAPACITY;
    turns->table = weir_realloc(turns->table, capacity, sizeof(*turns->table));
    turns->free_places = weir_realloc(turns->free_places, capacity, sizeof(uint32_t));
    for (uint32_t place = capacity; place > turns->capacity; place--) {
        turns->table[place - 1] = (struct weir_turn){ 0 };
        turns->free_places[turns->free_count++] = place - 1;
    }
    turns->capacity = capacity;
    weir_heap_reserve(&turns->due, capacity);
}

void weir_turns_open(struct weir_turns *turns, uint64_t serial)
{
    if (!turns->free_count)
        grow(turns);
    uint32_t place = turns->free_places[--turns->free_count];
    turns->table[place] = (struct weir_turn){ .serial = serial };
    weir_table64_set(&turns->by_serial, serial, place);
}

void weir_turns_close(struct weir_turns *turns, uint64_t serial, bool lapsed, int64_t due_us)
{
    struct weir_turn *turn = find_turn(turns, serial);
    if (!turn || turn->closed)
        return;
    turn->closed = true;
    turn->lapsed = lapsed;
    turn->load = NULL;
    weir_heap_set(&turns->due, place_of(turns, turn), due_us);
}

static void add_waiter(struct weir_turn *turn, uint64_t serial)
{
    if (turn->waiter_count == turn->waiter_capacity) {
        turn->waiter_capacity = turn->waiter_capacity ? 2 * turn->waiter_capacity : 2;
        turn->waiters = weir_realloc(turn->waiters, turn->waiter_capacity, sizeof(uint64_t));
    }
    turn->waiters[turn->waiter_count++] = serial;
}

bool weir_turns_wait(struct weir_turns *turns, struct weir_load *load, uint32_t *ret_ahead)
{
    const struct weir_batch *batch = load->batch;
    struct weir_turn *own = find_turn(turns, batch->serial);
    assert(own); /* weir_turns_open() came first */
    for (uint32_t i = 0; i < batch->after_count; i++) {
        struct weir_turn *turn = find_turn(turns, batch->after[i]);
        if (turn && turn->closed && turn->lapsed)
            return false;
        if (!turn)
            continue;
        add_waiter(turn, batch->serial);
        own->ahead++;
    }
    own->load = own->ahead ? load : NULL;
    *ret_ahead = own->ahead;
    return true;
}

struct weir_turn *weir_turns_due(struct weir_turns *turns, int64_t now_us)
{
    if (!turns->due.count || weir_heap_min(&turns->due) > now_us)
        return NULL;
    uint32_t place = weir_heap_top(&turns->due);
    weir_heap_remove(&turns->due, place);
    return &turns->table[place];
}

struct weir_load *weir_turns_free(struct weir_turns *turns, const struct weir_turn *turn,
                                  uint32_t i)
{
    struct weir_turn *waiter = find_turn(turns, turn->waiters[i]);
    if (!waiter || !waiter->load)
        return NULL;
    waiter->ahead--;
    if (waiter->ahead && !turn->lapsed)
        return NULL;
    struct weir_load *load = waiter->load;
    waiter->load = NULL;
    return load;
}

void weir_turns_end(struct weir_turns *turns, struct weir_turn *turn)
{
    free(turn->waiters);
    turn->waiters = NULL;
    turn->waiter_count = turn->waiter_capacity = 0;
    if (turn->lapsed)
        return;
    weir_table64_remove(&turns->by_serial, turn->serial);
    turns->free_places[turns->free_count++] = place_of(turns, turn);
    turn->serial = 0;
}

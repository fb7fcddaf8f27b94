/* SPDX-License-Identifier: MIT */
/*
 * Numbers to numbers; see table64.h. Linear probing. The invariant: from the home of a key to the
 * slot that it stands in, no slot is empty. So when a slot is emptied, those behind it, up to the
 * next empty one, are looked at in turn, and one whose home is not behind the gap moves into it and
 * leaves the next gap:
 *
 *     slot          4     5     6     7     8
 *     key (home)   A(4)  B(4)  C(6)  D(5)   -        B goes: the gap is 5
 *     6            C stays: it is at home
 *     7            D moves to 5: the gap is 7; 8 is empty, and that is all
 */
#include "base/table64.h"

#include "base/mem.h"

#define FIRST_SLOTS 16

void weir_table64_init(struct weir_table64 *table)
{
    *table = (struct weir_table64){ 0 };
}

void weir_table64_release(struct weir_table64 *table)
{
    free(table->slots);
    *table = (struct weir_table64){ 0 };
}

/* Where a key would like to stand. Keys may be serial numbers, or hashes whose low bits are poor:
 * the upper bits of a product depend on all of them. */
static size_t home(const struct weir_table64 *table, uint64_t key)
{
    uint64_t mixed = (key ^ (key >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32) & (table->slot_count - 1);
}

/* The slot that holds `key`, or the empty one where it belongs. */
static size_t probe(const struct weir_table64 *table, uint64_t key)
{
    size_t at = home(table, key);
    while (table->slots[at].key && table->slots[at].key != key)
        at = (at + 1) & (table->slot_count - 1);
    return at;
}

static void resize(struct weir_table64 *table, size_t slot_count)
{
    struct weir_table64 old = *table;
    table->slot_count = slot_count;
    table->slots = weir_calloc(slot_count, sizeof(*table->slots));
    for (size_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].key)
            table->slots[probe(table, old.slots[i].key)] = old.slots[i];
    }
    free(old.slots);
}

void weir_table64_set(struct weir_table64 *table, uint64_t key, uint64_t value)
{
    if ((table->count + 1) * 2 > table->slot_count)
        resize(table, table->slot_count ? 2 * table->slot_count : FIRST_SLOTS);
    struct weir_table64_slot *slot = &table->slots[probe(table, key)];
    table->count += !slot->key;
    *slot = (struct weir_table64_slot){ key, value };
}

bool weir_table64_find(const struct weir_table64 *table, uint64_t key, uint64_t *ret_value)
{
    if (!table->count || !key)
        return false;
    const struct weir_table64_slot *slot = &table->slots[probe(table, key)];
    if (!slot->key)
        return false;
    if (ret_value)
        *ret_value = slot->value;
    return true;
}

static void close_gap(struct weir_table64 *table, size_t gap)
{
    size_t mask = table->slot_count - 1;
    for (size_t at = (gap + 1) & mask; table->slots[at].key; at = (at + 1) & mask) {
        size_t from_home = (at - home(table, table->slots[at].key)) & mask;
        if (from_home < ((at - gap) & mask))
            continue;
        table->slots[gap] = table->slots[at];
        gap = at;
    }
    table->slots[gap] = (struct weir_table64_slot){ 0 };
}

bool weir_table64_remove(struct weir_table64 *table, uint64_t key)
{
    if (!weir_table64_find(table, key, NULL))
        return false;
    close_gap(table, probe(table, key));
    table->count--;
    if (table->slot_count > FIRST_SLOTS && table->count * 8 < table->slot_count)
        resize(table, table->slot_count / 2);
    return true;
}

bool weir_table64_next(const struct weir_table64 *table, size_t *at, uint64_t *ret_key,
                       uint64_t *ret_value)
{
    while (*at < table->slot_count) {
        const struct weir_table64_slot *slot = &table->slots[(*at)++];
        if (!slot->key)
            continue;
        *ret_key = slot->key;
        *ret_value = slot->value;
        return true;
    }
    return false;
}

/* SPDX-License-Identifier: MIT */
/* Names to small numbers; see map.h. */
#include "base/map.h"

#include "base/mem.h"

#define FIRST_SLOTS 16

void weir_map_init(struct weir_map *map)
{
    *map = (struct weir_map){ 0 };
}

void weir_map_release(struct weir_map *map)
{
    free(map->slots);
    *map = (struct weir_map){ 0 };
}

/* The slot that holds `key`, or the empty one where it belongs. */
static struct weir_map_slot *probe(const struct weir_map *map, struct weir_str key)
{
    uint32_t mask = map->slot_count - 1;
    for (uint32_t at = (uint32_t)weir_str_hash(key) & mask;; at = (at + 1) & mask) {
        struct weir_map_slot *slot = &map->slots[at];
        if (!slot->key.ptr || weir_str_equal(slot->key, key))
            return slot;
    }
}

static void grow(struct weir_map *map)
{
    struct weir_map old = *map;
    map->slot_count = old.slot_count ? old.slot_count * 2 : FIRST_SLOTS;
    map->slots = weir_calloc(map->slot_count, sizeof(*map->slots));
    for (uint32_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].key.ptr)
            *probe(map, old.slots[i].key) = old.slots[i];
    }
    free(old.slots);
}

bool weir_map_add(struct weir_map *map, struct weir_str key, uint32_t value)
{
    if ((map->count + 1) * 2 > map->slot_count)
        grow(map);
    struct weir_map_slot *slot = probe(map, key);
    if (slot->key.ptr)
        return false;
    *slot = (struct weir_map_slot){ key, value };
    map->count++;
    return true;
}

bool weir_map_find(const struct weir_map *map, struct weir_str key, uint32_t *ret_value)
{
    if (!map->slot_count)
        return false;
    const struct weir_map_slot *slot = probe(map, key);
    if (!slot->key.ptr)
        return false;
    *ret_value = slot->value;
    return true;
}

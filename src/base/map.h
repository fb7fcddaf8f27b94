/* SPDX-License-Identifier: MIT */
/*
 * Names to small numbers: an open-addressing hash table that borrows its keys. It only grows;
 * weir's maps are built once, from the configuration. Iteration is not offered: whoever wants an
 * order keeps an array beside it.
 */
#ifndef WEIR_BASE_MAP_H
#define WEIR_BASE_MAP_H

#include "base/str.h"

struct weir_map_slot {
    struct weir_str key; /* ptr NULL: empty */
    uint32_t value;
};

struct weir_map {
    struct weir_map_slot *slots;
    uint32_t slot_count; /* 0 or a power of two */
    uint32_t count;
};

void weir_map_init(struct weir_map *map);
void weir_map_release(struct weir_map *map);

/* Add a key; its bytes must outlive the map. False, and nothing changes, if it is there already. */
bool weir_map_add(struct weir_map *map, struct weir_str key, uint32_t value);

/* False: not there. */
bool weir_map_find(const struct weir_map *map, struct weir_str key, uint32_t *ret_value);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Numbers to numbers: an open-addressing hash table whose entries come and go. Taking one out
 * closes the gap that it leaves, so a table that has seen a million entries is as fast, and as
 * small, as one that has only ever had those that it has now: at most half of its slots are used,
 * and it shrinks when fewer than an eighth are.
 *
 * A key is any number but 0. Running out of memory aborts. One thread at a time.
 */
#ifndef WEIR_BASE_TABLE64_H
#define WEIR_BASE_TABLE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_table64_slot {
    uint64_t key; /* 0: empty */
    uint64_t value;
};

struct weir_table64 {
    struct weir_table64_slot *slots;
    size_t slot_count; /* 0 or a power of two */
    size_t count;
};

void weir_table64_init(struct weir_table64 *table);
void weir_table64_release(struct weir_table64 *table);

/* Add the key, or change its value. */
void weir_table64_set(struct weir_table64 *table, uint64_t key, uint64_t value);

/* False: not there (0 never is). `ret_value` may be NULL. */
bool weir_table64_find(const struct weir_table64 *table, uint64_t key, uint64_t *ret_value);

/* False: it was not there. */
bool weir_table64_remove(struct weir_table64 *table, uint64_t key);

/*
 * All entries, each once and in no order, while the table does not change:
 *     for (size_t at = 0; weir_table64_next(&table, &at, &key, &value);)
 * False: that was the last.
 */
bool weir_table64_next(const struct weir_table64 *table, size_t *at, uint64_t *ret_key,
                       uint64_t *ret_value);

#endif

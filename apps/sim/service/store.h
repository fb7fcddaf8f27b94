/* SPDX-License-Identifier: MIT */
/*
 * The rows of one table.
 *
 *     places[]   rows in the order of their creation, NULL where one was deleted: a place is never
 *                given out twice, so that it serves as a paging position
 *     ids        hash of the primary id (and the partition of an elastic table) -> place
 *     keys[]     hash of each active alternate key -> place; rows with a null part are not in it
 *     alike      the same for the rule by which duplicates are detected; any number may be alike
 *
 * A row is one block of memory that never changes: an update puts a new row in its place and hands
 * the old one back. A pointer to a row is good until the next write to its table.
 */
#ifndef SIM_SERVICE_STORE_H
#define SIM_SERVICE_STORE_H

#include "sim/service/schema.h"
#include "sim/service/value.h"

#define SIM_ROWS_MAX 20000000u /* places of a table */
#define SIM_NO_PLACE UINT32_MAX

struct sim_row {
    struct sim_guid id;
    uint64_t version; /* ETag: W/"version" */
    uint32_t bytes;   /* of `packed` */
    uint8_t packed[]; /* the values that are not null, in the order of their columns */
};

/* A new row with the values of all columns of a table; the primary id is one of them. Free with
 * free(). */
struct sim_row *sim_row_new(const struct sim_table *table, uint64_t version,
                            const struct sim_value *values);

/* One value; SIM_NULL if it is not there. Texts point into the row. */
struct sim_value sim_row_get(const struct sim_row *row, uint32_t column);

/* All of them into values[table->column_count]. */
void sim_row_read(const struct sim_row *row, const struct sim_table *table,
                  struct sim_value *values);

struct sim_slot {
    uint32_t place; /* plus one; 0: empty */
    uint32_t hash;
};

struct sim_index {
    struct sim_slot *slots;
    uint32_t slot_count;
    uint32_t count;
};

struct sim_store {
    const struct sim_table *table;
    struct sim_row **places;
    uint32_t place_count;
    uint32_t place_capacity;
    uint32_t row_count;
    struct sim_index ids;
    struct sim_index keys[SIM_KEYS_MAX];
    struct sim_index alike;
};

void sim_store_init(struct sim_store *store, const struct sim_table *table);
void sim_store_release(struct sim_store *store);

/* NULL: deleted. `place` is below place_count. */
static inline const struct sim_row *sim_store_at(const struct sim_store *store, uint32_t place)
{
    return store->places[place];
}

/*
 * The place of a row, or SIM_NO_PLACE. `partition` of an elastic table; empty: the default one,
 * which is that of rows that were made without.
 */
uint32_t sim_store_find(const struct sim_store *store, struct sim_guid id,
                        struct weir_str partition);

/*
 * The row whose alternate key (table->keys[key]) has these values; `parts` in the order of the
 * key's columns. A key with a null part, or whose index is not active, finds nothing.
 */
uint32_t sim_store_find_key(const struct sim_store *store, uint32_t key,
                            const struct sim_value *parts);

/*
 * The first alternate key that a row with these values (of all columns) would have in common with a
 * row at another place than `except`; -1: none. *ret_place is the other row.
 */
int sim_store_conflict(const struct sim_store *store, const struct sim_value *values,
                       uint32_t except, uint32_t *ret_place);

/* A row at another place than `except` that the table's rule finds alike to these values (of all
 * columns), or SIM_NO_PLACE. */
uint32_t sim_store_alike(const struct sim_store *store, const struct sim_value *values,
                         uint32_t except);

/* Append a row, which the store then owns. No key may be taken. Returns its place. */
uint32_t sim_store_insert(struct sim_store *store, struct sim_row *row);

/* Put another row, or none (NULL), into a place. Returns the old one, now the caller's. */
struct sim_row *sim_store_replace(struct sim_store *store, uint32_t place, struct sim_row *row);

/* Take back the last insert, which `place` must be. */
void sim_store_uninsert(struct sim_store *store, uint32_t place);

/*
 * How many distinct values a column has, bit for bit; rows where it is null count one each. The
 * whole table is read.
 */
uint32_t sim_store_distinct(const struct sim_store *store, uint32_t column);

#endif

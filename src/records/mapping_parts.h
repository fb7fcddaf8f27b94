/* SPDX-License-Identifier: MIT */
/*
 * What the files of a mapping share: mapping.c (making one, and rows of cells), mapping_columns.c
 * (what each column of the input is for), mapping_key.c (by what rows are named), naming.c (naming
 * one) and object.c (rows that are JSON objects).
 *
 *     record or object ──▶ its name as texts ──▶ id, key, partition, hash     naming.c
 *                    └───▶ everything else   ──▶ members, shape
 */
#ifndef WEIR_RECORDS_MAPPING_PARTS_H
#define WEIR_RECORDS_MAPPING_PARTS_H

#include "base/limits.h"
#include "records/cell.h"
#include "records/mapping.h"

/* The place of a column that the input has not. */
#define WEIR_NO_PLACE UINT32_MAX

/* How much of a value goes into a message. */
#define WEIR_QUOTED_MAX   60
#define WEIR_QUOTED(text) (int)weir_str_cut((text), WEIR_QUOTED_MAX).len, (text).ptr

/* A column of the input that becomes a member. */
struct weir_member {
    uint32_t place; /* in the record, from 0 */
    const struct weir_column *column;
    const struct weir_cell_kind *kind;
    struct weir_str opening; /* `,"name":`; owned */
    uint64_t shape;          /* what it adds to that of a row */
};

struct weir_mapping {
    const struct weir_table *table;
    struct weir_table_names names;
    enum weir_operation operation;
    struct weir_row_ids ids;
    bool objects;
    bool elastic;

    /* By what rows are named: the primary id, or these, in the order of the table's key. */
    bool by_key;
    bool by_partition; /* no row without one */
    const struct weir_column *key[WEIR_KEY_PARTS_MAX];
    uint32_t key_count;

    /* Rows of cells. */
    uint32_t key_places[WEIR_KEY_PARTS_MAX];
    uint32_t id_place;
    uint32_t partition_place;
    const struct weir_column **columns; /* of each cell */
    uint32_t column_count;
    struct weir_member *members;
    uint32_t member_count;
    const struct weir_member *owner_column; /* NULL: the input has none */

    char *owner_text; /* `,"ownerid@odata.bind":"/…"`; NULL: none is added */
    struct weir_str owner;
    bool owner_needed; /* a row whose owner is nowhere said is refused */
};

/* "a create", "an update" and so on. */
const char *weir_mapping_verb(const struct weir_mapping *mapping);

/* ---- mapping_columns.c ---- */

/* Look at the columns of the input; the key is known. */
enum weir_status weir_mapping_choose_columns(struct weir_mapping *mapping,
                                             struct weir_columns columns, struct weir_error *err);

/* "no column of that name", with the nearest that there is. */
enum weir_status weir_mapping_fail_unknown(const struct weir_table *table, struct weir_str name,
                                           struct weir_error *err);

/* ---- mapping_key.c ---- */

/* `key` as in the options; NULL: by the primary id. */
enum weir_status weir_mapping_choose_key(struct weir_mapping *mapping, const char *key,
                                         struct weir_error *err);

/* ---- naming.c ---- */

/* What names a row, as it was found; empty: no value. */
struct weir_row_name {
    bool has_id; /* the id has its place in the row, filled or not */
    struct weir_str id;
    struct weir_str partition;
    struct weir_str key[WEIR_KEY_PARTS_MAX];
};

/* Give the draft its id, key, partition and hash, or a refusal. False: the arena is full. */
bool weir_mapping_name(const struct weir_mapping *mapping, const struct weir_row_name *name,
                       struct weir_arena *arena, struct weir_draft *draft);

/*
 * Memory for the members, of that many bytes, in target.members; or a refusal: that is more than
 * one row may weigh. False: the arena is full.
 */
bool weir_mapping_reserve(const struct weir_mapping *mapping, size_t bytes,
                          struct weir_arena *arena, struct weir_draft *draft, char **ret);

/* The same without memory of its own: the members stay where they are. */
bool weir_mapping_weigh(const struct weir_mapping *mapping, struct weir_str members,
                        struct weir_arena *arena, struct weir_draft *draft);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Lookups: cells that point to a row of some table, and the address that they become.
 *
 *     id         0F…, or account:0F…     ,"buyer_account@odata.bind":"/accounts(0f…)"
 *     key        A1                      ,"Maker@odata.bind":"/accounts(accountnumber='A1')"
 *     reference  anna@contoso.com        ,"ownerid@odata.bind":"/systemusers(3a…)"     by a list
 *     derived    4711                    ,"Maker@odata.bind":"/accounts(5c…)"          computed
 *     null                               ,"Maker@odata.bind":null
 *
 * The names of the navigation properties are those of the metadata; a lookup that may point to
 * several tables has one for each, and then a cell says which, unless the header does.
 *
 * A lookup that may point to several tables and is cleared is so by one of them, the first or the
 * one that the header names: all of them stand for the same column, and a request that named it
 * twice would be refused.
 *
 * Lookups borrow tables and columns, and are constant once they are made. Deriving and looking up
 * is the caller's: one thread at a time for derived ids.
 */
#ifndef WEIR_RECORDS_LOOKUP_H
#define WEIR_RECORDS_LOOKUP_H

#include "base/arena.h"
#include "records/cell_kinds.h"
#include "records/column_target.h"
#include "records/derived_id.h"
#include "records/references.h"

enum weir_lookup_way {
    WEIR_LOOKUP_ID = 0,
    WEIR_LOOKUP_KEY,
    WEIR_LOOKUP_REFERENCE,
    WEIR_LOOKUP_DERIVED,
};

/* A column of a table, whose values are read before the first row. */
struct weir_lookup_list {
    const struct weir_table *table;
    const struct weir_column *column;
};

/* What lookups of one mapping share. */
struct weir_lookup_world {
    const struct weir_table *own;
    const struct weir_table *const *others;
    size_t other_count;
    const struct weir_zone *zone;
    struct weir_lookup_list *lists; /* owned by whoever has the world */
    uint32_t list_count;
    bool complete; /* lists have been asked for; there can be no more */
    const struct weir_references *references;
    struct weir_derived_ids *derived; /* NULL: the organisation is not known */
};

/* A table that a lookup may point to. */
struct weir_lookup_end {
    struct weir_str table;
    struct weir_str navigation; /* empty: not known */
    struct weir_str set;        /* empty: not known */
};

struct weir_lookup {
    const struct weir_column *column;
    enum weir_lookup_way way;
    struct weir_lookup_end *ends;
    uint32_t end_count;
    const struct weir_lookup_end
        *only;                      /* the only one, or that of the header; NULL: cells say it */
    const struct weir_table *table; /* of `only`; NULL: not described */
    uint32_t list;                  /* of references */

    /* Of keys and derived ids. */
    uint32_t key_count;
    const struct weir_column *keys[WEIR_KEY_PARTS_MAX]; /* of derived ids: NULL if it is none */
    struct weir_cell_rule *rules;                       /* of keys */
};

/* What a cell became: `,"navigation@odata.bind":"/set(inside)"`. */
struct weir_binding {
    const struct weir_lookup_end *end;
    struct weir_str inside; /* an id or the predicate of a key; empty: null */
};

/*
 * What cells of this column, written as `target` says, point to.
 *   WEIR_E_INVALID  it cannot point to that table; a column that the table has not; several columns
 *                   that are no key; a table that was not described
 */
enum weir_status weir_lookup_new(struct weir_lookup_world *world, const struct weir_column *column,
                                 const struct weir_column_target *target, struct weir_lookup **ret,
                                 struct weir_error *err);
void weir_lookup_free(struct weir_lookup *lookup); /* NULL is fine */

/* It may point to a row of the table itself. */
bool weir_lookup_is_inward(const struct weir_lookup *lookup, const struct weir_table *own);

/*
 * What a cell that is not empty points to. `table`: the table that the row itself says beside it;
 * empty: none.
 *   WEIR_E_INVALID  it points nowhere; the message says why
 *   WEIR_E_TOO_BIG  the arena is full
 */
enum weir_status weir_lookup_read(const struct weir_lookup *lookup,
                                  const struct weir_lookup_world *world, struct weir_str cell,
                                  struct weir_str table, struct weir_arena *arena,
                                  struct weir_binding *ret, struct weir_error *err);

/* What clears it. */
struct weir_binding weir_lookup_null(const struct weir_lookup *lookup);

/* The bytes of the member with a comma before it; writing them, which returns the byte behind. */
size_t weir_binding_bytes(const struct weir_binding *binding);
char *weir_binding_write(const struct weir_binding *binding, char *to);

/*
 * The name of a table's entity set, if it needs no describing: `own`, one of the others, or one
 * that every environment has under the same name. Empty: not known.
 */
struct weir_str weir_lookup_set(const struct weir_lookup_world *world, struct weir_str table);

/* A table that was described; NULL: it was not. */
const struct weir_table *weir_lookup_table(const struct weir_lookup_world *world,
                                           struct weir_str table);

#endif

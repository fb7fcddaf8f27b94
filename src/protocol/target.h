/* SPDX-License-Identifier: MIT */
/*
 * One row on its way out, and the names of the table that it goes to. Both borrow everything. The
 * members are taken as they are: whoever made them answers for their being JSON. Pure. Any thread.
 */
#ifndef WEIR_PROTOCOL_TARGET_H
#define WEIR_PROTOCOL_TARGET_H

#include "base/str.h"
#include "weir/error.h"

struct weir_table_names {
    struct weir_str logical_name; /* account */
    struct weir_str set_name;     /* accounts */
    struct weir_str primary_id;   /* accountid */
};

struct weir_target {
    struct weir_str id;      /* canonical GUID; empty: none */
    struct weir_str key;     /* predicate as weir_odata_add_predicate() writes it; empty: none */
    struct weir_str members; /* `"name":"A","revenue":5`: no braces, neither id nor key columns; may
                                be empty */
};

/* By what a row is named in a request. */
enum weir_naming {
    WEIR_NAMING_ID_OR_NONE, /* a create: the service makes an id if there is none */
    WEIR_NAMING_ID,
    WEIR_NAMING_ID_OR_KEY,
};

/* WEIR_E_INVALID: a name that could not stand in an address. */
enum weir_status weir_table_names_check(const struct weir_table_names *table,
                                        struct weir_error *err);

/* WEIR_E_INVALID: not named as `naming` wants it, an id that is not canonical, a malformed key. */
enum weir_status weir_target_check(const struct weir_target *target, enum weir_naming naming,
                                   struct weir_error *err);

#endif

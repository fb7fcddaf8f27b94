/* SPDX-License-Identifier: MIT */
/*
 * One row on its way out, and the names of the table that it goes to. Both borrow everything. The
 * members are taken as they are: whoever made them answers for their being JSON. Pure. Any thread.
 */
#ifndef WEIR_PROTOCOL_TARGET_H
#define WEIR_PROTOCOL_TARGET_H

#include "base/buf.h"
#include "protocol/guid.h"
#include "weir/error.h"

struct weir_table_names {
    struct weir_str logical_name; /* account */
    struct weir_str set_name;     /* accounts */
    struct weir_str primary_id;   /* accountid */
    bool overridden;              /* it has WEIR_OVERRIDDEN_COLUMN */
};

struct weir_target {
    struct weir_str id;        /* canonical GUID; empty: none */
    struct weir_str key;       /* predicate as weir_odata_add_predicate() writes it; empty: none */
    struct weir_str members;   /* `"name":"A","revenue":5`: no braces, neither id, partition nor key
                                  columns; may be empty */
    struct weir_str partition; /* of a row of an elastic table, where it is a part of the id: its
                                  text, not encoded; empty: none */
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

/* The same, and the id, if it has one; it is left alone otherwise. */
enum weir_status weir_target_check_id(const struct weir_target *target, enum weir_naming naming,
                                      struct weir_guid *ret_id, struct weir_error *err);

/*
 * Append what a row that is there is called in an address; both must have passed their checks.
 *
 *     sensorreadings(0000…)                                          by its id
 *     sensorreadings(sensorreadingid=0000…,partitionid='device-1')   in a partition
 *     accounts(accountnumber='A1')                                   by its key
 *
 * There is a query option for the partition, too. It is left out of a PATCH without a word, and the
 * documentation writes its value in two ways, so the key that every elastic table has is used.
 *   WEIR_E_INVALID  a key and a partition at once, or a partition that cannot stand in a key: see
 *                   weir_odata_key_obstacle(); nothing was appended
 */
enum weir_status weir_target_add_address(struct weir_buf *buf, const struct weir_table_names *table,
                                         const struct weir_target *target, struct weir_error *err);

/* How many bytes that appends if it does not fail. */
size_t weir_target_address_bytes(const struct weir_table_names *table,
                                 const struct weir_target *target);

/* Written by a create, it becomes createdon, and is itself when the row was really created. */
#define WEIR_OVERRIDDEN_COLUMN "overriddencreatedon"

/* The name of the column that holds the partition, in every elastic table. */
#define WEIR_PARTITION_COLUMN "partitionid"

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Where a column of the input goes, as it is written in a header, as the name of a member, in a
 * mapping file, or before the sign of a constant:
 *
 *     name                                      a column
 *     parentcustomerid:account                  a lookup; cells are ids of that table
 *     parentaccountid:account(accountnumber)    a lookup; cells are values of that column
 *     parentaccountid:account(#code)            a lookup; cells are what ids were derived from
 *
 * Several columns between the parentheses have commas between them; then cells are their values,
 * written as a line of CSV. Pure. Any thread.
 */
#ifndef WEIR_RECORDS_COLUMN_TARGET_H
#define WEIR_RECORDS_COLUMN_TARGET_H

#include "base/limits.h"
#include "base/str.h"
#include "weir/error.h"

struct weir_column_target {
    struct weir_str column;
    struct weir_str table;                    /* ptr NULL: not said */
    struct weir_str keys[WEIR_KEY_PARTS_MAX]; /* between the parentheses, without their # */
    uint32_t key_count;
    bool derived; /* with a # before each */
};

/* Borrows from `text`. What has no colon is the name of a column, whatever it looks like.
 * WEIR_E_INVALID: what is behind the colon is none of the forms above. */
enum weir_status weir_column_target_parse(struct weir_str text, struct weir_column_target *ret,
                                          struct weir_error *err);

#endif

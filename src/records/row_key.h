/* SPDX-License-Identifier: MIT */
/*
 * The name of a row as a number, so that two rows with the same name are noticed. Names are equal
 * as the database takes them to be: texts by fold.h and without the blanks at their end, GUIDs in
 * any form, numbers by their value (1.50 is 1.5 is 15e-1). Two different names may get the same
 * number; then one of the rows waits for the other for nothing. That decimals are rounded to the
 * column's digits before they are compared is not known here.
 *
 *     struct weir_row_key key;
 *     weir_row_key_init(&key);
 *     weir_row_key_add(&key, column->type, value);   …   all parts in one order
 *     uint64_t hash = weir_row_key_hash(&key);
 *
 * Owns nothing. Pure. One thread at a time.
 */
#ifndef WEIR_RECORDS_ROW_KEY_H
#define WEIR_RECORDS_ROW_KEY_H

#include "protocol/guid.h"
#include "protocol/metadata.h"

#define WEIR_ROW_KEY_BYTES 248

struct weir_row_key {
    char bytes[WEIR_ROW_KEY_BYTES]; /* of the canonical name that were not hashed yet */
    size_t len;
};

void weir_row_key_init(struct weir_row_key *key);

/* A part of an alternate key, of any length. */
void weir_row_key_add(struct weir_row_key *key, enum weir_column_type type, struct weir_str value);

void weir_row_key_add_guid(struct weir_row_key *key, const struct weir_guid *guid);

/* A part that is compared byte by byte: a partition. */
void weir_row_key_add_exact(struct weir_row_key *key, struct weir_str value);

/* Never 0. */
uint64_t weir_row_key_hash(const struct weir_row_key *key);

#endif

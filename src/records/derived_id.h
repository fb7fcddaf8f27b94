/* SPDX-License-Identifier: MIT */
/*
 * Ids that are derived from values of the row, so that whoever knows the values knows the id: a
 * repeated job finds its own rows, and other files refer to them without a read.
 *
 *     weir_derived_ids_begin(ids, table)
 *     weir_derived_ids_add(ids, column, value)   …   in the order in which --id-from names them
 *     struct weir_guid id = weir_derived_ids_end(ids);
 *
 * UUIDs of version 5: SHA-1 of the organisation's id, the logical name of the table, and for each
 * value the byte 0x1F and the value without the blanks around it, byte for byte. Values of columns
 * that hold ids are taken in their canonical form.
 *
 * The digest is OpenSSL's. Nothing is allocated for an id. One thread at a time.
 */
#ifndef WEIR_RECORDS_DERIVED_ID_H
#define WEIR_RECORDS_DERIVED_ID_H

#include "protocol/guid.h"
#include "protocol/metadata.h"

struct weir_derived_ids;

/* Never NULL. */
struct weir_derived_ids *weir_derived_ids_new(const struct weir_guid *organisation);
void weir_derived_ids_free(struct weir_derived_ids *ids); /* NULL is fine */

void weir_derived_ids_begin(struct weir_derived_ids *ids, const char *table);

/* `column` NULL: the value is of no column of the table. */
void weir_derived_ids_add(struct weir_derived_ids *ids, const struct weir_column *column,
                          struct weir_str value);

struct weir_guid weir_derived_ids_end(struct weir_derived_ids *ids);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A table as a text and back: what a job has been told of its tables is kept with it, so that a
 * resume need not ask again and means by each column what the beginning meant.
 *
 *     {"name":"account","set":"accounts","id":"accountid","columns":[
 *     {"name":"industrycode","type":"choice","create":true,"choices":[{"value":1,"label":"IT"}]},
 *     …]}                                                           in one line
 *
 * The text is JSON, has every value of a table, and leaves out what is as it would be anyway. Pure.
 * Any thread.
 */
#ifndef WEIR_PROTOCOL_METADATA_TEXT_H
#define WEIR_PROTOCOL_METADATA_TEXT_H

#include "protocol/metadata.h"

/* The caller's to free. NULL: it would be longer than WEIR_TABLE_TEXT_MAX. */
char *weir_table_print(const struct weir_table *table);

/*
 * The table that a text was printed of: what it prints to is the text again, byte for byte, and
 * every other text is refused. Nothing is borrowed. `ret`: the caller's, weir_table_free().
 *   WEIR_E_INVALID  it is not what weir_table_print() writes; the message says where
 *   WEIR_E_TOO_BIG  over one of the bounds
 */
enum weir_status weir_table_parse(struct weir_str text, struct weir_table **ret,
                                  struct weir_error *err);

#endif

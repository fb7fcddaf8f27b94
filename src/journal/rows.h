/* SPDX-License-Identifier: MIT */
/* Records as rows of the database: how each kind is written and read back. */
#ifndef WEIR_JOURNAL_ROWS_H
#define WEIR_JOURNAL_ROWS_H

#include "journal/entry.h"
#include "journal/sql.h"

/* The columns that weir_row_read() wants, in its order. */
extern const char *const weir_row_columns[WEIR_ENTRY_KINDS];

/* The statement that adds one, for weir_row_bind(). */
extern const char *const weir_row_inserts[WEIR_ENTRY_KINDS];

/* Parameters of the insert; they borrow from the record until the reset. */
void weir_row_bind(sqlite3_stmt *statement, const struct weir_entry *record);

/*
 * The record in the statement's present row; its texts live until the next step.
 *   WEIR_E_INVALID  its checksum is wrong, or a field is impossible
 */
enum weir_status weir_row_read(sqlite3_stmt *statement, enum weir_entry_kind kind,
                               struct weir_entry *ret, struct weir_error *err);

#endif

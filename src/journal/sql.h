/* SPDX-License-Identifier: MIT */
/*
 * SQLite with weir's manners: errors by value, settings made once, and one place that says what a
 * result code means for a job. A connection belongs to one thread at a time.
 */
#ifndef WEIR_JOURNAL_SQL_H
#define WEIR_JOURNAL_SQL_H

#include <sqlite3.h>

#include "base/str.h"
#include "weir/error.h"

enum weir_sql_access {
    WEIR_SQL_READ,  /* beside a writer, whom it never holds up for longer than one statement */
    WEIR_SQL_WRITE, /* the file must be there */
};

/* An open connection to the database at `path`; `vfs` may be NULL. Close it with sqlite3_close().
 */
enum weir_status weir_sql_open(const char *path, const char *vfs, enum weir_sql_access access,
                               sqlite3 **ret, struct weir_error *err);

/* A statement, or several, without results. */
enum weir_status weir_sql_exec(sqlite3 *db, const char *text, struct weir_error *err);

/* *ret must be finalized; NULL on failure. */
enum weir_status weir_sql_prepare(sqlite3 *db, const char *text, sqlite3_stmt **ret,
                                  struct weir_error *err);

/* The next row. False in *ret: there is none. */
enum weir_status weir_sql_step(sqlite3_stmt *statement, bool *ret, struct weir_error *err);

/* Run a statement without results and reset it. */
enum weir_status weir_sql_run(sqlite3_stmt *statement, struct weir_error *err);

/* The first number of the first row of a query. WEIR_E_INVALID: there is no row. */
enum weir_status weir_sql_number(sqlite3 *db, const char *text, int64_t *ret,
                                 struct weir_error *err);

/* Columns and parameters. A text lives until the next step; one that is bound, until the reset. */
struct weir_str weir_sql_text(sqlite3_stmt *statement, int column);
uint64_t weir_sql_u64(sqlite3_stmt *statement, int column);
void weir_sql_bind_u64(sqlite3_stmt *statement, int parameter, uint64_t number);
void weir_sql_bind_text(sqlite3_stmt *statement, int parameter, struct weir_str text);
void weir_sql_bind_blob(sqlite3_stmt *statement, int parameter, struct weir_str bytes);

/*
 * What the last failure on `db` means: WEIR_E_INVALID for a damaged file, WEIR_E_IO ("disk full",
 * or the operating system's reason) for everything else.
 */
enum weir_status weir_sql_fail(sqlite3 *db, int rc, struct weir_error *err);

/* WEIR_E_INVALID with the sentence for a journal that cannot be believed. */
enum weir_status weir_sql_damaged(struct weir_error *err, const char *what);

#endif

/* SPDX-License-Identifier: MIT */
/* SQLite with weir's manners; see sql.h. */
#include "journal/sql.h"

#include <errno.h>

#include "base/error.h"
#include "journal/hooks.h"

#define BUSY_MS 10000 /* somebody recovers or checkpoints beside us */

enum weir_status weir_sql_damaged(struct weir_error *err, const char *what)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "the journal is damaged (%s): it is not resumed on a guess; restore the job's "
                     "directory from a copy, or compare input and service and start a new job",
                     what);
}

static bool is_full(int rc, int reason)
{
    return (rc & 0xff) == SQLITE_FULL || reason == ENOSPC || reason == EDQUOT;
}

enum weir_status weir_sql_fail(sqlite3 *db, int rc, struct weir_error *err)
{
    int code = rc & 0xff;
    int reason = db ? sqlite3_system_errno(db) : 0;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR)
        return weir_sql_damaged(err, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
    if (is_full(rc, reason))
        return weir_fail(err, WEIR_E_IO, "the journal cannot be written: disk full");
    if (code == SQLITE_IOERR && reason)
        return weir_fail(err, WEIR_E_IO, "the journal cannot be read or written: %s",
                         weir_hooks_reason(reason));
    return weir_fail(err, WEIR_E_IO, "the journal cannot be read or written: %s",
                     sqlite3_errstr(rc));
}

/* Readers see a snapshot; a damaged cell is an error rather than a surprise. */
static const char settings[] = "PRAGMA cell_size_check=ON;"
                               "PRAGMA trusted_schema=OFF;"
                               "PRAGMA temp_store=MEMORY;";

enum weir_status weir_sql_open(const char *path, const char *vfs, enum weir_sql_access access,
                               sqlite3 **ret, struct weir_error *err)
{
    sqlite3 *db = NULL;
    int flags = access == WEIR_SQL_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    int rc = sqlite3_open_v2(path, &db, flags | SQLITE_OPEN_NOMUTEX, vfs);
    if (rc) {
        enum weir_status status = weir_sql_fail(db, rc, err);
        sqlite3_close(db);
        return status;
    }
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, BUSY_MS);
    enum weir_status status = weir_sql_exec(db, settings, err);
    if (status)
        sqlite3_close(db);
    else
        *ret = db;
    return status;
}

enum weir_status weir_sql_exec(sqlite3 *db, const char *text, struct weir_error *err)
{
    int rc = sqlite3_exec(db, text, NULL, NULL, NULL);
    return rc ? weir_sql_fail(db, rc, err) : WEIR_OK;
}

enum weir_status weir_sql_prepare(sqlite3 *db, const char *text, sqlite3_stmt **ret,
                                  struct weir_error *err)
{
    int rc = sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
    return rc ? weir_sql_fail(db, rc, err) : WEIR_OK;
}

enum weir_status weir_sql_step(sqlite3_stmt *statement, bool *ret, struct weir_error *err)
{
    int rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return weir_sql_fail(sqlite3_db_handle(statement), rc, err);
    *ret = rc == SQLITE_ROW;
    return WEIR_OK;
}

enum weir_status weir_sql_run(sqlite3_stmt *statement, struct weir_error *err)
{
    bool more;
    enum weir_status status = weir_sql_step(statement, &more, err);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

enum weir_status weir_sql_number(sqlite3 *db, const char *text, int64_t *ret,
                                 struct weir_error *err)
{
    sqlite3_stmt *statement = NULL;
    bool more = false;
    enum weir_status status = weir_sql_prepare(db, text, &statement, err);
    if (status == WEIR_OK)
        status = weir_sql_step(statement, &more, err);
    if (status == WEIR_OK && !more)
        status = weir_sql_damaged(err, "a row is missing");
    if (status == WEIR_OK)
        *ret = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status;
}

struct weir_str weir_sql_text(sqlite3_stmt *statement, int column)
{
    const char *ptr = sqlite3_column_blob(statement, column);
    return weir_str(ptr ? ptr : "", (size_t)sqlite3_column_bytes(statement, column));
}

uint64_t weir_sql_u64(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}

void weir_sql_bind_u64(sqlite3_stmt *statement, int parameter, uint64_t number)
{
    sqlite3_bind_int64(statement, parameter, (sqlite3_int64)number);
}

void weir_sql_bind_text(sqlite3_stmt *statement, int parameter, struct weir_str text)
{
    sqlite3_bind_text64(statement, parameter, text.len ? text.ptr : "", text.len, SQLITE_STATIC,
                        SQLITE_UTF8);
}

/* No bytes are NULL, which takes no room. */
void weir_sql_bind_blob(sqlite3_stmt *statement, int parameter, struct weir_str bytes)
{
    if (bytes.len > 0)
        sqlite3_bind_blob64(statement, parameter, bytes.ptr, bytes.len, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, parameter);
}

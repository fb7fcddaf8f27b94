/* SPDX-License-Identifier: MIT */
/*
 * The shape of journal.db; see schema.h.
 *
 * Ranges and rejects are kept in the order in which they came, so that pages fill up and a range
 * with its ids needs no page of its own; an index has them in the order of rows. The columns that
 * are long come last.
 */
#include "journal/schema.h"

#include "base/error.h"

static const char *const objects[] = {
    "CREATE TABLE state(id INTEGER PRIMARY KEY, serial INTEGER, opened INTEGER, facts INTEGER,"
    " ranges INTEGER, ranges_sum INTEGER, rejects INTEGER, rejects_sum INTEGER,"
    " blocks INTEGER, blocks_sum INTEGER, notes INTEGER, notes_sum INTEGER, crc INTEGER)",
    "CREATE TABLE facts(name TEXT PRIMARY KEY, value BLOB, crc INTEGER) WITHOUT ROWID",
    "CREATE TABLE inputs(file INTEGER PRIMARY KEY, path TEXT, on_disk INTEGER, size INTEGER,"
    " hash_first INTEGER, hash_last INTEGER, crc INTEGER)",
    "CREATE TABLE ranges(serial INTEGER PRIMARY KEY, pass INTEGER, first_row INTEGER,"
    " last_row INTEGER, file INTEGER, byte_offset INTEGER, byte_behind INTEGER, outcome INTEGER,"
    " connection INTEGER, crc INTEGER, ids BLOB)",
    "CREATE INDEX ranges_by_row ON ranges(pass, first_row)",
    "CREATE TABLE rejects(serial INTEGER PRIMARY KEY, pass INTEGER, row INTEGER, file INTEGER,"
    " byte_offset INTEGER, key_hash INTEGER, superseded INTEGER, http_status INTEGER,"
    " service_code INTEGER, attempts INTEGER, crc INTEGER, column_name TEXT, class TEXT,"
    " message TEXT, request_id TEXT, connection TEXT, bytes BLOB)",
    "CREATE INDEX rejects_by_row ON rejects(row, pass)",
    "CREATE TABLE blocks(file INTEGER, number INTEGER, bytes INTEGER, last INTEGER,"
    " hash INTEGER, serial INTEGER, crc INTEGER, PRIMARY KEY(file, number)) WITHOUT ROWID",
    "CREATE TABLE notes(name TEXT PRIMARY KEY, text TEXT, serial INTEGER, crc INTEGER)"
    " WITHOUT ROWID",
};

#define OBJECTS (sizeof(objects) / sizeof(objects[0]))

#define WORDS(number)  WORDS_(number)
#define WORDS_(number) #number

enum weir_status weir_schema_make(sqlite3 *db, struct weir_error *err)
{
    enum weir_status status =
        weir_sql_exec(db,
                      "PRAGMA application_id=" WORDS(
                          WEIR_SCHEMA_APP_ID) ";" //
                                              "PRAGMA user_version=" WORDS(WEIR_SCHEMA_VERSION) ";",
                      err);
    for (size_t i = 0; i < OBJECTS && status == WEIR_OK; i++)
        status = weir_sql_exec(db, objects[i], err);
    return status;
}

enum weir_status weir_schema_renew(sqlite3 *db, struct weir_error *err)
{
    int64_t version;
    enum weir_status status = weir_sql_number(db, "PRAGMA user_version", &version, err);
    if (status == WEIR_OK && version < WEIR_SCHEMA_VERSION)
        status = weir_sql_exec(db, "PRAGMA user_version=" WORDS(WEIR_SCHEMA_VERSION), err);
    return status;
}

static enum weir_status check_version(sqlite3 *db, struct weir_error *err)
{
    int64_t id, version;
    enum weir_status status = weir_sql_number(db, "PRAGMA application_id", &id, err);
    if (status == WEIR_OK)
        status = weir_sql_number(db, "PRAGMA user_version", &version, err);
    if (status)
        return status;
    if (id != WEIR_SCHEMA_APP_ID || version < 1)
        return weir_sql_damaged(err, "journal.db is not a journal of weir");
    if (version > WEIR_SCHEMA_VERSION)
        return weir_fail(err, WEIR_E_INVALID,
                         "the journal has version \"%lld\": this program knows %d; resume the job "
                         "with the newer weir that made it",
                         (long long)version, WEIR_SCHEMA_VERSION);
    return WEIR_OK;
}

static bool same(sqlite3_stmt *statement, size_t i)
{
    return i < OBJECTS && weir_str_equal(weir_sql_text(statement, 0), weir_str_from(objects[i]));
}

static enum weir_status check_objects(sqlite3_stmt *statement, struct weir_error *err)
{
    size_t count = 0;
    bool more, as_made = true;
    enum weir_status status;
    while ((status = weir_sql_step(statement, &more, err)) == WEIR_OK && more)
        as_made = same(statement, count++) && as_made;
    if (status == WEIR_OK && (!as_made || count != OBJECTS))
        status = weir_sql_damaged(err, "its tables are not as they were made");
    return status;
}

enum weir_status weir_schema_check(sqlite3 *db, struct weir_error *err)
{
    sqlite3_stmt *statement = NULL;
    enum weir_status status = check_version(db, err);
    if (status == WEIR_OK)
        status = weir_sql_prepare(
            db, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid", &statement,
            err);
    if (status == WEIR_OK)
        status = check_objects(statement, err);
    sqlite3_finalize(statement);
    return status;
}

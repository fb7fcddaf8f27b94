/* SPDX-License-Identifier: MIT */
/* Records as rows; see rows.h. Columns and parameters have the same order. */
#include "journal/rows.h"

const char *const weir_row_inserts[WEIR_ENTRY_KINDS] = {
    [WEIR_ENTRY_RANGE] = "INSERT INTO ranges(" WEIR_ROW_RANGE ") VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    [WEIR_ENTRY_REJECT] =
        "INSERT INTO rejects(" WEIR_ROW_REJECT ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [WEIR_ENTRY_BLOCK] =
        "INSERT INTO blocks(" WEIR_ROW_BLOCK ") VALUES(?,?,?,?,?,?,?)"
        " ON CONFLICT(file, number) DO UPDATE SET serial=excluded.serial, crc=excluded.crc,"
        " bytes=excluded.bytes, last=excluded.last, hash=excluded.hash"
        " WHERE NOT blocks.last AND (excluded.bytes > blocks.bytes"
        " OR (excluded.last AND excluded.bytes = blocks.bytes))",
    [WEIR_ENTRY_NOTE] = "INSERT OR REPLACE INTO notes(" WEIR_ROW_NOTE ") VALUES(?,?,?,?)",
};

/* In the place of ids: weir has made them, and makes them again. */
#define IDS_MADE 1

/* --- writing ---------------------------------------------------------------------------------- */

static void bind_range(sqlite3_stmt *statement, const struct weir_range *range)
{
    weir_sql_bind_u64(statement, 3, range->pass);
    weir_sql_bind_u64(statement, 4, range->first);
    weir_sql_bind_u64(statement, 5, range->last);
    weir_sql_bind_u64(statement, 6, range->file);
    weir_sql_bind_u64(statement, 7, range->offset);
    weir_sql_bind_u64(statement, 8, range->behind);
    weir_sql_bind_u64(statement, 9, range->outcome);
    weir_sql_bind_u64(statement, 10, range->connection);
    if (range->ids_made)
        weir_sql_bind_u64(statement, 11, IDS_MADE);
    else
        weir_sql_bind_blob(statement, 11, range->ids);
}

static void bind_reject(sqlite3_stmt *statement, const struct weir_reject *reject)
{
    weir_sql_bind_u64(statement, 3, reject->pass);
    weir_sql_bind_u64(statement, 4, reject->row);
    weir_sql_bind_u64(statement, 5, reject->file);
    weir_sql_bind_u64(statement, 6, reject->offset);
    weir_sql_bind_u64(statement, 7, reject->key_hash);
    weir_sql_bind_u64(statement, 8, reject->superseded);
    weir_sql_bind_u64(statement, 9, (uint64_t)reject->http_status);
    weir_sql_bind_u64(statement, 10, reject->service_code);
    weir_sql_bind_u64(statement, 11, reject->attempts);
    weir_sql_bind_text(statement, 12, reject->column);
    weir_sql_bind_text(statement, 13, reject->class_name);
    weir_sql_bind_text(statement, 14, reject->message);
    weir_sql_bind_text(statement, 15, reject->request_id);
    weir_sql_bind_text(statement, 16, reject->connection);
    weir_sql_bind_blob(statement, 17, reject->bytes);
}

static void bind_block(sqlite3_stmt *statement, const struct weir_input_block *block)
{
    weir_sql_bind_u64(statement, 3, block->file);
    weir_sql_bind_u64(statement, 4, block->number);
    weir_sql_bind_u64(statement, 5, block->bytes);
    weir_sql_bind_u64(statement, 6, block->last);
    weir_sql_bind_u64(statement, 7, block->hash);
}

void weir_row_bind(sqlite3_stmt *statement, const struct weir_entry *record)
{
    weir_sql_bind_u64(statement, 1, record->serial);
    weir_sql_bind_u64(statement, 2, record->crc);
    switch (record->kind) {
    case WEIR_ENTRY_RANGE:
        bind_range(statement, &record->range);
        break;
    case WEIR_ENTRY_REJECT:
        bind_reject(statement, &record->reject);
        break;
    case WEIR_ENTRY_BLOCK:
        bind_block(statement, &record->block);
        break;
    case WEIR_ENTRY_NOTE:
        weir_sql_bind_text(statement, 3, record->note.name);
        weir_sql_bind_text(statement, 4, record->note.text);
        break;
    case WEIR_ENTRY_KINDS:
        break;
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Whatever else stands there is taken for bytes, for which the checksum is wrong then. */
static bool are_ids_made(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_INTEGER &&
           weir_sql_u64(statement, column) == IDS_MADE;
}

static struct weir_range read_range(sqlite3_stmt *statement)
{
    bool made = are_ids_made(statement, 10);
    return (struct weir_range){
        .pass = (uint32_t)weir_sql_u64(statement, 2),
        .first = weir_sql_u64(statement, 3),
        .last = weir_sql_u64(statement, 4),
        .file = (uint32_t)weir_sql_u64(statement, 5),
        .offset = weir_sql_u64(statement, 6),
        .behind = weir_sql_u64(statement, 7),
        .outcome = (enum weir_range_outcome)weir_sql_u64(statement, 8),
        .connection = (uint32_t)weir_sql_u64(statement, 9),
        .ids = made ? weir_str("", 0) : weir_sql_text(statement, 10),
        .ids_made = made,
    };
}

static struct weir_reject read_reject(sqlite3_stmt *statement)
{
    return (struct weir_reject){
        .pass = (uint32_t)weir_sql_u64(statement, 2),
        .row = weir_sql_u64(statement, 3),
        .file = (uint32_t)weir_sql_u64(statement, 4),
        .offset = weir_sql_u64(statement, 5),
        .key_hash = weir_sql_u64(statement, 6),
        .superseded = weir_sql_u64(statement, 7) != 0,
        .http_status = (int)weir_sql_u64(statement, 8),
        .service_code = (uint32_t)weir_sql_u64(statement, 9),
        .attempts = (uint32_t)weir_sql_u64(statement, 10),
        .column = weir_sql_text(statement, 11),
        .class_name = weir_sql_text(statement, 12),
        .message = weir_sql_text(statement, 13),
        .request_id = weir_sql_text(statement, 14),
        .connection = weir_sql_text(statement, 15),
        .bytes = weir_sql_text(statement, 16),
    };
}

static struct weir_input_block read_block(sqlite3_stmt *statement)
{
    return (struct weir_input_block){
        .file = (uint32_t)weir_sql_u64(statement, 2),
        .number = weir_sql_u64(statement, 3),
        .bytes = (uint32_t)weir_sql_u64(statement, 4),
        .last = weir_sql_u64(statement, 5) != 0,
        .hash = weir_sql_u64(statement, 6),
    };
}

static void read_fields(sqlite3_stmt *statement, struct weir_entry *record)
{
    switch (record->kind) {
    case WEIR_ENTRY_RANGE:
        record->range = read_range(statement);
        break;
    case WEIR_ENTRY_REJECT:
        record->reject = read_reject(statement);
        break;
    case WEIR_ENTRY_BLOCK:
        record->block = read_block(statement);
        break;
    case WEIR_ENTRY_NOTE:
        record->note = (struct weir_note){ .name = weir_sql_text(statement, 2),
                                           .text = weir_sql_text(statement, 3) };
        break;
    case WEIR_ENTRY_KINDS:
        break;
    }
}

enum weir_status weir_row_read(sqlite3_stmt *statement, enum weir_entry_kind kind,
                               struct weir_entry *ret, struct weir_error *err)
{
    struct weir_entry record = { .kind = kind,
                                 .serial = weir_sql_u64(statement, 0),
                                 .crc = (uint32_t)weir_sql_u64(statement, 1) };
    read_fields(statement, &record);
    if (weir_entry_crc(&record) != weir_sql_u64(statement, 1))
        return weir_sql_damaged(err, "a record has a wrong checksum");
    if (weir_entry_check(&record, NULL))
        return weir_sql_damaged(err, "a record is impossible");
    *ret = record;
    return WEIR_OK;
}

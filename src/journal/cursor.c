/* SPDX-License-Identifier: MIT */
/* Records in the order of rows; see cursor.h. A handful is asked for behind the last one seen. */
#include "journal/cursor.h"

#include "journal/rows.h"

#define HANDFUL_RECORDS 256
#define HANDFUL_BYTES   ((size_t)1024 * 1024)

#define RANGES                                                                                     \
    "SELECT " WEIR_ROW_RANGE " FROM ranges INDEXED BY ranges_by_row"                               \
    " WHERE pass=?1 AND first_row>=?2 AND (first_row>?2 OR serial>?3) AND serial<=?5"

static const struct {
    enum weir_entry_kind kind;
    const char *query;
} orders[] = {
    [WEIR_CURSOR_RANGES] = { WEIR_ENTRY_RANGE, RANGES " ORDER BY first_row, serial LIMIT ?6" },
    [WEIR_CURSOR_RANGES_WITH_IDS] = { WEIR_ENTRY_RANGE,
                                      RANGES " AND ids IS NOT NULL"
                                             " ORDER BY first_row, serial LIMIT ?6" },
    [WEIR_CURSOR_REJECTS] = { WEIR_ENTRY_REJECT,
                              "SELECT " WEIR_ROW_REJECT
                              " FROM rejects INDEXED BY rejects_by_row WHERE row>=?2"
                              " AND (row>?2 OR pass>?4 OR (pass=?4 AND serial>?3))"
                              " AND serial<=?5 ORDER BY row, pass, serial LIMIT ?6" },
    /* A block that was replaced meanwhile has a new serial: without a bound it is still seen. */
    [WEIR_CURSOR_BLOCKS] = { WEIR_ENTRY_BLOCK,
                             "SELECT " WEIR_ROW_BLOCK " FROM blocks"
                             " WHERE file=?1 AND number>=?2 AND (number>?2 OR ?3=0)"
                             " ORDER BY number LIMIT ?6" },
};

enum weir_status weir_cursor_init(struct weir_cursor *cursor,
                                  const struct weir_journal_view *source,
                                  enum weir_cursor_order order, uint64_t of, struct weir_error *err)
{
    *cursor = (struct weir_cursor){ .order = order, .of = of, .serial_max = source->serial_max };
    enum weir_status status =
        weir_sql_open(source->path, source->vfs, WEIR_SQL_READ, &cursor->db, err);
    if (status == WEIR_OK)
        status = weir_sql_prepare(cursor->db, orders[order].query, &cursor->statement, err);
    if (status)
        weir_cursor_release(cursor);
    return status;
}

void weir_cursor_release(struct weir_cursor *cursor)
{
    weir_queue_release(&cursor->handful);
    sqlite3_finalize(cursor->statement);
    sqlite3_close(cursor->db);
    *cursor = (struct weir_cursor){ 0 };
}

static void bind(struct weir_cursor *cursor)
{
    weir_sql_bind_u64(cursor->statement, 1, cursor->of);
    weir_sql_bind_u64(cursor->statement, 2, cursor->after[0]);
    weir_sql_bind_u64(cursor->statement, 3, cursor->after[2]);
    weir_sql_bind_u64(cursor->statement, 4, cursor->after[1]);
    weir_sql_bind_u64(cursor->statement, 5, cursor->serial_max);
    weir_sql_bind_u64(cursor->statement, 6, HANDFUL_RECORDS);
}

static void keep(struct weir_cursor *cursor, struct weir_entry *record)
{
    if (cursor->order == WEIR_CURSOR_RANGES) {
        record->range.ids.len = 0;
        record->range.ids_made = false;
    }
    cursor->after[2] = record->serial;
    if (record->kind == WEIR_ENTRY_RANGE)
        cursor->after[0] = record->range.first;
    if (record->kind == WEIR_ENTRY_BLOCK)
        cursor->after[0] = record->block.number;
    if (record->kind == WEIR_ENTRY_REJECT) {
        cursor->after[0] = record->reject.row;
        cursor->after[1] = record->reject.pass;
    }
    weir_queue_add(&cursor->handful, record);
}

static enum weir_status fetch(struct weir_cursor *cursor, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    bool more = true;
    weir_queue_release(&cursor->handful);
    bind(cursor);
    while (cursor->handful.bytes < HANDFUL_BYTES &&
           (status = weir_sql_step(cursor->statement, &more, err)) == WEIR_OK && more) {
        struct weir_entry record;
        status = weir_row_read(cursor->statement, orders[cursor->order].kind, &record, err);
        if (status)
            break;
        keep(cursor, &record);
    }
    sqlite3_reset(cursor->statement);
    cursor->next = cursor->handful.first;
    cursor->ended = cursor->handful.count == 0;
    return status;
}

enum weir_status weir_cursor_next(struct weir_cursor *cursor, const struct weir_entry **ret,
                                  struct weir_error *err)
{
    if (!cursor->next && !cursor->ended) {
        enum weir_status status = fetch(cursor, err);
        if (status)
            return status;
    }
    *ret = cursor->next ? &cursor->next->record : NULL;
    if (cursor->next)
        cursor->next = cursor->next->next;
    return WEIR_OK;
}

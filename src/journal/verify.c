/* SPDX-License-Identifier: MIT */
/*
 * Looking at every record before a job is resumed; see store.h. SQLite's own check comes first: it
 * knows how pages fit together and that the indexes have what the tables have. It does not know
 * what stood in them, and misses a flipped bit in thirty.
 *
 *     each record     its checksum covers all fields, so a record that can be read is as written
 *     all of a kind   number and sum of checksums are those of the state: none is missing or there
 *                     twice
 *     their order     records are read through the index that cursors will use, and must ascend
 */
#include "journal/rows.h"
#include "journal/store.h"

static const char *const queries[WEIR_ENTRY_KINDS] = {
    [WEIR_ENTRY_RANGE] = "SELECT " WEIR_ROW_RANGE " FROM ranges INDEXED BY ranges_by_row"
                         " ORDER BY pass, first_row",
    [WEIR_ENTRY_REJECT] = "SELECT " WEIR_ROW_REJECT " FROM rejects INDEXED BY rejects_by_row"
                          " ORDER BY row, pass",
    [WEIR_ENTRY_BLOCK] = "SELECT " WEIR_ROW_BLOCK " FROM blocks ORDER BY file, number",
    [WEIR_ENTRY_NOTE] = "SELECT " WEIR_ROW_NOTE " FROM notes ORDER BY name",
};

/* What a record is ordered by; notes are few and found by name. */
struct place {
    uint64_t major;
    uint64_t minor;
};

static struct place place_of(const struct weir_entry *record)
{
    switch (record->kind) {
    case WEIR_ENTRY_RANGE:
        return (struct place){ record->range.pass, record->range.first };
    case WEIR_ENTRY_REJECT:
        return (struct place){ record->reject.row, record->reject.pass };
    case WEIR_ENTRY_BLOCK:
        return (struct place){ record->block.file, record->block.number };
    case WEIR_ENTRY_NOTE:
    case WEIR_ENTRY_KINDS:
        break;
    }
    return (struct place){ 0, 0 };
}

static bool ascends(struct place from, struct place to)
{
    return from.major < to.major || (from.major == to.major && from.minor <= to.minor);
}

static enum weir_status verify_rows(sqlite3_stmt *statement, enum weir_entry_kind kind,
                                    const struct weir_state *state, struct weir_error *err)
{
    struct weir_tally tally = { 0 };
    struct place last = { 0 };
    enum weir_status status;
    bool more;
    while ((status = weir_sql_step(statement, &more, err)) == WEIR_OK && more) {
        struct weir_entry record;
        status = weir_row_read(statement, kind, &record, err);
        if (status)
            return status;
        if (!ascends(last, place_of(&record)) || record.serial > state->serial)
            return weir_sql_damaged(err, "a record is out of order");
        last = place_of(&record);
        weir_tally_add(&tally, record.crc);
    }
    if (status == WEIR_OK &&
        (tally.count != state->tally[kind].count || tally.sum != state->tally[kind].sum))
        status = weir_sql_damaged(err, "records are missing");
    return status;
}

enum weir_status weir_store_verify(sqlite3 *db, const struct weir_state *state,
                                   struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (int kind = 0; kind < WEIR_ENTRY_KINDS && status == WEIR_OK; kind++) {
        sqlite3_stmt *statement = NULL;
        status = weir_sql_prepare(db, queries[kind], &statement, err);
        if (status == WEIR_OK)
            status = verify_rows(statement, (enum weir_entry_kind)kind, state, err);
        sqlite3_finalize(statement);
    }
    return status;
}

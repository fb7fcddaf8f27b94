/* SPDX-License-Identifier: MIT */
/* The journal's account of itself; see state.h. */
#include "journal/state.h"

const char weir_state_select[] =
    "SELECT serial,opened,facts,ranges,ranges_sum,rejects,rejects_sum,blocks,blocks_sum,"
    "notes,notes_sum,crc FROM state WHERE id=1";
const char weir_state_replace[] =
    "INSERT OR REPLACE INTO state(id,serial,opened,facts,ranges,ranges_sum,rejects,rejects_sum,"
    "blocks,blocks_sum,notes,notes_sum,crc) VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?)";

enum {
    FIRST_TALLY = 3, /* columns; parameters are one more */
    CRC = FIRST_TALLY + 2 * WEIR_ENTRY_KINDS,
};

uint32_t weir_state_crc(const struct weir_state *state)
{
    uint32_t crc = weir_crc_number(0, state->serial);
    crc = weir_crc_number(crc, state->opened);
    crc = weir_crc_number(crc, state->facts);
    for (int kind = 0; kind < WEIR_ENTRY_KINDS; kind++) {
        crc = weir_crc_number(crc, state->tally[kind].count);
        crc = weir_crc_number(crc, state->tally[kind].sum);
    }
    return crc;
}

void weir_state_bind(sqlite3_stmt *statement, const struct weir_state *state)
{
    weir_sql_bind_u64(statement, 1, state->serial);
    weir_sql_bind_u64(statement, 2, state->opened);
    weir_sql_bind_u64(statement, 3, state->facts);
    for (int kind = 0; kind < WEIR_ENTRY_KINDS; kind++) {
        weir_sql_bind_u64(statement, FIRST_TALLY + 2 * kind + 1, state->tally[kind].count);
        weir_sql_bind_u64(statement, FIRST_TALLY + 2 * kind + 2, state->tally[kind].sum);
    }
    weir_sql_bind_u64(statement, CRC + 1, weir_state_crc(state));
}

static struct weir_state from_row(sqlite3_stmt *statement)
{
    struct weir_state state = { .serial = weir_sql_u64(statement, 0),
                                .opened = weir_sql_u64(statement, 1),
                                .facts = (uint32_t)weir_sql_u64(statement, 2) };
    for (int kind = 0; kind < WEIR_ENTRY_KINDS; kind++) {
        state.tally[kind].count = weir_sql_u64(statement, FIRST_TALLY + 2 * kind);
        state.tally[kind].sum = weir_sql_u64(statement, FIRST_TALLY + 2 * kind + 1);
    }
    return state;
}

enum weir_status weir_state_read(sqlite3 *db, struct weir_state *ret, struct weir_error *err)
{
    sqlite3_stmt *statement = NULL;
    bool more = false;
    enum weir_status status = weir_sql_prepare(db, weir_state_select, &statement, err);
    if (status == WEIR_OK)
        status = weir_sql_step(statement, &more, err);
    if (status == WEIR_OK && !more)
        status = weir_sql_damaged(err, "its account of itself is missing");
    if (status == WEIR_OK) {
        struct weir_state state = from_row(statement);
        if (weir_state_crc(&state) == weir_sql_u64(statement, CRC))
            *ret = state;
        else
            status = weir_sql_damaged(err, "its account of itself has a wrong checksum");
    }
    sqlite3_finalize(statement);
    return status;
}

void weir_tally_add(struct weir_tally *tally, uint32_t crc)
{
    tally->count++;
    tally->sum += crc;
}

void weir_tally_remove(struct weir_tally *tally, uint32_t crc)
{
    tally->count--;
    tally->sum -= crc;
}

/* SPDX-License-Identifier: MIT */
/*
 * The journal's account of itself: how far it has come, how many records of each kind there are and
 * what their checksums add up to. It is rewritten within every transaction, so a record that has
 * vanished is missed, which no checksum of the record itself could achieve.
 */
#ifndef WEIR_JOURNAL_STATE_H
#define WEIR_JOURNAL_STATE_H

#include "journal/entry.h"
#include "journal/sql.h"

struct weir_tally {
    uint64_t count;
    uint64_t sum; /* of the checksums; it may wrap */
};

struct weir_state {
    uint64_t serial; /* of the last record */
    uint64_t opened; /* how often the job was started or resumed */
    uint32_t facts;  /* checksum over the facts */
    struct weir_tally tally[WEIR_ENTRY_KINDS];
};

uint32_t weir_state_crc(const struct weir_state *state);

/* "SELECT …" and "REPLACE …" for the one row there is. */
extern const char weir_state_select[];
extern const char weir_state_replace[];

void weir_state_bind(sqlite3_stmt *statement, const struct weir_state *state);

/* WEIR_E_INVALID: it is missing or its checksum is wrong. */
enum weir_status weir_state_read(sqlite3 *db, struct weir_state *ret, struct weir_error *err);

/* Add a record to its tally, or take it out. */
void weir_tally_add(struct weir_tally *tally, uint32_t crc);
void weir_tally_remove(struct weir_tally *tally, uint32_t crc);

#endif

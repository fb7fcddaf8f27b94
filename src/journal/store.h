/* SPDX-License-Identifier: MIT */
/*
 * journal.db as its one writer sees it: groups of records, a transaction each, and checkpoints.
 * Nothing here remembers a failure; the journal above it does, and never comes back after one.
 * One thread at a time.
 */
#ifndef WEIR_JOURNAL_STORE_H
#define WEIR_JOURNAL_STORE_H

#include "journal/facts.h"
#include "journal/hooks.h"
#include "journal/queue.h"
#include "journal/state.h"

struct weir_store {
    sqlite3 *db;
    sqlite3_stmt *insert[WEIR_ENTRY_KINDS];
    sqlite3_stmt *note_crc;  /* of the note that will be replaced */
    sqlite3_stmt *block_crc; /* of the block that may be */
    sqlite3_stmt *save;      /* the state */
    sqlite3_stmt *begin;
    sqlite3_stmt *commit;
    const struct weir_journal_hooks *hooks;
    struct weir_state state; /* as committed */
    int wal_pages;           /* after the last commit */
};

/* Fill the empty file at `path` with schema and facts, opened once. Nothing is left open, and
 * nothing is durable before the caller has synced the file. */
enum weir_status weir_store_make(const char *path, const struct weir_job_facts *facts,
                                 const struct weir_journal_hooks *hooks, struct weir_state *ret,
                                 struct weir_error *err);

/*
 * Open what is there and look at all of it: schema, pages, checksums, tallies. `hooks` must outlive
 * the store. On failure nothing is held.
 *   WEIR_E_INVALID  damaged, or of a newer version
 *   WEIR_E_IO       it cannot be read
 */
enum weir_status weir_store_init(struct weir_store *store, const char *path,
                                 const struct weir_journal_hooks *hooks, struct weir_error *err);

/* Closes the file without writing to it. Fine on a zeroed store. */
void weir_store_release(struct weir_store *store);

/* One transaction; store->state moves when it is durable. An empty group only counts `opened`. */
enum weir_status weir_store_commit(struct weir_store *store, const struct weir_queue *group,
                                   struct weir_error *err);

/* Move the log into the database if it has become long; readers may hold it up, which is fine. */
enum weir_status weir_store_checkpoint(struct weir_store *store, struct weir_error *err);

/* All of the log, at the end; afterwards weir_store_release() leaves one file. */
enum weir_status weir_store_finish(struct weir_store *store, struct weir_error *err);

/* verify.c: every record is there and as it was written, in the order of the indexes. */
enum weir_status weir_store_verify(sqlite3 *db, const struct weir_state *state,
                                   struct weir_error *err);

#endif

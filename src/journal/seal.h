/* SPDX-License-Identifier: MIT */
/*
 * journal.seal: how far the journal has come, beside the database. After every commit the number of
 * the last durable record is written here, so a database that lost its tail (a log that was cut,
 * a disk that lied about fsync, a file put back from an older copy) is behind its seal and refused.
 *
 *     byte 0      slot 0   written after commits with an even number
 *     byte 512    slot 1   the others: a torn one leaves its neighbour
 *
 * It is written without fsync until the end: it can fall behind the database after a power cut,
 * which weakens the check, and never get ahead of it.
 */
#ifndef WEIR_JOURNAL_SEAL_H
#define WEIR_JOURNAL_SEAL_H

#include "journal/hooks.h"
#include "journal/state.h"

struct weir_seal {
    int fd; /* -1: none */
    uint64_t turn;
    const struct weir_journal_hooks *hooks;
};

/* Make the file; it is not fsynced yet. `hooks` must outlive the seal. */
enum weir_status weir_seal_make(struct weir_seal *seal, const char *path,
                                const struct weir_state *state,
                                const struct weir_journal_hooks *hooks, struct weir_error *err);

/*
 * The file is locked as well: who deletes `lock` beside a running job has not unlocked it.
 *   WEIR_E_INVALID  the file is missing, or another process holds it
 */
enum weir_status weir_seal_init(struct weir_seal *seal, const char *path,
                                const struct weir_journal_hooks *hooks, struct weir_error *err);

/* WEIR_E_INVALID: the database is behind its seal, or another one's. */
enum weir_status weir_seal_check(struct weir_seal *seal, const struct weir_state *state,
                                 struct weir_error *err);

enum weir_status weir_seal_write(struct weir_seal *seal, const struct weir_state *state,
                                 struct weir_error *err);

enum weir_status weir_seal_sync(struct weir_seal *seal, struct weir_error *err);

void weir_seal_release(struct weir_seal *seal);

#endif

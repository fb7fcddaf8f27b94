/* SPDX-License-Identifier: MIT */
/*
 * Records of one kind in the order of rows, a handful at a time: between two handfuls nothing is
 * held in the database, so that a reader who takes hours does not keep the log from being emptied.
 * Records that were added after the cursor's source was made are not seen, except blocks: those
 * are as they are when they are asked for.
 *
 * A cursor has a connection of its own: any thread, one at a time.
 */
#ifndef WEIR_JOURNAL_CURSOR_H
#define WEIR_JOURNAL_CURSOR_H

#include "journal/queue.h"
#include "journal/sql.h"

/* Where records come from; borrowed by whoever reads. */
struct weir_journal_view {
    const char *path;    /* of journal.db */
    const char *vfs;     /* NULL: the default */
    uint64_t serial_max; /* the last record to be seen */
};

enum weir_cursor_order {
    WEIR_CURSOR_RANGES,          /* of one pass, by first row; without ids */
    WEIR_CURSOR_RANGES_WITH_IDS, /* likewise, only those that have ids, be they written or made */
    WEIR_CURSOR_REJECTS,         /* by row, then pass, then age */
    WEIR_CURSOR_BLOCKS,          /* of one file, by number; each once */
};

struct weir_cursor {
    sqlite3 *db;
    sqlite3_stmt *statement;
    enum weir_cursor_order order;
    uint64_t of; /* pass or file */
    uint64_t serial_max;
    uint64_t after[3]; /* the last one that was read: row, pass and serial, or row and serial */
    struct weir_queue handful;
    struct weir_queued *next; /* in the handful */
    bool ended;
};

enum weir_status weir_cursor_init(struct weir_cursor *cursor,
                                  const struct weir_journal_view *source,
                                  enum weir_cursor_order order, uint64_t of,
                                  struct weir_error *err);
void weir_cursor_release(struct weir_cursor *cursor);

/* The next record, verified; it lives until the next call. *ret is NULL behind the last. */
enum weir_status weir_cursor_next(struct weir_cursor *cursor, const struct weir_entry **ret,
                                  struct weir_error *err);

#endif

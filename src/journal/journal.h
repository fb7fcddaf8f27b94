/* SPDX-License-Identifier: MIT */
/*
 * The job's memory: what it set out to do, which rows are finished, which were rejected. It is the
 * only truth about a job; what is not durable here did not happen and is done again.
 *
 *     loop thread                  journal thread                     disk
 *     add ─ copy ─▶ queue ───────▶ a group: 64 records, or 50 ms      journal.db (log, fsync)
 *                                  commit ──────────────────────────▶ journal.seal
 *     … counted as done ◀───────── durable(serial)
 *
 * The first failure of any kind is the last thing that happens: it is latched, reported once, and
 * nothing is written afterwards (SQLite would go on after a failed fsync as if the data were safe).
 * Every add then returns it.
 *
 * Memory: the queue holds at most WEIR_JOURNAL_QUEUE_BYTES_MAX. Rows are never all in memory.
 */
#ifndef WEIR_JOURNAL_JOURNAL_H
#define WEIR_JOURNAL_JOURNAL_H

#include "journal/cursor.h"
#include "journal/entry.h"
#include "journal/facts.h"
#include "journal/hooks.h"
#include "journal/totals.h"

struct weir_journal;

/*
 * Both are called on the journal's thread without any lock held, one at a time; either may be NULL.
 * They must not call weir_journal_finish() or weir_journal_free().
 */
struct weir_journal_watch {
    /* Everything up to this serial is on disk. */
    void (*durable)(void *ctx, uint64_t serial);
    /* Nothing more will be; once, and durable() never again. */
    void (*failed)(void *ctx, const struct weir_error *err);
    void *ctx;
};

/*
 * Make a job in `directory`, which must not be there or be empty, and hold it. The facts are
 * durable when this returns. `watch` and `hooks` may be NULL and are copied; what they point to
 * must outlive the journal.
 *   WEIR_E_INVALID   there is a job already; a fact is impossible
 *   WEIR_E_TOO_BIG   a fact is
 *   WEIR_E_IO        it cannot be written; nothing is left behind
 */
enum weir_status weir_journal_new(const char *directory, const struct weir_job_facts *facts,
                                  const struct weir_journal_watch *watch,
                                  const struct weir_journal_hooks *hooks, struct weir_journal **ret,
                                  struct weir_error *err);

/*
 * Hold an existing job. All of it is looked at before this returns, and it has been written to.
 *   WEIR_E_NOT_FOUND  there is none
 *   WEIR_E_INVALID    another process holds it; it is damaged, or of a newer version
 *   WEIR_E_IO         it cannot be read or written
 */
enum weir_status weir_journal_open(const char *directory, const struct weir_journal_watch *watch,
                                   const struct weir_journal_hooks *hooks,
                                   struct weir_journal **ret, struct weir_error *err);

/* Commits what is queued, as weir_journal_finish() does, and lets go of the job. NULL is fine. */
void weir_journal_free(struct weir_journal *journal);

/*
 * Add a record: it is copied and queued, which never blocks. One thread at a time: the loop's while
 * the job runs, then whoever ends it. *ret_serial (may be NULL)
 * is what durable() will name; serials ascend over all kinds and over all runs of a job.
 *   WEIR_E_WOULD_WAIT  the queue is full: come back after the next durable()
 *   WEIR_E_INVALID     a field is impossible
 *   WEIR_E_TOO_BIG     a text exceeds its bound
 *   WEIR_E_SHUTDOWN    after weir_journal_finish()
 *   any other          the failure that was latched
 */
enum weir_status weir_journal_add_range(struct weir_journal *journal,
                                        const struct weir_range *range, uint64_t *ret_serial,
                                        struct weir_error *err);
enum weir_status weir_journal_add_reject(struct weir_journal *journal,
                                         const struct weir_reject *reject, uint64_t *ret_serial,
                                         struct weir_error *err);

/* A row that was rejected in that pass is superseded: its key has come again. */
enum weir_status weir_journal_add_mark(struct weir_journal *journal, uint32_t pass, uint64_t row,
                                       uint64_t *ret_serial, struct weir_error *err);
enum weir_status weir_journal_add_block(struct weir_journal *journal,
                                        const struct weir_input_block *block, uint64_t *ret_serial,
                                        struct weir_error *err);
enum weir_status weir_journal_add_note(struct weir_journal *journal, const struct weir_note *note,
                                       uint64_t *ret_serial, struct weir_error *err);

/* What was added and is not durable yet. Any thread. */
struct weir_journal_pending {
    size_t records;
    size_t bytes;
};
struct weir_journal_pending weir_journal_pending(struct weir_journal *journal);

/* Do not wait for a full group or its 50 ms: commit what is queued. Does not block. Any thread. */
void weir_journal_hurry(struct weir_journal *journal);

/*
 * Commit what is queued, stop the thread, empty the log. Blocks. Reading and exporting go on. The
 * failure that was latched, if there was one; a second call says the same again. One thread at a
 * time: whoever ends the job.
 */
enum weir_status weir_journal_finish(struct weir_journal *journal, struct weir_error *err);

/* Live as long as the journal. Any thread. */
const struct weir_job_facts *weir_journal_facts(const struct weir_journal *journal);
const char *weir_journal_directory(const struct weir_journal *journal);
const struct weir_journal_hooks *weir_journal_hooks(const struct weir_journal *journal);

/* How often the job was started or resumed, this time included. */
uint64_t weir_journal_runs(const struct weir_journal *journal);

/*
 * For spans, rejects and cursors, which may be walked while the job runs: what was durable when the
 * job was opened. The source lives as long as the journal.
 */
const struct weir_journal_view *weir_journal_view(const struct weir_journal *journal);

/* The same, but up to what is durable now; borrows from the journal. Any thread. */
struct weir_journal_view weir_journal_view_now(struct weir_journal *journal);

/* The text of a durable note; the caller frees it. WEIR_E_NOT_FOUND: there is none. Any thread. */
enum weir_status weir_journal_note(struct weir_journal *journal, const char *name, char **ret,
                                   struct weir_error *err);

/*
 * The highest row that is durable in any range or reject, of any pass; 0: there is none. Looks
 * through all ranges: for the beginning of a run, not for its middle. Any thread.
 */
enum weir_status weir_journal_high_row(struct weir_journal *journal, uint64_t *ret,
                                       struct weir_error *err);

/* Rows that are accounted for durably, over all runs. Any thread. */
enum weir_status weir_journal_totals(struct weir_journal *journal, struct weir_totals *ret,
                                     struct weir_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The scribe: what the executor wants recorded, on its way into the journal, in order.
 *
 *     receipts, blocks, reach, ─▶ [ held while the journal's queue is full ] ─▶ journal
 *     marks of superseded rows                                                     │
 *     executor's serial, reach ◀───────────── the journal's serial is durable ◀────┘
 *
 * The journal numbers everything that it is given; the executor only its receipts. The scribe keeps
 * which is which until it is durable.
 *
 * Loop thread.
 */
#ifndef WEIR_BULK_SCRIBE_H
#define WEIR_BULK_SCRIBE_H

#include "base/buf.h"
#include "bulk/outbox.h"
#include "bulk/plan.h"
#include "bulk/superseded.h"
#include "journal/journal.h"
#include "records/identity.h"
#include "weir/config.h"

struct weir_scribe_item;

struct weir_scribe {
    struct weir_journal *journal;        /* borrowed */
    const struct weir_options *settings; /* for the names of connections */
    uint32_t pass;                       /* that records belong to */
    bool with_ids;                       /* rows are created: their ids are kept */
    struct weir_row_ids made;            /* which need not be written down */
    bool rows_are_there; /* a later pass of a create: under an id that was made for it a row would
                            be doubled if it were fed in again, so its reject is without bytes */
    bool marks;          /* a later row of a key replaces an earlier one; in a create it does not:
                            the first is there, and those behind it are rejected */
    const char *preface; /* of what is said of a rejected row */
    struct weir_superseded superseded;
    struct weir_buf ids;            /* scratch */
    struct weir_buf message;        /* likewise */
    struct weir_scribe_item *first; /* not given to the journal yet … */
    struct weir_scribe_item *last;
    struct weir_scribe_item *written; /* … given, not durable yet */
    struct weir_scribe_item *written_last;
    uint64_t reach_asked;
    uint64_t reach; /* durable */
};

/* The reach is a note of the journal, one for each pass, so many rows beyond those that are about
 * to be sent. */
#define WEIR_REACH_STRIDE   20000
#define WEIR_REACH_NAME_MAX 16
void weir_reach_name(uint32_t pass, char name[WEIR_REACH_NAME_MAX]);

/* Before the first batch: weir_scribe_begin_pass(). */
void weir_scribe_init(struct weir_scribe *scribe, struct weir_journal *journal,
                      const struct weir_options *settings);
void weir_scribe_release(struct weir_scribe *scribe);

/* What comes from now on belongs to the pass of that plan; rows up to `reach` may be sent. What is
 * on its way stays so. */
void weir_scribe_begin_pass(struct weir_scribe *scribe, const struct weir_plan *plan,
                            uint64_t reach);

/* What earlier runs have rejected in this pass: the keys of those rows may come again. */
enum weir_status weir_scribe_recall(struct weir_scribe *scribe,
                                    const struct weir_journal_view *view, struct weir_error *err);

/* A batch is offered to the executor: rows of it may replace rejected ones. */
void weir_scribe_see(struct weir_scribe *scribe, const struct weir_batch *batch);

/* A batch is over. */
void weir_scribe_forget(struct weir_scribe *scribe, const struct weir_batch *batch);

void weir_scribe_add_receipt(struct weir_scribe *scribe, const struct weir_receipt *receipt);
void weir_scribe_add_block(struct weir_scribe *scribe, const struct weir_block *block);

/* Rows up to `row` are about to be sent: see to it that they may be. */
void weir_scribe_want_reach(struct weir_scribe *scribe, uint64_t row);

/*
 * Give the journal what it takes now. Anything but WEIR_OK is its failure, which its thread has
 * told or will tell too.
 */
enum weir_status weir_scribe_write(struct weir_scribe *scribe, struct weir_error *err);

/* The journal has everything up to `journal_serial`. Returns the last receipt of that; 0: none. */
uint64_t weir_scribe_durable(struct weir_scribe *scribe, uint64_t journal_serial);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Packs drafts into batches. Pure.
 *
 * A batch has rows of one shape, no two with the same key, as many as a request may have. Up to
 * WEIR_PACKER_OPEN_MAX batches are open at a time: a row goes into the first open one of its shape
 * that comes after the last batch with its key; that batch is then named among those that must be
 * over before this one is sent. If none fits, a new one is opened; if there are too many, the
 * oldest is closed first. A batch is closed after those that it names: whoever takes batches in the
 * order of closing never waits for one that is still open.
 *
 *     add ──▶ open batches ── full, too many, flush ──▶ closed ── take
 *                    ▲ keys of unfinished batches ◀──────────────── finished
 *
 * The oldest is also closed when the open ones have WEIR_PACKER_OPEN_BYTES_MAX together, and when
 * its first row lies WEIR_PACKER_AGE_ROWS_MAX rows back: a row of a rare shape would otherwise wait
 * for the end of the input, and a job that is resumed begins at its first unfinished row.
 *
 * A draft that is refused waits for nobody and nobody waits for it: whatever its key, it goes with
 * rows of any shape, into the oldest open batch. A later row with its key is closed with it or
 * after it, never before, so that whoever sees the batches sees the rows of a key in their order.
 *
 * A draft with nothing to do (idle) goes with its like, weighs nothing, and keeps its place in the
 * order of its key.
 *
 * One thread at a time.
 */
#ifndef WEIR_BULK_PACKER_H
#define WEIR_BULK_PACKER_H

#include "bulk/batch.h"
#include "protocol/bulk.h"
#include "records/draft.h"

struct weir_packer;

struct weir_packer_options {
    const struct weir_table_names *table; /* borrowed */
    uint32_t rows_max;                    /* of a batch; 1 … WEIR_TARGETS_MAX */
    size_t body_bytes_max;                /* of a request, whichever way the rows go */
    size_t part_bytes_more;               /* that the tag takes in each part of a $batch */
    enum weir_bulk_message message;       /* that most rows go in */
};

struct weir_packer *weir_packer_new(const struct weir_packer_options *options); /* never NULL */

/* Batches that were not taken go too. */
void weir_packer_free(struct weir_packer *packer);

/* Copies the draft. Numbers ascend. */
void weir_packer_add(struct weir_packer *packer, const struct weir_draft *draft);

/* Close all that are open, the oldest first. */
void weir_packer_flush(struct weir_packer *packer);

/* The next closed batch, the taker's until weir_packer_batch_free(); NULL: none. */
struct weir_batch *weir_packer_take(struct weir_packer *packer);

/*
 * No row of that batch is under way any more: its keys are forgotten, no batch that is closed from
 * now on names it. A serial that is not known, or not closed yet, does nothing.
 */
void weir_packer_finished(struct weir_packer *packer, uint64_t serial);

/* Keys that are remembered, of batches that are not finished. */
size_t weir_packer_keys(const struct weir_packer *packer);

/* Bytes of all batches that are open or were closed and not taken. */
size_t weir_packer_bytes(const struct weir_packer *packer);

/* Any thread. */
void weir_packer_batch_free(struct weir_batch *batch);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The bounded way from the thread that reads to the loop: drafts go in, batches come out.
 *
 *     reader's thread                                loop thread
 *     weir_intake_add ─▶ packer ─▶ [ queue ] ──────▶ weir_intake_take
 *        blocks while the queue is full              weir_intake_give_back: memory and keys go
 *
 * Batches change hands whole; the lock guards the queue and the serials that came back, never a
 * batch. The packer is the reader's.
 *
 * The queue is full when what waits in it has queue_bytes_max or more. Whoever adds then waits
 * until half of it was taken, so one batch always fits, and what is added in one go may exceed it.
 */
#ifndef WEIR_BULK_INTAKE_H
#define WEIR_BULK_INTAKE_H

#include "bulk/packer.h"
#include "records/identity.h"

struct weir_intake;

struct weir_intake_options {
    struct weir_packer_options packer;
    size_t queue_bytes_max;   /* of closed batches that wait */
    uint64_t tainted_through; /* rows up to this one may have been sent by an earlier run */

    /* Something has come where nothing of its kind was waiting: a batch, a block, the end. Called
     * on the reader's thread with no lock held; must only wake the loop. */
    void (*ready)(void *ctx);
    void *ctx;
};

struct weir_intake *weir_intake_new(const struct weir_intake_options *options); /* never NULL */

/* Both threads are done with it. NULL is fine. */
void weir_intake_free(struct weir_intake *intake);

/* --- the reader's thread --- */

/* Copied. WEIR_E_CANCELLED: the loop takes no more. */
enum weir_status weir_intake_add(struct weir_intake *intake, const struct weir_draft *draft);

/*
 * The hash of a block of input that was read, for the journal. Blocks while WEIR_INTAKE_BLOCKS_MAX
 * wait; forgotten if the loop takes no more.
 */
void weir_intake_add_block(struct weir_intake *intake, const struct weir_block *block);

/* What is open goes as it is. WEIR_E_CANCELLED as above. */
enum weir_status weir_intake_flush(struct weir_intake *intake);

/*
 * Nothing follows. WEIR_OK: what is open goes as it is. Anything else: the input could not be read
 * to its end; what was not flushed is not sent, and weir_intake_close() counts it. Never blocks.
 * Once.
 */
void weir_intake_end(struct weir_intake *intake, enum weir_status status,
                     const struct weir_error *err);

/* --- the loop's --- */

/* NULL: none now. */
struct weir_batch *weir_intake_take(struct weir_intake *intake);

/*
 * The batch is over; its memory goes. Its keys go, too, unless it left something behind that rows
 * with the same key have to know of: a request that may still be executed (until batch->clear_us),
 * or a row that was given up (batch->lapsed: for good). Batches go on naming it until then.
 */
void weir_intake_give_back(struct weir_intake *intake, struct weir_batch *batch, int64_t now_us);

/* False: none now. */
bool weir_intake_take_block(struct weir_intake *intake, struct weir_block *ret);

/*
 * True: the end has come, and every batch and block before it was taken or thrown away. *ret_status
 * and *err (which may be NULL) are what it was told.
 */
bool weir_intake_ended(struct weir_intake *intake, enum weir_status *ret_status,
                       struct weir_error *err);

/*
 * Take no more: whoever adds, or waits to add, is refused from now on, what was not taken is thrown
 * away. Returns the rows that were added, refused drafts included, and never taken. Again: the
 * same.
 */
struct weir_intake_rows {
    uint64_t rows;
    uint64_t tainted; /* of them: an earlier run may have sent them */
};
struct weir_intake_rows weir_intake_close(struct weir_intake *intake);

/* Rows that were added: those for which weir_intake_add() said WEIR_OK. Any thread. */
uint64_t weir_intake_rows(struct weir_intake *intake);

#endif

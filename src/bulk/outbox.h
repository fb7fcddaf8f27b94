/* SPDX-License-Identifier: MIT */
/*
 * Results on their way into the journal, in the order in which they were reached. A result counts
 * once it is durable; until then the rows that it speaks of keep their batch alive.
 *
 *     add ──▶ [ not handed out | handed out, awaiting the commit ] ──▶ commit
 */
#ifndef WEIR_BULK_OUTBOX_H
#define WEIR_BULK_OUTBOX_H

#include "bulk/batch.h"

/* Rows of one file, with numbers that follow on each other, and one fate. Borrowed until its
 * commit. */
struct weir_receipt {
    uint64_t serial;     /* from 1 */
    enum weir_fate fate; /* done, absent, skipped or rejected; a rejected row is alone */
    struct weir_batch *batch;
    uint32_t first; /* place in the batch */
    uint32_t row_count;
    struct weir_receipt *next;
};

struct weir_outbox {
    struct weir_receipt *first; /* awaiting its commit, handed out or not */
    struct weir_receipt *last;
    struct weir_receipt *unhanded; /* the first that was not handed out */
    uint32_t count;
    uint64_t last_serial;
};

void weir_outbox_release(struct weir_outbox *outbox);

/*
 * A row has come to its end. It joins the last receipt if it follows on it and that was not handed
 * out. Rows of one batch come in ascending order for as long as they are to be joined.
 */
void weir_outbox_add(struct weir_outbox *outbox, struct weir_batch *batch, uint32_t row,
                     enum weir_fate fate);

/* The next one to be written; NULL: none. */
const struct weir_receipt *weir_outbox_hand_out(struct weir_outbox *outbox);

/* Take the first one out if its serial is at most `serial`; the caller frees it. NULL: none. */
struct weir_receipt *weir_outbox_take(struct weir_outbox *outbox, uint64_t serial);

static inline const struct weir_row *weir_receipt_rows(const struct weir_receipt *receipt)
{
    return &receipt->batch->rows[receipt->first];
}

/* The states of its rows, row_count of them: the error of a rejected one, ids that the service
 * named. */
static inline const struct weir_row_state *weir_receipt_states(const struct weir_receipt *receipt)
{
    return &receipt->batch->states[receipt->first];
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A batch in the making: rows are written where they stay.
 *
 *     rows      struct weir_row, one behind the other, and then their ids
 *     message   {"Targets":[ row , row , … ]}     the body of the bulk message that has them all
 *     texts     what is not sent: lines of the input, refusals, …
 *
 * The slices of a row point into the two memories, its id, key and members into the message, so
 * that a row is copied once and a request for the whole batch is the message itself. Memory that is
 * well filled goes with the batch; what is not is copied into a piece of just its size, and stays
 * for the next one: a key that is in every row makes batches of one row.
 *
 * One thread at a time.
 */
#ifndef WEIR_BULK_PACKING_H
#define WEIR_BULK_PACKING_H

#include "bulk/batch.h"
#include "protocol/bulk.h"
#include "records/draft.h"

/* What a packing writes into; it grows, and then the slices of the rows move with it. */
struct weir_packing_memory {
    char *bytes;
    size_t len;
    size_t capacity;
};

struct weir_packing {
    const struct weir_bulk_writer *writer; /* borrowed */
    uint32_t rows_max;
    struct weir_row *rows; /* room for rows_max; NULL: none yet */
    struct weir_guid *ids; /* of the rows, behind them */
    uint32_t row_count;
    uint32_t written_count; /* of them, in the message */
    bool unwritten;         /* one that is to be sent is not in it */
    bool plain;             /* as of the batch that it will be, and … */
    bool unbroken;
    struct weir_packing_memory message;
    struct weir_packing_memory texts;
};

void weir_packing_init(struct weir_packing *packing, const struct weir_bulk_writer *writer,
                       uint32_t rows_max);
void weir_packing_release(struct weir_packing *packing);

/* There must be room for it. Returns the bytes that it takes, in the end and while it is under way.
 */
size_t weir_packing_add(struct weir_packing *packing, const struct weir_draft *draft);

/* A batch of the rows, which are gone from here. `after` is copied. */
struct weir_batch *weir_packing_close(struct weir_packing *packing, uint64_t serial,
                                      const uint64_t *after, uint32_t after_count);

/* Of a closed one. Any thread. NULL is fine. */
void weir_packing_free_batch(struct weir_batch *batch);

#endif

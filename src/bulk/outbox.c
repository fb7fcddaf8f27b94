/* SPDX-License-Identifier: MIT */
/* Results on their way into the journal; see outbox.h. */
#include "bulk/outbox.h"

#include "base/mem.h"

void weir_outbox_release(struct weir_outbox *outbox)
{
    struct weir_receipt *receipt;
    while ((receipt = weir_outbox_take(outbox, UINT64_MAX)))
        free(receipt);
}

/* A row, which is not the first, follows on the one before it. */
static bool follows(const struct weir_batch *batch, uint32_t row)
{
    const struct weir_row *at = &batch->rows[row];
    return batch->unbroken || (at->file == at[-1].file && at->number == at[-1].number + 1);
}

/* The row follows on what the receipt has, and somebody may still read it there. */
static bool joins(const struct weir_outbox *outbox, const struct weir_batch *batch, uint32_t row,
                  enum weir_fate fate)
{
    const struct weir_receipt *last = outbox->last;
    return outbox->unhanded && fate != WEIR_FATE_REJECTED && last->fate == fate &&
           last->batch == batch && last->first + last->row_count == row && follows(batch, row);
}

void weir_outbox_add(struct weir_outbox *outbox, struct weir_batch *batch, uint32_t row,
                     enum weir_fate fate)
{
    if (joins(outbox, batch, row, fate)) {
        outbox->last->row_count++;
        return;
    }
    struct weir_receipt *receipt = weir_calloc(1, sizeof(*receipt));
    *receipt = (struct weir_receipt){
        .serial = ++outbox->last_serial, .fate = fate, .batch = batch, .first = row, .row_count = 1
    };
    if (outbox->last)
        outbox->last->next = receipt;
    else
        outbox->first = receipt;
    outbox->last = receipt;
    if (!outbox->unhanded)
        outbox->unhanded = receipt;
    outbox->count++;
    batch->receipts++;
}

const struct weir_receipt *weir_outbox_hand_out(struct weir_outbox *outbox)
{
    struct weir_receipt *receipt = outbox->unhanded;
    if (receipt)
        outbox->unhanded = receipt->next;
    return receipt;
}

struct weir_receipt *weir_outbox_take(struct weir_outbox *outbox, uint64_t serial)
{
    struct weir_receipt *receipt = outbox->first;
    if (!receipt || receipt->serial > serial)
        return NULL;
    outbox->first = receipt->next;
    if (!outbox->first)
        outbox->last = NULL;
    if (outbox->unhanded == receipt)
        outbox->unhanded = receipt->next;
    outbox->count--;
    receipt->batch->receipts--;
    return receipt;
}

/* SPDX-License-Identifier: MIT */
/* Results on their way into the journal; see outbox.h. */
#include "bulk/outbox.h"

#include "base/mem.h"

void weir_outbox_release(struct weir_outbox *outbox)
{
    struct weir_record *record;
    while ((record = weir_outbox_take(outbox, UINT64_MAX)))
        free(record);
}

/* The row follows on what the record has, and somebody may still read it there. */
static bool joins(const struct weir_outbox *outbox, const struct weir_batch *batch, uint32_t row,
                  enum weir_fate fate)
{
    const struct weir_record *last = outbox->last;
    return outbox->unhanded && fate != WEIR_FATE_REJECTED && last->fate == fate &&
           last->batch == batch && last->first + last->row_count == row &&
           batch->rows[row].number == batch->rows[row - 1].number + 1;
}

void weir_outbox_add(struct weir_outbox *outbox, struct weir_batch *batch, uint32_t row,
                     enum weir_fate fate)
{
    if (joins(outbox, batch, row, fate)) {
        outbox->last->row_count++;
        return;
    }
    struct weir_record *record = weir_calloc(1, sizeof(*record));
    *record = (struct weir_record){
        .serial = ++outbox->last_serial, .fate = fate, .batch = batch, .first = row, .row_count = 1
    };
    if (outbox->last)
        outbox->last->next = record;
    else
        outbox->first = record;
    outbox->last = record;
    if (!outbox->unhanded)
        outbox->unhanded = record;
    outbox->count++;
    batch->records++;
}

const struct weir_record *weir_outbox_hand_out(struct weir_outbox *outbox)
{
    struct weir_record *record = outbox->unhanded;
    if (record)
        outbox->unhanded = record->next;
    return record;
}

struct weir_record *weir_outbox_take(struct weir_outbox *outbox, uint64_t serial)
{
    struct weir_record *record = outbox->first;
    if (!record || record->serial > serial)
        return NULL;
    outbox->first = record->next;
    if (!outbox->first)
        outbox->last = NULL;
    if (outbox->unhanded == record)
        outbox->unhanded = record->next;
    outbox->count--;
    record->batch->records--;
    return record;
}

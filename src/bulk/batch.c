/* SPDX-License-Identifier: MIT */
/* Rows on their way; see batch.h. */
#include "bulk/batch.h"

#include "base/mem.h"

bool weir_row_may_be_sent(const struct weir_row *row, uint64_t reach)
{
    return row->number <= reach && !row->refusal.len && !row->idle;
}

struct weir_row_error *weir_row_error_new(const struct weir_row_error *from)
{
    struct weir_row_error *error = weir_calloc(1, sizeof(*error));
    *error = *from;
    error->message = weir_strdup(from->message ? from->message : "");
    error->request_id = weir_strdup(from->request_id ? from->request_id : "");
    return error;
}

void weir_row_error_free(struct weir_row_error *error)
{
    if (!error)
        return;
    free(error->message);
    free(error->request_id);
    free(error);
}

void weir_batch_open(struct weir_batch *batch)
{
    batch->states = weir_calloc(batch->row_count, sizeof(*batch->states));
    batch->open_rows = batch->row_count;
    batch->receipts = 0;
    batch->over = false;
    batch->lapsed = false;
    batch->blamed = false;
    batch->clear_us = 0;
    batch->next = NULL;
}

void weir_batch_close(struct weir_batch *batch)
{
    for (uint32_t i = 0; batch->blamed && batch->states && i < batch->row_count; i++) {
        weir_row_error_free(batch->states[i].error);
        free(batch->states[i].refusers);
    }
    free(batch->states);
    batch->states = NULL;
}

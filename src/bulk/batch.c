/* SPDX-License-Identifier: MIT */
/* Rows on their way; see batch.h. */
#include "bulk/batch.h"

#include "base/mem.h"

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
    batch->records = 0;
    batch->over = false;
    batch->lapsed = false;
    batch->clear_us = 0;
    batch->next = NULL;
}

void weir_batch_close(struct weir_batch *batch)
{
    for (uint32_t i = 0; batch->states && i < batch->row_count; i++)
        weir_row_error_free(batch->states[i].error);
    free(batch->states);
    batch->states = NULL;
}

const char *weir_fate_name(enum weir_fate fate)
{
    static const char *const names[WEIR_FATE_COUNT] = {
        [WEIR_FATE_OPEN] = "open",         [WEIR_FATE_DONE] = "done",
        [WEIR_FATE_ABSENT] = "absent",     [WEIR_FATE_SKIPPED] = "skipped",
        [WEIR_FATE_REJECTED] = "rejected", [WEIR_FATE_UNKNOWN] = "unknown",
        [WEIR_FATE_NOT_SENT] = "not sent",
    };
    return (size_t)fate < WEIR_FATE_COUNT ? names[fate] : "unknown fate";
}

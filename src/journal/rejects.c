/* SPDX-License-Identifier: MIT */
/* Rejected rows, each once; see rejects.h. Spans of finished rows are walked beside them. */
#include "journal/rejects.h"

static enum weir_status advance(struct weir_rejects *rejects, uint32_t pass, struct weir_error *err)
{
    return weir_spans_next(&rejects->spans[pass], &rejects->span[pass], &rejects->in_span[pass],
                           err);
}

enum weir_status weir_rejects_init(struct weir_rejects *rejects,
                                   const struct weir_journal_view *source, struct weir_error *err)
{
    *rejects = (struct weir_rejects){ .source = *source };
    return weir_cursor_init(&rejects->cursor, source, WEIR_CURSOR_REJECTS, 0, err);
}

void weir_rejects_release(struct weir_rejects *rejects)
{
    weir_cursor_release(&rejects->cursor);
    for (int pass = 0; pass < WEIR_JOURNAL_PASSES; pass++)
        weir_spans_release(&rejects->spans[pass]);
    weir_queue_release(&rejects->ahead);
    weir_queue_release(&rejects->given);
}

static bool same_row(const struct weir_queue *queue, const struct weir_entry *record)
{
    const struct weir_reject *held = &queue->first->record.reject;
    return held->row == record->reject.row && held->pass == record->reject.pass;
}

/* Says of an earlier record only that it is superseded. */
static bool is_mark(const struct weir_entry *record)
{
    const struct weir_reject *reject = &record->reject;
    return reject->superseded && reject->class_name.len == 0 && reject->bytes.len == 0;
}

static void take_in(struct weir_queue *given, const struct weir_entry *record)
{
    if (!is_mark(record)) {
        weir_queue_release(given);
        weir_queue_add(given, record);
    } else if (given->count > 0) {
        given->first->record.reject.superseded = true;
    }
}

/* The last record of the next row and pass into `given`, which is empty behind the last. */
static enum weir_status gather(struct weir_rejects *rejects, struct weir_error *err)
{
    weir_queue_release(&rejects->given);
    rejects->given = weir_queue_take(&rejects->ahead);
    for (;;) {
        const struct weir_entry *record;
        enum weir_status status = weir_cursor_next(&rejects->cursor, &record, err);
        if (status || !record)
            return status;
        if (rejects->given.count > 0 && !same_row(&rejects->given, record)) {
            take_in(&rejects->ahead, record);
            return WEIR_OK;
        }
        take_in(&rejects->given, record);
    }
}

/* To the first finished rows of a pass. */
static enum weir_status begin(struct weir_rejects *rejects, uint32_t pass, struct weir_error *err)
{
    enum weir_status status = weir_spans_init(&rejects->spans[pass], &rejects->source, pass, err);
    rejects->walking[pass] = status == WEIR_OK;
    return status ? status : advance(rejects, pass, err);
}

static enum weir_status finished(struct weir_rejects *rejects, const struct weir_reject *reject,
                                 bool *ret, struct weir_error *err)
{
    uint32_t pass = reject->pass;
    enum weir_status status = rejects->walking[pass] ? WEIR_OK : begin(rejects, pass, err);
    while (rejects->in_span[pass] && rejects->span[pass].last < reject->row && status == WEIR_OK)
        status = advance(rejects, pass, err);
    *ret = rejects->in_span[pass] && rejects->span[pass].first <= reject->row;
    return status;
}

enum weir_status weir_rejects_next(struct weir_rejects *rejects, const struct weir_reject **ret,
                                   struct weir_error *err)
{
    for (;;) {
        enum weir_status status = gather(rejects, err);
        if (status)
            return status;
        if (rejects->given.count == 0) {
            *ret = NULL;
            return WEIR_OK;
        }
        const struct weir_reject *reject = &rejects->given.first->record.reject;
        bool done = false;
        status = finished(rejects, reject, &done, err);
        if (status)
            return status;
        if (!done) {
            *ret = reject;
            return WEIR_OK;
        }
    }
}

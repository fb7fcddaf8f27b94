/* SPDX-License-Identifier: MIT */
/* Which rows are finished already; see skipper.h. */
#include "bulk/skipper.h"

static enum weir_status next_span(struct weir_skipper *skipper, struct weir_error *err)
{
    return weir_spans_next(&skipper->spans, &skipper->span, &skipper->in_span, err);
}

static enum weir_status next_reject(struct weir_skipper *skipper, struct weir_error *err)
{
    const struct weir_reject *reject;
    enum weir_status status = weir_rejects_next(&skipper->rejects, &reject, err);
    if (status)
        return status;
    skipper->reject = reject ? reject->row : 0;
    skipper->reject_file = reject ? reject->file : 0;
    skipper->reject_offset = reject ? reject->offset : 0;
    return WEIR_OK;
}

static enum weir_status next_first(struct weir_skipper *skipper, struct weir_error *err)
{
    return weir_spans_next(&skipper->first, &skipper->first_span, &skipper->in_first, err);
}

enum weir_status weir_skipper_init(struct weir_skipper *skipper,
                                   const struct weir_journal_view *view, uint32_t pass,
                                   struct weir_error *err)
{
    *skipper = (struct weir_skipper){ 0 };
    enum weir_status status = weir_spans_init(&skipper->spans, view, pass, err);
    if (status)
        return status;
    status = weir_rejects_init(&skipper->rejects, view, err);
    if (status) {
        weir_spans_release(&skipper->spans);
        return status;
    }
    status = next_span(skipper, err);
    if (!status)
        status = next_reject(skipper, err);
    if (!status && pass > 0)
        status = weir_spans_init(&skipper->first, view, 0, err);
    if (!status && pass > 0)
        status = next_first(skipper, err);
    if (status)
        weir_skipper_release(skipper);
    return status;
}

void weir_skipper_release(struct weir_skipper *skipper)
{
    weir_spans_release(&skipper->spans);
    weir_rejects_release(&skipper->rejects);
    weir_spans_release(&skipper->first);
}

enum weir_status weir_skipper_ask(struct weir_skipper *skipper, uint64_t row, bool *ret_finished,
                                  struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    while (!status && skipper->in_span && skipper->span.last < row)
        status = next_span(skipper, err);
    while (!status && skipper->reject && skipper->reject < row)
        status = next_reject(skipper, err);
    bool in_span = skipper->in_span && skipper->span.first <= row;
    *ret_finished = in_span || skipper->reject == row;
    return status;
}

enum weir_status weir_skipper_ask_skipped(struct weir_skipper *skipper, uint64_t row,
                                          bool *ret_skipped, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    while (!status && skipper->in_first && skipper->first_span.last < row)
        status = next_first(skipper, err);
    *ret_skipped = skipper->in_first && skipper->first_span.first <= row &&
                   skipper->first_span.outcome == WEIR_RANGE_SKIPPED;
    return status;
}

enum weir_status weir_skipper_entrance(struct weir_skipper *skipper, struct weir_entrance *ret,
                                       struct weir_error *err)
{
    uint64_t next = 1; /* the first row that was not seen to be finished */
    enum weir_status status = WEIR_OK;
    *ret = (struct weir_entrance){ .number = 1 };
    while (!status) {
        if (skipper->in_span && skipper->span.first <= next) {
            next = skipper->span.last + 1;
            *ret = (struct weir_entrance){ next, skipper->span.file, skipper->span.behind };
            status = next_span(skipper, err);
        } else if (skipper->reject == next) {
            *ret = (struct weir_entrance){ next, skipper->reject_file, skipper->reject_offset };
            next++;
            status = next_reject(skipper, err);
        } else if (skipper->reject && skipper->reject < next) {
            status = next_reject(skipper, err);
        } else {
            break;
        }
    }
    return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * Finished rows without overlap; see spans.h.
 *
 *     ranges    ├──────┤                 by first row
 *                   ├───────┤            cut at the end of what is covered
 *                     ├──┤               wholly covered: dropped
 *     spans     ├──────┤────┤            joined if outcome and file are the same
 */
#include "journal/spans.h"

enum weir_status weir_spans_init(struct weir_spans *spans, const struct weir_journal_view *source,
                                 uint32_t pass, struct weir_error *err)
{
    *spans = (struct weir_spans){ 0 };
    return weir_cursor_init(&spans->cursor, source, WEIR_CURSOR_RANGES, pass, err);
}

void weir_spans_release(struct weir_spans *spans)
{
    weir_cursor_release(&spans->cursor);
    *spans = (struct weir_spans){ 0 };
}

static bool overlaps(const struct weir_spans *spans, const struct weir_range *range)
{
    return spans->covering && range->first <= spans->covered.last;
}

/* What of a range is not covered yet; false: nothing. */
static bool cut(struct weir_spans *spans, const struct weir_range *range, struct weir_span *ret)
{
    struct weir_span span = { .first = range->first,
                              .last = range->last,
                              .file = range->file,
                              .offset = range->offset,
                              .behind = range->behind,
                              .outcome = range->outcome };
    if (spans->covering && span.last <= spans->covered.last)
        return false;
    if (overlaps(spans, range)) {
        span.first = spans->covered.last + 1;
        span.offset = spans->covered.behind;
    }
    spans->covered = span;
    spans->covering = true;
    *ret = span;
    return true;
}

static bool joins(const struct weir_span *held, const struct weir_span *span)
{
    return held->last + 1 == span->first && held->outcome == span->outcome &&
           held->file == span->file;
}

/* Put a span behind the one that is held; true: that one is complete, and is in *ret. */
static bool push(struct weir_spans *spans, const struct weir_span *span, struct weir_span *ret)
{
    if (spans->holding && joins(&spans->held, span)) {
        spans->held.last = span->last;
        spans->held.behind = span->behind;
        return false;
    }
    bool complete = spans->holding;
    if (complete)
        *ret = spans->held;
    spans->held = *span;
    spans->holding = true;
    return complete;
}

enum weir_status weir_spans_next(struct weir_spans *spans, struct weir_span *ret, bool *ret_more,
                                 struct weir_error *err)
{
    for (;;) {
        const struct weir_entry *record;
        struct weir_span span;
        enum weir_status status = weir_cursor_next(&spans->cursor, &record, err);
        if (status)
            return status;
        if (!record)
            break;
        if (overlaps(spans, &record->range) && record->range.file != spans->covered.file)
            return weir_sql_damaged(err, "a row stands in two files");
        if (cut(spans, &record->range, &span) && push(spans, &span, ret)) {
            *ret_more = true;
            return WEIR_OK;
        }
    }
    *ret_more = spans->holding;
    if (spans->holding)
        *ret = spans->held;
    spans->holding = false;
    return WEIR_OK;
}

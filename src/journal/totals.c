/* SPDX-License-Identifier: MIT */
/* Rows accounted for; see totals.h. */
#include "journal/totals.h"

#include "journal/rejects.h"

static void count_span(struct weir_pass_totals *totals, const struct weir_span *span)
{
    uint64_t rows = span->last - span->first + 1;
    switch (span->outcome) {
    case WEIR_RANGE_DONE:
        totals->done += rows;
        break;
    case WEIR_RANGE_SKIPPED:
        totals->skipped += rows;
        break;
    case WEIR_RANGE_ABSENT:
        totals->absent += rows;
        break;
    case WEIR_RANGE_OUTCOMES:
        break;
    }
}

static enum weir_status count_spans(const struct weir_journal_view *source, uint32_t pass,
                                    struct weir_pass_totals *totals, struct weir_error *err)
{
    struct weir_spans spans;
    struct weir_span span;
    bool more;
    enum weir_status status = weir_spans_init(&spans, source, pass, err);
    if (status)
        return status;
    while ((status = weir_spans_next(&spans, &span, &more, err)) == WEIR_OK && more)
        count_span(totals, &span);
    weir_spans_release(&spans);
    return status;
}

static enum weir_status count_rejects(const struct weir_journal_view *source,
                                      struct weir_totals *totals, struct weir_error *err)
{
    struct weir_rejects rejects;
    const struct weir_reject *reject;
    enum weir_status status = weir_rejects_init(&rejects, source, err);
    if (status)
        return status;
    while ((status = weir_rejects_next(&rejects, &reject, err)) == WEIR_OK && reject)
        totals->pass[reject->pass].rejected++;
    weir_rejects_release(&rejects);
    return status;
}

enum weir_status weir_totals_read(const struct weir_journal_view *source, struct weir_totals *ret,
                                  struct weir_error *err)
{
    struct weir_totals totals = { 0 };
    enum weir_status status = WEIR_OK;
    for (uint32_t pass = 0; pass < WEIR_JOURNAL_PASSES && status == WEIR_OK; pass++)
        status = count_spans(source, pass, &totals.pass[pass], err);
    if (status == WEIR_OK)
        status = count_rejects(source, &totals, err);
    if (status == WEIR_OK)
        *ret = totals;
    return status;
}

/* --- rows that two passes have -----------------------------------------------------------------
 */

/* A walk through the spans of a pass; `more`: it stands at one. */
struct walk {
    struct weir_spans spans;
    struct weir_span span;
    bool more;
};

static enum weir_status step(struct walk *walk, struct weir_error *err)
{
    return weir_spans_next(&walk->spans, &walk->span, &walk->more, err);
}

static enum weir_status begin(struct walk *walk, const struct weir_journal_view *source,
                              uint32_t pass, struct weir_error *err)
{
    *walk = (struct walk){ 0 };
    enum weir_status status = weir_spans_init(&walk->spans, source, pass, err);
    return status ? status : step(walk, err);
}

static uint64_t shared(const struct weir_span *a, const struct weir_span *b)
{
    uint64_t first = a->first > b->first ? a->first : b->first;
    uint64_t last = a->last < b->last ? a->last : b->last;
    return last >= first ? last - first + 1 : 0;
}

static enum weir_status count_shared(struct walk *first, struct walk *later, uint64_t *ret,
                                     struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    while (!status && first->more && later->more) {
        if (first->span.outcome == WEIR_RANGE_SKIPPED)
            *ret += shared(&first->span, &later->span);
        status = step(first->span.last <= later->span.last ? first : later, err);
    }
    return status;
}

enum weir_status weir_totals_skipped(const struct weir_journal_view *source, uint32_t pass,
                                     uint64_t *ret, struct weir_error *err)
{
    struct walk first = { 0 };
    struct walk later = { 0 };
    uint64_t rows = 0;
    enum weir_status status = begin(&first, source, 0, err);
    if (!status)
        status = begin(&later, source, pass, err);
    if (!status)
        status = count_shared(&first, &later, &rows, err);
    weir_spans_release(&first.spans);
    weir_spans_release(&later.spans);
    if (!status)
        *ret = rows;
    return status;
}

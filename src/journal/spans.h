/* SPDX-License-Identifier: MIT */
/*
 * The finished rows of a pass, in order and without overlap: what a resumed run walks beside its
 * reader. A row may have been finished twice (a kill between answer and commit): the range that
 * begins first has it. Neighbours in one file with the same outcome come as one span.
 *
 * Any thread, one at a time.
 */
#ifndef WEIR_JOURNAL_SPANS_H
#define WEIR_JOURNAL_SPANS_H

#include "journal/cursor.h"

struct weir_span {
    uint64_t first;
    uint64_t last;
    uint32_t file;
    uint64_t offset; /* of the first row, in the file */
    uint64_t behind; /* the last one */
    enum weir_range_outcome outcome;
};

struct weir_spans {
    struct weir_cursor cursor;
    struct weir_span held; /* may still grow */
    bool holding;
    struct weir_span covered; /* the last range that was taken in, for its end */
    bool covering;
};

enum weir_status weir_spans_init(struct weir_spans *spans, const struct weir_journal_view *source,
                                 uint32_t pass, struct weir_error *err);
void weir_spans_release(struct weir_spans *spans);

/*
 * False in *ret_more: there are no more, and *ret is as it was.
 *   WEIR_E_INVALID  damaged; two ranges have a row in different files
 */
enum weir_status weir_spans_next(struct weir_spans *spans, struct weir_span *ret, bool *ret_more,
                                 struct weir_error *err);

#endif

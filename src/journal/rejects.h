/* SPDX-License-Identifier: MIT */
/*
 * The rejected rows of a job, in the order of rows, then passes: of several records for the same
 * row and pass the last, and none if the row was finished in that pass after all (what the service
 * has must not be fed in again). Finished rows are walked as far as there are rejected ones: a job
 * without any pays nothing for them.
 *
 * Any thread, one at a time.
 */
#ifndef WEIR_JOURNAL_REJECTS_H
#define WEIR_JOURNAL_REJECTS_H

#include "base/limits.h"
#include "journal/spans.h"

struct weir_rejects {
    struct weir_journal_view source;
    struct weir_cursor cursor;
    struct weir_spans spans[WEIR_JOURNAL_PASSES];
    struct weir_span span[WEIR_JOURNAL_PASSES]; /* the one that each stands at */
    bool in_span[WEIR_JOURNAL_PASSES];
    bool walking[WEIR_JOURNAL_PASSES]; /* the walk has begun */
    struct weir_queue ahead;           /* the first record of the next row */
    struct weir_queue given;           /* what the caller has */
};

enum weir_status weir_rejects_init(struct weir_rejects *rejects,
                                   const struct weir_journal_view *source, struct weir_error *err);
void weir_rejects_release(struct weir_rejects *rejects);

/* The next one; it lives until the next call. *ret is NULL behind the last. */
enum weir_status weir_rejects_next(struct weir_rejects *rejects, const struct weir_reject **ret,
                                   struct weir_error *err);

#endif

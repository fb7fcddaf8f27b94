/* SPDX-License-Identifier: MIT */
/*
 * Which rows are finished already: walked beside the reader of a resumed run, in the order of rows,
 * a handful at a time. Finished means done, skipped or absent in this pass, or rejected in any,
 * durably, when the view was made.
 *
 * Any thread, one at a time.
 */
#ifndef WEIR_BULK_SKIPPER_H
#define WEIR_BULK_SKIPPER_H

#include "journal/rejects.h"
#include "journal/spans.h"

struct weir_skipper {
    struct weir_spans spans;
    struct weir_rejects rejects;
    struct weir_span span;
    bool in_span;
    struct weir_spans first; /* of the first pass, if this is a later one */
    struct weir_span first_span;
    bool in_first;
    uint64_t reject; /* row; 0: behind the last */
    uint32_t reject_file;
    uint64_t reject_offset;
};

/* Where to begin: the first row that is not finished, or the rejected one before it. */
struct weir_entrance {
    uint64_t number; /* 1: the beginning, and the rest plays no part */
    uint32_t file;
    uint64_t offset;
};

enum weir_status weir_skipper_init(struct weir_skipper *skipper,
                                   const struct weir_journal_view *view, uint32_t pass,
                                   struct weir_error *err);
void weir_skipper_release(struct weir_skipper *skipper);

/* Is the row finished? Rows ascend from call to call. */
enum weir_status weir_skipper_ask(struct weir_skipper *skipper, uint64_t row, bool *ret_finished,
                                  struct weir_error *err);

/*
 * Was it skipped in the first pass, which is another? Then there is nothing to do for it in any.
 * Rows ascend from call to call.
 */
enum weir_status weir_skipper_ask_skipped(struct weir_skipper *skipper, uint64_t row,
                                          bool *ret_skipped, struct weir_error *err);

/* Instead of asking: where a reader can begin so that it meets every unfinished row. */
enum weir_status weir_skipper_entrance(struct weir_skipper *skipper, struct weir_entrance *ret,
                                       struct weir_error *err);

#endif

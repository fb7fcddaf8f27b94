/* SPDX-License-Identifier: MIT */
/*
 * One part of a $batch, or one row of an elastic table's bulk message, as an answer of its own:
 * ready for weir_answer_read().
 *
 * How long to wait after a throttle is said by, in this order: the headers of the part itself,
 * those of the outer answer, an annotation of the error. An HTTP-date among them is relative to the
 * Date of the answer that it came with, or else of the outer one.
 */
#ifndef WEIR_PROTOCOL_ITEM_ANSWER_H
#define WEIR_PROTOCOL_ITEM_ANSWER_H

#include "protocol/batch_answer.h"
#include "protocol/fault.h"

#define WEIR_ITEM_HEADERS_MAX (WEIR_PART_HEADERS_MAX + 4)

/* Borrows from the part and the outer answer. Not to be copied: `http` points inside. */
struct weir_item_answer {
    struct weir_http_answer http;
    struct weir_fault fault; /* of a part that is no success */
    struct weir_http_header headers[WEIR_ITEM_HEADERS_MAX];
};

/*
 * Of a part; one that was not answered is as if nothing had come back: its outcome is unknown.
 * `outer`: headers of the answer to the whole.
 */
void weir_item_answer_init_part(struct weir_item_answer *item, const struct weir_part_answer *part,
                                const struct weir_http_header *outer, size_t outer_count);

/* Of a row that an elastic table's answer, whose fault this is, names. */
void weir_item_answer_init_row(struct weir_item_answer *item, const struct weir_fault_row *row,
                               const struct weir_fault *fault, const struct weir_http_header *outer,
                               size_t outer_count);

void weir_item_answer_release(struct weir_item_answer *item);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Reading the answer to a $batch: which part was answered how.
 *
 * The parts of an answer are in the order of those of the request. There may be fewer: without
 * continue-on-error the service stops at the first failure, and a part whose boundary it did not
 * see is not executed at all. So the reader is told how many were sent, and the parts that were not
 * answered are there with the status 0.
 *
 *     complete    the closing boundary has come and every part in front of it is well-formed
 *     answered    how many parts were, from the first on, without a gap
 *
 * A text that is cut or malformed somewhere is not complete; what was whole before that place is
 * handed out all the same. More parts than were sent is not understood at all.
 */
#ifndef WEIR_PROTOCOL_BATCH_ANSWER_H
#define WEIR_PROTOCOL_BATCH_ANSWER_H

#include "base/str.h"
#include "weir/verdict.h"

struct weir_part_answer {
    int status; /* 0: not answered; nothing else is set then */
    const struct weir_http_header *headers;
    size_t header_count;
    struct weir_str body; /* in the text that was read */
};

struct weir_batch_answer {
    struct weir_part_answer *parts; /* as many as were sent */
    size_t part_count;
    size_t answered;
    bool complete;
    const char *problem; /* why it is not complete, one lower-case phrase; "" if it is */
    struct weir_http_header *headers; /* of all parts */
    char *texts;                      /* what those point into */
};

/*
 * `body` must outlive the answer; `content_type` is the outer answer's (NULL: it had none).
 * `expected`: parts that were sent, 1 to WEIR_BATCH_PARTS_MAX.
 *   WEIR_E_INVALID  it is no multipart answer to that many parts: nothing can be said of any part
 */
enum weir_status weir_batch_answer_read(struct weir_str body, const char *content_type,
                                        size_t expected, struct weir_batch_answer *ret,
                                        struct weir_error *err);

void weir_batch_answer_release(struct weir_batch_answer *answer);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The head of an answer, read line by line: status line, headers, blank line; 1xx heads before it
 * are skipped.
 *
 * Two readers of the same bytes must not disagree: a status line must be one of HTTP/1.0 or 1.1, a
 * header name a token, a value free of control bytes, and the end of the body must follow from the
 * head in one way only. Pure.
 */
#ifndef WEIR_NET_HEAD_H
#define WEIR_NET_HEAD_H

#include "base/buf.h"
#include "weir/verdict.h"

/* How the end of the body is known. */
enum weir_framing {
    WEIR_FRAMING_NONE,   /* there is no body: 204, 304 */
    WEIR_FRAMING_LENGTH, /* Content-Length */
    WEIR_FRAMING_CHUNKED,
};

enum weir_head_result {
    WEIR_HEAD_GOOD,
    WEIR_HEAD_MALFORMED,
    WEIR_HEAD_TOO_BIG,
};

struct weir_head {
    int status; /* of the head that is being read; 0: no status line yet */
    bool whole; /* the blank line of the final head has come */
    bool chunked;
    bool old;                  /* HTTP/1.0 */
    bool close;                /* the connection ends behind this answer */
    enum weir_framing framing; /* once it is whole */
    int64_t length;            /* Content-Length; -1: none */
    size_t count;              /* of headers */
    size_t bytes;              /* of everything so far */
    const char *problem;       /* what is wrong, a phrase; NULL: nothing */
    struct weir_buf text;      /* name 0 value 0 name 0 value 0 … */
};

void weir_head_init(struct weir_head *head);
void weir_head_release(struct weir_head *head);
void weir_head_reset(struct weir_head *head); /* for another answer; keeps its memory */

/* A line with its line end. After anything but GOOD the answer is not to be used. */
enum weir_head_result weir_head_line(struct weir_head *head, struct weir_str line);

/* Fill `headers` (room for head->count); they live until the head changes. */
void weir_head_list(const struct weir_head *head, struct weir_http_header *headers);

/* Is it a token of HTTP: what names of headers are made of? */
bool weir_head_is_token(struct weir_str text);

/* No control bytes but the tab. */
bool weir_head_is_text(struct weir_str text);

#endif

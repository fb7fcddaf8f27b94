/* SPDX-License-Identifier: MIT */
/*
 * An answer, read as its bytes come: lines of its head, then a body whose end the head announced.
 * However the bytes are cut into pieces, what is read is the same. Pure.
 */
#ifndef WEIR_NET_REPLY_H
#define WEIR_NET_REPLY_H

#include "net/chunks.h"
#include "net/head.h"

enum weir_reply_result {
    WEIR_REPLY_MORE = 0, /* not all of it is there */
    WEIR_REPLY_WHOLE,
    WEIR_REPLY_BROKEN, /* it is no answer; `problem` says why … */
    WEIR_REPLY_TOO_BIG,
};

struct weir_reply {
    struct weir_head head;
    struct weir_chunks chunks;
    struct weir_buf line; /* of the head, so far as it has come */
    struct weir_buf body;
    uint64_t bytes;      /* that were read, of whatever */
    bool excess;         /* there was more than the answer: whoever sent it is not to be trusted */
    const char *problem; /* a phrase; NULL: none */
};

void weir_reply_init(struct weir_reply *reply, size_t body_bytes_max);
void weir_reply_release(struct weir_reply *reply);

/* For another answer. Wiped, because answers hold tokens; what is small of its memory is kept. */
void weir_reply_reset(struct weir_reply *reply);

/* After anything but MORE there is nothing more to be read. */
enum weir_reply_result weir_reply_read(struct weir_reply *reply, const char *bytes, size_t len);

#endif

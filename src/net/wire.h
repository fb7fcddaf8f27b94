/* SPDX-License-Identifier: MIT */
/*
 * A connection to the transport's origin. libcurl makes it (names, addresses, proxies, TLS,
 * certificates) and ends it; what is said on it is ours.
 *
 *     dial ──▶ dialing ──libcurl is done──▶ open: lent to an exchange ◀──▶ idle
 *                 └─────────────────────────────────┴─── close ◀─────────────┘ heard, or found too
 * old
 *
 * Nobody has asked for anything on an idle one. What makes itself heard there is its end, or what
 * the next request would take for its answer: it is closed, and a request that finds it so takes
 * another.
 *
 * Plain sockets are written and read as they are, so that head and body go out in one call from
 * where they lie. Under TLS it is libcurl that writes and reads, in records of 16 KiB. It does not
 * tell whether writing waits for something to be read, or the other way round (TLS 1.2 may
 * negotiate again in the midst of it): one that waits for room is watched for both.
 */
#ifndef WEIR_NET_WIRE_H
#define WEIR_NET_WIRE_H

#include <curl/curl.h>
#include <uv.h>

#include "base/str.h"

struct weir_transport;
struct weir_exchange;

struct weir_wire {
    uv_poll_t poll;
    struct weir_transport *transport;
    struct weir_exchange *exchange; /* whose it is; NULL: idle */
    struct weir_wire *next;         /* idle ones: the last one used first */
    CURL *easy;
    int fd;
    bool watched;    /* libuv knows it */
    int events;      /* that it is watched for */
    int64_t rest_us; /* idle since */

    char *record; /* under TLS: what libcurl is to write next, and has not yet. NULL: none so far */
    size_t record_len;
    char detail[CURL_ERROR_SIZE]; /* why it failed, in libcurl's or the system's words */
};

/* What became of writing or reading. */
enum weir_wire_result {
    WEIR_WIRE_DONE = 0, /* so many bytes, as said beside it */
    WEIR_WIRE_BLOCKED,  /* not now: the wire is heard when it goes on */
    WEIR_WIRE_ENDED,    /* the other side has ended it */
    WEIR_WIRE_FAILED,   /* wire->detail says why, if it is not empty */
};

/* Begin one, for this exchange; libcurl tells the transport how that ends. */
struct weir_wire *weir_wire_dial(struct weir_exchange *exchange, int64_t connect_timeout_us);

/* libcurl has made it. False: it has ended again, or speaks before it was asked. */
bool weir_wire_opened(struct weir_wire *wire);

/* The idle one that was used last and is still silent; NULL: there is none. */
struct weir_wire *weir_wire_take(struct weir_transport *transport);

/* No exchange has it any more: it waits for the next one, unless there are enough. */
void weir_wire_rest(struct weir_wire *wire);

/* Also while it is dialing. Void afterwards. */
void weir_wire_close(struct weir_wire *wire);
void weir_wire_close_idle(struct weir_transport *transport);

/* Hand out the first bytes of these pieces, in their order. */
enum weir_wire_result weir_wire_write(struct weir_wire *wire, const struct weir_str *pieces,
                                      size_t count, size_t *ret_bytes);
enum weir_wire_result weir_wire_read(struct weir_wire *wire, char *to, size_t room,
                                     size_t *ret_bytes);

/* Hear of it as well when it can be written to (or, false, no longer). */
void weir_wire_await_room(struct weir_wire *wire, bool await);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A scripted HTTP/1.1 server on loopback, in a thread of its own, that counts what was on the wire.
 *
 *     static const char *const answers[] = { "HTTP/1.1 204 No Content\r\n\r\n" };
 *     struct origin *origin = origin_new(&(struct origin_options){ .answers = answers,
 *                                                                   .answer_count = 1 });
 *     … talk to origin_url(origin) …
 *     ck_assert_uint_eq(origin_counts(origin).requests, 3);
 *     origin_free(origin);
 *
 * A *request* is a head up to its blank line and the body that its Content-Length announces. It is
 * counted when its head is whole, and `whole` when its body is, whether or not it will be answered:
 * also those that come when this side has said that it will say no more. (Of one that is answered
 * early the rest is thrown away uncounted.)
 *
 * What is answered: the i-th request gets the i-th of `answers` (the last one stands for all that
 * follow), or what `script` makes of it. An answer is bytes, sent as they are, right or wrong, and
 * what happens before, between and after them. To drop a connection that is used for the second
 * time without a byte:
 *
 *     static void drop_reused(void *ctx, const struct origin_request *request,
 *                             struct origin_answer *answer)
 *     {
 *         if (request->before == 1)
 *             answer->then = ORIGIN_CLOSE;
 *         else
 *             weir_buf_add_text(&answer->bytes, "HTTP/1.1 204 No Content\r\n\r\n");
 *     }
 *
 * Nothing sleeps: waits are time-outs of ppoll(). Bounds: ORIGIN_CONNECTIONS_MAX connections at a
 * time (further ones wait in the backlog), ORIGIN_BYTES_MAX bytes of a request (then it is reset).
 * All signals are blocked in the thread. Functions may be called from any thread, but not from a
 * script, until origin_free().
 */
#ifndef WEIR_TESTS_ORIGIN_H
#define WEIR_TESTS_ORIGIN_H

#include <openssl/ssl.h>

#include "base/buf.h"

#define ORIGIN_CONNECTIONS_MAX 1024
#define ORIGIN_BYTES_MAX       ((size_t)32 * 1024 * 1024)

/* Lives during the script's call only. */
struct origin_request {
    uint64_t index;      /* among all requests, from 0 */
    uint32_t connection; /* which TCP connection, from 0 in the order they were accepted */
    uint32_t before;     /* requests that came before it on the same connection */
    const char *target;  /* terminated */
    const char *head;    /* with its blank line; not terminated */
    size_t head_len;
    const char *body; /* what has come of it */
    size_t body_len;
};

enum origin_end {
    ORIGIN_KEEP = 0, /* and wait for the next request */
    ORIGIN_CLOSE,    /* clean; with TLS after a close_notify */
    ORIGIN_RESET,
    ORIGIN_STALL, /* never another byte */
};

/* Zeroed but for its buffer: nothing is said, and the connection kept. */
struct origin_answer {
    struct weir_buf bytes;
    int64_t delay_us;   /* before the first byte, or before the end if there is none */
    size_t slice_bytes; /* of one write; 0: as many as go */
    int64_t slice_gap_us;
    size_t pause_at; /* before this byte, for … */
    int64_t pause_us;
    enum origin_end then;
};

/* On the origin's thread. */
typedef void origin_script(void *ctx, const struct origin_request *request,
                           struct origin_answer *answer);

/* Borrowed during origin_new() only. */
struct origin_tls {
    X509 *certificate;
    X509 *issuer; /* sent along; NULL: none */
    EVP_PKEY *key;
    int version_min; /* TLS1_VERSION …; 0: any */
    int version_max;
};

struct origin_options {
    const char *const *answers; /* borrowed until origin_free() */
    size_t answer_count;
    origin_script *script; /* instead of answers */
    void *ctx;
    bool early;                   /* answer before the whole body is there … */
    size_t early_body_bytes;      /* … as soon as this many bytes of it are */
    size_t record_max;            /* heads to keep */
    const struct origin_tls *tls; /* NULL: plain */
};

struct origin_counts {
    uint64_t connections; /* accepted */
    uint64_t open;
    uint64_t requests;   /* heads */
    uint64_t whole;      /* with all of their bodies */
    uint64_t malformed;  /* what was no request, or no length of a body; reset */
    uint64_t bytes;      /* received, without TLS */
    uint64_t said;       /* bytes of answers that have left */
    uint64_t handshakes; /* of TLS, done … */
    uint64_t resumed;    /* … of those, with an earlier session */
    uint64_t refused;    /* … and those that failed */
};

/* One recorded request; lives until origin_free(). */
struct origin_record {
    const char *head; /* terminated */
    uint32_t connection;
    uint32_t before;
};

struct origin;

struct origin *origin_new(const struct origin_options *options);

/* Open connections are reset. NULL is fine. */
void origin_free(struct origin *origin);

uint16_t origin_port(const struct origin *origin);

/* "http://127.0.0.1:port", with https if it speaks TLS. */
const char *origin_url(const struct origin *origin);

struct origin_counts origin_counts(struct origin *origin);

/* False: there is no such request yet, or it was not kept. */
bool origin_record(struct origin *origin, uint64_t index, struct origin_record *ret);

/* The value of a header of a head, without blanks around it; length 0: it is not there. */
struct weir_str origin_header(const char *head, const char *name);

#endif

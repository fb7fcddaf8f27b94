/* SPDX-License-Identifier: MIT */
/*
 * One request, sent once, to one origin, and an answer that is either complete or honestly marked
 * as not.
 *
 *   transport   what a connection (an application user) has to one origin: TCP connections that
 *               are kept alive, and TLS sessions. Never shared: a token of one user
 *               cannot travel on a connection of another, and a target is a path, so that nothing
 *               can go to another origin.
 *   exchange    one request and its answer.
 *
 * It never retries, never follows a redirect (a 3xx is an answer like any other), keeps no cookies,
 * reads no .netrc, and speaks HTTP/1.1. Certificates are verified, TLS is 1.2 or later, plain http
 * goes to loopback only (and, if `link_local`, to 169.254.0.0/16).
 *
 * All of it on the loop thread. `done` is called from the loop, never before weir_transport_send()
 * has returned, exactly once, also after a cancel; it may send again, cancel others and free.
 */
#ifndef WEIR_NET_TRANSPORT_H
#define WEIR_NET_TRANSPORT_H

#include "base/str.h"
#include "net/loop.h"
#include "weir/config.h"
#include "weir/log.h"
#include "weir/verdict.h"

struct weir_transport;
struct weir_exchange;

struct weir_transport_options {
    const char *origin;            /* scheme://host[:port], nothing behind it */
    const char *connection_name;   /* for the log; NULL: none */
    const char *proxy;             /* NULL: what the environment says (HTTPS_PROXY, NO_PROXY); never
                                      used for loopback or link-local addresses */
    const char *ca_file;           /* NULL: the system's */
    bool link_local;               /* plain http to 169.254.0.0/16 is allowed, never by a proxy */
    struct weir_http_options http; /* the three time-outs */
    size_t answer_bytes_max;       /* of a body; 0: WEIR_ANSWER_BYTES_MAX */
    const struct weir_log_sink *sink; /* borrowed; NULL: none. Trace: a record per exchange; no
                                         header value and no body ever goes there */
};

/* WEIR_E_INVALID: an origin that is none, or plain http to somewhere else. */
enum weir_status weir_transport_new(struct weir_loop *loop,
                                    const struct weir_transport_options *options,
                                    struct weir_transport **ret, struct weir_error *err);

/*
 * Exchanges under way end as cancelled, their `done` called before this returns; what a `done`
 * sends then ends likewise, unsent. NULL is fine.
 */
void weir_transport_free(struct weir_transport *transport);

/*
 * Everything but this struct is borrowed until `done`. The slices of the body are sent one after
 * the other, from where they lie.
 * Content-Length, Host, User-Agent and Accept, where none is given, are added; Expect never is.
 */
struct weir_exchange_request {
    const char *method;         /* GET, POST, PATCH, PUT or DELETE */
    const char *target;         /* path and query, beginning with "/" */
    const char *const *headers; /* whole lines, "Name: value" */
    size_t header_count;
    const struct weir_str *body;   /* slices */
    size_t body_count;             /* 0: no body */
    struct weir_http_options http; /* zero members: the transport's */
};

/* Why a request cannot be sent, as the end of "not sent: "; NULL: it can. Any thread. */
const char *weir_exchange_problem(const struct weir_exchange_request *request);

enum weir_ending {
    WEIR_ENDING_COMPLETE = 0,  /* status, headers and body are whole */
    WEIR_ENDING_NO_CONNECTION, /* name, route, refusal, proxy: nothing was sent */
    WEIR_ENDING_TLS,           /* handshake or certificate: nothing was sent */
    WEIR_ENDING_BROKEN,        /* reset, closed too early, cut, malformed */
    WEIR_ENDING_TIMED_OUT,     /* any of the three time-outs; `detail` says which */
    WEIR_ENDING_TOO_BIG,       /* headers or body over their bound */
    WEIR_ENDING_CANCELLED,
};

/* Lives during `done` only. */
struct weir_exchange_answer {
    enum weir_ending ending;
    bool sent;   /* a byte of the body (of a request without one: of its head) may have left */
    bool reused; /* on a connection that was open already */
    int status;  /* 0 unless complete */
    const struct weir_http_header
        *headers; /* of the final answer, in its order; none unless complete */
    size_t header_count;
    struct weir_str body;  /* terminated by a 0 that does not count */
    const char *detail;    /* why it is not complete, one lower-case phrase; "" if it is */
    int64_t begun_us;      /* weir_transport_send() */
    int64_t sent_us;       /* the last byte of the request was handed out; 0: never */
    int64_t first_byte_us; /* of the final answer's head; 0: never */
    int64_t done_us;
};

typedef void weir_exchange_done(void *ctx, const struct weir_exchange_answer *answer);

/* Never fails: what cannot be sent comes back by `done`. */
struct weir_exchange *weir_transport_send(struct weir_transport *transport,
                                          const struct weir_exchange_request *request,
                                          weir_exchange_done *done, void *ctx);

/* `done` comes in a coming turn, with WEIR_ENDING_CANCELLED. Void after `done`. */
void weir_exchange_cancel(struct weir_exchange *exchange);

struct weir_transport_stats {
    uint64_t requests;   /* begun */
    uint64_t complete;   /* answered whole */
    uint64_t bytes_sent; /* heads and bodies, without TLS */
    uint64_t bytes_received;
    uint64_t connections; /* opened */
    uint64_t reused;      /* requests on a connection that was open */
    uint64_t handshakes;  /* of TLS */
};

void weir_transport_stats(const struct weir_transport *transport, struct weir_transport_stats *ret);

/* "complete", "no connection", "tls", "broken", "timed out", "too big", "cancelled". Any thread. */
const char *weir_ending_name(enum weir_ending ending);

#endif

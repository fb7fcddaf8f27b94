/* SPDX-License-Identifier: MIT */
/*
 * The inside of a transport. Who does what:
 *
 *     transport.c       beginning and end, sending, what has been heard, counters
 *     exchange.c        one request and its answer: from its wire to an ending
 *     exchange_send.c   what is checked before anything is sent, and the head that goes out
 *     wire.c            a connection: made by libcurl, written, read, kept for the next exchange
 *     setup.c           the options of libcurl's handles
 *     sockets.c         libcurl's sockets and libuv's watchers, while a connection is being made
 *     reply.c           an answer, from bytes to head and body: pure
 *     head.c            the head of an answer: pure
 *     chunks.c          a chunked body: pure
 *     origin.c          what an origin is
 *
 * The life of an exchange:
 *
 *     send ──▶ connecting ──a wire──▶ sending ──last byte──▶ waiting ──status line──▶ receiving
 *       │      connect time-out       first-byte time-out ────────────┘      │
 *       └── request time-out ────────────────────────────────────────────────┴──▶ finish ──▶ done
 *
 * An exchange has one wire in its life and writes each byte of its request to it once, so that no
 * request can be sent twice (decisions/006, 016).
 */
#ifndef WEIR_NET_TRANSPORT_PARTS_H
#define WEIR_NET_TRANSPORT_PARTS_H

#include "base/limits.h"
#include "net/origin.h"
#include "net/reply.h"
#include "net/transport.h"
#include "net/wire.h"

struct weir_sockets;

struct weir_exchange {
    struct weir_transport *transport;
    struct weir_exchange *next; /* under way, or kept for another request */
    struct weir_exchange *previous;
    struct weir_wire *wire;  /* NULL: none yet, or not any more */
    struct weir_timer timer; /* the next time-out; cancelling; what could not be sent */

    /* The request. */
    struct weir_exchange_request request;
    struct weir_http_options http;
    weir_exchange_done *done;
    void *ctx;
    struct weir_buf head; /* as it goes out, with the token in it */
    int64_t body_bytes;   /* of all slices */
    size_t piece;         /* to be handed out next: the head (0) or a slice of the body (1 …), */
    size_t piece_at;      /* from here on */
    uint64_t bytes_sent;  /* handed out, of head and body */
    struct weir_reply reply;

    int64_t begun_us;
    int64_t connected_us;
    int64_t sent_us;
    int64_t first_byte_us;

    /* What has happened. */
    bool fit;       /* to be sent */
    bool reused;    /* on a wire that was open */
    bool connected; /* it has an open wire, or had one */
    bool sent;
    bool cancelled;
    bool over;               /* it is to be told in a coming turn, … */
    enum weir_ending ending; /* … so */
    char detail[WEIR_DETAIL_MAX];
};

struct weir_transport {
    struct weir_loop *loop;
    CURLM *multi;
    CURLSH *share;
    struct weir_sockets *sockets;
    struct weir_timer timer; /* libcurl's */

    struct weir_origin origin;
    char *url;
    char *host; /* as a head names it, with its port if it is not the usual one */
    char *connection_name;
    char *proxy;
    char *ca_file;
    char agent[64];
    struct weir_http_options http;
    size_t answer_bytes_max;
    const struct weir_log_sink *sink;

    struct weir_exchange *first; /* under way */
    struct weir_exchange *kept;
    size_t kept_count;
    struct weir_wire *idle;
    size_t idle_count;
    char *inbox;                                              /* what one reading brings */
    struct weir_http_header headers[WEIR_ANSWER_HEADERS_MAX]; /* of the answer in `done` */
    uint32_t inside; /* calls on the stack that still look at this */
    bool closing;    /* nothing is sent any more */
    bool freed;
    struct weir_transport_stats stats;
};

/* --- setup.c ---------------------------------------------------------------------------------- */

/* A handle for one connection, with all that never changes. */
CURL *weir_wire_setup(struct weir_wire *wire);
void weir_transport_setup(struct weir_transport *transport);

/* --- exchange_send.c -------------------------------------------------------------------------- */

/* Write the head; false: it must not be sent, and exchange->detail says why. */
bool weir_exchange_prepare(struct weir_exchange *exchange);

/* --- exchange.c ------------------------------------------------------------------------------- */

struct weir_exchange *weir_exchange_new(struct weir_transport *transport);
void weir_exchange_free(struct weir_exchange *exchange);
void weir_exchange_reset(struct weir_exchange *exchange); /* for another request */

/* Arm the timer for the time-out that comes next. */
void weir_exchange_arm(struct weir_exchange *exchange);

/* Which time-out has come; its phrase goes into `detail`. False: none has. */
bool weir_exchange_late(struct weir_exchange *exchange, int64_t now_us);

/* It has its wire, which is open. */
void weir_exchange_connected(struct weir_exchange *exchange);

/*
 * Hand out, and take in, as much as goes now. True: it is over, *ret_ending says how and `detail`
 * why.
 */
bool weir_exchange_push(struct weir_exchange *exchange, enum weir_ending *ret_ending);
bool weir_exchange_pull(struct weir_exchange *exchange, enum weir_ending *ret_ending);

/* Why libcurl has made no connection; the phrase goes into `detail`. */
enum weir_ending weir_exchange_judge(struct weir_exchange *exchange, CURLcode code);

/* May the next exchange have the wire that this one was answered on? */
bool weir_exchange_leaves_wire(const struct weir_exchange *exchange);

/* --- wire.c ----------------------------------------------------------------------------------- */

/* Something was heard of it though nobody has asked. It may be void afterwards. */
void weir_wire_heard_idle(struct weir_wire *wire);

/* --- sockets.c -------------------------------------------------------------------------------- */

struct weir_sockets *weir_sockets_new(struct weir_transport *transport);

/* The connection of this handle is about to be given up. */
void weir_sockets_forget(struct weir_sockets *sockets, const CURL *easy);

/* When libcurl has closed all of its own. */
void weir_sockets_free(struct weir_sockets *sockets);

curl_socket_t weir_sockets_on_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *address);
int weir_sockets_on_close(void *ctx, curl_socket_t fd);
int weir_sockets_on_change(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket);

/* --- transport.c ------------------------------------------------------------------------------ */

/* Something happened to a socket of libcurl's, or its time has come: let it work. */
void weir_transport_act(struct weir_transport *transport, curl_socket_t fd, int events);

/* An open wire can be read or written to. It may be void afterwards. */
void weir_transport_hear(struct weir_wire *wire, int events);

#endif

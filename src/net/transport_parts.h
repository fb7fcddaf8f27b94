/* SPDX-License-Identifier: MIT */
/*
 * The inside of a transport. Who does what:
 *
 *     transport.c       beginning and end, sending, what libcurl has finished, counters
 *     exchange.c        one request and its answer: from libcurl's callbacks to an ending
 *     exchange_send.c   what is checked before anything is sent, and told to libcurl
 *     setup.c           what never changes: the options of every libcurl handle
 *     sockets.c         between libcurl's sockets and libuv's watchers, and libcurl's one timer
 *     head.c            the head of an answer
 *     chunks.c          a chunked body
 *     origin.c          what an origin is
 *
 * The life of an exchange:
 *
 *     send ──▶ connecting ──prereq──▶ sending ──last byte──▶ waiting ──status line──▶ receiving
 *       │      connect time-out       first-byte time-out ────────────┘      │
 *       └── request time-out ────────────────────────────────────────────────┴──▶ settle ──▶ done
 *
 * "prereq" is libcurl's callback between having a connection and sending on it. It comes a second
 * time when libcurl wants to send the request again on another connection; that is where it is
 * stopped. Callbacks of libcurl's only take notes: `done` is called when libcurl has returned.
 */
#ifndef WEIR_NET_TRANSPORT_PARTS_H
#define WEIR_NET_TRANSPORT_PARTS_H

#include <curl/curl.h>

#include "base/limits.h"
#include "net/chunks.h"
#include "net/head.h"
#include "net/origin.h"
#include "net/transport.h"

struct weir_sockets;

struct weir_exchange {
    struct weir_transport *transport;
    struct weir_exchange *next; /* under way, or kept for another request */
    struct weir_exchange *previous;
    CURL *easy;
    struct weir_timer timer; /* the next time-out; cancelling; what could not be sent */

    /* The request. */
    struct weir_exchange_request request;
    struct weir_http_options http;
    weir_exchange_done *done;
    void *ctx;
    struct curl_slist lines[WEIR_REQUEST_HEADERS_MAX + 2]; /* point at the caller's */
    char *joined;                                          /* a small body of several slices */
    int64_t body_bytes;                                    /* of all slices */
    int64_t body_sent;                                     /* handed out */
    size_t slice;                                          /* the one to be handed out next, */
    size_t slice_at;                                       /* from here on */
    long connect_ms; /* what libcurl was told last; its options stay with the handle */

    /* The answer. */
    struct weir_head head;
    struct weir_chunks chunks;
    struct weir_buf body;

    int64_t begun_us;
    int64_t connected_us;
    int64_t sent_us;
    int64_t first_byte_us;

    /* What has happened. */
    bool fit;       /* to be sent */
    bool at_once;   /* the body goes out in one piece with the head */
    bool added;     /* libcurl has it */
    bool opened;    /* on a connection of its own */
    bool reused;    /* on one that was open */
    bool connected; /* prereq has come */
    bool sent;
    bool again;  /* libcurl wanted to send it a second time */
    bool excess; /* bytes came behind the answer: the connection is not to be used again */
    bool cancelled;
    enum weir_ending ending; /* why a callback stopped it; COMPLETE: none did */
    char detail[WEIR_DETAIL_MAX];
    char curl_detail[CURL_ERROR_SIZE];
};

struct weir_transport {
    struct weir_loop *loop;
    CURLM *multi;
    struct weir_sockets *sockets;
    struct weir_timer timer; /* libcurl's */

    struct weir_origin origin;
    char *url;
    char *connection_name;
    char *proxy;
    char *ca_file;
    struct weir_http_options http;
    size_t answer_bytes_max;
    const struct weir_log_sink *sink;

    struct weir_exchange *first; /* under way */
    struct weir_exchange *kept;
    size_t kept_count;
    struct weir_http_header headers[WEIR_ANSWER_HEADERS_MAX]; /* of the answer in `done` */
    uint32_t inside; /* calls on the stack that still look at this */
    bool freed;
    struct weir_transport_stats stats;
};

/* --- setup.c ---------------------------------------------------------------------------------- */

/* A handle with all that never changes, for one exchange. */
CURL *weir_exchange_setup(struct weir_exchange *exchange);
CURLM *weir_transport_setup(struct weir_transport *transport);

/* --- exchange_send.c -------------------------------------------------------------------------- */

/* Tell libcurl what to send; false: it must not be sent, and exchange->detail says why. */
bool weir_exchange_prepare(struct weir_exchange *exchange);

/* --- exchange.c ------------------------------------------------------------------------------- */

struct weir_exchange *weir_exchange_new(struct weir_transport *transport);
void weir_exchange_free(struct weir_exchange *exchange);
void weir_exchange_reset(struct weir_exchange *exchange); /* for another request */

/* Arm the timer for the time-out that comes next. */
void weir_exchange_arm(struct weir_exchange *exchange);

/* Which time-out has come; its phrase goes into `detail`. False: none has. */
bool weir_exchange_late(struct weir_exchange *exchange, int64_t now_us);

/* How it ended, libcurl having finished with `code`; the phrase goes into `detail`. */
enum weir_ending weir_exchange_judge(struct weir_exchange *exchange, CURLcode code);

/* libcurl's callbacks. */
int weir_exchange_on_prereq(void *ctx, char *remote, char *local, int remote_port, int local_port);
size_t weir_exchange_on_read(char *to, size_t size, size_t count, void *ctx);
int weir_exchange_on_seek(void *ctx, curl_off_t offset, int origin);
size_t weir_exchange_on_header(char *line, size_t size, size_t count, void *ctx);
size_t weir_exchange_on_body(char *bytes, size_t size, size_t count, void *ctx);

/* --- sockets.c -------------------------------------------------------------------------------- */

struct weir_sockets *weir_sockets_new(struct weir_transport *transport);

/* When libcurl has closed all of its own. */
void weir_sockets_free(struct weir_sockets *sockets);

/*
 * Has nothing come in on the idle connection with this port of ours? libcurl takes one on which
 * something has for alive, and would read it as the answer to what it is about to send.
 */
bool weir_sockets_silent(struct weir_sockets *sockets, int local_port);

curl_socket_t weir_sockets_on_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *address);
int weir_sockets_on_close(void *ctx, curl_socket_t fd);
int weir_sockets_on_change(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket);

/* --- transport.c ------------------------------------------------------------------------------ */

/* Something happened to a socket of libcurl's, or its time has come: let it work, then settle. */
void weir_transport_act(struct weir_transport *transport, curl_socket_t fd, int events);

#endif

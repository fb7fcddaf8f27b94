/* SPDX-License-Identifier: MIT */
/*
 * What one connection needs to speak to the Web API: its transport, its tokens, and the rule for
 * when its credentials are to be given up.
 *
 *     weir_tokens_want(link->tokens) ─▶ token ─▶ weir_link_send() ─▶ answer, judged
 *
 * Between the two the caller may think again (revalidate its lease): nothing has been sent yet.
 *
 * A 401 drops the token, so that the next request fetches a new one. A second 401 in a row, to
 * another token, means that new tokens do not help: `broken`, and the connection should be set
 * aside, until a request of it succeeds. So should one whose user the service does not know, at
 * once, and one whose user is disabled, if the request had no body: a row may name a disabled user
 * too.
 *
 * Loop thread.
 */
#ifndef WEIR_CLIENT_LINK_H
#define WEIR_CLIENT_LINK_H

#include "auth/tokens.h"
#include "client/servers.h"
#include "net/transport.h"
#include "protocol/fault.h"

#define WEIR_CALL_LINES_MAX (WEIR_REQUEST_HEADERS_MAX - 2)

struct weir_link {
    struct weir_loop *loop;
    const struct weir_options *options;
    const struct weir_log_sink *sink;
    const char *name;
    char *origin; /* the url without a slash at its end */
    struct weir_tokens *tokens;
    struct weir_transport *transport; /* NULL until the first request: it holds descriptors */
    uint64_t spurned_serial;          /* the newest token that the service did not accept */
    int spurned_in_a_row;             /* tokens */
    bool broken;                      /* its credentials are of no use */
    struct weir_servers servers;      /* that have answered */
};

/* `options` and `sink` are borrowed. Fails as weir_tokens_new() does. */
enum weir_status weir_link_init(struct weir_link *link, struct weir_loop *loop,
                                const struct weir_options *options, size_t connection,
                                const struct weir_log_sink *sink, struct weir_error *err);

/* Calls under way end as cancelled. Fine on a zeroed link. */
void weir_link_release(struct weir_link *link);

/* Borrowed until `done`. Authorization and the cookie are added to the lines. */
struct weir_call_request {
    const char *method;
    const char *target;          /* from "/" on */
    const char *const *lines;    /* "Name: value"; protocol/request_options makes the usual ones */
    size_t line_count;           /* at most WEIR_CALL_LINES_MAX */
    const struct weir_str *body; /* slices */
    size_t body_count;
    uint64_t server_id; /* the web server that it is meant for, as leases say it; 0: any. One that
                           has not answered this link lately cannot be asked for */
};

/* Lives during `done` only. */
struct weir_call_answer {
    const struct weir_exchange_answer *exchange;
    struct weir_answer answer; /* what it meant */
    struct weir_fault fault;   /* what the body says, if it is an error */
    bool broken;               /* the connection should be set aside */
};

struct weir_call;
typedef void weir_call_done(void *ctx, const struct weir_call_answer *answer);

struct weir_call *weir_link_send(struct weir_link *link, const struct weir_token *token,
                                 const struct weir_call_request *request, weir_call_done *done,
                                 void *ctx);

/* `done` comes in a coming turn. Void after `done`. */
void weir_call_cancel(struct weir_call *call);

#endif

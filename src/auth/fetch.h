/* SPDX-License-Identifier: MIT */
/*
 * One attempt at getting one token, from the first question to the answer, within
 * WEIR_TOKEN_FETCH_MAX_US (or Http:RequestTimeout, if that is less).
 *
 *     client secret     ┐  ┌────────────┐   ┌────────────┐   ┌─────────┐
 *     certificate       ├─▶│ discover   ├──▶│ gather     ├──▶│ log in  ├─▶ done
 *     federated token   ┘  │ the tenant,│   │ the secret,│   │         │
 *                          │ if unknown │   │ assertion  │   │         │
 *                          └────────────┘   └────────────┘   └─────────┘
 *     managed identity, token command, static token ────── one step ────▶ done
 *
 * Steps follow each other through a timer, never from inside a callback of net: so each may throw
 * away what the one before it used. Nothing is kept for the next fetch but the tenant: connections
 * to a login service that is asked once an hour would be dead by then.
 *
 * Loop thread. `done` is called once, from the loop, never before weir_fetch_begin() has returned,
 * and may free the fetch.
 */
#ifndef WEIR_AUTH_FETCH_H
#define WEIR_AUTH_FETCH_H

#include "auth/credential.h"
#include "auth/token_answer.h"
#include "net/loop.h"
#include "weir/log.h"

struct weir_fetch;

struct weir_fetch_options {
    const struct weir_options *options; /* borrowed, as all that follows */
    size_t connection;
    enum weir_credential_kind kind;
    const char *tenant; /* NULL: not known yet */
    const struct weir_log_sink *sink;
    uint64_t chance[2];
};

/* Lives during `done` only. */
struct weir_fetch_answer {
    enum weir_status status; /* WEIR_E_CREDENTIALS: for good. WEIR_E_UNAVAILABLE: it will pass */
    struct weir_token_grant *grant; /* its text may be taken */
    const struct weir_error *err;
    int64_t number;     /* AADSTS; 0: none */
    const char *tenant; /* NULL: none was needed */
    int64_t begun_us;
};

typedef void weir_fetch_done(void *ctx, const struct weir_fetch_answer *answer);

struct weir_fetch *weir_fetch_begin(struct weir_loop *loop,
                                    const struct weir_fetch_options *options, weir_fetch_done *done,
                                    void *ctx);

/* If it is not over yet, it never will be: `done` is not called. NULL is fine. */
void weir_fetch_free(struct weir_fetch *fetch);

#endif

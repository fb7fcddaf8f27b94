/* SPDX-License-Identifier: MIT */
/*
 * The access tokens of one connection: fetched on first use, kept, renewed at 80 % of their life,
 * and renewed once when the service spurns one. However many requests want a token, at most one
 * fetch is under way.
 *
 *     want ─▶ young                   the token, at once
 *             past 80 % of its life   the token, and a fetch in the background
 *             none, or about to end   wait for the fetch; all who wait share it
 *             fetch failed a moment ago, or refused for good: the same error, at once
 *
 * Where the token comes from is a *credential*: client secret (plain, file, environment, command),
 * certificate, managed identity, federated token file, token command, static token.
 *
 * Loop thread. `done` is called once, from the loop, never before weir_tokens_want() has returned.
 */
#ifndef WEIR_AUTH_TOKENS_H
#define WEIR_AUTH_TOKENS_H

#include "net/loop.h"
#include "weir/config.h"
#include "weir/log.h"

struct weir_tokens;

/*
 * `options` and `sink` are borrowed as long as the tokens live; `connection` is the place of the
 * connection in `options`. What can be judged without asking anybody is judged here: no credential,
 * a secret file that others may read, a certificate that is none, a tenant that is missing where
 * nothing can discover it.
 */
enum weir_status weir_tokens_new(struct weir_loop *loop, const struct weir_options *options,
                                 size_t connection, const struct weir_log_sink *sink,
                                 struct weir_tokens **ret, struct weir_error *err);

/* Those who wait are told WEIR_E_SHUTDOWN before this returns. The token is wiped. NULL is fine. */
void weir_tokens_free(struct weir_tokens *tokens);

/* Lives during `done` only. */
struct weir_token {
    const char *text; /* without "Bearer " */
    uint64_t serial;  /* which fetch it came from */
    int64_t expires_us;
};

/*
 * status WEIR_OK: `token`. Otherwise `token` is NULL and `err` says why:
 *   WEIR_E_CREDENTIALS   refused for good, or the credential is unusable: the login service's own
 *                        words (AADSTS…), and what they mean
 *   WEIR_E_UNAVAILABLE   the login service is out of reach, slow, failing or throttling;
 *                        err->retry_after_us says when to ask again
 *   WEIR_E_CANCELLED, WEIR_E_SHUTDOWN
 */
typedef void weir_token_done(void *ctx, enum weir_status status, const struct weir_token *token,
                             const struct weir_error *err);

/* One who wants a token. Part of a larger object of the caller's; untouched until `done`. */
struct weir_token_ask {
    weir_token_done *done;
    void *ctx;
    struct weir_token_ask *next; /* the tokens' */
    bool waiting;                /* the tokens' */
};

void weir_tokens_want(struct weir_tokens *tokens, struct weir_token_ask *ask);

/* `done` comes with WEIR_E_CANCELLED in a coming turn, unless it has come already. */
void weir_tokens_cancel(struct weir_tokens *tokens, struct weir_token_ask *ask);

/*
 * The service answered 401 to the token of that serial number. If it is still the one in use it is
 * dropped, so that the next who wants one fetches; if a newer one is there, nothing happens:
 * however many requests were refused, there is one fetch.
 */
void weir_tokens_spurned(struct weir_tokens *tokens, uint64_t serial);

struct weir_tokens_stats {
    uint64_t fetches;
    uint64_t failures;
};
void weir_tokens_stats(const struct weir_tokens *tokens, struct weir_tokens_stats *ret);

#endif

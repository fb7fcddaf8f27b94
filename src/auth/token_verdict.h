/* SPDX-License-Identifier: MIT */
/*
 * What an answer of a token endpoint comes to: a token, a no for good, or something that will pass.
 * Pure. Any thread.
 *
 *     200 with a token                                        the token
 *     4xx with an OAuth error                                 no: WEIR_E_CREDENTIALS
 *     429, 408, 5xx, temporarily_unavailable, server_error,   WEIR_E_UNAVAILABLE, retryable
 *     a redirect, a page, half an answer, none
 *
 * From a machine's own endpoint (IMDS) 404 and 410 will pass too: it is being updated.
 */
#ifndef WEIR_AUTH_TOKEN_VERDICT_H
#define WEIR_AUTH_TOKEN_VERDICT_H

#include "auth/token_answer.h"
#include "net/transport.h"

struct weir_token_verdict_ask {
    const char *who;        /* for messages: `the login service "https://…"` */
    struct weir_str secret; /* what was sent, never to be repeated */
    bool machine;           /* it is IMDS */
    int64_t wall_us;
};

/* `ret_number`: AADSTS, 0 if there is none; set in any case. Release the grant. */
enum weir_status weir_token_verdict(const struct weir_exchange_answer *answer,
                                    const struct weir_token_verdict_ask *ask,
                                    struct weir_token_grant *ret, int64_t *ret_number,
                                    struct weir_error *err);

/*
 * WEIR_E_UNAVAILABLE for an answer that is not complete, or that is complete and of no use; with
 * what it says about when to come again.
 */
enum weir_status weir_token_unavailable(const struct weir_exchange_answer *answer, const char *who,
                                        struct weir_error *err);

/* Statuses that say: come again. */
bool weir_token_passing(int http_status);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What a token endpoint says when it says no: the `error` of OAuth, the number of Entra (AADSTS…),
 * its own words, and what to do about it.
 *
 * Whether to try again is decided by `error` and the HTTP status, never by number or words: those
 * are for people, and the documentation says that they change. Pure. Any thread.
 */
#ifndef WEIR_AUTH_TOKEN_REFUSAL_H
#define WEIR_AUTH_TOKEN_REFUSAL_H

#include "base/str.h"
#include "weir/error.h"

#define WEIR_REFUSAL_WORDS_MAX 200 /* bytes, terminator included; longer ones are cut */

struct weir_token_refusal {
    char error[48];                     /* "invalid_client"; empty: none */
    int64_t number;                     /* 7000215; 0: none */
    const char *meaning;                /* one sentence; NULL: not in the table */
    char words[WEIR_REFUSAL_WORDS_MAX]; /* without number, trace id and what follows */
    char trace_id[40];
    bool passing; /* the service itself says that it will pass */
};

/*
 * Read the body of an answer that is not 200. False: it is nothing that a token endpoint says.
 * If it repeats `secret` (what was sent to it), only the number is kept.
 */
bool weir_token_refusal_read(struct weir_str body, struct weir_str secret,
                             struct weir_token_refusal *ret);

/* What an AADSTS number means and what to do; NULL: not in the table. */
const char *weir_aadsts_meaning(int64_t number);

#endif

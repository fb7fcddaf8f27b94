/* SPDX-License-Identifier: MIT */
/*
 * What was handed out: a token and for how long. Read from the answers of token endpoints (the
 * login service's and IMDS's), from what a command prints, and from bare tokens.
 *
 *     life      expires_in, else expires_on (or the az command's expiresOn), else the claim `exp`
 *               if the token is a JWT, else an hour; a week at most
 *     refresh   refresh_in, if there is one
 *
 * A token is printable ASCII without blanks, WEIR_TOKEN_BYTES_MAX at most: it will stand in a
 * header. Messages never repeat anything of an answer. Pure. Any thread.
 */
#ifndef WEIR_AUTH_TOKEN_ANSWER_H
#define WEIR_AUTH_TOKEN_ANSWER_H

#include "auth/secret.h"
#include "weir/error.h"

struct weir_token_grant {
    struct weir_secret text;
    int64_t life_us;    /* from now; always > 0 */
    int64_t refresh_us; /* from now; -1: not said */
};

void weir_token_grant_release(struct weir_token_grant *grant);

/*
 * The JSON of a token endpoint, status 200. `wall_us` is the time by the wall clock, for moments.
 * WEIR_E_INVALID: it is not JSON, there is no token in it, it is no Bearer token, it is over
 * already. Release what is returned.
 */
enum weir_status weir_token_answer_read(struct weir_str body, int64_t wall_us,
                                        struct weir_token_grant *ret, struct weir_error *err);

/* A token by itself, or the JSON: what commands print and files hold. Blanks around it are fine. */
enum weir_status weir_token_text_read(struct weir_str text, int64_t wall_us,
                                      struct weir_token_grant *ret, struct weir_error *err);

/* The claim `exp` of a JWT, whoever signed it. False: it is no JWT, or has none. */
bool weir_token_expiry(struct weir_str token, int64_t *ret_s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The login service: discovery documents, the token endpoint, and an IMDS-like endpoint; and the
 * check of the tokens that they hand out. Pure but for OpenSSL's arithmetic: time and the key of
 * the signature are arguments.
 */
#ifndef SIM_TOKENS_H
#define SIM_TOKENS_H

#include "sim/service/http.h"
#include "weir/error.h"

struct sim_tokens;

struct sim_tokens_options {
    uint32_t users;       /* app1 … appN, secrets as sim_tokens_secret() says */
    const char *base_url; /* copied */
    int64_t lifetime_s;   /* of an access token; 3599 as the real one */
    uint64_t seed;        /* of the key that signs access tokens */
};

struct sim_tokens *sim_tokens_new(const struct sim_tokens_options *options);
void sim_tokens_free(struct sim_tokens *tokens);

/* The fixed client secret of user `n` (0: app1); static text. */
const char *sim_tokens_secret(uint32_t user, char *text, size_t bytes);

/*
 * Allow a user to log in with a certificate: PEM text. The assertion's x5t#S256 or x5t must be its
 * thumbprint and its signature must verify.
 */
enum weir_status sim_tokens_add_certificate(struct sim_tokens *tokens, uint32_t user,
                                            const char *pem, struct weir_error *err);

/*
 * Answer a request for the login service. False: the path is not one of its own.
 *   GET  /{tenant}/v2.0/.well-known/openid-configuration, /common/discovery/instance
 *   POST /{tenant}/oauth2/v2.0/token          client secret, or PS256 / RS256 assertion
 *   GET  /metadata/identity/oauth2/token      IMDS: needs `Metadata: true`
 */
bool sim_tokens_answer(struct sim_tokens *tokens, const struct sim_http_request *request,
                       int64_t wall_us, struct sim_answer *answer);

/* Whose token an Authorization header carries. WEIR_E_INVALID: none, forged, or expired. */
enum weir_status sim_tokens_check(const struct sim_tokens *tokens, struct weir_str authorization,
                                  int64_t wall_us, uint32_t *ret_user);

/* From now on the user's tokens are refused and it gets no new ones; or it does again. */
void sim_tokens_revoke(struct sim_tokens *tokens, uint32_t user, bool revoked);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Client assertions: a JWT by which an application with a certificate says who it is, to one token
 * endpoint, for a few minutes.
 *
 *     header    alg PS256, typ JWT, x5t#S256: the SHA-256 of the certificate
 *               (or alg RS256 and x5t: its SHA-1, for directories that want it)
 *     claims    aud the token endpoint, iss = sub the client id, jti a GUID, nbf, iat, exp
 *
 * Chance and time are arguments. Any thread.
 */
#ifndef WEIR_AUTH_ASSERTION_H
#define WEIR_AUTH_ASSERTION_H

#include "auth/secret.h"
#include "weir/error.h"

/* How long an assertion is good for. */
#define WEIR_ASSERTION_LIFE_S 600

struct evp_pkey_st;
struct x509_st;

/* A certificate and its private key. */
struct weir_certificate {
    struct x509_st *x509;
    struct evp_pkey_st *key;
};

/*
 * From PEM text with both in it, in any order, other certificates allowed. `what` names it in
 * messages. WEIR_E_INVALID: one of them is missing, the key is encrypted, is not RSA, is shorter
 * than 2048 bits, or fits no certificate; the certificate is not valid at `wall_us`.
 */
enum weir_status weir_certificate_init(struct weir_certificate *certificate, const char *what,
                                       struct weir_str pem, int64_t wall_us,
                                       struct weir_error *err);

/* Fine on a zeroed one. */
void weir_certificate_release(struct weir_certificate *certificate);

struct weir_assertion_ask {
    const char *audience; /* URL of the token endpoint */
    const char *client_id;
    const char *algorithm; /* PS256 | RS256; NULL: PS256 */
    int64_t wall_us;
    uint64_t chance[2]; /* what the GUID is made of */
};

enum weir_status weir_assertion_make(const struct weir_certificate *certificate,
                                     const struct weir_assertion_ask *ask, struct weir_secret *ret,
                                     struct weir_error *err);

#endif

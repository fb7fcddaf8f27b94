/* SPDX-License-Identifier: MIT */
/*
 * A certificate that an application may log in with, and the assertions that its key signs: a JWT
 * by which the application says who it is, and to whom it says so.
 */
#ifndef SIM_CERTIFICATE_H
#define SIM_CERTIFICATE_H

#include <openssl/evp.h>

#include "base/str.h"
#include "weir/error.h"

#define SIM_CERTIFICATE_BYTES_MAX ((size_t)64 * 1024) /* of its PEM text */

/* How far the clocks of client and service may be apart. */
#define SIM_ASSERTION_SKEW_S 300

struct sim_certificate {
    uint32_t user;
    EVP_PKEY *key;
    char x5t[28];      /* base64url of the SHA-1 of the DER form, as header "x5t" has it … */
    char x5t_s256[44]; /* … and of the SHA-256, as "x5t#S256" has it */
    int64_t not_before_s;
    int64_t not_after_s;
};

/* Read the first certificate of a PEM text. It must hold an RSA key of 2048 bits or more. */
enum weir_status sim_certificate_init(struct sim_certificate *certificate, const char *pem,
                                      struct weir_error *err);
void sim_certificate_release(struct sim_certificate *certificate);

enum sim_assertion_verdict {
    SIM_ASSERTION_GOOD = 0,
    SIM_ASSERTION_MALFORMED,      /* no JWT, or a header or claim is missing or of another kind */
    SIM_ASSERTION_WRONG_CLIENT,   /* issuer and subject are not the application */
    SIM_ASSERTION_UNKNOWN_KEY,    /* no certificate of the application has that thumbprint */
    SIM_ASSERTION_KEY_EXPIRED,    /* the certificate is not valid now */
    SIM_ASSERTION_BAD_SIGNATURE,  /* it was not made with that key */
    SIM_ASSERTION_OUTSIDE_TIME,   /* before nbf or after exp */
    SIM_ASSERTION_WRONG_AUDIENCE, /* meant for somebody else */
};

/* Whether the service goes by this name: the claim "aud". */
typedef bool sim_audience_check(const void *ctx, struct weir_str audience);

struct sim_assertion_ask {
    struct weir_str client_id;
    uint32_t user;
    const struct sim_certificate *certificates; /* of all users */
    size_t certificate_count;
    int64_t now_s;
    sim_audience_check *is_us;
    const void *ctx;
};

enum sim_assertion_verdict sim_assertion_check(const struct sim_assertion_ask *ask,
                                               struct weir_str assertion);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A JSON Web Token in its compact form: header.claims.signature, each in base64url. Parsing
 * promises nothing about who wrote it; sim_jwt_signed_by() does. Only the two algorithms that the
 * real service takes from clients are known: PS256 and RS256.
 */
#ifndef SIM_JWT_H
#define SIM_JWT_H

#include <openssl/evp.h>

#include "base/json.h"

#define SIM_JWT_BYTES_MAX ((size_t)16 * 1024)

struct sim_jwt {
    struct weir_str signed_part; /* header.claims as it came; borrowed */
    struct weir_str signature;   /* decoded */
    struct weir_json *header;    /* both are objects */
    struct weir_json *claims;
    uint8_t *memory; /* of all that is decoded */
};

/*
 * `text` must outlive the token. Release it afterwards in any case.
 *   WEIR_E_INVALID  not three parts, not base64url, not JSON objects
 *   WEIR_E_TOO_BIG  longer than SIM_JWT_BYTES_MAX or nested too deep
 */
enum weir_status sim_jwt_parse(struct sim_jwt *jwt, struct weir_str text, struct weir_error *err);
void sim_jwt_release(struct sim_jwt *jwt);

/* A member of the header or of the claims that is a text; ptr NULL: none. */
struct weir_str sim_jwt_header_text(const struct sim_jwt *jwt, const char *name);
struct weir_str sim_jwt_claim_text(const struct sim_jwt *jwt, const char *name);

/* A claim that is a whole number, such as a time in seconds. False: none. */
bool sim_jwt_claim_number(const struct sim_jwt *jwt, const char *name, int64_t *ret);

/* Whether `key` (RSA) made the signature, by the algorithm that the header names. */
bool sim_jwt_signed_by(const struct sim_jwt *jwt, EVP_PKEY *key);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The tokens that the login service hands out: JWTs, signed with HMAC-SHA256 by a key that only
 * this service has. To clients they are opaque.
 */
#ifndef SIM_ACCESS_TOKEN_H
#define SIM_ACCESS_TOKEN_H

#include "base/buf.h"
#include "base/str.h"

#define SIM_ACCESS_TOKEN_BYTES_MAX ((size_t)4096)
#define SIM_ACCESS_TOKEN_KEY_BYTES 32

struct sim_access_token_key {
    uint8_t bytes[SIM_ACCESS_TOKEN_KEY_BYTES];
};

/* What a token says. */
struct sim_access_token {
    struct weir_str client_id; /* ASCII without quotes; at most 64 bytes when read */
    int64_t expires_s;
    int64_t issued_s;     /* not read back, as all that follows */
    const char *audience; /* the resource */
    const char *tenant_id;
    uint64_t serial; /* makes it another one than those before */
};

void sim_access_token_key_init(struct sim_access_token_key *key, uint64_t seed);

void sim_access_token_add(struct weir_buf *out, const struct sim_access_token_key *key,
                          const struct sim_access_token *token);

/*
 * Read a token that this key has signed; false if it did not. `memory` keeps what is read. Whether
 * it is still valid is for the caller to see.
 */
bool sim_access_token_read(const struct sim_access_token_key *key, struct weir_str text,
                           uint8_t memory[SIM_ACCESS_TOKEN_BYTES_MAX],
                           struct sim_access_token *ret);

#endif

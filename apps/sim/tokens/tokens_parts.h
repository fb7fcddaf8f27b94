/* SPDX-License-Identifier: MIT */
/*
 * What the files of the login service share: its state, and one request as it is being answered.
 *
 *     tokens.c     state, users, the check of tokens, and which endpoint a path means
 *     grant.c      the token endpoint
 *     imds.c       the token endpoint inside a virtual machine
 *     discovery.c  the documents that say where everything is
 */
#ifndef SIM_TOKENS_PARTS_H
#define SIM_TOKENS_PARTS_H

#include "base/rng.h"
#include "sim/tokens/aadsts.h"
#include "sim/tokens/access_token.h"
#include "sim/tokens/certificate.h"
#include "sim/tokens/form.h"
#include "sim/tokens/tokens.h"

/* The one tenant, by its name, its domain and its number. */
#define SIM_TENANT        "contoso"
#define SIM_TENANT_DOMAIN "contoso.onmicrosoft.com"
#define SIM_TENANT_ID     "c0470500-0000-4000-8000-000000000001"

#define SIM_CLIENT_ID_BYTES 16 /* "app10000" */

struct sim_tokens {
    uint32_t users;
    char *base_url; /* without a slash at its end */
    int64_t lifetime_s;
    struct sim_access_token_key key;
    struct weir_rng rng; /* trace ids */
    uint64_t serial;     /* of the next access token */
    bool *revoked;       /* by user */
    struct sim_certificate *certificates;
    size_t certificate_count;
};

/* One request: what came, who we are, and where the answer goes. */
struct sim_login {
    struct sim_tokens *tokens;
    const struct sim_http_request *request;
    struct weir_str path; /* of the target, and its query without the question mark */
    struct weir_str query;
    struct weir_str tenant; /* first segment of the path */
    struct sim_aadsts_marks marks;
    struct sim_answer *answer;
};

/* The application of that id, any case; false: there is none. */
bool sim_tokens_find_user(const struct sim_tokens *tokens, struct weir_str client_id,
                          uint32_t *ret_user);
void sim_tokens_client_id(uint32_t user, char text[SIM_CLIENT_ID_BYTES]);

/* Whether a text names our tenant. */
bool sim_tokens_is_tenant(struct weir_str text);

/* Whether a text is our base URL, with or without a slash at its end. */
bool sim_tokens_is_resource(const struct sim_tokens *tokens, struct weir_str text);

/* A new access token for a user, as a JSON string. */
void sim_tokens_add_token(struct sim_tokens *tokens, uint32_t user, int64_t wall_us,
                          struct weir_buf *json);

/* Parse the form or query; on failure the answer is the error. Release it in any case. */
bool sim_login_form(struct sim_login *login, struct weir_str text, struct sim_form *form);

/* A field that must be there; on failure the answer is the error. */
bool sim_login_field(struct sim_login *login, const struct sim_form *form, const char *name,
                     struct weir_str *ret);

/* The endpoints. */
void sim_login_grant(struct sim_login *login);
void sim_login_imds(struct sim_login *login);
void sim_login_openid(struct sim_login *login);
void sim_login_instance(struct sim_login *login);
void sim_login_keys(struct sim_login *login);

#endif

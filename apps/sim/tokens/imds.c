/* SPDX-License-Identifier: MIT */
/*
 * GET /metadata/identity/oauth2/token: how a program inside a virtual machine gets a token for the
 * machine's own identity. Without a client id that is app1. Its errors have a shape of their own.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "sim/tokens/tokens_parts.h"

static bool refuse(struct sim_login *login, const char *error, const char *text)
{
    login->answer->status = 400;
    weir_buf_reset(&login->answer->body);
    weir_buf_printf(&login->answer->body, "{\"error\":\"%s\",\"error_description\":\"%s\"}", error,
                    text);
    return false;
}

/* The header keeps a request that somebody was tricked into forwarding from getting a token. */
static bool check_header(struct sim_login *login)
{
    const struct sim_http_request *request = login->request;
    struct weir_str metadata = sim_http_header(request->headers, request->header_count, "Metadata");
    struct weir_str forwarded =
        sim_http_header(request->headers, request->header_count, "X-Forwarded-For");
    if (!weir_str_equal_nocase(metadata, weir_str_from("true")))
        return refuse(login, "invalid_request", "Required metadata header not specified");
    return !forwarded.ptr || refuse(login, "invalid_request", "Forwarded requests are refused");
}

static bool check_query(struct sim_login *login, const struct sim_form *form)
{
    struct weir_str resource = sim_form_get(form, "resource");
    if (!sim_form_get(form, "api-version").ptr)
        return refuse(login, "invalid_request", "Required query variable 'api-version' is missing");
    if (!resource.ptr)
        return refuse(login, "invalid_request", "Required audience parameter not specified");
    if (!sim_tokens_is_resource(login->tokens, resource))
        return refuse(login, "invalid_resource",
                      "AADSTS500011: The resource principal was not found in the tenant named "
                      "Contoso.");
    return true;
}

static bool find_identity(struct sim_login *login, const struct sim_form *form, uint32_t *ret_user)
{
    struct weir_str id = sim_form_get(form, "client_id");
    uint32_t user = 0;
    if ((id.ptr && !sim_tokens_find_user(login->tokens, id, &user)) ||
        user >= login->tokens->users || login->tokens->revoked[user])
        return refuse(login, "invalid_request", "Identity not found");
    *ret_user = user;
    return true;
}

/* Numbers are texts here. */
static void hand_out(struct sim_login *login, uint32_t user)
{
    struct sim_tokens *tokens = login->tokens;
    char client_id[SIM_CLIENT_ID_BYTES];
    sim_tokens_client_id(user, client_id);
    int64_t now_s = login->marks.wall_us / WEIR_US_PER_S;
    struct weir_buf *body = &login->answer->body;
    login->answer->status = 200;
    weir_buf_add_text(body, "{\"access_token\":");
    sim_tokens_add_token(tokens, user, login->marks.wall_us, body);
    weir_buf_printf(body,
                    ",\"client_id\":\"%s\",\"expires_in\":\"%" PRId64 "\",\"expires_on\":\"%" PRId64
                    "\",\"ext_expires_in\":\"%" PRId64 "\",\"not_before\":\"%" PRId64
                    "\",\"resource\":\"%s/\",\"token_type\":\"Bearer\"}",
                    client_id, tokens->lifetime_s, weir_time_add(now_s, tokens->lifetime_s),
                    tokens->lifetime_s, now_s, tokens->base_url);
}

void sim_login_imds(struct sim_login *login)
{
    struct sim_form query;
    uint32_t user;
    if (!check_header(login))
        return;
    if (sim_form_parse(&query, login->query, NULL) != WEIR_OK)
        refuse(login, "invalid_request", "The query is malformed or too long");
    else if (check_query(login, &query) && find_identity(login, &query, &user))
        hand_out(login, user);
    sim_form_release(&query);
}

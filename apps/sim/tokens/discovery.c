/* SPDX-License-Identifier: MIT */
/*
 * The documents that say where everything is. Whatever name of the tenant is asked for, they speak
 * of it by its number, as the real ones do.
 */
#include "sim/tokens/tokens_parts.h"

/* "127.0.0.1:8080" of "https://127.0.0.1:8080" */
static const char *host_of(const char *url)
{
    const char *slashes = strstr(url, "://");
    return slashes ? slashes + 3 : url;
}

void sim_login_openid(struct sim_login *login)
{
    const char *base = login->tokens->base_url;
    struct weir_buf *body = &login->answer->body;
    login->answer->status = 200;
    weir_buf_printf(body,
                    "{\"token_endpoint\":\"%s/" SIM_TENANT_ID "/oauth2/v2.0/token\""
                    ",\"token_endpoint_auth_methods_supported\":[\"client_secret_post\","
                    "\"private_key_jwt\"]"
                    ",\"jwks_uri\":\"%s/" SIM_TENANT_ID "/discovery/v2.0/keys\""
                    ",\"response_modes_supported\":[\"query\",\"fragment\",\"form_post\"]"
                    ",\"subject_types_supported\":[\"pairwise\"]"
                    ",\"id_token_signing_alg_values_supported\":[\"RS256\"]",
                    base, base);
    weir_buf_printf(body,
                    ",\"response_types_supported\":[\"code\",\"id_token\",\"code id_token\","
                    "\"id_token token\"]"
                    ",\"scopes_supported\":[\"openid\",\"profile\",\"email\",\"offline_access\"]"
                    ",\"issuer\":\"%s/" SIM_TENANT_ID "/v2.0\""
                    ",\"authorization_endpoint\":\"%s/" SIM_TENANT_ID "/oauth2/v2.0/authorize\""
                    ",\"end_session_endpoint\":\"%s/" SIM_TENANT_ID "/oauth2/v2.0/logout\""
                    ",\"tenant_region_scope\":\"EU\",\"cloud_instance_name\":\"%s\"}",
                    base, base, base, host_of(base));
}

void sim_login_instance(struct sim_login *login)
{
    struct sim_form query;
    struct weir_str ignored;
    const char *base = login->tokens->base_url;
    const char *host = host_of(base);
    if (sim_login_form(login, login->query, &query) &&
        sim_login_field(login, &query, "api-version", &ignored) &&
        sim_login_field(login, &query, "authorization_endpoint", &ignored)) {
        login->answer->status = 200;
        weir_buf_printf(&login->answer->body,
                        "{\"tenant_discovery_endpoint\":\"%s/" SIM_TENANT_ID
                        "/v2.0/.well-known/openid-configuration\",\"api-version\":\"1.1\""
                        ",\"metadata\":[{\"preferred_network\":\"%s\",\"preferred_cache\":\"%s\""
                        ",\"aliases\":[\"%s\"]}]}",
                        base, host, host, host);
    }
    sim_form_release(&query);
}

/* Access tokens are for nobody else to verify: there are no public keys. */
void sim_login_keys(struct sim_login *login)
{
    login->answer->status = 200;
    weir_buf_add_text(&login->answer->body, "{\"keys\":[]}");
}

/* SPDX-License-Identifier: MIT */
/*
 * The login service: its state, its users, the check of its tokens, and the way from a path to an
 * endpoint. See tokens.h and tokens_parts.h.
 *
 * A user's secret is "appN~simulated.client-secret". The one before it,
 * "appN~expired.client-secret", has expired and says so.
 */
#include "sim/tokens/tokens.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "sim/tokens/tokens_parts.h"

#define GUID_LEN 36

struct sim_tokens *sim_tokens_new(const struct sim_tokens_options *options)
{
    struct sim_tokens *tokens = weir_calloc(1, sizeof *tokens);
    struct weir_str url = weir_str_from(options->base_url);
    while (url.len && url.ptr[url.len - 1] == '/')
        url.len--;
    tokens->users = options->users;
    tokens->base_url = weir_strndup(url.len ? url.ptr : "", url.len);
    tokens->lifetime_s = options->lifetime_s;
    tokens->revoked = weir_calloc(options->users, sizeof *tokens->revoked);
    sim_access_token_key_init(&tokens->key, options->seed);
    weir_rng_init(&tokens->rng, options->seed, weir_str_hash(weir_str_from("tokens")));
    return tokens;
}

void sim_tokens_free(struct sim_tokens *tokens)
{
    if (!tokens)
        return;
    for (size_t i = 0; i < tokens->certificate_count; i++)
        sim_certificate_release(&tokens->certificates[i]);
    free(tokens->certificates);
    free(tokens->revoked);
    free(tokens->base_url);
    free(tokens);
}

const char *sim_tokens_secret(uint32_t user, char *text, size_t bytes)
{
    snprintf(text, bytes, "app%" PRIu32 "~simulated.client-secret", user + 1);
    return text;
}

enum weir_status sim_tokens_add_certificate(struct sim_tokens *tokens, uint32_t user,
                                            const char *pem, struct weir_error *err)
{
    if (user >= tokens->users)
        return weir_fail(err, WEIR_E_NOT_FOUND, "there is no user 'app%" PRIu64 "'",
                         (uint64_t)user + 1);
    struct sim_certificate certificate;
    enum weir_status status = sim_certificate_init(&certificate, pem, err);
    if (status != WEIR_OK)
        return status;
    certificate.user = user;
    tokens->certificates = weir_realloc(tokens->certificates, tokens->certificate_count + 1,
                                        sizeof *tokens->certificates);
    tokens->certificates[tokens->certificate_count++] = certificate;
    return WEIR_OK;
}

void sim_tokens_revoke(struct sim_tokens *tokens, uint32_t user, bool revoked)
{
    if (user < tokens->users)
        tokens->revoked[user] = revoked;
}

void sim_tokens_client_id(uint32_t user, char text[SIM_CLIENT_ID_BYTES])
{
    snprintf(text, SIM_CLIENT_ID_BYTES, "app%" PRIu32, user + 1);
}

bool sim_tokens_find_user(const struct sim_tokens *tokens, struct weir_str client_id,
                          uint32_t *ret_user)
{
    int64_t number;
    if (!weir_str_starts_nocase(client_id, "app") ||
        !weir_str_to_int64(weir_str(client_id.ptr + 3, client_id.len - 3), &number) || number < 1 ||
        number > tokens->users)
        return false;
    uint32_t user = (uint32_t)(number - 1);
    char text[SIM_CLIENT_ID_BYTES];
    sim_tokens_client_id(user, text);
    if (!weir_str_equal_nocase(client_id, weir_str_from(text)))
        return false; /* "app+1", "app01" */
    *ret_user = user;
    return true;
}

bool sim_tokens_is_tenant(struct weir_str text)
{
    return weir_str_equal_nocase(text, weir_str_from(SIM_TENANT)) ||
           weir_str_equal_nocase(text, weir_str_from(SIM_TENANT_DOMAIN)) ||
           weir_str_equal_nocase(text, weir_str_from(SIM_TENANT_ID));
}

bool sim_tokens_is_resource(const struct sim_tokens *tokens, struct weir_str text)
{
    if (text.len && text.ptr[text.len - 1] == '/')
        text.len--;
    return weir_str_equal_nocase(text, weir_str_from(tokens->base_url));
}

void sim_tokens_add_token(struct sim_tokens *tokens, uint32_t user, int64_t wall_us,
                          struct weir_buf *json)
{
    char client_id[SIM_CLIENT_ID_BYTES];
    sim_tokens_client_id(user, client_id);
    int64_t now_s = wall_us / WEIR_US_PER_S;
    struct sim_access_token token = {
        .client_id = weir_str_from(client_id),
        .issued_s = now_s,
        .expires_s = weir_time_add(now_s, tokens->lifetime_s),
        .audience = tokens->base_url,
        .tenant_id = SIM_TENANT_ID,
        .serial = tokens->serial++,
    };
    weir_buf_add_char(json, '"');
    sim_access_token_add(json, &tokens->key, &token);
    weir_buf_add_char(json, '"');
}

enum weir_status sim_tokens_check(const struct sim_tokens *tokens, struct weir_str authorization,
                                  int64_t wall_us, uint32_t *ret_user)
{
    if (!weir_str_starts_nocase(authorization, "Bearer "))
        return WEIR_E_INVALID;
    struct weir_str text = weir_str_trim(weir_str(authorization.ptr + 7, authorization.len - 7));
    uint8_t memory[SIM_ACCESS_TOKEN_BYTES_MAX];
    struct sim_access_token token;
    uint32_t user;
    if (!sim_access_token_read(&tokens->key, text, memory, &token) ||
        !sim_tokens_find_user(tokens, token.client_id, &user) || tokens->revoked[user] ||
        token.expires_s <= wall_us / WEIR_US_PER_S)
        return WEIR_E_INVALID;
    *ret_user = user;
    return WEIR_OK;
}

bool sim_login_form(struct sim_login *login, struct weir_str text, struct sim_form *form)
{
    struct weir_error err;
    enum weir_status status = sim_form_parse(form, text, &err);
    if (status == WEIR_OK)
        return true;
    if (form->repeated) {
        struct weir_str name = form->fields[form->count - 1].name;
        sim_aadsts_answer(login->answer, &login->marks, SIM_AADSTS_DUPLICATE_FIELD,
                          "The request is not properly formatted. The parameter '%.*s' is "
                          "duplicated.",
                          (int)(name.len < 64 ? name.len : 64), name.ptr);
        return false;
    }
    sim_aadsts_answer(login->answer, &login->marks, SIM_AADSTS_MALFORMED_REQUEST,
                      "Invalid request. Request is malformed or invalid: %s.", err.message);
    if (status == WEIR_E_TOO_BIG)
        login->answer->status = 413;
    return false;
}

bool sim_login_field(struct sim_login *login, const struct sim_form *form, const char *name,
                     struct weir_str *ret)
{
    *ret = sim_form_get(form, name);
    if (ret->ptr)
        return true;
    sim_aadsts_answer(login->answer, &login->marks, SIM_AADSTS_MISSING_FIELD,
                      "The required field '%s' is missing from the credential. Ensure that you "
                      "have all the necessary parameters for the login request.",
                      name);
    return false;
}

static void make_guid(struct weir_rng *rng, char text[GUID_LEN + 1])
{
    uint64_t a = weir_rng_u64(rng);
    uint64_t b = weir_rng_u64(rng);
    snprintf(text, GUID_LEN + 1,
             "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64, a >> 32,
             a >> 16 & 0xffff, a & 0xfff, (b >> 48 & 0x3fff) | 0x8000, b & 0xffffffffffff);
}

static bool is_guid(struct weir_str text)
{
    if (text.len != GUID_LEN)
        return false;
    for (size_t i = 0; i < GUID_LEN; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text.ptr[i] != '-' : !isxdigit((unsigned char)text.ptr[i]))
            return false;
    }
    return true;
}

/* The correlation id is the client's own if it sent one. */
static void mark(struct sim_login *login, int64_t wall_us)
{
    struct sim_aadsts_marks *marks = &login->marks;
    marks->base_url = login->tokens->base_url;
    marks->wall_us = wall_us;
    make_guid(&login->tokens->rng, marks->trace_id);
    make_guid(&login->tokens->rng, marks->correlation_id);
    struct weir_str id =
        sim_http_header(login->request->headers, login->request->header_count, "client-request-id");
    if (is_guid(id))
        memcpy(marks->correlation_id, id.ptr, GUID_LEN);
}

/* Cut the target into path, query and tenant. */
static void cut(struct sim_login *login)
{
    struct weir_str target = login->request->target;
    const char *mark_at = target.len ? memchr(target.ptr, '?', target.len) : NULL;
    size_t len = mark_at ? (size_t)(mark_at - target.ptr) : target.len;
    login->path = weir_str(target.ptr, len);
    login->query = mark_at ? weir_str(mark_at + 1, target.len - len - 1) : weir_str("", 0);
    if (!len || target.ptr[0] != '/')
        return;
    const char *slash = memchr(target.ptr + 1, '/', len - 1);
    login->tenant = weir_str(target.ptr + 1, slash ? (size_t)(slash - target.ptr) - 1 : len - 1);
}

static const struct endpoint {
    const char *path; /* "*": the tenant */
    const char *method;
    void (*answer)(struct sim_login *login);
} endpoints[] = {
    { "/*/oauth2/v2.0/token", "POST", sim_login_grant },
    { "/*/v2.0/.well-known/openid-configuration", "GET", sim_login_openid },
    { "/*/discovery/v2.0/keys", "GET", sim_login_keys },
    { "/common/discovery/instance", "GET", sim_login_instance },
    { "/metadata/identity/oauth2/token", "GET", sim_login_imds },
};

static bool matches(const struct sim_login *login, const struct endpoint *endpoint)
{
    if (endpoint->path[1] != '*')
        return weir_str_equal_nocase(login->path, weir_str_from(endpoint->path));
    size_t skip = 1 + login->tenant.len;
    return login->tenant.len &&
           weir_str_equal_nocase(weir_str(login->path.ptr + skip, login->path.len - skip),
                                 weir_str_from(endpoint->path + 2));
}

static const struct endpoint *find_endpoint(const struct sim_login *login)
{
    for (size_t i = 0; i < sizeof endpoints / sizeof *endpoints; i++) {
        if (matches(login, &endpoints[i]))
            return &endpoints[i];
    }
    return NULL;
}

static bool is_method(const struct sim_login *login, const char *method)
{
    return weir_str_equal(login->request->method, weir_str_from(method));
}

static void refuse_tenant(struct sim_login *login)
{
    sim_aadsts_answer(login->answer, &login->marks, SIM_AADSTS_TENANT_NOT_FOUND,
                      "Tenant '%.*s' not found. Check to make sure you have the correct tenant ID "
                      "and are signing into the correct cloud. Check with your subscription "
                      "administrator, this may happen if there are no active subscriptions for the "
                      "tenant.",
                      (int)(login->tenant.len < 128 ? login->tenant.len : 128), login->tenant.ptr);
}

static void refuse_method(struct sim_login *login, const char *method)
{
    struct weir_str given = login->request->method;
    sim_answer_header(login->answer, "Allow", "%s", method);
    sim_aadsts_answer(login->answer, &login->marks, SIM_AADSTS_WRONG_METHOD,
                      "The endpoint only accepts %s requests. Received a %.*s request.", method,
                      (int)(given.len < 16 ? given.len : 16), given.ptr);
}

bool sim_tokens_answer(struct sim_tokens *tokens, const struct sim_http_request *request,
                       int64_t wall_us, struct sim_answer *answer)
{
    struct sim_login login = { .tokens = tokens, .request = request, .answer = answer };
    cut(&login);
    const struct endpoint *endpoint = find_endpoint(&login);
    if (!endpoint)
        return false;

    mark(&login, wall_us);
    sim_answer_header(answer, "Content-Type", "application/json; charset=utf-8");
    sim_answer_header(answer, "Cache-Control", "no-store, no-cache");
    sim_answer_header(answer, "Pragma", "no-cache");
    sim_answer_header(answer, "x-ms-request-id", "%s", login.marks.trace_id);
    sim_answer_header(answer, "client-request-id", "%s", login.marks.correlation_id);
    if (!is_method(&login, endpoint->method))
        refuse_method(&login, endpoint->method);
    else if (endpoint->path[1] == '*' && !sim_tokens_is_tenant(login.tenant))
        refuse_tenant(&login);
    else
        endpoint->answer(&login);
    return true;
}

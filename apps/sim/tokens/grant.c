/* SPDX-License-Identifier: MIT */
/*
 * POST /{tenant}/oauth2/v2.0/token: client credentials, by secret or by assertion. The fields are
 * looked at in the order in which the real service complains about them.
 */
#include <inttypes.h>
#include <openssl/crypto.h>
#include <stdio.h>

#include "base/clock.h"
#include "sim/tokens/tokens_parts.h"

#define SECRET_BYTES   64
#define ECHO_LEN_MAX   256
#define ASSERTION_TYPE "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#define DEFAULT_SUFFIX "/.default"
#define REVIEW                                                                                     \
    " Review the documentation at "                                                                \
    "https://docs.microsoft.com/azure/active-directory/develop/"                                   \
    "active-directory-certificate-credentials ."

/* What a client sends is repeated in errors only so far. */
static int echo(struct weir_str text)
{
    return (int)(text.len < ECHO_LEN_MAX ? text.len : ECHO_LEN_MAX);
}

#define REFUSE(login, code, ...)                                                                   \
    (sim_aadsts_answer((login)->answer, &(login)->marks, (code), __VA_ARGS__), false)

static bool check_grant_type(struct sim_login *login, const struct sim_form *form)
{
    struct weir_str type;
    if (!sim_login_field(login, form, "grant_type", &type))
        return false;
    if (weir_str_equal(type, weir_str_from("client_credentials")))
        return true;
    return REFUSE(login, SIM_AADSTS_UNSUPPORTED_GRANT,
                  "The app requested an unsupported grant type '%.*s'.", echo(type), type.ptr);
}

static bool check_client(struct sim_login *login, const struct sim_form *form, uint32_t *ret_user)
{
    struct weir_str id;
    if (!sim_login_field(login, form, "client_id", &id))
        return false;
    if (!sim_tokens_find_user(login->tokens, id, ret_user))
        return REFUSE(login, SIM_AADSTS_APP_NOT_FOUND,
                      "Application with identifier '%.*s' was not found in the directory "
                      "'Contoso'. This can happen if the application has not been installed by the "
                      "administrator of the tenant or consented to by any user in the tenant. You "
                      "may have sent your authentication request to the wrong tenant.",
                      echo(id), id.ptr);
    return true;
}

static bool ends_in_default(struct weir_str scope)
{
    size_t len = strlen(DEFAULT_SUFFIX);
    return scope.len >= len && memcmp(scope.ptr + scope.len - len, DEFAULT_SUFFIX, len) == 0;
}

static bool check_scope(struct sim_login *login, const struct sim_form *form)
{
    struct weir_str scope;
    if (!sim_login_field(login, form, "scope", &scope))
        return false;
    if (memchr(scope.ptr, ' ', scope.len))
        return REFUSE(login, SIM_AADSTS_BAD_SCOPE,
                      "The provided request must include a 'scope' input parameter. The provided "
                      "value for the input parameter 'scope' is not valid. The scope %.*s is not "
                      "valid.",
                      echo(scope), scope.ptr);
    if (!ends_in_default(scope))
        return REFUSE(
            login, SIM_AADSTS_SCOPE_NOT_DEFAULT,
            "The provided value for scope %.*s is not valid. Client credential flows must "
            "have a scope value with /.default suffixed to the resource identifier "
            "(application ID URI).",
            echo(scope), scope.ptr);
    scope.len -= strlen(DEFAULT_SUFFIX);
    if (sim_tokens_is_resource(login->tokens, scope))
        return true;
    return REFUSE(login, SIM_AADSTS_RESOURCE_NOT_FOUND,
                  "The resource principal named %.*s was not found in the tenant named Contoso. "
                  "This can happen if the application has not been installed by the administrator "
                  "of the tenant or consented to by any user in the tenant. You might have sent "
                  "your authentication request to the wrong tenant.",
                  echo(scope), scope.ptr);
}

static bool is_secret(struct weir_str given, const char *secret)
{
    return given.len == strlen(secret) && CRYPTO_memcmp(given.ptr, secret, given.len) == 0;
}

static bool check_secret(struct sim_login *login, uint32_t user, struct weir_str given)
{
    char secret[SECRET_BYTES];
    char expired[SECRET_BYTES];
    sim_tokens_secret(user, secret, sizeof secret);
    snprintf(expired, sizeof expired, "app%" PRIu32 "~expired.client-secret", user + 1);
    if (is_secret(given, secret))
        return true;
    if (is_secret(given, expired))
        return REFUSE(login, SIM_AADSTS_SECRET_EXPIRED,
                      "The provided client secret keys for app 'app%" PRIu32 "' are expired. Visit "
                      "the Azure portal to create new keys for your app: "
                      "https://aka.ms/NewClientSecret, or consider using certificate credentials "
                      "for added security: https://aka.ms/certCreds.",
                      user + 1);
    return REFUSE(login, SIM_AADSTS_BAD_SECRET,
                  "Invalid client secret provided. Ensure the secret being sent in the request is "
                  "the client secret value, not the client secret ID, for a secret added to app "
                  "'app%" PRIu32 "'.",
                  user + 1);
}

/* An assertion is for the token endpoint, or for the tenant by the name of its issuer. */
static bool is_us(const void *ctx, struct weir_str audience)
{
    static const char *const tails[] = { "/oauth2/v2.0/token", "/oauth2/token", "/v2.0", "" };
    const struct sim_tokens *tokens = ctx;
    size_t skip = strlen(tokens->base_url) + 1;
    if (!weir_str_starts_nocase(audience, tokens->base_url) || audience.len <= skip ||
        audience.ptr[skip - 1] != '/')
        return false;
    struct weir_str rest = weir_str(audience.ptr + skip, audience.len - skip);
    if (rest.ptr[rest.len - 1] == '/')
        rest.len--;
    const char *slash = memchr(rest.ptr, '/', rest.len);
    size_t len = slash ? (size_t)(slash - rest.ptr) : rest.len;
    if (!sim_tokens_is_tenant(weir_str(rest.ptr, len)))
        return false;
    struct weir_str tail = weir_str(rest.ptr + len, rest.len - len);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        if (weir_str_equal_nocase(tail, weir_str_from(tails[i])))
            return true;
    }
    return false;
}

static bool refuse_assertion(struct sim_login *login, enum sim_assertion_verdict verdict)
{
    switch (verdict) {
    case SIM_ASSERTION_WRONG_CLIENT:
        return REFUSE(login, SIM_AADSTS_ASSERTION_CLIENT,
                      "Client assertion application identifier doesn't match 'client_id' "
                      "parameter." REVIEW);
    case SIM_ASSERTION_UNKNOWN_KEY:
        return REFUSE(login, SIM_AADSTS_ASSERTION_KEY,
                      "The certificate with identifier used to sign the client assertion is not "
                      "registered on application. [Reason - The key was not found.]" REVIEW);
    case SIM_ASSERTION_KEY_EXPIRED:
        return REFUSE(login, SIM_AADSTS_ASSERTION_KEY,
                      "The certificate with identifier used to sign the client assertion is "
                      "expired on application. [Reason - The key used is expired.]" REVIEW);
    case SIM_ASSERTION_BAD_SIGNATURE:
        return REFUSE(login, SIM_AADSTS_ASSERTION_KEY,
                      "Client assertion failed signature validation." REVIEW);
    case SIM_ASSERTION_OUTSIDE_TIME:
        return REFUSE(login, SIM_AADSTS_ASSERTION_TIME,
                      "Client assertion is not within its valid time range." REVIEW);
    case SIM_ASSERTION_WRONG_AUDIENCE:
        return REFUSE(login, SIM_AADSTS_ASSERTION_AUDIENCE,
                      "Client assertion audience claim does not match Realm issuer." REVIEW);
    default:
        return REFUSE(login, SIM_AADSTS_JWT_MALFORMED, "JWT token is invalid or malformed.");
    }
}

static bool check_assertion(struct sim_login *login, uint32_t user, struct weir_str assertion)
{
    char client_id[SIM_CLIENT_ID_BYTES];
    sim_tokens_client_id(user, client_id);
    const struct sim_tokens *tokens = login->tokens;
    struct sim_assertion_ask ask = {
        .client_id = weir_str_from(client_id),
        .user = user,
        .certificates = tokens->certificates,
        .certificate_count = tokens->certificate_count,
        .now_s = login->marks.wall_us / WEIR_US_PER_S,
        .is_us = is_us,
        .ctx = tokens,
    };
    enum sim_assertion_verdict verdict = sim_assertion_check(&ask, assertion);
    return verdict == SIM_ASSERTION_GOOD || refuse_assertion(login, verdict);
}

static bool check_credential(struct sim_login *login, const struct sim_form *form, uint32_t user)
{
    struct weir_str secret = sim_form_get(form, "client_secret");
    struct weir_str assertion = sim_form_get(form, "client_assertion");
    struct weir_str type = sim_form_get(form, "client_assertion_type");
    if (assertion.ptr && weir_str_equal(type, weir_str_from(ASSERTION_TYPE)))
        return check_assertion(login, user, assertion);
    if (secret.ptr)
        return check_secret(login, user, secret);
    if (assertion.ptr)
        return sim_login_field(login, &(struct sim_form){ 0 }, "client_assertion_type", &type);
    return REFUSE(login, SIM_AADSTS_NO_CREDENTIAL,
                  "The request body must contain the following parameter: 'client_assertion' or "
                  "'client_secret'.");
}

static bool check_enabled(struct sim_login *login, uint32_t user)
{
    if (!login->tokens->revoked[user])
        return true;
    return REFUSE(login, SIM_AADSTS_APP_DISABLED,
                  "Application 'app%" PRIu32 "'(app%" PRIu32 ") is disabled.", user + 1, user + 1);
}

static void hand_out(struct sim_login *login, uint32_t user)
{
    int64_t lifetime_s = login->tokens->lifetime_s;
    struct weir_buf *body = &login->answer->body;
    login->answer->status = 200;
    weir_buf_printf(body,
                    "{\"token_type\":\"Bearer\",\"expires_in\":%" PRId64
                    ",\"ext_expires_in\":%" PRId64 ",\"access_token\":",
                    lifetime_s, lifetime_s);
    sim_tokens_add_token(login->tokens, user, login->marks.wall_us, body);
    weir_buf_add_char(body, '}');
}

/* A body of another type is no form: as if it were empty. */
static struct weir_str form_text(const struct sim_login *login)
{
    const struct sim_http_request *request = login->request;
    struct weir_str type = sim_http_header(request->headers, request->header_count, "Content-Type");
    size_t len = strlen("application/x-www-form-urlencoded");
    bool form = weir_str_starts_nocase(type, "application/x-www-form-urlencoded") &&
                (type.len == len || type.ptr[len] == ';' || type.ptr[len] == ' ');
    return form ? request->body : weir_str("", 0);
}

void sim_login_grant(struct sim_login *login)
{
    struct sim_form form;
    uint32_t user;
    if (sim_login_form(login, form_text(login), &form) && check_grant_type(login, &form) &&
        check_client(login, &form, &user) && check_scope(login, &form) &&
        check_credential(login, &form, user) && check_enabled(login, user))
        hand_out(login, user);
    sim_form_release(&form);
}

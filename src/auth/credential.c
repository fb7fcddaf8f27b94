/* SPDX-License-Identifier: MIT */
/* Credentials of connections; see credential.h. */
#include "auth/credential.h"

#include <stdlib.h>

#include "auth/assertion.h"
#include "auth/authority.h"
#include "auth/secret_source.h"
#include "auth/token_answer.h"
#include "base/error.h"
#include "config/quote.h"
#include "config/url.h"

static const char *const names[] = {
    [WEIR_CREDENTIAL_SECRET] = "client secret",
    [WEIR_CREDENTIAL_CERTIFICATE] = "certificate",
    [WEIR_CREDENTIAL_FEDERATED] = "federated token",
    [WEIR_CREDENTIAL_MANAGED_IDENTITY] = "managed identity",
    [WEIR_CREDENTIAL_COMMAND] = "token command",
    [WEIR_CREDENTIAL_STATIC] = "static token",
};

const char *weir_credential_name(enum weir_credential_kind kind)
{
    return names[kind];
}

bool weir_credential_logs_in(enum weir_credential_kind kind)
{
    return kind == WEIR_CREDENTIAL_SECRET || kind == WEIR_CREDENTIAL_CERTIFICATE ||
           kind == WEIR_CREDENTIAL_FEDERATED;
}

/* --- reading ---------------------------------------------------------------------------------- */

enum weir_status weir_credential_read_secret(const struct weir_connection_options *connection,
                                             struct weir_secret *ret, struct weir_error *err)
{
    if (connection->client_secret_file)
        return weir_secret_read_file(connection->client_secret_file, WEIR_FILE_OURS_ALONE, ret,
                                     err);
    if (connection->client_secret_env)
        return weir_secret_read_environment(connection->client_secret_env, ret, err);
    return weir_secret_read_text("the setting ClientSecret",
                                 weir_str_from(connection->client_secret), ret, err);
}

enum weir_status weir_credential_read_token(const struct weir_connection_options *connection,
                                            struct weir_secret *ret, struct weir_error *err)
{
    if (connection->access_token_file)
        return weir_secret_read_file(connection->access_token_file, WEIR_FILE_OURS_ALONE, ret, err);
    return weir_secret_read_text("the setting AccessToken", weir_str_from(connection->access_token),
                                 ret, err);
}

static enum weir_status load_certificate(const char *path, int64_t wall_us,
                                         struct weir_certificate *ret, struct weir_error *err)
{
    struct weir_secret pem = { 0 };
    enum weir_status status = weir_secret_read_file(path, WEIR_FILE_OURS_ALONE, &pem, err);
    if (status == WEIR_OK)
        status = weir_certificate_init(ret, weir_quote(weir_str_from(path)).text,
                                       weir_secret_str(&pem), wall_us, err);
    weir_secret_release(&pem);
    return status;
}

enum weir_status weir_credential_assert(const struct weir_connection_options *connection,
                                        const char *audience, int64_t wall_us,
                                        const uint64_t chance[2], struct weir_secret *ret,
                                        struct weir_error *err)
{
    struct weir_certificate certificate;
    enum weir_status status =
        load_certificate(connection->certificate_file, wall_us, &certificate, err);
    if (status)
        return status;
    struct weir_assertion_ask ask = {
        .audience = audience,
        .client_id = connection->client_id,
        .algorithm = connection->certificate_algorithm,
        .wall_us = wall_us,
        .chance = { chance[0], chance[1] },
    };
    status = weir_assertion_make(&certificate, &ask, ret, err);
    weir_certificate_release(&certificate);
    return status;
}

/* --- judging ---------------------------------------------------------------------------------- */

static enum weir_status find_kind(const struct weir_connection_options *connection,
                                  enum weir_credential_kind *ret, struct weir_error *err)
{
    const struct {
        bool given;
        enum weir_credential_kind kind;
    } rows[] = {
        { connection->client_secret, WEIR_CREDENTIAL_SECRET },
        { connection->client_secret_file, WEIR_CREDENTIAL_SECRET },
        { connection->client_secret_env, WEIR_CREDENTIAL_SECRET },
        { connection->client_secret_command, WEIR_CREDENTIAL_SECRET },
        { connection->certificate_file, WEIR_CREDENTIAL_CERTIFICATE },
        { connection->federated_token_file, WEIR_CREDENTIAL_FEDERATED },
        { connection->managed_identity, WEIR_CREDENTIAL_MANAGED_IDENTITY },
        { connection->token_command, WEIR_CREDENTIAL_COMMAND },
        { connection->access_token, WEIR_CREDENTIAL_STATIC },
        { connection->access_token_file, WEIR_CREDENTIAL_STATIC },
    };
    int count = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].given && ++count == 1)
            *ret = rows[i].kind;
    }
    if (count == 1)
        return WEIR_OK;
    return weir_fail(
        err, WEIR_E_INVALID,
        "it has %s: give one of ClientSecretFile, ClientSecretEnv, ClientSecretCommand, "
        "CertificateFile, ManagedIdentity, FederatedTokenFile, TokenCommand, "
        "AccessTokenFile",
        count ? "more than one credential" : "no credential");
}

const char *weir_credential_kind_name(const struct weir_connection_options *connection)
{
    enum weir_credential_kind kind;
    return find_kind(connection, &kind, NULL) == WEIR_OK ? weir_credential_name(kind) : "none";
}

static enum weir_status check_address(const struct weir_options *options, struct weir_error *err)
{
    struct weir_str url = weir_str_from(options->url);
    const char *problem = url.len ? weir_url_problem(url) : ", which says nothing";
    if (problem)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"Dataverse:Url\" is %s%s; it must be " WEIR_URL_RIGHT,
                         weir_quote(url).text, problem);
    return WEIR_OK;
}

/* What every login needs. */
static enum weir_status check_login(const struct weir_options *options,
                                    const struct weir_connection_options *connection,
                                    struct weir_error *err)
{
    char *origin;
    if (!connection->client_id || !connection->client_id[0])
        return weir_fail(err, WEIR_E_INVALID, "it has no ClientId, and its credential needs one");
    if (options->tenant_id && !weir_tenant_ok(weir_str_from(options->tenant_id)))
        return weir_fail(
            err, WEIR_E_INVALID,
            "\"Dataverse:TenantId\" is %s; it must be the id or a domain of one tenant",
            weir_quote(weir_str_from(options->tenant_id)).text);
    enum weir_status status = weir_authority_origin(options, &origin, err);
    if (status)
        return status;
    free(origin);
    if (!options->tenant_id && !options->url)
        return weir_fail(err, WEIR_E_INVALID,
                         "there is neither \"Dataverse:TenantId\" nor a \"Dataverse:Url\" that "
                         "could tell it");
    return options->scope && options->tenant_id ? WEIR_OK : check_address(options, err);
}

/* The endpoint is on this machine or link-local: anything else would give our token away. */
static enum weir_status check_identity(const struct weir_options *options, struct weir_error *err)
{
    struct weir_str endpoint = weir_str_from(options->managed_identity_endpoint);
    if (!weir_str_starts_nocase(endpoint, "http://"))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"Dataverse:ManagedIdentityEndpoint\" is %s; it must be http:// and an "
                         "address of this machine or of 169.254.0.0/16",
                         weir_quote(endpoint).text);
    return check_address(options, err);
}

static enum weir_status check_certificate(const struct weir_connection_options *connection,
                                          int64_t wall_us, struct weir_error *err)
{
    struct weir_certificate certificate;
    enum weir_status status =
        load_certificate(connection->certificate_file, wall_us, &certificate, err);
    if (status == WEIR_OK)
        weir_certificate_release(&certificate);
    return status;
}

static enum weir_status check_secret(const struct weir_connection_options *connection,
                                     struct weir_error *err)
{
    struct weir_secret secret = { 0 };
    if (connection->client_secret_command)
        return WEIR_OK;
    enum weir_status status = weir_credential_read_secret(connection, &secret, err);
    weir_secret_release(&secret);
    return status;
}

static enum weir_status check_token(const struct weir_connection_options *connection,
                                    int64_t wall_us, struct weir_error *err)
{
    struct weir_secret token = { 0 };
    struct weir_token_grant grant = { 0 };
    enum weir_status status = weir_credential_read_token(connection, &token, err);
    if (status == WEIR_OK)
        status = weir_token_text_read(weir_secret_str(&token), wall_us, &grant, err);
    weir_token_grant_release(&grant);
    weir_secret_release(&token);
    return status;
}

static enum weir_status check_federated(const struct weir_connection_options *connection,
                                        struct weir_error *err)
{
    struct weir_secret token = { 0 };
    enum weir_status status =
        weir_secret_read_file(connection->federated_token_file, WEIR_FILE_ANYBODYS, &token, err);
    weir_secret_release(&token);
    return status;
}

static enum weir_status check_kind(const struct weir_options *options,
                                   const struct weir_connection_options *connection,
                                   enum weir_credential_kind kind, int64_t wall_us,
                                   struct weir_error *err)
{
    switch (kind) {
    case WEIR_CREDENTIAL_SECRET:
        return check_secret(connection, err);
    case WEIR_CREDENTIAL_CERTIFICATE:
        return check_certificate(connection, wall_us, err);
    case WEIR_CREDENTIAL_FEDERATED:
        return check_federated(connection, err);
    case WEIR_CREDENTIAL_MANAGED_IDENTITY:
        return check_identity(options, err);
    case WEIR_CREDENTIAL_COMMAND:
        return WEIR_OK;
    case WEIR_CREDENTIAL_STATIC:
        return check_token(connection, wall_us, err);
    }
    return WEIR_OK;
}

enum weir_status weir_credential_check(const struct weir_options *options, size_t connection,
                                       int64_t wall_us, enum weir_credential_kind *ret,
                                       struct weir_error *err)
{
    const struct weir_connection_options *it = &options->connections[connection];
    enum weir_credential_kind kind = WEIR_CREDENTIAL_SECRET;
    enum weir_status status = find_kind(it, &kind, err);
    if (status == WEIR_OK && weir_credential_logs_in(kind))
        status = check_login(options, it, err);
    if (status == WEIR_OK)
        status = check_kind(options, it, kind, wall_us, err);
    if (status == WEIR_OK)
        *ret = kind;
    return status;
}

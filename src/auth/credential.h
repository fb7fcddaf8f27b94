/* SPDX-License-Identifier: MIT */
/*
 * How a connection proves who it is, and whether what it needs for that is there. Any thread.
 *
 *     client secret      ClientSecret, ClientSecretFile, ClientSecretEnv, ClientSecretCommand
 *     certificate        CertificateFile
 *     federated token    FederatedTokenFile
 *         these three log in: they need a client id, a tenant (or an environment that names one)
 *         and an address to ask for
 *     managed identity   ManagedIdentity: the machine vouches for us
 *     token command      TokenCommand
 *     static token       AccessToken, AccessTokenFile
 */
#ifndef WEIR_AUTH_CREDENTIAL_H
#define WEIR_AUTH_CREDENTIAL_H

#include "auth/secret.h"
#include "weir/config.h"

enum weir_credential_kind {
    WEIR_CREDENTIAL_SECRET,
    WEIR_CREDENTIAL_CERTIFICATE,
    WEIR_CREDENTIAL_FEDERATED,
    WEIR_CREDENTIAL_MANAGED_IDENTITY,
    WEIR_CREDENTIAL_COMMAND,
    WEIR_CREDENTIAL_STATIC,
};

/* "client secret", "certificate" … */
const char *weir_credential_name(enum weir_credential_kind kind);

/* The same of a connection as it is configured; "none". */
const char *weir_credential_kind_name(const struct weir_connection_options *connection);

/* Whether it is the login service that hands out the token. */
bool weir_credential_logs_in(enum weir_credential_kind kind);

/*
 * The kind of a connection's credential, once all that can be judged without asking anybody is as
 * it must be: files are read, certificates loaded, variables looked up; nothing is kept.
 * WEIR_E_INVALID, WEIR_E_NOT_FOUND, WEIR_E_IO, WEIR_E_TOO_BIG: the message says what is missing.
 */
enum weir_status weir_credential_check(const struct weir_options *options, size_t connection,
                                       int64_t wall_us, enum weir_credential_kind *ret,
                                       struct weir_error *err);

/* The client secret, unless a command has to be asked; read anew each time. */
enum weir_status weir_credential_read_secret(const struct weir_connection_options *connection,
                                             struct weir_secret *ret, struct weir_error *err);

/* The token of AccessToken or AccessTokenFile, as it stands there. */
enum weir_status weir_credential_read_token(const struct weir_connection_options *connection,
                                            struct weir_secret *ret, struct weir_error *err);

/* The assertion of a connection with a certificate. */
enum weir_status weir_credential_assert(const struct weir_connection_options *connection,
                                        const char *audience, int64_t wall_us,
                                        const uint64_t chance[2], struct weir_secret *ret,
                                        struct weir_error *err);

#endif

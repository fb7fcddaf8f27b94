/* SPDX-License-Identifier: MIT */
/*
 * Certificates for --tls. A certificate authority of our own lives in a directory and is made at
 * its first use, so that clients may be told of it before the server runs; the server's certificate
 * (127.0.0.1,
 * ::1, localhost) is made at every start.
 *
 *     DIR/authority.pem   key and certificate, 0600
 *     DIR/ca.pem          the certificate alone, for clients
 */
#ifndef SIM_HTTP_TLS_H
#define SIM_HTTP_TLS_H

#include "weir/error.h"

#define SIM_TLS_PATH_MAX 4096

/* Where it lives if nobody says: below $XDG_STATE_HOME, $HOME, or in /tmp. Returns `path`. */
const char *sim_tls_default_dir(char path[SIM_TLS_PATH_MAX]);

/*
 * Make the authority unless it is there; the path of ca.pem. The directory is made 0700; one that
 * others may write to is refused. WEIR_E_IO, WEIR_E_INVALID.
 */
enum weir_status sim_tls_authority(const char *dir, char ret_ca_file[SIM_TLS_PATH_MAX],
                                   struct weir_error *err);

/* A certificate for the server, both as PEM; the caller frees them. After sim_tls_authority(). */
enum weir_status sim_tls_certificate(const char *dir, char **ret_key, char **ret_certificate,
                                     struct weir_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The HTTP shell: libmicrohttpd around the simulated service. One thread: it reads requests, hands
 * them to the world, holds them back until they are due, and delivers answers as the world says,
 * down to resets and cuts.
 *
 * Bounds: 40 KB of headers, 128 MB a body and 1 GB all bodies together, `connections_max`
 * connections.
 */
#ifndef SIM_HTTP_SHELL_H
#define SIM_HTTP_SHELL_H

#include "base/log.h"
#include "sim/service/service.h"

struct sim_shell;

struct sim_shell_options {
    int listen_fd; /* taken over, also on failure */
    struct sim_world *world;
    uint32_t connections_max;
    const char *tls_key; /* PEM; NULL: plain HTTP */
    const char *tls_certificate;
    const struct weir_log_sink *log;
};

/* A listening socket on 127.0.0.1; port 0: any. WEIR_E_IO: the port is taken. */
enum weir_status sim_shell_listen(uint16_t port, int *ret_fd, uint16_t *ret_port,
                                  struct weir_error *err);

enum weir_status sim_shell_new(const struct sim_shell_options *options, struct sim_shell **ret,
                               struct weir_error *err);
void sim_shell_free(struct sim_shell *shell);

/* Serve until SIGTERM or SIGINT; the two must not be blocked by the caller. */
void sim_shell_run(struct sim_shell *shell);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A server that costs next to nothing, for measuring clients: one thread, epoll. Bulk messages are
 * answered with the ids that they bring, or with as many of its own, and forgotten; anything else
 * is passed on to a server that knows more (login, metadata), each on a connection of its own.
 * After a pause it says on standard output when the next bulk message came: `bulk NS`, of
 * CLOCK_MONOTONIC.
 */
#ifndef WEIR_BENCH_NULL_H
#define WEIR_BENCH_NULL_H

#include <netinet/in.h>

struct null_options {
    in_port_t upstream_port; /* on 127.0.0.1; 0: nothing is passed on, everything is bulk */
    const char *keep_path;   /* the first bulk body is written here; NULL: it is not */
};

/* A listening socket on a free port of 127.0.0.1, and that port. Ends the process on failure. */
int null_listen(in_port_t *ret_port);

/* Serves until the process is ended. */
void null_serve(int listener, const struct null_options *options);

#endif

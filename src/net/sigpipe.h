/* SPDX-License-Identifier: MIT */
/*
 * Writing to a connection that the other side has closed raises SIGPIPE, which ends a process that
 * did not ask for it otherwise. libcurl is told to leave signals alone, so the thread that writes
 * holds the signal back meanwhile: begin … end. Pairs may be nested. Any thread.
 */
#ifndef WEIR_NET_SIGPIPE_H
#define WEIR_NET_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>

struct weir_sigpipe {
    sigset_t before; /* the thread's mask */
    bool pending;    /* one was waiting already: not ours to take */
};

void weir_sigpipe_begin(struct weir_sigpipe *guard);

/* One that came meanwhile is taken and forgotten. */
void weir_sigpipe_end(const struct weir_sigpipe *guard);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A command of the user's whose standard output is wanted: run by /bin/sh -c, bounded in time and
 * output. Its standard input is empty, its standard error ours. Its environment is ours without
 * what may hold a secret: every variable `Dataverse__…` and those named by the caller.
 *
 * Loop thread. `done` is called once, from the loop, never before weir_child_run() has returned.
 */
#ifndef WEIR_NET_CHILD_H
#define WEIR_NET_CHILD_H

#include "base/str.h"
#include "net/loop.h"

struct weir_child;

struct weir_child_options {
    const char *command;
    int64_t timeout_us; /* then it is killed, with all its process group */
    size_t output_bytes_max;
    const char *const *hidden; /* names of further variables that it must not see */
    size_t hidden_count;
};

/* Lives during `done` only; the output is wiped afterwards. */
struct weir_child_answer {
    enum weir_status status; /* WEIR_E_IO: not started, ended badly, timed out; WEIR_E_TOO_BIG */
    const char *detail; /* "exit code 3", "killed by signal 9", "no end after 30 s"; "" if well */
    struct weir_str output;
};

typedef void weir_child_done(void *ctx, const struct weir_child_answer *answer);

struct weir_child *weir_child_run(struct weir_loop *loop, const struct weir_child_options *options,
                                  weir_child_done *done, void *ctx);

/* Kill it; `done` will not be called. */
void weir_child_cancel(struct weir_child *child);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The programs that weir demo runs. Whatever becomes of the demo, none of them outlives it: each is
 * told by the kernel when its parent ends. Signals for the demo itself are taken where it waits,
 * not in handlers. One thread.
 */
#ifndef WEIR_APP_DEMO_PROCESS_H
#define WEIR_APP_DEMO_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "weir/error.h"

struct demo_process {
    pid_t pid; /* 0: none */
    int code;  /* once it is over: its exit code, 128 and its signal if one ended it */
};

struct demo_start {
    const char *path;
    const char *const *words; /* argv, NULL at its end */
    int out_fd;               /* what it says … */
    int err_fd;               /* … to programs and to people */
    const char *folder;       /* where it works; NULL: where we do */
};

/* Before any thread or process is started: signals wait until they are asked for. */
void demo_signals_begin(void);

/* In a group of its own: keys of the terminal are for the demo, which tells it what it must know.
 */
enum weir_status demo_process_start(struct demo_process *process, const struct demo_start *start,
                                    struct weir_error *err);

/*
 * Wait until it is over, or for `wait_us`.
 *   WEIR_OK            it is over
 *   WEIR_E_WOULD_WAIT  the time is
 *   WEIR_E_CANCELLED   somebody wants the demo to end
 */
enum weir_status demo_process_wait(struct demo_process *process, int64_t wait_us);

/* Ctrl-C. */
void demo_process_interrupt(const struct demo_process *process);

/* At once, without a word of its own: nobody is going to read it. */
void demo_process_kill(struct demo_process *process);

/*
 * It is asked to end, and made to when `grace_us` are over. One that is over already, or was never
 * there, is fine.
 */
void demo_process_end(struct demo_process *process, int64_t grace_us);

/* This very program, and the one of that name beside it or in PATH. The caller frees it; NULL:
 * none. */
char *demo_process_self(void);
char *demo_process_find(const char *self, const char *name);

#endif

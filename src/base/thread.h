/* SPDX-License-Identifier: MIT */
/*
 * Threads of the library. They take no signals: a handler of the program runs in a thread of the
 * program.
 */
#ifndef WEIR_BASE_THREAD_H
#define WEIR_BASE_THREAD_H

#include <pthread.h>

#include "weir/error.h"

/* WEIR_E_IO: the system has no room for one more. The caller joins it. */
enum weir_status weir_thread_start(pthread_t *ret, void *(*run)(void *ctx), void *ctx,
                                   struct weir_error *err);

#endif

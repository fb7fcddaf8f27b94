/* SPDX-License-Identifier: MIT */
/* Threads of the library; see thread.h. */
#include "base/thread.h"

#include <signal.h>
#include <string.h>

#include "base/error.h"

enum weir_status weir_thread_start(pthread_t *ret, void *(*run)(void *ctx), void *ctx,
                                   struct weir_error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int reason = pthread_create(ret, NULL, run, ctx);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!reason)
        return WEIR_OK;
    const char *words = strerrordesc_np(reason);
    return weir_fail(err, WEIR_E_IO, "no thread could be started: %s",
                     words ? words : "unknown reason");
}

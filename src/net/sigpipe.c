/* SPDX-License-Identifier: MIT */
/* Holding SIGPIPE back; see sigpipe.h. */
#include "net/sigpipe.h"

#include <pthread.h>
#include <time.h>

static bool is_pending(void)
{
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
}

void weir_sigpipe_begin(struct weir_sigpipe *guard)
{
    sigset_t sigpipe;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    guard->pending = is_pending();
    pthread_sigmask(SIG_BLOCK, &sigpipe, &guard->before);
}

void weir_sigpipe_end(const struct weir_sigpipe *guard)
{
    sigset_t sigpipe;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    if (!guard->pending && is_pending())
        sigtimedwait(&sigpipe, NULL, &(struct timespec){ 0 });
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Patience: a thread that counts the time in which somebody could have answered, and calls the
 * requests with its tag off when there was enough of it. Time in which every connection is
 * throttled does not count: that is waited for however long it takes, but for a deadline.
 */
#ifndef WEIR_CLIENT_WATCHMAN_H
#define WEIR_CLIENT_WATCHMAN_H

#include <pthread.h>

#include "weir/execute.h"

struct weir_patience {
    int64_t span_us;  /* with a service that says nothing of use */
    int64_t until_us; /* the deadline, for throttles too; WEIR_FOREVER: none */
};

struct weir_watchman {
    struct weir_client *client;
    int64_t until_us;
    uint64_t cancel_tag; /* for the requests */
    pthread_mutex_t lock;
    pthread_cond_t woken;
    int64_t left_us; /* under the lock */
    bool relieved;   /* likewise: it is over */
    pthread_t thread;
    bool runs;
};

void weir_watchman_init(struct weir_watchman *it, struct weir_client *client,
                        struct weir_patience patience);
void weir_watchman_release(struct weir_watchman *it);

/*
 * After a failure: waits for a while, for a throttle as long as it asks, and says whether there is
 * patience for another try.
 */
bool weir_watchman_allows(struct weir_watchman *watchman, const struct weir_error *why);

/*
 * Asks, and asks again while the answer is WEIR_E_UNAVAILABLE and there is patience, or while it is
 * a throttle that MaxRetryAfterTolerance allows to wait for, however often; `ask` sends its
 * requests with the tag. WEIR_E_UNAVAILABLE: patience is used up; WEIR_E_SERVICE_PROTECTION:
 * throttled beyond the tolerance or the deadline. Otherwise what `ask` returned last.
 */
typedef enum weir_status weir_watchman_ask(void *ctx, uint64_t cancel_tag, struct weir_error *err);
enum weir_status weir_watchman_insist(struct weir_client *client, struct weir_patience patience,
                                      weir_watchman_ask *ask, void *ctx, struct weir_error *err);

#endif

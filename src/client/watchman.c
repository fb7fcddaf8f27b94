/* SPDX-License-Identifier: MIT */
/* Patience with a service that does not answer; see watchman.h. */
#include "client/watchman.h"

#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/thread.h"
#include "client/client.h"

#define WATCH_US  (250 * WEIR_US_PER_MS)
#define PAUSE_US  (1 * WEIR_US_PER_S)
#define THROTTLED 429

/* Not counting those that are only left alone because nobody answered. */
static bool all_are_throttled(struct weir_client *client)
{
    struct weir_pool_stats stats;
    weir_pool_stats(weir_client_pool(client), &stats);
    return stats.total_throttle_events > 0 && stats.throttled_connections > 0 &&
           stats.throttled_connections + stats.set_aside_connections >= stats.total_connections;
}

/* Under the lock: until then, or until the watchman is relieved. */
static void wait_for(struct weir_watchman *it, int64_t span_us)
{
    int64_t until_us = weir_time_add(weir_clock_now_us(), span_us);
    until_us = until_us < it->until_us ? until_us : it->until_us;
    int64_t left_us;
    while (!it->relieved && (left_us = until_us - weir_clock_now_us()) > 0) {
        struct timespec deadline;
        weir_clock_deadline(left_us, &deadline);
        pthread_cond_timedwait(&it->woken, &it->lock, &deadline);
    }
}

static void *watch(void *ctx)
{
    struct weir_watchman *it = ctx;
    pthread_mutex_lock(&it->lock);
    while (!it->relieved) {
        int64_t before_us = weir_clock_now_us();
        wait_for(it, WATCH_US);
        pthread_mutex_unlock(&it->lock);
        bool throttled = all_are_throttled(it->client);
        pthread_mutex_lock(&it->lock);
        it->left_us -= throttled ? 0 : weir_clock_now_us() - before_us;
        bool late = weir_clock_now_us() >= it->until_us;
        bool enough = (it->left_us <= 0 || late) && !it->relieved;
        pthread_mutex_unlock(&it->lock);
        if (enough)
            weir_client_cancel(it->client, it->cancel_tag);
        pthread_mutex_lock(&it->lock);
    }
    pthread_mutex_unlock(&it->lock);
    return NULL;
}

void weir_watchman_init(struct weir_watchman *it, struct weir_client *client,
                        struct weir_patience patience)
{
    *it = (struct weir_watchman){ .client = client,
                                  .until_us = patience.until_us,
                                  .left_us = patience.span_us };
    it->cancel_tag = weir_rng_system_seed() | 1;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&it->woken, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&it->lock, NULL);
    it->runs = weir_thread_start(&it->thread, watch, it, NULL) == WEIR_OK;
}

void weir_watchman_release(struct weir_watchman *it)
{
    pthread_mutex_lock(&it->lock);
    it->relieved = true;
    pthread_cond_broadcast(&it->woken);
    pthread_mutex_unlock(&it->lock);
    if (it->runs)
        pthread_join(it->thread, NULL);
    pthread_cond_destroy(&it->woken);
    pthread_mutex_destroy(&it->lock);
}

bool weir_watchman_allows(struct weir_watchman *it, const struct weir_error *why)
{
    bool throttled = why->http_status == THROTTLED;
    pthread_mutex_lock(&it->lock);
    int64_t before_us = it->left_us;
    if (before_us > 0)
        wait_for(it, throttled && why->retry_after_us > PAUSE_US ? why->retry_after_us : PAUSE_US);
    if (throttled)
        it->left_us = before_us;
    bool again = it->left_us > 0 && weir_clock_now_us() < it->until_us;
    pthread_mutex_unlock(&it->lock);
    return again;
}

/* The request's own attempts are used up, not what may be waited for. */
static bool is_tolerated(const struct weir_client *client, const struct weir_error *why)
{
    int64_t tolerance_us = client->options->pool.max_retry_after_tolerance_us;
    return why->status == WEIR_E_SERVICE_PROTECTION && why->retry_after_us >= 0 &&
           (tolerance_us < 0 || why->retry_after_us <= tolerance_us);
}

/* It was called off: for want of patience, or because of the deadline. */
static enum weir_status explain(const struct weir_watchman *it, struct weir_patience patience,
                                const struct weir_error *last, struct weir_error *ret)
{
    struct weir_error why = *last;
    const char *colon = why.status ? ": " : "";
    if (weir_clock_now_us() >= it->until_us && all_are_throttled(it->client))
        return weir_fail(ret, WEIR_E_SERVICE_PROTECTION,
                         "the deadline came while all connections were throttled%s%s", colon,
                         why.message);
    return weir_fail(ret, WEIR_E_UNAVAILABLE, "the service did not answer within %lld s%s%s",
                     (long long)(patience.span_us / WEIR_US_PER_S), colon, why.message);
}

enum weir_status weir_watchman_insist(struct weir_client *client, struct weir_patience patience,
                                      weir_watchman_ask *ask, void *ctx, struct weir_error *err)
{
    struct weir_error why = { 0 };
    struct weir_error last = { 0 };
    struct weir_watchman watchman;
    enum weir_status status;
    bool again;
    weir_watchman_init(&watchman, client, patience);
    do {
        status = ask(ctx, watchman.cancel_tag, &why);
        again = status == WEIR_E_UNAVAILABLE || (status && is_tolerated(client, &why));
        if (again)
            last = why;
    } while (again && weir_watchman_allows(&watchman, &why));
    weir_watchman_release(&watchman);
    if (status == WEIR_E_CANCELLED)
        status = explain(&watchman, patience, &last, &why);
    if (status && err)
        *err = why;
    return status;
}

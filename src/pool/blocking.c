/* SPDX-License-Identifier: MIT */
/*
 * The blocking, thread-safe face of the pool: one mutex around the core, one condition variable per
 * waiting thread.
 *
 *     acquire   lock ─ core: ask ─ granted? ─ no ─▶ sleep on my own condition ─▶ granted or refused
 *     release   lock ─ core: settle ─ core: turn ─▶ wake exactly those who were granted something
 *
 * Somebody has to notice that time has passed: the thread at the head of the queue is the
 * *timekeeper*. It alone sleeps with a time-out, never longer than a second (condition variables do
 * not know CLOCK_BOOTTIME), and turns the core when it wakes; the others sleep until they are
 * served. When the timekeeper leaves, the next in the queue is woken to take over.
 *
 * Log records are made from the core's events after the mutex has been left.
 */
#include <assert.h>
#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "pool/blocking.h"
#include "pool/core.h"

#define GRANTS_PER_TURN 16
#define EVENTS_PER_TURN 16

/* A thread inside weir_pool_acquire(), on its own stack. */
struct waiting {
    uint64_t ticket;
    uint64_t cancel_tag;
    pthread_cond_t woken;
    bool served;
    struct weir_grant grant;
    struct waiting *next;
    struct waiting *previous;
};

struct weir_pool {
    pthread_mutex_t lock;
    struct weir_log_sink sink;

    /* Below: only under the lock. */
    struct weir_core core;
    struct waiting *first; /* the timekeeper */
    struct waiting *last;
    int64_t next_turn_us;
    uint32_t inside;            /* threads inside weir_pool_acquire() */
    pthread_cond_t all_outside; /* inside has become 0 */
};

/* --- beginning and end ------------------------------------------------------------------------ */

static void cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

enum weir_status weir_pool_new(const struct weir_options *options, const struct weir_log_sink *sink,
                               struct weir_pool **ret, struct weir_error *err)
{
    struct weir_pool *pool = weir_calloc(1, sizeof(*pool));
    if (sink)
        pool->sink = *sink;
    enum weir_status status = weir_core_init(&pool->core, options, NULL, weir_rng_system_seed(),
                                             pool->sink.write != NULL, err);
    if (status) {
        free(pool);
        return status;
    }
    pthread_mutex_init(&pool->lock, NULL);
    cond_init(&pool->all_outside);
    pool->next_turn_us = WEIR_FOREVER;
    *ret = pool;
    return WEIR_OK;
}

void weir_pool_free(struct weir_pool *pool)
{
    if (!pool)
        return;
    weir_pool_shutdown(pool);
    pthread_mutex_lock(&pool->lock);
    while (pool->inside)
        pthread_cond_wait(&pool->all_outside, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_destroy(&pool->all_outside);
    pthread_mutex_destroy(&pool->lock);
    weir_core_release(&pool->core);
    free(pool);
}

/* --- under the lock --------------------------------------------------------------------------- */

static void queue(struct weir_pool *pool, struct waiting *me)
{
    me->previous = pool->last;
    if (pool->last)
        pool->last->next = me;
    else
        pool->first = me;
    pool->last = me;
}

/* Take a thread out of the queue with its grant and wake it; the next one may become timekeeper. */
static void serve(struct weir_pool *pool, struct waiting *it, const struct weir_grant *grant)
{
    bool was_timekeeper = pool->first == it;
    if (it->previous)
        it->previous->next = it->next;
    else
        pool->first = it->next;
    if (it->next)
        it->next->previous = it->previous;
    else
        pool->last = it->previous;
    it->grant = *grant;
    it->served = true;
    pthread_cond_signal(&it->woken);
    if (was_timekeeper && pool->first)
        pthread_cond_signal(&pool->first->woken);
}

/* Grants come in the order of the queue, so the search ends at once; time-outs may lie further in.
 */
static void deliver(struct weir_pool *pool, const struct weir_grant *grant)
{
    struct waiting *it = pool->first;
    while (it && it->ticket != grant->ticket)
        it = it->next;
    assert(it);
    serve(pool, it, grant);
}

static void turn(struct weir_pool *pool)
{
    struct weir_grant grants[GRANTS_PER_TURN];
    uint32_t count;
    int64_t armed_us = pool->next_turn_us;
    do {
        pool->next_turn_us =
            weir_core_turn(&pool->core, weir_clock_now_us(), grants, GRANTS_PER_TURN, &count);
        for (uint32_t i = 0; i < count; i++)
            deliver(pool, &grants[i]);
    } while (count == GRANTS_PER_TURN);
    if (pool->first && pool->next_turn_us < armed_us)
        pthread_cond_signal(&pool->first->woken); /* it sleeps for too long */
}

/* Leave the lock, and only then write down what happened. */
static void leave(struct weir_pool *pool)
{
    struct weir_pool_event events[EVENTS_PER_TURN];
    size_t count;
    do {
        count = 0;
        while (count < EVENTS_PER_TURN && weir_core_event(&pool->core, &events[count]))
            count++;
        pthread_mutex_unlock(&pool->lock);
        for (size_t i = 0; i < count; i++)
            weir_pool_event_log(&events[i], &pool->sink);
        if (count == EVENTS_PER_TURN)
            pthread_mutex_lock(&pool->lock);
    } while (count == EVENTS_PER_TURN);
}

/* --- acquiring -------------------------------------------------------------------------------- */

static void sleep_until_served(struct weir_pool *pool, struct waiting *me)
{
    while (!me->served) {
        if (pool->first != me) {
            pthread_cond_wait(&me->woken, &pool->lock);
            continue;
        }
        struct timespec deadline;
        weir_clock_deadline(pool->next_turn_us - weir_clock_now_us(), &deadline);
        pthread_cond_timedwait(&me->woken, &pool->lock, &deadline);
        if (!me->served)
            turn(pool);
    }
}

static void wait_for_grant(struct weir_pool *pool, const struct weir_ask *ask,
                           struct weir_grant *grant)
{
    struct waiting me = { .ticket = grant->ticket, .cancel_tag = ask ? ask->cancel_tag : 0 };
    cond_init(&me.woken);
    queue(pool, &me);
    turn(pool);
    sleep_until_served(pool, &me);
    pthread_cond_destroy(&me.woken);
    *grant = me.grant;
}

/* What the caller gets of a grant. */
static enum weir_status conclude(const struct weir_pool *pool, const struct weir_grant *grant,
                                 struct weir_lease *ret, struct weir_error *err)
{
    if (grant->status == WEIR_OK) {
        *ret = grant->lease;
        return WEIR_OK;
    }
    return weir_core_explain(&pool->core, &grant->refusal, err);
}

static struct weir_grant cancelled_grant(uint64_t ticket)
{
    return (struct weir_grant){
        .ticket = ticket,
        .status = WEIR_E_CANCELLED,
        .refusal = { .status = WEIR_E_CANCELLED, .retry_after_us = -1 },
    };
}

enum weir_status weir_pool_acquire(struct weir_pool *pool, const struct weir_ask *ask,
                                   struct weir_lease *ret, struct weir_error *err)
{
    return weir_pool_acquire_unless(pool, ask, NULL, ret, err);
}

enum weir_status weir_pool_acquire_unless(struct weir_pool *pool, const struct weir_ask *ask,
                                          const bool *cancelled, struct weir_lease *ret,
                                          struct weir_error *err)
{
    struct weir_grant grant;
    pthread_mutex_lock(&pool->lock);
    pool->inside++;
    if (cancelled && __atomic_load_n(cancelled, __ATOMIC_ACQUIRE))
        grant = cancelled_grant(0);
    else
        weir_core_ask(&pool->core, ask, weir_clock_now_us(), &grant);
    if (grant.status == WEIR_E_WOULD_WAIT)
        wait_for_grant(pool, ask, &grant);
    enum weir_status status = conclude(pool, &grant, ret, err);
    leave(pool); /* writes to the log, which needs the pool */
    pthread_mutex_lock(&pool->lock);
    if (--pool->inside == 0)
        pthread_cond_broadcast(&pool->all_outside);
    pthread_mutex_unlock(&pool->lock);
    return status;
}

enum weir_status weir_pool_try_acquire(struct weir_pool *pool, const struct weir_ask *ask,
                                       struct weir_lease *ret, struct weir_error *err)
{
    struct weir_grant grant;
    pthread_mutex_lock(&pool->lock);
    weir_core_try(&pool->core, ask, weir_clock_now_us(), &grant);
    enum weir_status status = conclude(pool, &grant, ret, err);
    leave(pool);
    return status;
}

uint32_t weir_pool_cancel(struct weir_pool *pool, uint64_t cancel_tag)
{
    uint32_t count = 0;
    pthread_mutex_lock(&pool->lock);
    struct waiting *next;
    for (struct waiting *it = pool->first; it; it = next) {
        next = it->next;
        if (!cancel_tag || it->cancel_tag != cancel_tag)
            continue;
        weir_core_cancel(&pool->core, it->ticket, weir_clock_now_us());
        struct weir_grant grant = cancelled_grant(it->ticket);
        serve(pool, it, &grant);
        count++;
    }
    turn(pool);
    leave(pool);
    return count;
}

void weir_pool_shutdown(struct weir_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    weir_core_shutdown(&pool->core, weir_clock_now_us());
    turn(pool);
    leave(pool);
}

/* --- sending and giving back ------------------------------------------------------------------ */

enum weir_status weir_pool_begin(struct weir_pool *pool, struct weir_lease *lease,
                                 struct weir_error *err)
{
    pthread_mutex_lock(&pool->lock);
    enum weir_status status = weir_core_begin(&pool->core, lease, weir_clock_now_us());
    if (status) {
        weir_fail(err, status, "the lease on \"%s\" is no longer good: acquire another",
                  lease->connection_name);
        weir_error_set_connection(err, lease->connection_name);
        if (err)
            err->retryable = true;
        turn(pool);
    }
    leave(pool);
    return status;
}

enum weir_status weir_pool_release(struct weir_pool *pool, const struct weir_lease *lease,
                                   const struct weir_answer *answer)
{
    pthread_mutex_lock(&pool->lock);
    enum weir_status status = weir_core_settle(&pool->core, lease, answer, weir_clock_now_us());
    turn(pool);
    leave(pool);
    return status;
}

/* --- connections by name ---------------------------------------------------------------------- */

typedef void change_fn(struct weir_core *core, uint32_t connection, int64_t now_us);

static enum weir_status change(struct weir_pool *pool, const char *name, change_fn *fn)
{
    uint32_t connection;
    if (!weir_core_find(&pool->core, name, &connection))
        return WEIR_E_NOT_FOUND;
    pthread_mutex_lock(&pool->lock);
    fn(&pool->core, connection, weir_clock_now_us());
    turn(pool);
    leave(pool);
    return WEIR_OK;
}

enum weir_status weir_pool_set_aside(struct weir_pool *pool, const char *connection_name)
{
    return change(pool, connection_name, weir_core_set_aside);
}

enum weir_status weir_pool_restore(struct weir_pool *pool, const char *connection_name)
{
    return change(pool, connection_name, weir_core_restore);
}

enum weir_status weir_pool_clear_throttle(struct weir_pool *pool, const char *connection_name)
{
    return change(pool, connection_name, weir_core_clear_throttle);
}

enum weir_status weir_pool_reset(struct weir_pool *pool, const char *connection_name)
{
    return change(pool, connection_name, weir_core_reset);
}

enum weir_status weir_pool_hint(struct weir_pool *pool, const char *connection_name, int dop_hint)
{
    uint32_t connection;
    if (!weir_core_find(&pool->core, connection_name, &connection))
        return WEIR_E_NOT_FOUND;
    pthread_mutex_lock(&pool->lock);
    weir_core_hint(&pool->core, connection, dop_hint, weir_clock_now_us());
    turn(pool);
    leave(pool);
    return WEIR_OK;
}

bool weir_pool_any_open(struct weir_pool *pool, int64_t *ret_reopening_us)
{
    pthread_mutex_lock(&pool->lock);
    bool open = weir_core_any_open(&pool->core, weir_clock_now_us(), ret_reopening_us);
    leave(pool);
    return open;
}

void weir_pool_throttles(struct weir_pool *pool, struct weir_throttle_counts *ret)
{
    pthread_mutex_lock(&pool->lock);
    for (uint32_t i = 0; i < pool->core.count; i++)
        ret[i] = pool->core.connections[i].throttles;
    leave(pool);
}

void weir_pool_bequeath(struct weir_pool *pool, const struct weir_throttle_counts *before,
                        struct weir_core *heir)
{
    pthread_mutex_lock(&pool->lock);
    weir_core_inherit(heir, &pool->core, before, weir_clock_now_us());
    leave(pool);
}

void weir_pool_stats(struct weir_pool *pool, struct weir_pool_stats *ret)
{
    pthread_mutex_lock(&pool->lock);
    weir_core_stats(&pool->core, weir_clock_now_us(), ret);
    leave(pool);
}

enum weir_status weir_pool_rate_stats(struct weir_pool *pool, const char *connection_name,
                                      struct weir_adaptive_rate_stats *ret)
{
    uint32_t connection;
    if (!weir_core_find(&pool->core, connection_name, &connection))
        return WEIR_E_NOT_FOUND;
    pthread_mutex_lock(&pool->lock);
    weir_core_rate_stats(&pool->core, connection, weir_clock_now_us(), ret);
    leave(pool);
    return WEIR_OK;
}

bool weir_pool_is_throttled(struct weir_pool *pool, const char *connection_name,
                            int64_t *ret_remaining_us)
{
    uint32_t connection;
    if (!weir_core_find(&pool->core, connection_name, &connection))
        return false;
    pthread_mutex_lock(&pool->lock);
    int64_t now_us = weir_clock_now_us();
    bool throttled = weir_core_is_throttled(&pool->core, connection, now_us);
    int64_t reopening_us = weir_core_reopening_us(&pool->core, connection);
    leave(pool);
    if (throttled && ret_remaining_us)
        *ret_remaining_us = reopening_us - now_us;
    return throttled;
}

uint32_t weir_pool_throttled_connections(struct weir_pool *pool, const char **names, uint32_t max)
{
    uint32_t count = 0;
    pthread_mutex_lock(&pool->lock);
    int64_t now_us = weir_clock_now_us();
    for (uint32_t i = 0; i < pool->core.count && count < max; i++) {
        if (weir_core_is_throttled(&pool->core, i, now_us))
            names[count++] = pool->core.connections[i].name;
    }
    leave(pool);
    return count;
}

int64_t weir_pool_shortest_expiry_us(struct weir_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    int64_t wait_us = weir_tracker_shortest_expiry_us(&pool->core.tracker, weir_clock_now_us());
    leave(pool);
    return wait_us;
}

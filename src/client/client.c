/* SPDX-License-Identifier: MIT */
/* Beginning and end of a client, and who is inside it; see client.h. */
#include "client/client.h"

#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"

/* --- the loop's thread ------------------------------------------------------------------------ */

static void *run_loop(void *ctx)
{
    struct weir_client *client = ctx;
    weir_loop_run(client->loop);
    return NULL;
}

/* --- cancelling ------------------------------------------------------------------------------- */

/* Loop thread: break off what has been cancelled. What is finished is not touched any more. */
static void sweep(struct weir_task *task)
{
    struct weir_client *client =
        (struct weir_client *)((char *)task - offsetof(struct weir_client, sweep));
    pthread_mutex_lock(&client->lock);
    client->sweep_posted = false;
    for (struct weir_execution *it = client->first; it; it = it->next) {
        if (it->finished || !it->cancelled)
            continue;
        if (it->call)
            weir_call_cancel(it->call);
        else if (it->ask.done)
            weir_tokens_cancel(client->links[it->lease.connection].tokens, &it->ask);
    }
    pthread_mutex_unlock(&client->lock);
}

/* Under the lock. `cancel_tag` 0: all. Those who wait in the pool are left to the caller. */
static void mark_cancelled(struct weir_client *client, uint64_t cancel_tag)
{
    for (struct weir_execution *it = client->first; it; it = it->next) {
        if (cancel_tag && it->request->cancel_tag != cancel_tag)
            continue;
        __atomic_store_n(&it->cancelled, true, __ATOMIC_RELEASE);
        pthread_cond_signal(&it->woken);
    }
    if (!client->sweep_posted) {
        client->sweep_posted = true;
        weir_loop_post(client->loop, &client->sweep);
    }
}

void weir_client_cancel(struct weir_client *client, uint64_t cancel_tag)
{
    if (!cancel_tag)
        return;
    pthread_mutex_lock(&client->lock);
    mark_cancelled(client, cancel_tag);
    pthread_mutex_unlock(&client->lock);
    weir_pool_cancel(client->pool, cancel_tag);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static enum weir_status make_links(struct weir_client *client, struct weir_error *err)
{
    size_t count = client->options->connection_count;
    client->links = weir_calloc(count, sizeof(*client->links));
    client->losses = weir_calloc(count, sizeof(*client->losses));
    for (size_t i = 0; i < count; i++) {
        enum weir_status status =
            weir_link_init(&client->links[i], client->loop, client->options, i, &client->sink, err);
        client->link_count = i + 1;
        if (status)
            return status;
    }
    return WEIR_OK;
}

enum weir_status weir_client_new(const struct weir_options *options,
                                 const struct weir_log_sink *sink, struct weir_client **ret,
                                 struct weir_error *err)
{
    struct weir_client *client = weir_calloc(1, sizeof(*client));
    client->options = options;
    client->sweep.run = sweep;
    if (sink)
        client->sink = *sink;
    pthread_mutex_init(&client->lock, NULL);
    pthread_cond_init(&client->all_outside, NULL);
    weir_rng_init(&client->rng, weir_rng_system_seed(), 0);
    enum weir_status status = weir_pool_new(options, sink, &client->pool, err);
    if (!status)
        status = weir_loop_new(&client->loop, err);
    if (!status)
        status = make_links(client, err);
    if (!status)
        status = weir_thread_start(&client->thread, run_loop, client, err);
    client->thread_runs = status == WEIR_OK;
    if (status) {
        weir_client_free(client);
        return status;
    }
    *ret = client;
    return WEIR_OK;
}

/* Nobody comes in any more, and everybody leaves. */
static void empty(struct weir_client *client)
{
    pthread_mutex_lock(&client->lock);
    client->shut_down = true;
    mark_cancelled(client, 0);
    pthread_mutex_unlock(&client->lock);
    weir_pool_shutdown(client->pool);
    pthread_mutex_lock(&client->lock);
    while (client->first)
        pthread_cond_wait(&client->all_outside, &client->lock);
    pthread_mutex_unlock(&client->lock);
}

void weir_client_free(struct weir_client *client)
{
    if (!client)
        return;
    if (client->thread_runs) {
        empty(client);
        weir_loop_stop(client->loop);
        pthread_join(client->thread, NULL);
    }
    for (size_t i = 0; i < client->link_count; i++) {
        weir_link_release(&client->links[i]);
        free(client->losses[i]);
    }
    free(client->losses);
    free(client->links);
    weir_loop_free(client->loop);
    weir_pool_free(client->pool);
    pthread_cond_destroy(&client->all_outside);
    pthread_mutex_destroy(&client->lock);
    free(client);
}

char *weir_client_loss(struct weir_client *client, uint32_t connection)
{
    pthread_mutex_lock(&client->lock);
    const char *words = client->losses[connection];
    char *copy = words ? weir_strdup(words) : NULL;
    pthread_mutex_unlock(&client->lock);
    return copy;
}

struct weir_pool *weir_client_pool(struct weir_client *client)
{
    return client->pool;
}

/* --- coming and going ------------------------------------------------------------------------- */

bool weir_client_enter(struct weir_client *client, struct weir_execution *execution)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&execution->woken, &attributes);
    pthread_condattr_destroy(&attributes);
    execution->client = client;
    execution->finished = true; /* nothing is with the loop */
    pthread_mutex_lock(&client->lock);
    bool welcome = !client->shut_down;
    if (welcome) {
        execution->next = client->first;
        if (client->first)
            client->first->previous = execution;
        client->first = execution;
    }
    pthread_mutex_unlock(&client->lock);
    if (!welcome)
        pthread_cond_destroy(&execution->woken);
    return welcome;
}

void weir_client_leave(struct weir_client *client, struct weir_execution *execution)
{
    pthread_mutex_lock(&client->lock);
    if (execution->previous)
        execution->previous->next = execution->next;
    else
        client->first = execution->next;
    if (execution->next)
        execution->next->previous = execution->previous;
    if (!client->first)
        pthread_cond_broadcast(&client->all_outside);
    pthread_mutex_unlock(&client->lock);
    pthread_cond_destroy(&execution->woken);
}

void weir_execution_wait(struct weir_execution *execution, int64_t until_us)
{
    struct weir_client *client = execution->client;
    pthread_mutex_lock(&client->lock);
    int64_t left_us;
    while (!execution->cancelled && (left_us = until_us - weir_clock_now_us()) > 0) {
        struct timespec deadline;
        weir_clock_deadline(left_us, &deadline);
        pthread_cond_timedwait(&execution->woken, &client->lock, &deadline);
    }
    pthread_mutex_unlock(&client->lock);
}

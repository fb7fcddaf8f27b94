/* SPDX-License-Identifier: MIT */
/*
 * Only the pool: a program that has an HTTP client of its own, with as many threads as it likes,
 * and lets weir decide who may send when, and as whom.
 *
 * send_request() stands for that HTTP client. Here it is a service that throttles every tenth
 * request of a connection for a second, so that the example runs by itself; in a real program it
 * sends with the token of lease.connection_name and fills in status, headers, and code and message
 * of an error body.
 *
 *     cc pool_threads.c $(pkg-config --cflags --libs weir) -pthread && ./a.out
 */
#include <pthread.h>
#include <stdio.h>
#include <weir/weir.h>

#define THREADS  8
#define REQUESTS 10 /* of each thread */

static struct weir_pool *pool;
static int sent[2]; /* by each connection; atomic */

static void send_request(const struct weir_lease *lease, struct weir_http_answer *http)
{
    static const struct weir_http_header busy[] = { { "Retry-After", "1" } };
    static const struct weir_http_header fine[] = { { "x-ms-dop-hint", "4" } };
    int nth = __atomic_add_fetch(&sent[lease->connection], 1, __ATOMIC_RELAXED);
    bool throttled = nth % 10 == 0;
    *http = (struct weir_http_answer){
        .status = throttled ? 429 : 204,
        .sent = true,
        .headers = throttled ? busy : fine,
        .header_count = 1,
        .error_code = throttled ? "0x80072322" : NULL,
        .duration_us = 1000,
    };
}

/* One request, until it has been executed. Giving the lease back is what the pool learns from. */
static bool run_one(void)
{
    for (;;) {
        struct weir_lease lease;
        struct weir_http_answer http;
        struct weir_answer answer;
        struct weir_error err;
        do {
            if (weir_pool_acquire(pool, NULL, &lease, &err) != WEIR_OK) {
                fprintf(stderr, "%s\n", err.message);
                return false;
            }
        } while (weir_pool_begin(pool, &lease, &err) != WEIR_OK);
        send_request(&lease, &http);
        weir_answer_read(&http, 0, &answer);
        weir_pool_release(pool, &lease, &answer);
        if (answer.verdict.class_ == WEIR_CLASS_OK)
            return true;
        if (answer.verdict.class_ != WEIR_CLASS_THROTTLE)
            return false;
    }
}

static void *work(void *ctx)
{
    int *done = ctx;
    for (int i = 0; i < REQUESTS; i++)
        *done += run_one();
    return NULL;
}

int main(void)
{
    static const struct weir_connection_options users[] = { { .name = "app1" },
                                                            { .name = "app2" } };
    struct weir_options options;
    struct weir_error err;
    weir_options_defaults(&options);
    options.connections = users;
    options.connection_count = 2;
    options.resilience.retry_after_buffer_us = 0;
    if (weir_pool_new(&options, NULL, &pool, &err) != WEIR_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }

    pthread_t threads[THREADS];
    int done[THREADS] = { 0 }, sum = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &done[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += done[i];
    }

    struct weir_pool_stats stats;
    weir_pool_stats(pool, &stats);
    printf("%d of %d requests executed, %llu throttles, %d + %d requests sent\n", sum,
           THREADS * REQUESTS, (unsigned long long)stats.total_throttle_events, sent[0], sent[1]);
    weir_pool_free(pool);
    return sum == THREADS * REQUESTS ? 0 : 1;
}

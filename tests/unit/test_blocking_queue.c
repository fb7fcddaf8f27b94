/* SPDX-License-Identifier: MIT */
/* Threads that wait for the pool and leave its queue elsewhere than at its head, or all at once. */
#include <pthread.h>
#include <sched.h>

#include "support/rig.h"
#include "support/suite.h"
#include "weir/weir.h"

#define CROWD 40 /* more than are served in one turn */

struct waiter {
    pthread_t thread;
    struct weir_pool *pool;
    struct weir_ask ask;
    struct weir_lease lease;
    enum weir_status status;
};

static struct weir_options options;
static struct weir_connection_options connection = { .name = "A" };
static struct waiter crowd[CROWD];

static struct weir_pool *make_pool(int level)
{
    struct weir_pool *pool = NULL;
    weir_options_defaults(&options);
    options.connections = &connection;
    options.connection_count = 1;
    options.adaptive_rate.policy = "Fixed";
    options.adaptive_rate.fixed_parallelism = level;
    ck_assert_int_eq(weir_pool_new(&options, NULL, &pool, NULL), WEIR_OK);
    return pool;
}

static void *wait_for_lease(void *ctx)
{
    struct waiter *it = ctx;
    it->status = weir_pool_acquire(it->pool, &it->ask, &it->lease, NULL);
    return NULL;
}

static uint32_t waiting(struct weir_pool *pool)
{
    struct weir_pool_stats stats;
    weir_pool_stats(pool, &stats);
    return stats.waiters;
}

/* It is in the queue when this returns. */
static void queue_up(struct waiter *it, struct weir_pool *pool, uint64_t tag)
{
    uint32_t before = waiting(pool);
    *it = (struct waiter){ .pool = pool, .ask = { .acquire_timeout_us = -1, .cancel_tag = tag } };
    ck_assert_int_eq(pthread_create(&it->thread, NULL, wait_for_lease, it), 0);
    while (waiting(pool) == before)
        sched_yield();
}

static void give_back(struct weir_pool *pool, struct weir_lease *lease)
{
    struct weir_answer answer = answer_ok(MS(1));
    ck_assert_int_eq(weir_pool_release(pool, lease, &answer), WEIR_OK);
}

START_TEST(whoever_leaves_from_the_middle_leaves_the_others_in_their_order)
{
    struct weir_pool *pool = make_pool(1);
    struct weir_lease lease;
    ck_assert_int_eq(weir_pool_acquire(pool, NULL, &lease, NULL), WEIR_OK);
    queue_up(&crowd[0], pool, 0);
    queue_up(&crowd[1], pool, 7);
    queue_up(&crowd[2], pool, 0);
    ck_assert_uint_eq(weir_pool_cancel(pool, 7), 1);
    pthread_join(crowd[1].thread, NULL);
    ck_assert_int_eq(crowd[1].status, WEIR_E_CANCELLED);
    ck_assert_uint_eq(waiting(pool), 2);
    give_back(pool, &lease);
    pthread_join(crowd[0].thread, NULL);
    ck_assert_int_eq(crowd[0].status, WEIR_OK);
    ck_assert_uint_eq(waiting(pool), 1);
    give_back(pool, &crowd[0].lease);
    pthread_join(crowd[2].thread, NULL);
    ck_assert_int_eq(crowd[2].status, WEIR_OK);
    give_back(pool, &crowd[2].lease);
    weir_pool_free(pool);
}
END_TEST

START_TEST(a_crowd_that_waits_is_told_of_the_end_all_at_once)
{
    struct weir_pool *pool = make_pool(1);
    struct weir_lease lease;
    ck_assert_int_eq(weir_pool_acquire(pool, NULL, &lease, NULL), WEIR_OK);
    for (int i = 0; i < CROWD; i++)
        queue_up(&crowd[i], pool, 0);
    ck_assert_uint_eq(waiting(pool), CROWD);
    weir_pool_shutdown(pool);
    for (int i = 0; i < CROWD; i++) {
        pthread_join(crowd[i].thread, NULL);
        ck_assert_int_eq(crowd[i].status, WEIR_E_SHUTDOWN);
    }
    give_back(pool, &lease);
    weir_pool_free(pool);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("blocking_queue");
    suite_add(&s, whoever_leaves_from_the_middle_leaves_the_others_in_their_order);
    suite_add(&s, a_crowd_that_waits_is_told_of_the_end_all_at_once);
    return suite_run(&s);
}

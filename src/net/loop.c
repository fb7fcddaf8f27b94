/* SPDX-License-Identifier: MIT */
/*
 * The event loop; see loop.h. One turn of it:
 *
 *     prepare   a rest, see below; from here on the time is not known; the libuv timer is armed for
 *               the first of ours
 *     poll      libuv waits, then calls back: sockets, children, and tasks() for what was posted
 *     check     our timers that have come due
 *
 * Whoever is called back first reads the clock (weir_loop_wake()), and all that follows in that
 * turn has the same time. Outside a turn every question reads the clock.
 *
 * The libuv timer only wakes: it does nothing itself, so it may be too early. It is moved when it
 * would be too late, never because it is too early: that costs a turn now and then, and spares
 * moving it for each request.
 *
 * Answers that come one by one, close upon each other, would each cost a turn of their own: the
 * thread is woken, finds its memory out of the caches, and sleeps again. So a loop that awaits many
 * of them rests between two turns, WEIR_LOOP_REST_US from the beginning of one to that of the next,
 * and then has them all at once. Timers that are due, tasks and a stop end the rest
 * (docs/decisions/015).
 */
#include "net/loop.h"

#include <assert.h>
#include <pthread.h>
#include <time.h>
#include <uv.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/loop_parts.h"
#include "net/sigpipe.h"

#define FIRST_TIMERS 16

struct weir_loop {
    uv_loop_t uv;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_timer_t waker;
    uv_async_t posted;

    int64_t now_us;   /* of this turn; -1: nobody has asked yet */
    int64_t armed_us; /* when the waker is due */
    int64_t limit_us; /* until when weir_loop_turn() waits */
    int64_t begun_us; /* when the last turn began */
    int awaited;      /* answers */

    /* Timers: ids are places in `timers`, plus one; given back ones are listed in `unused`. */
    struct weir_heap due;
    struct weir_timer **timers;
    uint32_t *unused;
    uint32_t unused_count;

    /* Below: only under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t disturbed; /* it rests, and there is something to do */
    struct weir_task *first;
    struct weir_task *last;
    bool stopping;
    bool resting;
};

/* --- time ------------------------------------------------------------------------------------- */

void weir_loop_wake(struct weir_loop *loop)
{
    if (loop->now_us < 0)
        loop->now_us = loop->begun_us = weir_clock_now_us();
}

int64_t weir_loop_now_us(const struct weir_loop *loop)
{
    return loop->now_us < 0 ? weir_clock_now_us() : loop->now_us;
}

static void on_waker(uv_timer_t *waker)
{
    struct weir_loop *loop = waker->data;
    loop->armed_us = WEIR_FOREVER;
}

/* Whole milliseconds, upwards: a timer that is woken too early is woken again. */
static uint64_t to_ms(int64_t span_us)
{
    if (span_us <= 0)
        return 0;
    return (uint64_t)((span_us + WEIR_US_PER_MS - 1) / WEIR_US_PER_MS);
}

void weir_loop_await(struct weir_loop *loop, int more)
{
    loop->awaited += more;
}

static void wait_undisturbed(struct weir_loop *loop, int64_t span_us)
{
    struct timespec deadline;
    weir_clock_deadline(span_us, &deadline);
    pthread_mutex_lock(&loop->lock);
    loop->resting = true;
    while (!loop->first && !loop->stopping &&
           pthread_cond_timedwait(&loop->disturbed, &loop->lock, &deadline) == 0)
        ;
    loop->resting = false;
    pthread_mutex_unlock(&loop->lock);
}

static void rest(struct weir_loop *loop, int64_t due_us)
{
    if (loop->awaited < WEIR_LOOP_REST_FROM)
        return;
    int64_t now_us = weir_clock_now_us();
    int64_t until_us = loop->begun_us + WEIR_LOOP_REST_US;
    if (until_us > due_us)
        until_us = due_us;
    if (until_us > now_us)
        wait_undisturbed(loop, until_us - now_us);
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct weir_loop *loop = prepare->data;
    loop->now_us = -1;
    int64_t due_us = weir_heap_min(&loop->due);
    if (due_us > loop->limit_us)
        due_us = loop->limit_us;
    rest(loop, due_us);
    if (due_us >= loop->armed_us)
        return;
    int64_t now_us = weir_clock_now_us();
    if (due_us > now_us + WEIR_TIMER_MAX_US)
        due_us = now_us + WEIR_TIMER_MAX_US;
    if (due_us >= loop->armed_us)
        return;
    loop->armed_us = due_us;
    uv_update_time(&loop->uv);
    uv_timer_start(&loop->waker, on_waker, to_ms(due_us - now_us), 0);
}

/* --- timers ----------------------------------------------------------------------------------- */

/* Ids up to `capacity`, the smallest taken first. */
static void more_ids(struct weir_loop *loop, uint32_t capacity)
{
    uint32_t before = loop->due.capacity;
    weir_heap_reserve(&loop->due, capacity);
    loop->timers = weir_realloc(loop->timers, capacity, sizeof(struct weir_timer *));
    loop->unused = weir_realloc(loop->unused, capacity, sizeof(uint32_t));
    for (uint32_t id = capacity; id > before; id--)
        loop->unused[loop->unused_count++] = id;
}

static uint32_t take_id(struct weir_timer *timer)
{
    struct weir_loop *loop = timer->loop;
    if (loop->unused_count == 0)
        more_ids(loop, loop->due.capacity * 2);
    uint32_t id = loop->unused[--loop->unused_count];
    loop->timers[id - 1] = timer;
    return id;
}

void weir_timer_init(struct weir_timer *timer, struct weir_loop *loop,
                     void (*run)(struct weir_timer *timer))
{
    *timer = (struct weir_timer){ .loop = loop, .run = run };
}

void weir_timer_set(struct weir_timer *timer, int64_t due_us)
{
    struct weir_loop *loop = timer->loop;
    if (timer->id == 0)
        timer->id = take_id(timer);
    /* What a timer sets for now is not for this turn, or it would never end. */
    if (due_us <= loop->now_us)
        due_us = loop->now_us + 1;
    weir_heap_set(&loop->due, timer->id - 1, due_us);
}

void weir_timer_stop(struct weir_timer *timer)
{
    if (timer->id)
        weir_heap_remove(&timer->loop->due, timer->id - 1);
}

void weir_timer_release(struct weir_timer *timer)
{
    if (timer->id == 0)
        return;
    weir_timer_stop(timer);
    timer->loop->unused[timer->loop->unused_count++] = timer->id;
    timer->id = 0;
}

static void on_check(uv_check_t *check)
{
    struct weir_loop *loop = check->data;
    if (loop->due.count == 0)
        return;
    weir_loop_wake(loop);
    while (weir_heap_min(&loop->due) <= loop->now_us) {
        uint32_t place = weir_heap_top(&loop->due);
        weir_heap_remove(&loop->due, place);
        loop->timers[place]->run(loop->timers[place]);
    }
}

/* --- tasks ------------------------------------------------------------------------------------ */

void weir_loop_post(struct weir_loop *loop, struct weir_task *task)
{
    task->next = NULL;
    pthread_mutex_lock(&loop->lock);
    bool first = loop->first == NULL;
    if (first)
        loop->first = task;
    else
        loop->last->next = task;
    loop->last = task;
    if (loop->resting)
        pthread_cond_signal(&loop->disturbed);
    pthread_mutex_unlock(&loop->lock);
    if (first)
        uv_async_send(&loop->posted);
}

void weir_loop_stop(struct weir_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    loop->stopping = true;
    pthread_cond_signal(&loop->disturbed);
    pthread_mutex_unlock(&loop->lock);
    uv_async_send(&loop->posted);
}

/* What tasks post runs in a coming turn. */
static void on_posted(uv_async_t *posted)
{
    struct weir_loop *loop = posted->data;
    pthread_mutex_lock(&loop->lock);
    struct weir_task *task = loop->first;
    loop->first = loop->last = NULL;
    bool stopping = loop->stopping;
    pthread_mutex_unlock(&loop->lock);
    weir_loop_wake(loop);
    while (task) {
        struct weir_task *next = task->next;
        task->run(task);
        task = next;
    }
    if (stopping)
        uv_stop(&loop->uv);
}

/* --- running ---------------------------------------------------------------------------------- */

static void run(struct weir_loop *loop, uv_run_mode mode)
{
    struct weir_sigpipe guard;
    weir_sigpipe_begin(&guard);
    uv_run(&loop->uv, mode);
    weir_sigpipe_end(&guard);
    loop->now_us = -1;
}

void weir_loop_run(struct weir_loop *loop)
{
    loop->limit_us = WEIR_FOREVER;
    /* A stop from before may have been heard by weir_loop_turn(): hear it again. */
    uv_async_send(&loop->posted);
    run(loop, UV_RUN_DEFAULT);
    pthread_mutex_lock(&loop->lock);
    loop->stopping = false;
    pthread_mutex_unlock(&loop->lock);
}

void weir_loop_turn(struct weir_loop *loop, int64_t timeout_us)
{
    loop->limit_us = weir_time_add(weir_clock_now_us(), timeout_us);
    run(loop, timeout_us > 0 ? UV_RUN_ONCE : UV_RUN_NOWAIT);
}

struct uv_loop_s *weir_loop_uv(struct weir_loop *loop)
{
    return &loop->uv;
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* On the clock of weir_clock_deadline(). */
static void init_disturbed(pthread_cond_t *disturbed)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(disturbed, &attributes);
    pthread_condattr_destroy(&attributes);
}

enum weir_status weir_loop_new(struct weir_loop **ret, struct weir_error *err)
{
    struct weir_loop *loop = weir_calloc(1, sizeof(*loop));
    int rc = uv_loop_init(&loop->uv);
    if (rc) {
        free(loop);
        return weir_fail(err, WEIR_E_IO, "no event loop: %s", uv_strerror(rc));
    }
    rc = uv_async_init(&loop->uv, &loop->posted, on_posted);
    if (rc) {
        uv_loop_close(&loop->uv);
        free(loop);
        return weir_fail(err, WEIR_E_IO, "no event loop: %s", uv_strerror(rc));
    }
    uv_prepare_init(&loop->uv, &loop->prepare);
    uv_check_init(&loop->uv, &loop->check);
    uv_timer_init(&loop->uv, &loop->waker);
    loop->posted.data = loop->prepare.data = loop->check.data = loop->waker.data = loop;
    uv_prepare_start(&loop->prepare, on_prepare);
    uv_check_start(&loop->check, on_check);
    pthread_mutex_init(&loop->lock, NULL);
    init_disturbed(&loop->disturbed);
    loop->now_us = -1;
    loop->armed_us = WEIR_FOREVER;
    more_ids(loop, FIRST_TIMERS);
    *ret = loop;
    return WEIR_OK;
}

void weir_loop_free(struct weir_loop *loop)
{
    if (!loop)
        return;
    assert(loop->due.count == 0);
    uv_close((uv_handle_t *)&loop->prepare, NULL);
    uv_close((uv_handle_t *)&loop->check, NULL);
    uv_close((uv_handle_t *)&loop->waker, NULL);
    uv_close((uv_handle_t *)&loop->posted, NULL);
    /* What closes last: sockets of transports just freed, children that were killed. */
    run(loop, UV_RUN_DEFAULT);
    int rc = uv_loop_close(&loop->uv);
    assert(rc == 0);
    (void)rc;
    pthread_cond_destroy(&loop->disturbed);
    pthread_mutex_destroy(&loop->lock);
    weir_heap_release(&loop->due);
    free(loop->timers);
    free(loop->unused);
    free(loop);
}

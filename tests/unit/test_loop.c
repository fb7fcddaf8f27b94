/* SPDX-License-Identifier: MIT */
/* The event loop: time, timers, tasks, stopping, and SIGPIPE. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "net/loop.h"
#include "net/loop_parts.h"
#include "support/suite.h"

#define MS(n)    ((int64_t)(n)*WEIR_US_PER_MS)
#define GUARD_US (60 * WEIR_US_PER_S) /* nothing takes as long */

#define THREADS 4
#define TASKS   5000

#define owner(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static struct weir_loop *loop;
static int done_count;
static int next_number[THREADS];

static void setup(void)
{
    done_count = 0;
    memset(next_number, 0, sizeof(next_number));
    ck_assert_int_eq(weir_loop_new(&loop, NULL), WEIR_OK);
}

static void teardown(void)
{
    weir_loop_free(loop);
}

#define turn_until(condition)                                                                      \
    do {                                                                                           \
        int64_t guard_us = weir_clock_now_us() + GUARD_US;                                         \
        while (!(condition)) {                                                                     \
            weir_loop_turn(loop, MS(20));                                                          \
            must(weir_clock_now_us() < guard_us);                                                  \
        }                                                                                          \
    } while (0)

/* --- timers ----------------------------------------------------------------------------------- */

#define TIMERS 200

struct alarm {
    struct weir_timer timer;
    int64_t due_us; /* 0: not set */
    int runs;
    struct alarm *stops; /* another, when it runs */
};

static struct alarm alarms[TIMERS];
static int64_t last_due_us;
static int rung;

static void ring(struct weir_timer *timer)
{
    struct alarm *alarm = owner(timer, struct alarm, timer);
    must(alarm->due_us);                           /* it was set, and not stopped since */
    must(weir_loop_now_us(loop) >= alarm->due_us); /* not too early */
    must(alarm->due_us >= last_due_us);            /* not before one that was due before */
    must(weir_clock_now_us() >= weir_loop_now_us(loop));
    last_due_us = alarm->due_us;
    alarm->due_us = 0;
    alarm->runs++;
    rung++;
    if (alarm->stops) {
        weir_timer_stop(&alarm->stops->timer);
        alarm->stops->due_us = 0;
    }
}

static void init_alarms(void)
{
    rung = 0;
    last_due_us = 0;
    for (int i = 0; i < TIMERS; i++) {
        alarms[i] = (struct alarm){ 0 };
        weir_timer_init(&alarms[i].timer, loop, ring);
    }
}

static void release_alarms(void)
{
    for (int i = 0; i < TIMERS; i++)
        weir_timer_release(&alarms[i].timer);
}

static void set(struct alarm *alarm, int64_t due_us)
{
    alarm->due_us = due_us;
    weir_timer_set(&alarm->timer, due_us);
}

static int count_set(void)
{
    int count = 0;
    for (int i = 0; i < TIMERS; i++)
        count += alarms[i].due_us != 0;
    return count;
}

START_TEST(timers_run_once_each_in_the_order_of_their_times)
{
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    setup();
    init_alarms();
    int64_t begun_us = weir_clock_now_us() + MS(1);
    for (int step = 0; step < 1000; step++) {
        struct alarm *alarm = &alarms[weir_rng_below(&rng, TIMERS)];
        uint64_t what = weir_rng_below(&rng, 10);
        if (what < 7) {
            set(alarm, begun_us + (int64_t)weir_rng_below(&rng, 20000));
            continue;
        }
        alarm->due_us = 0;
        if (what < 9)
            weir_timer_stop(&alarm->timer);
        else
            weir_timer_release(&alarm->timer);
    }
    int expected = count_set();
    must(expected > TIMERS / 4);
    turn_until(count_set() == 0);
    ck_assert_int_eq(rung, expected);
    weir_loop_turn(loop, MS(30));
    ck_assert_int_eq(rung, expected);
    release_alarms();
    teardown();
}
END_TEST

START_TEST(a_timer_may_stop_another_that_is_due_in_the_same_turn)
{
    setup();
    init_alarms();
    int64_t now_us = weir_clock_now_us();
    for (int i = 0; i + 1 < TIMERS; i += 2) {
        set(&alarms[i], now_us - 10);
        set(&alarms[i + 1], now_us - 5);
        alarms[i].stops = &alarms[i + 1];
    }
    weir_loop_turn(loop, 0);
    ck_assert_int_eq(rung, TIMERS / 2);
    weir_loop_turn(loop, 0);
    ck_assert_int_eq(rung, TIMERS / 2);
    release_alarms();
    teardown();
}
END_TEST

static int again_runs;

static void again(struct weir_timer *timer)
{
    again_runs++;
    weir_timer_set(timer, weir_loop_now_us(loop));
}

START_TEST(a_timer_that_sets_itself_for_now_runs_once_a_turn)
{
    struct weir_timer timer;
    setup();
    weir_timer_init(&timer, loop, again);
    weir_timer_set(&timer, 0);
    for (int i = 1; i < 100; i++) {
        turn_until(again_runs >= i);
        ck_assert_int_eq(again_runs, i);
    }
    weir_timer_release(&timer);
    teardown();
}
END_TEST

static void stop_here(struct weir_timer *timer)
{
    weir_loop_stop(timer->loop);
}

/* Longer than the loop ever sleeps at once: it sleeps twice. */
START_TEST(a_timer_beyond_the_longest_sleep_is_kept)
{
    struct weir_timer timer;
    setup();
    weir_timer_init(&timer, loop, stop_here);
    int64_t due_us = weir_clock_now_us() + WEIR_TIMER_MAX_US + MS(100);
    weir_timer_set(&timer, due_us);
    weir_loop_run(loop);
    ck_assert_int_ge(weir_clock_now_us(), due_us);
    weir_timer_release(&timer);
    teardown();
}
END_TEST

START_TEST(a_timer_that_is_never_due_does_not_run)
{
    setup();
    init_alarms();
    set(&alarms[0], WEIR_FOREVER);
    weir_loop_turn(loop, MS(5));
    ck_assert_int_eq(rung, 0);
    weir_timer_release(&(struct weir_timer){ 0 });
    release_alarms();
    teardown();
}
END_TEST

/* --- time ------------------------------------------------------------------------------------- */

static int64_t seen_us[2];

static void look_twice(struct weir_timer *timer)
{
    (void)timer;
    seen_us[0] = weir_loop_now_us(loop);
    int64_t clock_us = weir_clock_now_us();
    while (weir_clock_now_us() < clock_us + MS(2))
        ;
    seen_us[1] = weir_loop_now_us(loop);
}

START_TEST(time_stands_still_within_a_turn_and_goes_on_outside)
{
    struct weir_timer timer;
    setup();
    weir_timer_init(&timer, loop, look_twice);
    for (int i = 0; i < 5; i++) {
        seen_us[0] = 0;
        weir_timer_set(&timer, weir_clock_now_us());
        turn_until(seen_us[0]);
        ck_assert_int_eq(seen_us[0], seen_us[1]);
        ck_assert_int_gt(weir_loop_now_us(loop), seen_us[1]);
    }
    weir_timer_release(&timer);
    teardown();
}
END_TEST

/* --- tasks ------------------------------------------------------------------------------------ */

struct errand {
    struct weir_task task;
    int thread;
    int number;
};

static struct errand errands[THREADS][TASKS];
static pthread_t loop_thread;

static void run_errand(struct weir_task *task)
{
    struct errand *errand = owner(task, struct errand, task);
    must(pthread_equal(pthread_self(), loop_thread));
    must(next_number[errand->thread] == errand->number);
    next_number[errand->thread]++;
    done_count++;
}

static void *post_all(void *ctx)
{
    int thread = (int)(intptr_t)ctx;
    for (int i = 0; i < TASKS; i++) {
        errands[thread][i] = (struct errand){ { .run = run_errand }, thread, i };
        weir_loop_post(loop, &errands[thread][i].task);
    }
    return NULL;
}

static void run_tasks_of_many_threads(void)
{
    pthread_t threads[THREADS];
    loop_thread = pthread_self();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, post_all, (void *)(intptr_t)i);
    turn_until(done_count == THREADS * TASKS);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

START_TEST(tasks_of_many_threads_run_once_each_in_the_order_of_each)
{
    setup();
    run_tasks_of_many_threads();
    teardown();
}
END_TEST

/* --- resting ---------------------------------------------------------------------------------- */

#define TURNS 20

static int heard_count;
static int64_t heard_us[TURNS];

static void on_heard(uv_poll_t *poll, int status, int events)
{
    (void)poll, (void)status, (void)events;
    weir_loop_wake(loop);
    if (heard_count < TURNS)
        heard_us[heard_count] = weir_loop_now_us(loop);
    heard_count++;
}

/* Turns with a socket that always has something to say. */
static void hear_for(int awaited)
{
    static const uint64_t one = 1;
    uv_poll_t poll;
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    must(fd >= 0 && write(fd, &one, sizeof(one)) == sizeof(one));
    heard_count = 0;
    setup();
    weir_loop_await(loop, awaited);
    uv_poll_init(weir_loop_uv(loop), &poll, fd);
    uv_poll_start(&poll, UV_READABLE, on_heard);
    turn_until(heard_count >= TURNS);
    uv_close((uv_handle_t *)&poll, NULL);
    teardown();
    close(fd);
}

START_TEST(a_loop_that_awaits_many_answers_rests_between_turns)
{
    hear_for(WEIR_LOOP_REST_FROM);
    for (int i = 1; i < TURNS; i++)
        must(heard_us[i] - heard_us[i - 1] >= WEIR_LOOP_REST_US);
}
END_TEST

/* On a machine that does something else for so long between any two turns this proves nothing. */
START_TEST(a_loop_that_awaits_few_answers_does_not)
{
    hear_for(WEIR_LOOP_REST_FROM - 1);
    int at_once = 0;
    for (int i = 1; i < TURNS; i++)
        at_once += heard_us[i] - heard_us[i - 1] < WEIR_LOOP_REST_US;
    must(at_once > 0);
}
END_TEST

static void run_to_the_end(struct weir_timer *timer)
{
    (void)timer;
    weir_loop_stop(loop);
}

/* Nothing comes by itself: every task has to end a rest, and the stop too. */
START_TEST(a_task_and_a_stop_end_the_rest)
{
    struct weir_timer timer;
    setup();
    weir_loop_await(loop, 100);
    weir_timer_init(&timer, loop, run_to_the_end);
    run_tasks_of_many_threads();
    weir_timer_set(&timer, weir_clock_now_us() + MS(1));
    weir_loop_run(loop);
    weir_timer_release(&timer);
    teardown();
}
END_TEST

static void *post_and_stop(void *ctx)
{
    post_all(ctx);
    weir_loop_stop(loop);
    return NULL;
}

START_TEST(what_was_posted_before_the_stop_has_run)
{
    setup();
    loop_thread = pthread_self();
    for (int round = 0; round < 20; round++) {
        pthread_t thread;
        done_count = next_number[0] = 0;
        pthread_create(&thread, NULL, post_and_stop, NULL);
        weir_loop_run(loop);
        ck_assert_int_eq(done_count, TASKS);
        pthread_join(thread, NULL);
    }
    teardown();
}
END_TEST

static int hops;

static void hop(struct weir_task *task)
{
    if (++hops < 100)
        weir_loop_post(loop, task);
}

START_TEST(a_task_that_posts_itself_runs_once_a_turn_and_never_within_the_posting)
{
    struct weir_task task = { .run = hop };
    setup();
    weir_loop_post(loop, &task);
    ck_assert_int_eq(hops, 0);
    for (int i = 1; i <= 100; i++) {
        turn_until(hops >= i);
        ck_assert_int_eq(hops, i);
    }
    teardown();
}
END_TEST

START_TEST(a_stop_is_not_lost)
{
    setup();
    weir_loop_stop(loop);
    weir_loop_run(loop); /* one from before */
    weir_loop_stop(loop);
    weir_loop_turn(loop, MS(5)); /* one that a single turn heard of */
    weir_loop_run(loop);
    /* and there is none left over: only the timer ends this */
    struct weir_timer timer;
    weir_timer_init(&timer, loop, stop_here);
    int64_t due_us = weir_clock_now_us() + MS(20);
    weir_timer_set(&timer, due_us);
    weir_loop_run(loop);
    ck_assert_int_ge(weir_clock_now_us(), due_us);
    weir_timer_release(&timer);
    teardown();
}
END_TEST

START_TEST(what_has_not_run_when_the_loop_is_freed_never_does)
{
    static struct errand errand = { { .run = run_errand }, 0, 0 };
    setup();
    weir_loop_post(loop, &errand.task);
    teardown();
    ck_assert_int_eq(done_count, 0);
    weir_loop_free(NULL);
}
END_TEST

/* --- SIGPIPE ---------------------------------------------------------------------------------- */

static ssize_t written;

static void write_to_nobody(struct weir_task *task)
{
    (void)task;
    int ends[2];
    must(pipe(ends) == 0);
    close(ends[0]);
    written = write(ends[1], "x", 1);
    close(ends[1]);
    weir_loop_stop(loop);
}

/* Nobody ignores the signal, and still it ends nobody: neither at once nor afterwards. */
START_TEST(writing_to_nobody_is_survived_and_the_mask_is_as_before)
{
    struct weir_task task = { .run = write_to_nobody };
    sigset_t mask;
    signal(SIGPIPE, SIG_DFL);
    setup();
    weir_loop_post(loop, &task);
    weir_loop_run(loop);
    ck_assert_int_eq(written, -1);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    ck_assert(!sigismember(&mask, SIGPIPE));
    teardown();
}
END_TEST

static atomic_int caught;

static void catch_it(int number)
{
    (void)number;
    caught++;
}

START_TEST(a_signal_that_was_waiting_before_is_left_to_its_owner)
{
    struct weir_task task = { .run = write_to_nobody };
    sigset_t sigpipe;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    signal(SIGPIPE, catch_it);
    pthread_sigmask(SIG_BLOCK, &sigpipe, NULL);
    raise(SIGPIPE);
    setup();
    weir_loop_post(loop, &task);
    weir_loop_run(loop);
    teardown();
    ck_assert_int_eq(caught, 0);
    pthread_sigmask(SIG_UNBLOCK, &sigpipe, NULL);
    ck_assert_int_eq(caught, 1);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("loop");
    suite_add_loop(&s, "timers_run_once_each_in_the_order_of_their_times",
                   timers_run_once_each_in_the_order_of_their_times, 20);
    suite_add(&s, a_timer_may_stop_another_that_is_due_in_the_same_turn);
    suite_add(&s, a_timer_that_sets_itself_for_now_runs_once_a_turn);
    suite_add(&s, a_timer_beyond_the_longest_sleep_is_kept);
    suite_add(&s, a_timer_that_is_never_due_does_not_run);
    suite_add(&s, time_stands_still_within_a_turn_and_goes_on_outside);
    suite_add(&s, tasks_of_many_threads_run_once_each_in_the_order_of_each);
    suite_add(&s, a_loop_that_awaits_many_answers_rests_between_turns);
    suite_add(&s, a_loop_that_awaits_few_answers_does_not);
    suite_add(&s, a_task_and_a_stop_end_the_rest);
    suite_add(&s, what_was_posted_before_the_stop_has_run);
    suite_add(&s, a_task_that_posts_itself_runs_once_a_turn_and_never_within_the_posting);
    suite_add(&s, a_stop_is_not_lost);
    suite_add(&s, what_has_not_run_when_the_loop_is_freed_never_does);
    suite_add(&s, writing_to_nobody_is_survived_and_the_mask_is_as_before);
    suite_add(&s, a_signal_that_was_waiting_before_is_left_to_its_owner);
    return suite_run(&s);
}

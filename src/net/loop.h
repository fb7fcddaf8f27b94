/* SPDX-License-Identifier: MIT */
/*
 * The event loop: one thread that sockets, child processes and timers belong to (libuv underneath).
 *
 * Time is CLOCK_BOOTTIME, read once a turn. libuv's timers do not know that clock, so the loop
 * keeps its timers in a heap of its own and arms one libuv timer for the first of them, for a
 * second at most: a suspended machine is noticed within that second.
 *
 * "Loop thread": the thread that is inside weir_loop_run(), or any one thread while none is.
 */
#ifndef WEIR_NET_LOOP_H
#define WEIR_NET_LOOP_H

#include <stdint.h>

#include "weir/error.h"

struct weir_loop;
struct uv_loop_s; /* for the rest of net/ */

/* SIGPIPE is blocked in the thread that runs the loop, while it runs it. */
enum weir_status weir_loop_new(struct weir_loop **ret, struct weir_error *err);

/* Tasks that have not run never will. Timers, transports and children must be gone. NULL is fine.
 */
void weir_loop_free(struct weir_loop *loop);

/* Run until weir_loop_stop(); what was posted before that has run. Loop thread. */
void weir_loop_run(struct weir_loop *loop);

/* One turn: wait for something to happen, `timeout_us` at most, and handle it. Loop thread. */
void weir_loop_turn(struct weir_loop *loop, int64_t timeout_us);

/* Any thread. */
void weir_loop_stop(struct weir_loop *loop);

/* The time of this turn. Loop thread. */
int64_t weir_loop_now_us(const struct weir_loop *loop);

/* --- tasks: how other threads hand something over --------------------------------------------- */

/* Part of a larger object of the caller's, which lives until it has run. Queued at most once. */
struct weir_task {
    void (*run)(struct weir_task *task); /* on the loop thread */
    struct weir_task *next;              /* the loop's */
};

/* Run it in a coming turn, in the order of posting; never before this returns. Any thread. */
void weir_loop_post(struct weir_loop *loop, struct weir_task *task);

/* --- timers ----------------------------------------------------------------------------------- */

/* Part of a larger object of the caller's. Loop thread. */
struct weir_timer {
    struct weir_loop *loop;
    void (*run)(struct weir_timer *timer);
    uint32_t id; /* the loop's; 0: not armed since its birth */
};

/* Does not arm it. */
void weir_timer_init(struct weir_timer *timer, struct weir_loop *loop,
                     void (*run)(struct weir_timer *timer));

/* Run once when `due_us` has come (in a coming turn if it has come already); replaces what was set.
 */
void weir_timer_set(struct weir_timer *timer, int64_t due_us);
void weir_timer_stop(struct weir_timer *timer);

/* Stopped, and its place in the loop given back. Fine on a zeroed timer. */
void weir_timer_release(struct weir_timer *timer);

/* libuv's loop, for the files of net/ only. */
struct uv_loop_s *weir_loop_uv(struct weir_loop *loop);

#endif

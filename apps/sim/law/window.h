/* SPDX-License-Identifier: MIT */
/*
 * The sliding-window accountant: how much of one thing was used within the last `window_us`.
 *
 * Use arrives in two forms, which may be mixed: lumps (an amount at a moment) and rates (so much a
 * microsecond from a moment on, until taken back). The window at time t is (t - W, t]: a lump at
 * `at` counts from `at` on, itself included, and no longer at `at + W`; a rate counts by its
 * overlap. Sums are integers and exact.
 *
 * Buckets of b microseconds round times up to the bucket's end. What happened at x is then known as
 * ceil(x), so it stays until ceil(x) + W; and because ceil(x) > t - W just when x > floor(t - W),
 * the window is the same exact log, only begun at floor(t - W). Buckets are aligned to time 0.
 *
 *     entries    ------x-----x-----x------x---x-----x----x--  x: a lump, or a change of rate
 *                            ^                          ^
 *                          tail, at t - W             head, at t
 *                            |<--------- sum --------->|
 *
 * A view is a head, a tail and the sum between them. The present has one; the past of `lag_us` ago
 * has one if somebody asks for it; looking ahead walks a copy over what is known to come. Each
 * entry is passed once by each cursor, so an event costs amortised O(1); memory holds what the
 * earliest tail has not passed.
 */
#ifndef SIM_LAW_WINDOW_H
#define SIM_LAW_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct sim_entry {
    int64_t at_us;
    int64_t amount; /* the lump */
    int64_t rate;   /* the change of rate, in units a microsecond */
};

struct sim_cursor {
    int64_t at_us;
    uint64_t next; /* the first entry that it has not passed */
    int64_t rate;  /* in force at at_us */
};

struct sim_view {
    struct sim_cursor head;
    struct sim_cursor tail;
    int64_t sum;
};

struct sim_window {
    struct sim_entry *ring; /* entry i stands at i modulo capacity, a power of two or 0 */
    uint64_t first;         /* the oldest entry kept */
    uint64_t end;           /* one after the youngest */
    uint32_t capacity;
    int64_t window_us;
    int64_t bucket_us; /* 0: exact */
    int64_t lag_us;    /* 0: nobody asks for the past */
    struct sim_view present;
    struct sim_view past;
};

/* An empty window whose time begins at `start_us`. bucket_us and lag_us may be 0. */
void sim_window_init(struct sim_window *window, int64_t window_us, int64_t bucket_us,
                     int64_t lag_us, int64_t start_us);
void sim_window_release(struct sim_window *window);

/*
 * Use `amount` at `now_us`, and use `rate` more (or, negative, less) from then on. Time never runs
 * backwards here: an earlier now_us is taken as the latest one seen, in all functions.
 */
void sim_window_add(struct sim_window *window, int64_t now_us, int64_t amount, int64_t rate);

/* What was used in (now - W, now]. */
int64_t sim_window_sum(struct sim_window *window, int64_t now_us);

/* What sim_window_sum() was (or would have been) `lag_us` ago. */
int64_t sim_window_past_sum(struct sim_window *window, int64_t now_us);

/*
 * The first moment, not before the latest one seen, when the sum is at most `target`, if nothing
 * happens but the `count` entries of `coming`: ascending, none before the latest moment seen.
 * WEIR_FOREVER: never.
 */
int64_t sim_window_falls_us(const struct sim_window *window, int64_t target,
                            const struct sim_entry *coming, size_t count);

#endif

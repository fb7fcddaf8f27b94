/* SPDX-License-Identifier: MIT */
/*
 * The sliding-window accountant; see window.h.
 *
 * Vocabulary. A sequence is the entries of the log, followed by those known to come; both cursors
 * of a view walk it. What a cursor passes over is a mass: the sum grows by the mass that the head
 * passes and shrinks by the mass that the tail passes. An entry at the very place where a cursor
 * stands has been passed by it, which makes the window open on the left and closed on the right.
 */
#include "sim/law/window.h"

#include "base/clock.h"
#include "base/mem.h"

#define CAPACITY_MIN 16u

struct sequence {
    const struct sim_window *window;
    const struct sim_entry *coming;
    uint64_t end; /* log and coming together */
};

static const struct sim_entry *entry_at(const struct sequence *seq, uint64_t i)
{
    const struct sim_window *window = seq->window;
    if (i < window->end)
        return &window->ring[i & (window->capacity - 1)];
    return &seq->coming[i - window->end];
}

/* Move to `to_us` and say how much was used on the way. */
static int64_t cursor_move(struct sim_cursor *cursor, const struct sequence *seq, int64_t to_us)
{
    int64_t mass = 0;
    while (cursor->next < seq->end) {
        const struct sim_entry *entry = entry_at(seq, cursor->next);
        if (entry->at_us > to_us)
            break;
        mass += cursor->rate * (entry->at_us - cursor->at_us) + entry->amount;
        cursor->at_us = entry->at_us;
        cursor->rate += entry->rate;
        cursor->next++;
    }
    mass += cursor->rate * (to_us - cursor->at_us);
    cursor->at_us = to_us;
    return mass;
}

static int64_t floor_to(int64_t x, int64_t step)
{
    int64_t rest = x % step;
    return x - (rest < 0 ? rest + step : rest);
}

static int64_t ceil_to(int64_t x, int64_t step)
{
    return floor_to(x + step - 1, step);
}

/* Where the window that ends at t_us begins. */
static int64_t tail_of(const struct sim_window *window, int64_t t_us)
{
    int64_t tail_us = t_us - window->window_us;
    return window->bucket_us ? floor_to(tail_us, window->bucket_us) : tail_us;
}

static void view_move(struct sim_view *view, const struct sequence *seq, int64_t to_us)
{
    if (to_us < view->head.at_us)
        to_us = view->head.at_us;
    view->sum += cursor_move(&view->head, seq, to_us);
    view->sum -= cursor_move(&view->tail, seq, tail_of(seq->window, to_us));
}

static struct sim_view empty_view(const struct sim_window *window, int64_t at_us)
{
    return (struct sim_view){ .head = { .at_us = at_us },
                              .tail = { .at_us = tail_of(window, at_us) } };
}

void sim_window_init(struct sim_window *window, int64_t window_us, int64_t bucket_us,
                     int64_t lag_us, int64_t start_us)
{
    *window = (struct sim_window){
        .window_us = window_us,
        .bucket_us = bucket_us,
        .lag_us = lag_us,
    };
    window->present = empty_view(window, start_us);
    window->past = empty_view(window, start_us - lag_us);
}

void sim_window_release(struct sim_window *window)
{
    free(window->ring);
    *window = (struct sim_window){ 0 };
}

static void advance(struct sim_window *window, int64_t now_us)
{
    struct sequence log = { window, NULL, window->end };
    view_move(&window->present, &log, now_us);
    window->first = window->present.tail.next;
    if (!window->lag_us)
        return;
    view_move(&window->past, &log, window->present.head.at_us - window->lag_us);
    window->first = window->past.tail.next;
}

static void grow(struct sim_window *window)
{
    uint32_t capacity = window->capacity ? 2 * window->capacity : CAPACITY_MIN;
    struct sim_entry *ring = weir_calloc(capacity, sizeof(*ring));
    for (uint64_t i = window->first; i < window->end; i++)
        ring[i & (capacity - 1)] = window->ring[i & (window->capacity - 1)];
    free(window->ring);
    window->ring = ring;
    window->capacity = capacity;
}

void sim_window_add(struct sim_window *window, int64_t now_us, int64_t amount, int64_t rate)
{
    advance(window, now_us);
    if (window->end - window->first == window->capacity)
        grow(window);
    struct sim_cursor *head = &window->present.head;
    window->ring[window->end++ & (window->capacity - 1)] =
        (struct sim_entry){ head->at_us, amount, rate };
    /* The head stands where the entry is, so it passes it at once. */
    head->next++;
    head->rate += rate;
    window->present.sum += amount;
}

int64_t sim_window_sum(struct sim_window *window, int64_t now_us)
{
    advance(window, now_us);
    return window->present.sum;
}

int64_t sim_window_past_sum(struct sim_window *window, int64_t now_us)
{
    advance(window, now_us);
    return window->past.sum;
}

/* The next moment when the tail passes something. */
static int64_t next_expiry(const struct sequence *seq, const struct sim_view *view)
{
    int64_t bucket_us = seq->window->bucket_us;
    int64_t window_us = seq->window->window_us;
    if (bucket_us && view->tail.rate)
        return weir_time_add(view->tail.at_us, bucket_us + window_us);
    if (view->tail.next == seq->end)
        return WEIR_FOREVER;
    int64_t at_us = entry_at(seq, view->tail.next)->at_us;
    return (bucket_us ? ceil_to(at_us, bucket_us) : at_us) + window_us;
}

/* The next moment when the slope of the sum may change, or the sum jump down. */
static int64_t next_stop(const struct sequence *seq, const struct sim_view *view)
{
    int64_t stop_us = next_expiry(seq, view);
    if (view->head.next == seq->end)
        return stop_us;
    int64_t arrival_us = entry_at(seq, view->head.next)->at_us;
    return arrival_us < stop_us ? arrival_us : stop_us;
}

/* When the sum would reach `target` if its slope stayed. With buckets it falls in jumps only. */
static int64_t crossing(const struct sequence *seq, const struct sim_view *view, int64_t target)
{
    int64_t fall = seq->window->bucket_us ? 0 : view->tail.rate - view->head.rate;
    if (fall <= 0)
        return WEIR_FOREVER;
    return view->head.at_us + (view->sum - target + fall - 1) / fall;
}

int64_t sim_window_falls_us(const struct sim_window *window, int64_t target,
                            const struct sim_entry *coming, size_t count)
{
    struct sequence seq = { window, coming, window->end + count };
    struct sim_view view = window->present;
    while (view.sum > target) {
        int64_t stop_us = next_stop(&seq, &view);
        int64_t cross_us = crossing(&seq, &view, target);
        if (cross_us < stop_us)
            return cross_us;
        if (stop_us == WEIR_FOREVER)
            return WEIR_FOREVER;
        view_move(&view, &seq, stop_us);
    }
    return view.head.at_us;
}

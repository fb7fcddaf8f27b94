/* SPDX-License-Identifier: MIT */
/*
 * Which lanes are throttled, and until when; see tracker.h.
 *
 *      record                 expiry        reopening
 *        │◀───── Retry-After ───▶│◀buffer+jitter▶│
 *   ─────┼────────throttled──────┼───────────────┼──────▶ time
 *        └────────────── closed ─────────────────┘
 */
#include "throttle/tracker.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "weir/stats.h"

void weir_tracker_init(struct weir_tracker *tracker, uint32_t keys, int64_t buffer_us)
{
    *tracker = (struct weir_tracker){ .buffer_us = buffer_us };
    weir_heap_init(&tracker->expiries, keys);
    tracker->expiry_us = weir_calloc(keys, sizeof(*tracker->expiry_us));
    tracker->reopening_us = weir_calloc(keys, sizeof(*tracker->reopening_us));
    tracker->backoff_us = weir_calloc(keys, sizeof(*tracker->backoff_us));
    for (uint32_t key = 0; key < keys; key++) {
        tracker->expiry_us[key] = WEIR_NEVER;
        tracker->reopening_us[key] = WEIR_NEVER;
    }
}

void weir_tracker_release(struct weir_tracker *tracker)
{
    weir_heap_release(&tracker->expiries);
    free(tracker->expiry_us);
    free(tracker->reopening_us);
    free(tracker->backoff_us);
    *tracker = (struct weir_tracker){ 0 };
}

static void drop_until(struct weir_heap *heap, int64_t now_us)
{
    while (heap->count && weir_heap_min(heap) <= now_us)
        weir_heap_remove(heap, weir_heap_top(heap));
}

static int64_t jitter_us(int64_t retry_after_us, double chance)
{
    int64_t span = retry_after_us / 20;
    if (span > WEIR_REOPEN_JITTER_MAX_US)
        span = WEIR_REOPEN_JITTER_MAX_US;
    return (int64_t)((double)span * chance);
}

static void add_backoff(struct weir_tracker *tracker, uint32_t key, int64_t span_us)
{
    tracker->backoff_us[key] += span_us;
    tracker->total_backoff_us += span_us;
}

void weir_tracker_block(struct weir_tracker *tracker, uint32_t key, int64_t retry_after_us,
                        double chance, int64_t now_us)
{
    int64_t old_expiry = tracker->expiry_us[key];
    int64_t expiry = weir_time_add(now_us, retry_after_us);
    if (expiry > old_expiry) {
        add_backoff(tracker, key, expiry - (old_expiry > now_us ? old_expiry : now_us));
        tracker->expiry_us[key] = expiry;
        weir_heap_set(&tracker->expiries, key, expiry);
    }
    int64_t reopening =
        weir_time_add(expiry, tracker->buffer_us + jitter_us(retry_after_us, chance));
    if (reopening > tracker->reopening_us[key])
        tracker->reopening_us[key] = reopening;
}

void weir_tracker_record(struct weir_tracker *tracker, uint32_t key, int64_t retry_after_us,
                         double chance, int64_t now_us)
{
    tracker->total_events++;
    weir_tracker_block(tracker, key, retry_after_us, chance, now_us);
}

void weir_tracker_take_over(struct weir_tracker *tracker, uint32_t key,
                            const struct weir_tracker *from, int64_t now_us)
{
    if (weir_tracker_is_throttled(from, key, now_us))
        weir_tracker_block(tracker, key, from->expiry_us[key] - now_us, 0, now_us);
    if (from->reopening_us[key] > tracker->reopening_us[key])
        tracker->reopening_us[key] = from->reopening_us[key];
}

void weir_tracker_clear(struct weir_tracker *tracker, uint32_t key, int64_t now_us)
{
    if (weir_tracker_is_throttled(tracker, key, now_us))
        add_backoff(tracker, key, now_us - tracker->expiry_us[key]);
    tracker->expiry_us[key] = WEIR_NEVER;
    tracker->reopening_us[key] = WEIR_NEVER;
    weir_heap_remove(&tracker->expiries, key);
}

bool weir_tracker_is_throttled(const struct weir_tracker *tracker, uint32_t key, int64_t now_us)
{
    return now_us < tracker->expiry_us[key];
}

int64_t weir_tracker_expiry_us(const struct weir_tracker *tracker, uint32_t key, int64_t now_us)
{
    return weir_tracker_is_throttled(tracker, key, now_us) ? tracker->expiry_us[key] : WEIR_NEVER;
}

int64_t weir_tracker_reopening_us(const struct weir_tracker *tracker, uint32_t key)
{
    return tracker->reopening_us[key];
}

int64_t weir_tracker_clears_us(const struct weir_tracker *tracker, uint32_t key)
{
    int64_t expiry = tracker->expiry_us[key];
    return expiry == WEIR_NEVER ? WEIR_NEVER : weir_time_add(expiry, tracker->buffer_us);
}

uint32_t weir_tracker_count(struct weir_tracker *tracker, int64_t now_us)
{
    drop_until(&tracker->expiries, now_us);
    return tracker->expiries.count;
}

uint32_t weir_tracker_list(struct weir_tracker *tracker, int64_t now_us, uint32_t *keys,
                           uint32_t max)
{
    uint32_t count = weir_tracker_count(tracker, now_us);
    if (count > max)
        count = max;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = tracker->expiries.ids[i];
    return count;
}

int64_t weir_tracker_shortest_expiry_us(struct weir_tracker *tracker, int64_t now_us)
{
    return weir_tracker_count(tracker, now_us) ? weir_heap_min(&tracker->expiries) - now_us : 0;
}

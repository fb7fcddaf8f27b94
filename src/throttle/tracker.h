/* SPDX-License-Identifier: MIT */
/*
 * Which lanes are throttled, and until when.
 *
 * A key is a small number: the pool gives one to every lane of every connection. A key is
 * *throttled* while now < its expiry, and *closed* a little longer, until its reopening: expiry +
 * buffer + jitter. Counting, listing and asking use the expiry; leasing goes by the reopening. A
 * later, shorter Retry-After never shortens a block. Expired entries vanish by themselves: memory
 * is a function of the number of keys alone. Recording and asking cost O(log n), asking for the
 * shortest O(1).
 */
#ifndef WEIR_THROTTLE_TRACKER_H
#define WEIR_THROTTLE_TRACKER_H

#include "base/heap.h"

struct weir_tracker {
    struct weir_heap expiries; /* throttled keys, by expiry */
    int64_t *expiry_us;        /* last expiry of each key; WEIR_NEVER: none yet */
    int64_t *reopening_us;     /* last reopening of each key; WEIR_NEVER: none yet */
    int64_t buffer_us;
    uint64_t total_events;
    int64_t *backoff_us;      /* what the blocks of a key add up to, overlaps counted once … */
    int64_t total_backoff_us; /* … and those of all */
};

void weir_tracker_init(struct weir_tracker *tracker, uint32_t keys, int64_t buffer_us);
void weir_tracker_release(struct weir_tracker *tracker);

/*
 * RecordThrottle: block `key` for `retry_after_us` from now. `chance` in [0, 1) places the jitter
 * between 0 and the smaller of a second and 5 % of Retry-After.
 */
void weir_tracker_record(struct weir_tracker *tracker, uint32_t key, int64_t retry_after_us,
                         double chance, int64_t now_us);

/* The same without counting a throttle event: 503 with a Retry-After. */
void weir_tracker_block(struct weir_tracker *tracker, uint32_t key, int64_t retry_after_us,
                        double chance, int64_t now_us);

/* Block `key` as long as another tracker blocks it, without counting a throttle event: what is
 * still to come of the block is counted as such. */
void weir_tracker_take_over(struct weir_tracker *tracker, uint32_t key,
                            const struct weir_tracker *from, int64_t now_us);

/* ClearThrottle: open it now. The part of the block that did not take place is not counted. */
void weir_tracker_clear(struct weir_tracker *tracker, uint32_t key, int64_t now_us);

/* IsThrottled. */
bool weir_tracker_is_throttled(const struct weir_tracker *tracker, uint32_t key, int64_t now_us);

/* GetThrottleExpiry: WEIR_NEVER if it is not throttled now. */
int64_t weir_tracker_expiry_us(const struct weir_tracker *tracker, uint32_t key, int64_t now_us);

/* When the key may be leased again: in the past, or WEIR_NEVER, if it may now. */
int64_t weir_tracker_reopening_us(const struct weir_tracker *tracker, uint32_t key);

/* The same without the jitter, for answers that must not depend on chance. */
int64_t weir_tracker_clears_us(const struct weir_tracker *tracker, uint32_t key);

/* ThrottledConnectionCount. */
uint32_t weir_tracker_count(struct weir_tracker *tracker, int64_t now_us);

/* ThrottledConnections: at most `max` keys, in no particular order; returns how many. */
uint32_t weir_tracker_list(struct weir_tracker *tracker, int64_t now_us, uint32_t *keys,
                           uint32_t max);

/* GetShortestExpiry: the time until the first throttled key expires; 0 if none is. */
int64_t weir_tracker_shortest_expiry_us(struct weir_tracker *tracker, int64_t now_us);

#endif

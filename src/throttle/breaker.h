/* SPDX-License-Identifier: MIT */
/*
 * A circuit breaker for failures that are not throttles.
 *
 *     closed ──N failures in a row──▶ open ──time──▶ half open ──success──▶ closed
 *        ▲                             ▲                 │
 *        └───────── a success          └── failure, twice as long, up to the longest
 *
 * While it is open nothing may go; half open, one request may (the probe). Throttles are neither
 * successes nor failures to it. Pure: one value per connection, no clock.
 */
#ifndef WEIR_THROTTLE_BREAKER_H
#define WEIR_THROTTLE_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/config.h"

enum weir_breaker_state {
    WEIR_BREAKER_CLOSED,
    WEIR_BREAKER_OPEN,
    WEIR_BREAKER_HALF_OPEN,
};

/* Zeroed is closed. */
struct weir_breaker {
    int failures;        /* in a row */
    int64_t open_for_us; /* how long it opened last; 0: closed */
    int64_t until_us;    /* when open: the moment of the probe */
};

enum weir_breaker_state weir_breaker_state(const struct weir_breaker *breaker, int64_t now_us);

/* A request was answered without a failure. */
void weir_breaker_succeeded(struct weir_breaker *breaker);

/*
 * A request failed, other than by a throttle. `sent_us` is when it left: what left before the
 * breaker opened says nothing new while it is open. True: this failure opened the breaker.
 */
bool weir_breaker_failed(struct weir_breaker *breaker,
                         const struct weir_circuit_breaker_options *options, int64_t sent_us,
                         int64_t now_us);

/* The next probe may go in `span_us` at the latest. False: that changes nothing. */
bool weir_breaker_hasten(struct weir_breaker *breaker, int64_t span_us, int64_t now_us);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What happened in the pool, for logs, progress views and timelines.
 *
 * The core calls nobody back: it notes events in a ring, and whoever drives it takes them out when
 * the core is at rest. A ring that nobody empties forgets its oldest events and counts them.
 */
#ifndef WEIR_POOL_EVENT_H
#define WEIR_POOL_EVENT_H

#include "weir/log.h"
#include "weir/stats.h"
#include "weir/verdict.h"

enum weir_pool_event_type {
    WEIR_EVENT_THROTTLE,      /* warning: verdict, attempt, attempt_max */
    WEIR_EVENT_BLOCKED,       /* warning: a 503 with Retry-After; wait_us */
    WEIR_EVENT_FALLBACK,      /* warning: Retry-After was missing or unusable; wait_us stands in */
    WEIR_EVENT_CLAMPED,       /* warning: Retry-After was too long; wait_us stands in */
    WEIR_EVENT_ELSEWHERE,     /* debug: other connections are open */
    WEIR_EVENT_ALL_THROTTLED, /* info: wait_us */
    WEIR_EVENT_REOPENED,      /* debug: the first lease after a throttle, the probe */
    WEIR_EVENT_LEVEL,         /* debug: current, max, successes, throttle_events, bound_by */
    WEIR_EVENT_SET_ASIDE,     /* warning */
    WEIR_EVENT_RESTORED,      /* info */
    WEIR_EVENT_BREAKER_OPEN,  /* warning: wait_us */
    WEIR_EVENT_BREAKER_CLOSED /* info */
};

struct weir_pool_event {
    enum weir_pool_event_type type;
    const char *connection_name; /* lives as long as the pool */
    int64_t time_us;
    struct weir_verdict verdict;
    int attempt;
    int attempt_max;
    int64_t wait_us;
    int current;
    int max;
    int successes;
    uint64_t throttle_events;
    enum weir_bound bound_by;
};

#define WEIR_EVENTS_MAX 256

struct weir_pool_events {
    struct weir_pool_event *ring; /* NULL: nobody wants them */
    uint32_t first;
    uint32_t count;
    uint64_t lost;
};

void weir_pool_events_init(struct weir_pool_events *events, bool wanted);
void weir_pool_events_release(struct weir_pool_events *events);

void weir_pool_events_add(struct weir_pool_events *events, const struct weir_pool_event *event);

/* The oldest event. False: there is none. */
bool weir_pool_events_take(struct weir_pool_events *events, struct weir_pool_event *ret);

/* Write an event to a log. */
void weir_pool_event_log(const struct weir_pool_event *event, const struct weir_log_sink *sink);

#endif

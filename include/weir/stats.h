/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of the pool and of each connection's policy.
 *
 * Field names are the snake_case of the design documents' names; the JSON forms write them in
 * PascalCase. Times are microseconds on weir's clock (CLOCK_BOOTTIME); adding weir_wall_offset_us()
 * turns one into microseconds since 1970.
 */
#ifndef WEIR_STATS_H
#define WEIR_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A time that has not happened yet. */
#define WEIR_NEVER INT64_MIN

/* What keeps a connection from having more requests in flight. */
enum weir_bound {
    WEIR_BOUND_MAX = 0, /* the server's recommended degree of parallelism, reached by Aimd */
    WEIR_BOUND_DOP,     /* the same, used as it is */
    WEIR_BOUND_AIMD,    /* the level that Aimd has reached */
    WEIR_BOUND_EXECUTION_TIME,
    WEIR_BOUND_THROTTLE_CEILING,
    WEIR_BOUND_BUDGET,
    WEIR_BOUND_CONCURRENCY,
    WEIR_BOUND_POOL,             /* MaxPoolSize, or the ramp after a throttle */
    WEIR_BOUND_USER,             /* a fixed number or MaxParallelBatches */
    WEIR_BOUND_BUDGET_REQUESTS,  /* Budget: the requests of the window are used up */
    WEIR_BOUND_BUDGET_EXECUTION, /* Budget: the execution time of the window is used up */
    WEIR_BOUND_PACING,           /* Budget: the rest of the window is spread */
    WEIR_BOUND_GUARD,            /* Budget: more at a time would make each of them slower */
    WEIR_BOUND_COUNT
};

struct weir_pool_stats {
    uint32_t total_connections;     /* application users */
    uint32_t throttled_connections; /* of them, throttled now */
    uint32_t set_aside_connections; /* of them, set aside now */
    uint64_t total_throttle_events; /* since the pool was made */
    uint32_t active_leases;
    uint32_t waiters;
    uint64_t requests_served; /* leases that were given back with an answer */
    int64_t
        total_backoff_time_us; /* time that connections were, or will be, blocked by throttles */
};

struct weir_adaptive_rate_stats {
    char connection_name[WEIR_CONNECTION_NAME_MAX + 1];
    int current_parallelism; /* 0: the connection has not been used yet */
    int max_parallelism;
    int last_known_good_parallelism;
    bool is_last_known_good_stale;
    int successes_since_throttle;
    uint64_t total_throttle_events;
    int64_t last_throttle_time_us; /* WEIR_NEVER */
    int64_t last_increase_time_us; /* WEIR_NEVER */
    int64_t last_activity_time_us; /* WEIR_NEVER */
    double average_batch_ms;       /* 0: no success yet */
    int execution_time_ceiling;    /* 0: none in force */
    int throttle_ceiling;          /* 0: none in force */
    enum weir_bound bound_by;
    int64_t predicted_throttle_in_us; /* of Budget: when the service would throttle if everything
                                         went on as now; -1: never, or not known */
};

/* "max", "dop", "aimd", "execution time", … Any thread. */
WEIR_API const char *weir_bound_name(enum weir_bound bound);

/*
 * The snapshots as one JSON object in `text` of `text_bytes` bytes, keys in PascalCase, durations
 * in seconds, times in ISO 8601 (null: never). Returns the length; WEIR_STATS_JSON_MAX bytes
 * always suffice. `wall_offset_us`: what weir_wall_offset_us() says. Any thread.
 */
#define WEIR_STATS_JSON_MAX 2048
WEIR_API size_t weir_pool_stats_json(const struct weir_pool_stats *stats, char *text,
                                     size_t text_bytes);
WEIR_API size_t weir_adaptive_rate_stats_json(const struct weir_adaptive_rate_stats *stats,
                                              int64_t wall_offset_us, char *text,
                                              size_t text_bytes);

/* Wall clock minus weir's clock, in microseconds, as of now. Any thread. */
WEIR_API int64_t weir_wall_offset_us(void);

#ifdef __cplusplus
}
#endif

#endif

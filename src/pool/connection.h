/* SPDX-License-Identifier: MIT */
/*
 * One application user inside the pool, and its lanes.
 *
 * At any instant a connection is in exactly one *condition*:
 *
 *     ready      may be asked for a lease
 *     full       as many in flight as its cap allows; an answer frees a slot
 *     paced      its policy said "not before t", for reasons of budget
 *     closed     throttled on every lane, until the first reopening
 *     tripped    its breaker is open, until the probe
 *     set aside  out of use until somebody restores it
 *
 * A *lane* is one web server of the connection; most policies know only lane 0. A throttle closes a
 * lane; when it reopens it starts on a *ramp*: one probe, then 2, 4, 8 … doubling with each answer
 * that shows it open, until the level is reached.
 *
 * The *generation* of a lane changes whenever leases granted before must not be used any more: it
 * was closed, or its connection was tripped or set aside. A lease carries the generation of its
 * grant.
 *
 * The *cap* of a connection is the least of: the policy's level, the ramp of its only lane, and one
 * while the breaker is half open.
 */
#ifndef WEIR_POOL_CONNECTION_H
#define WEIR_POOL_CONNECTION_H

#include "throttle/breaker.h"
#include "weir/pool.h"

enum weir_condition {
    WEIR_CONDITION_READY,
    WEIR_CONDITION_FULL,
    WEIR_CONDITION_PACED,
    WEIR_CONDITION_CLOSED,
    WEIR_CONDITION_TRIPPED,
    WEIR_CONDITION_SET_ASIDE,
    WEIR_CONDITION_COUNT
};

/* What the service has said of one budget. Zeroed: nothing yet. */
struct weir_budget_seen {
    bool known;
    int64_t remaining; /* the last word */
    int64_t most;      /* the most that it ever said: about the whole */
};

/* How often a connection was throttled, by enum weir_throttle_kind. */
struct weir_throttle_counts {
    uint64_t of_kind[WEIR_THROTTLE_OTHER + 1];
};

struct weir_lane {
    uint32_t in_flight;
    uint32_t ramp; /* 0: none; else the most that may be in flight */
    bool probed;   /* the first lease of the ramp has been granted */
    uint64_t generation;
};

struct weir_connection {
    char *name;
    enum weir_condition condition;
    bool set_aside;
    bool passed_over;     /* no lease for now, as if it were full */
    uint32_t in_flight;   /* on all lanes */
    uint32_t lane_count;  /* opened so far, at least 1 */
    uint64_t last_leased; /* number of the lease, from 1; 0: never */
    int64_t throttled_us; /* the last throttle; WEIR_NEVER: none yet */
    struct weir_verdict last_throttle;
    struct weir_throttle_counts throttles;
    int dop_hint; /* the server's last; 0: none yet */
    struct weir_breaker breaker;
    struct weir_budget_seen requests_budget;  /* requests */
    struct weir_budget_seen execution_budget; /* microseconds of execution time */
    struct weir_lane *lanes; /* of the pool's array, as many as its policy may open */
};

/* A throttle or a block: leases that are out are stale, and from its end on there is one probe. */
void weir_lane_close(struct weir_lane *lane);

/* An answer to a lease of `generation` has shown that the lane is open; `level` is the policy's. */
void weir_lane_ramp_up(struct weir_lane *lane, uint64_t generation, int level);

/* The ramp leaves no room for another lease. */
static inline bool weir_lane_is_full(const struct weir_lane *lane)
{
    return lane->ramp && lane->in_flight >= lane->ramp;
}

/* The service says what is left of a budget. */
void weir_budget_hear(struct weir_budget_seen *seen, int64_t remaining);

/* The leases that are out are stale on every lane: tripped, or set aside. */
void weir_connection_outdate(struct weir_connection *connection);

/* The most that may be in flight just now, given the policy's level. */
uint32_t weir_connection_cap(const struct weir_connection *connection, int level, int64_t now_us);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * One application user inside the pool.
 *
 * At any instant a connection is in exactly one *condition*:
 *
 *     ready      may be asked for a lease
 *     full       as many in flight as its cap allows; an answer frees a slot
 *     paced      its policy said "not before t"
 *     closed     throttled, until its reopening
 *     tripped    its breaker is open, until the probe
 *     set aside  out of use until somebody restores it
 *
 * Its *cap* is the least of three: the policy's level, the *ramp* (after a throttle one probe, then
 * 2, 4, 8 … doubling with each success until the level is reached), and one while the breaker is
 * half open. A ramp counts only the successes of leases that were granted since it began: each
 * throttle starts a new *generation*.
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

struct weir_connection {
    char *name;
    enum weir_condition condition;
    bool set_aside;
    uint32_t in_flight;
    uint32_t lanes;       /* opened so far, at least 1 */
    uint32_t ramp;        /* 0: none; else the most that may be in flight */
    uint64_t generation;  /* of the ramp */
    uint64_t last_leased; /* number of the lease, from 1; 0: never */
    int64_t throttled_us; /* the last throttle; WEIR_NEVER: none yet */
    struct weir_verdict last_throttle;
    struct weir_breaker breaker;
};

/* A throttle or a block: from its end on, one probe. */
void weir_connection_close(struct weir_connection *connection);

/* A lease of `generation` succeeded; `level` is the policy's. */
void weir_connection_ramp_up(struct weir_connection *connection, uint64_t generation, int level);

/* The most that may be in flight just now. */
uint32_t weir_connection_cap(const struct weir_connection *connection, int level, int64_t now_us);

#endif

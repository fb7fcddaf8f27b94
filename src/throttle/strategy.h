/* SPDX-License-Identifier: MIT */
/*
 * A strategy decides which connection is asked first.
 *
 * It is a rank: the pool asks the candidate with the smallest one. Candidates are the connections
 * that are neither set aside nor known to be full. A strategy that routes around throttles does not
 * count throttled connections among them either; one that does not may choose a throttled
 * connection, and then the pool waits for it even while another is free. Nothing is ever sent to a
 * throttled connection: what differs is the waiting.
 *
 * Ranks are computed when a connection becomes a candidate and whenever one of the facts below
 * changes for it, and kept in a heap: choosing costs O(log n).
 */
#ifndef WEIR_THROTTLE_STRATEGY_H
#define WEIR_THROTTLE_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

struct weir_candidate {
    uint32_t index;       /* place in the configuration */
    uint32_t count;       /* connections in the configuration */
    uint32_t in_flight;   /* leases out on it */
    uint64_t last_leased; /* number of the lease that it was granted last, from 1; 0: never */
    bool has_headroom;    /* the policy knows what is left of the budgets: */
    double headroom;      /* of the scarcer one, as a part of the whole */
    int64_t cursor;       /* one more than the rank of the pool's last choice; 0 at first */
};

struct weir_strategy {
    const char *name;
    bool routes_around_throttles;
    int64_t (*rank)(const struct weir_candidate *candidate);
};

extern const struct weir_strategy weir_strategy_round_robin;
extern const struct weir_strategy weir_strategy_least_connections;
extern const struct weir_strategy weir_strategy_throttle_aware;
extern const struct weir_strategy weir_strategy_headroom;

/* By the name that the configuration uses (any case). NULL: there is none of that name. */
const struct weir_strategy *weir_strategy_find(const char *name);

#endif

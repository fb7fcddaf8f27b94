/* SPDX-License-Identifier: MIT */
/*
 * The other client on the same connections: when it wants to send, and what became of it.
 *
 * On each connection its requests are a Poisson process with the workload's own mix and durations.
 * Its mean use is share × budget, where the budget is the binding one: that of the two windows
 * which this mix exhausts first, over all web servers (once, if the limits are shared), as in force
 * at the time and with the drift of the time, without contention. The rate is constant within cells
 * of 20 s; onoff and bursty are patterns of cells, on at the start, the same on all connections.
 *
 * It is a well-behaved client: it honours Retry-After, for the whole connection. What it wants to
 * send meanwhile is lost to it; so served/wanted is the share of its work that got through.
 *
 *     turn     the end of a cell, or the moment of a request; the law asks for turns in time order
 */
#ifndef SIM_LAW_FOREIGN_H
#define SIM_LAW_FOREIGN_H

#include "base/heap.h"
#include "base/rng.h"
#include "sim/law/scenario.h"

struct sim_foreign_counts {
    uint64_t wanted;
    uint64_t sent;   /* not held back */
    uint64_t served; /* accepted */
};

struct sim_foreign_user {
    struct weir_rng rng;
    bool wants;               /* the turn is a request, not the end of a cell */
    int64_t blocked_until_us; /* its own Retry-After */
    struct sim_foreign_counts counts;
};

struct sim_foreign {
    struct sim_foreign_user *users; /* NULL: there is no foreign client */
    struct weir_heap turns;         /* users by the time of their next turn */
};

void sim_foreign_init(struct sim_foreign *foreign, const struct sim_scenario *scenario,
                      uint64_t seed);
void sim_foreign_release(struct sim_foreign *foreign);

/* When its next turn is; WEIR_FOREVER: never. */
int64_t sim_foreign_next_us(const struct sim_foreign *foreign);

/* Take the next turn. True: `*ret_user` sends a request now, at sim_foreign_next_us() before. */
bool sim_foreign_turn(struct sim_foreign *foreign, const struct sim_scenario *scenario,
                      uint32_t *ret_user);

void sim_foreign_served(struct sim_foreign *foreign, uint32_t user);
void sim_foreign_throttled(struct sim_foreign *foreign, uint32_t user, int64_t until_us);

/* Requests a second that it wants to send on one connection at `now_us`. */
double sim_foreign_rate(const struct sim_scenario *scenario, int64_t now_us);

#endif

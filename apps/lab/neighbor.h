/* SPDX-License-Identifier: MIT */
/*
 * The other client of a scenario under contention, as an oracle has him beside itself. What he has
 * executing makes the oracle's requests slower, and the oracle's make his slower: the time that
 * they take longer than without contention is charged beyond his share, and the oracle has so much
 * less. He is refused only if he uses up all of both by himself.
 */
#ifndef LAB_NEIGHBOR_H
#define LAB_NEIGHBOR_H

#include "lab/ledger.h"
#include "lab/others.h"
#include "sim/law/flights.h"

struct lab_neighbor {
    const struct sim_scenario *scenario;
    struct lab_others others;
    struct sim_flights flights;
    struct lab_ledger
        *excess;      /* execution time beyond his share, by account; NULL: nobody is there */
    uint32_t servers; /* accounts of a user */
};

void lab_neighbor_init(struct lab_neighbor *neighbor, const struct sim_scenario *scenario,
                       uint64_t seed);
void lab_neighbor_release(struct lab_neighbor *neighbor);

/* When something of his begins or ends; WEIR_FOREVER: never. */
int64_t lab_neighbor_next_us(const struct lab_neighbor *neighbor);

/* Whatever of his begins and ends by now is counted in `executing`, by web server. `ours` is the
 * oracle's share of an account's execution time, 0 if it has no limit. */
void lab_neighbor_advance(struct lab_neighbor *neighbor, int64_t now_us, int64_t ours,
                          uint32_t *executing);

/* What he uses now of the oracle's share of an account. */
int64_t lab_neighbor_excess(struct lab_neighbor *neighbor, uint32_t account, int64_t now_us);

#endif

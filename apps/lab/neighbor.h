/* SPDX-License-Identifier: MIT */
/*
 * The other client of a scenario, as an oracle has him beside itself: nobody throttles him, and
 * what he has executing makes the oracle's requests slower. His own take as long as they would
 * alone, so that he uses his share of the budgets and no more; under the law he is slowed down as
 * well, and there longer.
 */
#ifndef LAB_NEIGHBOR_H
#define LAB_NEIGHBOR_H

#include "sim/law/flights.h"
#include "sim/law/foreign.h"

struct lab_neighbor {
    const struct sim_scenario *scenario;
    struct sim_foreign foreign;
    struct lab_neighbor_user *users; /* NULL: there is no other client */
    struct sim_flights flights;
};

void lab_neighbor_init(struct lab_neighbor *neighbor, const struct sim_scenario *scenario,
                       uint64_t seed);
void lab_neighbor_release(struct lab_neighbor *neighbor);

/* When something of his begins or ends; WEIR_FOREVER: never. */
int64_t lab_neighbor_next_us(const struct lab_neighbor *neighbor);

/* Whatever of his begins and ends by now is counted in `executing`, by web server. */
void lab_neighbor_advance(struct lab_neighbor *neighbor, int64_t now_us, uint32_t *executing);

#endif

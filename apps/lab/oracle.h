/* SPDX-License-Identifier: MIT */
/*
 * O1, the compliant greedy oracle: what a client could do at the best that knows every limit and
 * every duration and chooses its web server, and never lets the sum of a window, what is in flight
 * included, exceed its limit. With a foreign client it gets its fair share of the budgets (O2).
 *
 * Greedy is optimal for a sliding window: admitting as early as possible dominates every other
 * schedule at every moment. Not so under contention, where more in flight costs everybody; there
 * the best of several caps on what an account may have in flight is taken.
 *
 * Execution is counted as it accrues, whatever the scenario's rule of charging, and windows are
 * exact, whatever its buckets. It looks at the world in steps of a twentieth of a request's median,
 * at most a quarter of a second, so each admission is late by up to a step.
 */
#ifndef LAB_ORACLE_H
#define LAB_ORACLE_H

#include "sim/law/scenario.h"

struct lab_oracle {
    uint64_t items;
    double makespan_s; /* < 0: no work items set */
};

void lab_oracle(const struct sim_scenario *scenario, uint64_t seed, struct lab_oracle *ret);

#endif

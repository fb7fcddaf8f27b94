/* SPDX-License-Identifier: MIT */
/*
 * One run of the laboratory: the production pool with one policy against the simulator's law, in
 * virtual time. The same scenario, policy and seed give the same figures to the byte; the same seed
 * gives every policy the same durations.
 */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include "lab/policies.h"
#include "sim/law/law.h"

struct lab_figures {
    uint64_t items;    /* done within the run */
    double makespan_s; /* when the last of the work items was done; < 0: no work items set */
    uint64_t throttles;
    uint64_t episodes;       /* throttles of one lane less than 30 s apart are one */
    double penalty_fraction; /* lane-seconds in penalty of all lane-seconds */
    double jain;             /* of the items by connection: 1 is even */
    double
        foreign_served; /* share of the other client's requests that was accepted; 1 without one */
};

/* Run a scenario. `scenario` must be valid. */
void lab_run(const struct sim_scenario *scenario, const struct lab_policy *policy, uint64_t seed,
             struct lab_figures *ret);

/* Jain's index of fairness: (Σx)² / (n Σx²); 1 if all are 0. */
double lab_jain(const uint64_t *items, uint32_t count);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * All the runs that were asked for: each scenario with each policy and each seed. What the oracles
 * do is found once for a scenario and a seed, whatever the number of policies.
 *
 * With several jobs a process is forked for each scenario, and what it found comes back through a
 * pipe. Scenarios are handed over in their order all the same, so the output does not depend on how
 * many jobs there are.
 */
#ifndef LAB_WORK_H
#define LAB_WORK_H

#include "lab/outcome.h"
#include "lab/policies.h"

#define LAB_POLICIES_MAX 32
#define LAB_SEEDS_MAX    10000
#define LAB_JOBS_MAX     64

struct lab_request {
    struct lab_policy policies[LAB_POLICIES_MAX];
    uint32_t policy_count;
    uint32_t seeds; /* 1, 2, ... */
    uint32_t jobs;
    bool edge; /* what the edge rider does, too */
};

/* `outcomes` of one scenario: policies × seeds, those of a policy together. */
typedef void lab_done(void *ctx, uint32_t scenario, const struct lab_outcome *outcomes);

/* WEIR_E_IO: a process could not be started, or did not come to its end. */
enum weir_status lab_work(const struct sim_scenario *scenarios, uint32_t count,
                          const struct lab_request *request, struct weir_error *err, lab_done *done,
                          void *ctx);

#endif

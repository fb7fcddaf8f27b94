/* SPDX-License-Identifier: MIT */
/* What tests of policies in the laboratory share: one run, and what an oracle makes of the same. */
#ifndef WEIR_TESTS_LAB_RIG_H
#define WEIR_TESTS_LAB_RIG_H

#include <check.h>

#include "lab/oracle.h"
#include "lab/policies.h"
#include "lab/run.h"

static inline struct lab_figures run(const struct sim_scenario *scenario, const char *name,
                                     uint64_t seed)
{
    struct lab_policy policy;
    struct lab_figures figures;
    ck_assert_int_eq(lab_policy_find(weir_str_from(name), &policy, NULL), WEIR_OK);
    lab_run(scenario, &policy, seed, &figures);
    return figures;
}

static inline double of_oracle(const struct sim_scenario *scenario, const char *name, uint64_t seed)
{
    struct lab_oracle oracle;
    lab_oracle(scenario, seed, LAB_ORACLE_COMPLIANT, &oracle, NULL);
    return (double)run(scenario, name, seed).items / (double)oracle.items;
}

#endif

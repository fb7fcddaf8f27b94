/* SPDX-License-Identifier: MIT */
/*
 * The policies that the laboratory compares, by name: those of the product, and peers that live
 * only here.
 *
 *     aimd[:PRESET]   dop   fixed:N   aimd-seed
 *
 * each with a strategy of the pool behind it if it is not to be ThrottleAware: aimd@RoundRobin.
 */
#ifndef LAB_POLICIES_H
#define LAB_POLICIES_H

#include "base/str.h"
#include "throttle/policy.h"

#define LAB_POLICY_NAME_MAX 40

/* The controller of the design document exactly as written, defects and all. */
extern const struct weir_policy lab_policy_aimd_seed;

struct lab_policy {
    char name[LAB_POLICY_NAME_MAX + 1]; /* as it was asked for */
    const struct weir_policy *policy;
    const char *strategy;
    struct weir_adaptive_rate_options options;
};

/* False and a message if there is none of that name. */
enum weir_status lab_policy_find(struct weir_str name, struct lab_policy *ret,
                                 struct weir_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The policies that the laboratory compares, by name: those of the product, and peers that live
 * only here.
 *
 *     aimd[:PRESET]   dop   fixed:N                 and whatever else the product has
 *     retry-after                                   fixed:52: Retry-After is all that it honours
 *     aimd-seed   aimd-tuned   gradient2   aws   azcopy   cosmos   token-bucket
 *
 * each with a strategy of the pool behind it if it is not to be its own (Headroom for budget,
 * ThrottleAware for all others): aimd@RoundRobin.
 */
#ifndef LAB_POLICIES_H
#define LAB_POLICIES_H

#include "base/str.h"
#include "throttle/policy.h"

#define LAB_POLICY_NAME_MAX 40

/* The controller of the design document exactly as written, defects and all. */
extern const struct weir_policy lab_policy_aimd_seed;

/* Other people's; see peer.h, and the head of each for what it does. */
extern const struct weir_policy lab_policy_aimd_tuned;
extern const struct weir_policy lab_policy_gradient2;
extern const struct weir_policy lab_policy_aws;
extern const struct weir_policy lab_policy_azcopy;
extern const struct weir_policy lab_policy_cosmos;
extern const struct weir_policy lab_policy_token_bucket;

/* What --policy all means; plots have colours for the first six. */
#define LAB_POLICIES_ALL                                                                           \
    "budget,aimd,dop,fixed:4,aimd-tuned,aimd-seed,retry-after,aimd:conservative,aimd:aggressive,"  \
    "fixed:10,fixed:26,gradient2,aws,azcopy,cosmos,token-bucket"

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

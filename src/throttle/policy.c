/* SPDX-License-Identifier: MIT */
/* The policies by name; see policy.h. */
#include "throttle/policy.h"

#include "base/str.h"

static const struct weir_policy *const policies[] = {
    &weir_policy_aimd,
    &weir_policy_budget,
    &weir_policy_dop,
    &weir_policy_fixed,
};

const struct weir_policy *weir_policy_find(const char *name)
{
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        if (weir_str_equal_nocase(weir_str_from(name), weir_str_from(policies[i]->name)))
            return policies[i];
    }
    return NULL;
}

const struct weir_policy *weir_policy_choose(const struct weir_adaptive_rate_options *options)
{
    return options->enabled ? weir_policy_find(options->policy) : &weir_policy_dop;
}

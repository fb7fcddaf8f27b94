/* SPDX-License-Identifier: MIT */
/* The policies of the laboratory by name; see policies.h. */
#include "lab/policies.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "throttle/strategy.h"

static const struct preset {
    const char *name;
    int factor;
    int threshold_ms;
} presets[] = {
    { "conservative", 140, 6000 },
    { "balanced", 200, 8000 },
    { "aggressive", 320, 11000 },
};

static enum weir_status unknown(struct weir_str name, struct weir_error *err)
{
    return weir_fail(
        err, WEIR_E_INVALID,
        "no policy is called \"%.*s\": there are aimd, aimd:conservative, "
        "aimd:balanced, aimd:aggressive, budget, budget:explore, dop, fixed:1 to fixed:%d, "
        "retry-after, aimd-seed, "
        "aimd-tuned, gradient2, aws, azcopy, cosmos and token-bucket, each with @RoundRobin or "
        "@LeastConnections behind it if not ThrottleAware",
        (int)name.len, name.ptr, WEIR_PARALLELISM_MAX);
}

static bool set_preset(struct weir_adaptive_rate_options *options, struct weir_str name)
{
    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
        if (!weir_str_equal_nocase(name, weir_str_from(presets[i].name)))
            continue;
        options->execution_time_ceiling_factor = presets[i].factor;
        options->slow_batch_threshold_ms = presets[i].threshold_ms;
        return true;
    }
    return false;
}

static bool set_fixed(struct weir_adaptive_rate_options *options, struct weir_str number)
{
    int64_t level;
    if (!weir_str_to_int64(number, &level) || level < 1 || level > WEIR_PARALLELISM_MAX)
        return false;
    options->fixed_parallelism = (int)level;
    return true;
}

/* What stands before the mark; *ret_rest is what stands behind it, ptr NULL: there is no mark. */
static struct weir_str cut_at(struct weir_str text, char mark, struct weir_str *ret_rest)
{
    const char *at = text.len ? memchr(text.ptr, mark, text.len) : NULL;
    *ret_rest = (struct weir_str){ 0 };
    if (!at)
        return text;
    size_t before = (size_t)(at - text.ptr);
    *ret_rest = weir_str(at + 1, text.len - before - 1);
    return weir_str(text.ptr, before);
}

static bool set_strategy(struct lab_policy *policy, struct weir_str name)
{
    char text[LAB_POLICY_NAME_MAX + 1];
    snprintf(text, sizeof(text), "%.*s", (int)name.len, name.ptr);
    const struct weir_strategy *strategy = weir_strategy_find(text);
    policy->strategy = strategy ? strategy->name : NULL;
    return strategy != NULL;
}

/* Those of the laboratory, which take nothing behind a colon. */
static const struct weir_policy *find_peer(struct weir_str name)
{
    static const struct weir_policy *const peers[] = {
        &lab_policy_aimd_seed, &lab_policy_aimd_tuned, &lab_policy_gradient2,    &lab_policy_aws,
        &lab_policy_azcopy,    &lab_policy_cosmos,     &lab_policy_token_bucket,
    };
    for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
        if (weir_str_equal_nocase(name, weir_str_from(peers[i]->name)))
            return peers[i];
    }
    return NULL;
}

static bool set_policy(struct lab_policy *found, struct weir_str name)
{
    struct weir_str argument;
    struct weir_str family = cut_at(name, ':', &argument);
    char text[LAB_POLICY_NAME_MAX + 1];
    snprintf(text, sizeof(text), "%.*s", (int)family.len, family.ptr);
    if (weir_str_equal_nocase(name, weir_str_from("retry-after"))) {
        found->policy = &weir_policy_fixed;
        return set_fixed(&found->options, weir_str_from("52"));
    }
    found->policy = weir_policy_find(text);
    if (found->policy == &weir_policy_budget) {
        found->strategy = weir_strategy_headroom.name;
        found->options.budget.explore =
            argument.ptr && weir_str_equal_nocase(argument, weir_str_from("explore"));
        return !argument.ptr || found->options.budget.explore;
    }
    if (found->policy == &weir_policy_aimd)
        return !argument.ptr || set_preset(&found->options, argument);
    if (found->policy == &weir_policy_fixed)
        return argument.ptr && set_fixed(&found->options, argument);
    if (!found->policy)
        found->policy = find_peer(family);
    return found->policy && !argument.ptr;
}

enum weir_status lab_policy_find(struct weir_str name, struct lab_policy *ret,
                                 struct weir_error *err)
{
    struct weir_options defaults;
    weir_options_defaults(&defaults);
    struct lab_policy found = { .options = defaults.adaptive_rate,
                                .strategy = weir_strategy_throttle_aware.name };
    struct weir_str strategy;
    struct weir_str policy = cut_at(name, '@', &strategy);
    if (name.len > LAB_POLICY_NAME_MAX || !policy.len || !set_policy(&found, policy) ||
        (strategy.ptr && !set_strategy(&found, strategy)))
        return unknown(name, err);
    snprintf(found.name, sizeof(found.name), "%.*s", (int)name.len, name.ptr);
    *ret = found;
    return WEIR_OK;
}

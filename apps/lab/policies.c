/* SPDX-License-Identifier: MIT */
/* The policies of the laboratory by name; see policies.h. */
#include "lab/policies.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"

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
    return weir_fail(err, WEIR_E_INVALID,
                     "no policy is called \"%.*s\": there are aimd, aimd:conservative, "
                     "aimd:balanced, aimd:aggressive, dop, fixed:1 to fixed:%d, and aimd-seed",
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

enum weir_status lab_policy_find(struct weir_str name, struct lab_policy *ret,
                                 struct weir_error *err)
{
    size_t colon = 0;
    while (colon < name.len && name.ptr[colon] != ':')
        colon++;
    struct weir_str family = weir_str(name.ptr, colon);
    bool has_argument = colon < name.len;
    struct weir_str argument =
        has_argument ? weir_str(name.ptr + colon + 1, name.len - colon - 1) : weir_str(name.ptr, 0);
    struct weir_options defaults;
    weir_options_defaults(&defaults);
    struct lab_policy found = { .options = defaults.adaptive_rate };

    bool ok;
    if (weir_str_equal_nocase(family, weir_str_from("aimd"))) {
        found.policy = &weir_policy_aimd;
        ok = !has_argument || set_preset(&found.options, argument);
    } else if (weir_str_equal_nocase(family, weir_str_from("dop"))) {
        found.policy = &weir_policy_dop;
        ok = !has_argument;
    } else if (weir_str_equal_nocase(family, weir_str_from("fixed"))) {
        found.policy = &weir_policy_fixed;
        ok = set_fixed(&found.options, argument);
    } else {
        found.policy = &lab_policy_aimd_seed;
        ok = weir_str_equal_nocase(name, weir_str_from("aimd-seed"));
    }
    if (!ok || name.len > LAB_POLICY_NAME_MAX)
        return unknown(name, err);
    snprintf(found.name, sizeof(found.name), "%.*s", (int)name.len, name.ptr);
    *ret = found;
    return WEIR_OK;
}

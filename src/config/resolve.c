/* SPDX-License-Identifier: MIT */
/*
 * From layers to options: what holds in the end.
 *
 *     default  <  preset  <  file  <  environment  <  command line
 *
 * A preset gives values to two keys only, and it does not matter which layer chose it: a value that
 * was written out anywhere is stronger than a preset from anywhere.
 *
 * Where nobody names a policy it is Budget, but Aimd for whoever has set a key that only Aimd
 * knows; where nobody names a strategy, it is the one that goes with the policy.
 */
#include <assert.h>

#include "base/mem.h"
#include "config/config.h"

static const struct preset {
    const char *name;
    int execution_time_ceiling_factor;
    int slow_batch_threshold_ms;
} presets[] = {
    { "Conservative", 140, 6000 },
    { "Balanced", 200, 8000 },
    { "Aggressive", 320, 11000 },
};

static void apply_preset(struct weir_adaptive_rate_options *options)
{
    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
        if (!weir_str_equal(weir_str_from(presets[i].name), weir_str_from(options->preset)))
            continue;
        options->execution_time_ceiling_factor = presets[i].execution_time_ceiling_factor;
        options->slow_batch_threshold_ms = presets[i].slow_batch_threshold_ms;
        return;
    }
    assert(false && "a preset of the table");
}

static const struct weir_setting *said(const struct weir_config *config, const struct weir_key *key)
{
    return weir_config_strongest(config, (struct weir_key_ref){ .key = key });
}

const struct weir_key *weir_config_means_aimd(const struct weir_config *config)
{
    if (said(config, weir_key_named("AdaptiveRate:Policy")))
        return NULL;
    for (size_t i = 0; i < weir_plain_key_count(); i++) {
        if (weir_keys[i].is_of_aimd && said(config, &weir_keys[i]))
            return &weir_keys[i];
    }
    return NULL;
}

const char *weir_config_policy(const struct weir_config *config)
{
    const struct weir_adaptive_rate_options *rate = &config->options.adaptive_rate;
    return rate->enabled ? rate->policy : "Dop";
}

/* Headroom goes by what is left, and only Budget knows that. */
static void choose_policy(struct weir_config *config)
{
    struct weir_options *options = &config->options;
    if (weir_config_means_aimd(config))
        options->adaptive_rate.policy = "Aimd";
    if (strcmp(weir_config_policy(config), "Budget") != 0 &&
        !said(config, weir_key_named("Pool:SelectionStrategy")))
        options->pool.selection_strategy = "ThrottleAware";
}

bool weir_key_from_preset(const struct weir_key *key)
{
    return key == weir_key_named("AdaptiveRate:ExecutionTimeCeilingFactor") ||
           key == weir_key_named("AdaptiveRate:SlowBatchThresholdMs");
}

void weir_options_defaults(struct weir_options *options)
{
    *options = (struct weir_options){ 0 };
    for (size_t i = 0; i < weir_plain_key_count(); i++)
        weir_value_store_default(&weir_keys[i], options);
    apply_preset(&options->adaptive_rate);
}

const struct weir_setting *weir_config_strongest(const struct weir_config *config,
                                                 struct weir_key_ref ref)
{
    for (int source = WEIR_SOURCE_COUNT - 1; source >= 0; source--) {
        const struct weir_setting *setting = weir_layer_find(&config->layers[source], ref);
        if (setting)
            return setting;
    }
    return NULL;
}

static void resolve_key(const struct weir_config *config, struct weir_key_ref ref, void *options)
{
    const struct weir_setting *setting = weir_config_strongest(config, ref);
    if (setting)
        weir_value_store(ref.key, setting->value, options);
}

static void resolve_connection(const struct weir_config *config, size_t connection,
                               struct weir_connection_options *options)
{
    for (size_t i = weir_plain_key_count(); i < weir_key_count; i++) {
        weir_value_store_default(&weir_keys[i], options);
        resolve_key(config, (struct weir_key_ref){ &weir_keys[i], connection, false }, options);
    }
}

static size_t connection_count(const struct weir_config *config)
{
    size_t count = 0;
    for (int source = 0; source < WEIR_SOURCE_COUNT; source++) {
        if (config->layers[source].connection_count > count)
            count = config->layers[source].connection_count;
    }
    return count;
}

static void list_secret_variables(struct weir_config *config)
{
    struct weir_options *options = &config->options;
    free(config->secret_variables);
    config->secret_variables =
        weir_calloc(options->connection_count, sizeof(*config->secret_variables));
    for (size_t i = 0; i < options->connection_count; i++) {
        const char *name = config->connections[i].client_secret_env;
        if (name)
            config->secret_variables[options->secret_variable_count++] = name;
    }
    options->secret_variables = config->secret_variables;
}

void weir_config_resolve(struct weir_config *config)
{
    struct weir_options *options = &config->options;
    weir_options_defaults(options);
    resolve_key(config, (struct weir_key_ref){ weir_key_named("AdaptiveRate:Preset"), 0, false },
                options);
    apply_preset(&options->adaptive_rate);
    for (size_t i = 0; i < weir_plain_key_count(); i++)
        resolve_key(config, (struct weir_key_ref){ &weir_keys[i], 0, false }, options);
    choose_policy(config);

    free(config->connections);
    size_t count = connection_count(config);
    config->connections = weir_calloc(count, sizeof(*config->connections));
    for (size_t i = 0; i < count; i++)
        resolve_connection(config, i, &config->connections[i]);
    options->connections = config->connections;
    options->connection_count = count;
    list_secret_variables(config);
}

/* SPDX-License-Identifier: MIT */
/* The configuration as a listing: what holds, and where it comes from. */
#include <assert.h>

#include "config/config.h"

/* Far more than the sources, which are bounded, can fill. */
#define DUMP_BYTES_MAX ((size_t)1 << 30)

/* Whom to tell, and what the texts are made in. */
struct listing {
    const struct weir_config *config;
    weir_config_fn *fn;
    void *ctx;
    struct weir_buf value;
    struct weir_buf origin;
};

/* What nobody said follows from what was said, or from nothing. */
static void add_reason(const struct weir_config *config, const struct weir_key *key,
                       struct weir_buf *buf)
{
    const struct weir_options *options = &config->options;
    const struct weir_key *reason = weir_config_means_aimd(config);
    if (weir_key_from_preset(key))
        weir_buf_printf(buf, "preset %s", options->adaptive_rate.preset);
    else if (key == weir_key_named("AdaptiveRate:Policy") && reason)
        weir_buf_printf(buf, "because of %s",
                        weir_key_name((struct weir_key_ref){ .key = reason }).text);
    else if (key == weir_key_named("Pool:SelectionStrategy") &&
             strcmp(options->pool.selection_strategy, key->value) != 0)
        weir_buf_printf(buf, "policy %s", weir_config_policy(config));
    else
        weir_buf_add_text(buf, "default");
}

static void add_origin(const struct weir_config *config, const struct weir_key *key,
                       const struct weir_setting *setting, struct weir_buf *buf)
{
    if (!setting)
        add_reason(config, key, buf);
    else if (setting->place.source == WEIR_SOURCE_FILE)
        weir_buf_printf(buf, "file %s", setting->place.name);
    else if (setting->place.source == WEIR_SOURCE_ENVIRONMENT)
        weir_buf_printf(buf, "environment %s", setting->place.name);
    else
        weir_buf_add_text(buf, "command line");
}

static void list_one(struct listing *listing, struct weir_key_ref ref, const void *options)
{
    const struct weir_setting *setting = weir_config_strongest(listing->config, ref);
    bool set = setting || ref.key->value || weir_key_from_preset(ref.key);
    struct weir_key_name name = weir_key_name(ref);
    weir_buf_reset(&listing->value);
    weir_buf_reset(&listing->origin);
    if (set)
        weir_value_print(ref.key, options, &listing->value);
    add_origin(listing->config, ref.key, setting, &listing->origin);
    listing->fn(listing->ctx, name.text, set ? weir_buf_text(&listing->value) : NULL,
                weir_buf_text(&listing->origin));
}

/* Of connections only what was said: they have many ways to hold a credential and use one. */
static void list_connection(struct listing *listing, size_t connection)
{
    const struct weir_config *config = listing->config;
    for (size_t i = weir_plain_key_count(); i < weir_key_count; i++) {
        struct weir_key_ref ref = { &weir_keys[i], connection, false };
        if (weir_config_strongest(config, ref))
            list_one(listing, ref, &config->connections[connection]);
    }
}

void weir_config_each(const struct weir_config *config, weir_config_fn *fn, void *ctx)
{
    assert(config->finished);
    struct listing listing = { .config = config, .fn = fn, .ctx = ctx };
    weir_buf_init(&listing.value, DUMP_BYTES_MAX);
    weir_buf_init(&listing.origin, DUMP_BYTES_MAX);
    for (size_t i = 0; i < weir_plain_key_count(); i++)
        list_one(&listing, (struct weir_key_ref){ .key = &weir_keys[i] }, &config->options);
    for (size_t i = 0; i < config->options.connection_count; i++)
        list_connection(&listing, i);
    weir_buf_release(&listing.value);
    weir_buf_release(&listing.origin);
}

static void add_line(void *ctx, const char *key, const char *value, const char *origin)
{
    weir_buf_printf(ctx, "%s = %s  (%s)\n", key, value ? value : "null", origin);
}

char *weir_config_dump(const struct weir_config *config)
{
    struct weir_buf buf;
    weir_buf_init(&buf, DUMP_BYTES_MAX);
    weir_config_each(config, add_line, &buf);
    return weir_buf_take(&buf);
}

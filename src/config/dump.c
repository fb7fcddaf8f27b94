/* SPDX-License-Identifier: MIT */
/* The configuration as a listing: what holds, and where it comes from. */
#include <assert.h>

#include "config/config.h"

/* Far more than the sources, which are bounded, can fill. */
#define DUMP_BYTES_MAX ((size_t)1 << 30)

static void add_origin(const struct weir_config *config, const struct weir_key *key,
                       const struct weir_setting *setting, struct weir_buf *buf)
{
    if (!setting && weir_key_from_preset(key))
        weir_buf_printf(buf, "preset %s", config->options.adaptive_rate.preset);
    else if (!setting)
        weir_buf_add_text(buf, "default");
    else if (setting->place.source == WEIR_SOURCE_FILE)
        weir_buf_printf(buf, "file %s", setting->place.name);
    else if (setting->place.source == WEIR_SOURCE_ENVIRONMENT)
        weir_buf_printf(buf, "environment %s", setting->place.name);
    else
        weir_buf_add_text(buf, "command line");
}

static void add_line(const struct weir_config *config, struct weir_key_ref ref, const void *options,
                     struct weir_buf *buf)
{
    const struct weir_setting *setting = weir_config_strongest(config, ref);
    weir_buf_printf(buf, "%s = ", weir_key_name(ref).text);
    if (setting || ref.key->value || weir_key_from_preset(ref.key))
        weir_value_print(ref.key, options, buf);
    else
        weir_buf_add_text(buf, "null");
    weir_buf_add_text(buf, "  (");
    add_origin(config, ref.key, setting, buf);
    weir_buf_add_text(buf, ")\n");
}

/* Of connections only what was said: they have many ways to hold a credential and use one. */
static void add_connection(const struct weir_config *config, size_t connection,
                           struct weir_buf *buf)
{
    for (size_t i = weir_plain_key_count(); i < weir_key_count; i++) {
        struct weir_key_ref ref = { &weir_keys[i], connection, false };
        if (weir_config_strongest(config, ref))
            add_line(config, ref, &config->connections[connection], buf);
    }
}

char *weir_config_dump(const struct weir_config *config)
{
    assert(config->finished);
    struct weir_buf buf;
    weir_buf_init(&buf, DUMP_BYTES_MAX);
    for (size_t i = 0; i < weir_plain_key_count(); i++)
        add_line(config, (struct weir_key_ref){ .key = &weir_keys[i] }, &config->options, &buf);
    for (size_t i = 0; i < config->options.connection_count; i++)
        add_connection(config, i, &buf);
    return weir_buf_take(&buf);
}

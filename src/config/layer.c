/* SPDX-License-Identifier: MIT */
/* What one source says; see layer.h. */
#include "config/layer.h"

#include "base/mem.h"

void weir_text_wipe(char *text, size_t len)
{
    if (!text)
        return;
    explicit_bzero(text, len);
    free(text);
}

static void release_settings(struct weir_setting *settings, size_t count)
{
    for (size_t i = 0; settings && i < count; i++) {
        weir_text_wipe(settings[i].text, settings[i].text_len);
        free(settings[i].variable);
    }
    free(settings);
}

void weir_layer_release(struct weir_layer *layer)
{
    release_settings(layer->plain, weir_plain_key_count());
    release_settings(layer->connections, layer->connection_count * WEIR_CONNECTION_KEY_COUNT);
    *layer = (struct weir_layer){ 0 };
}

void weir_layer_reserve(struct weir_layer *layer, size_t count)
{
    if (count <= layer->connection_count)
        return;
    if (count > layer->connection_capacity) {
        size_t capacity = count > 4 ? count * 2 : 8;
        size_t old = layer->connection_capacity * WEIR_CONNECTION_KEY_COUNT;
        size_t all = capacity * WEIR_CONNECTION_KEY_COUNT;
        layer->connections = weir_realloc(layer->connections, all, sizeof(*layer->connections));
        memset(layer->connections + old, 0, (all - old) * sizeof(*layer->connections));
        layer->connection_capacity = capacity;
    }
    layer->connection_count = count;
}

/* Where the slot of a connection's key is, in slots. */
static size_t connection_slot(struct weir_key_ref ref)
{
    size_t column = (size_t)(ref.key - weir_keys) - weir_plain_key_count();
    return ref.connection * WEIR_CONNECTION_KEY_COUNT + column;
}

struct weir_setting *weir_layer_slot(struct weir_layer *layer, struct weir_key_ref ref)
{
    if (weir_key_of_connection(ref.key)) {
        weir_layer_reserve(layer, ref.connection + 1);
        return &layer->connections[connection_slot(ref)];
    }
    if (!layer->plain)
        layer->plain = weir_calloc(weir_plain_key_count(), sizeof(*layer->plain));
    return &layer->plain[ref.key - weir_keys];
}

const struct weir_setting *weir_layer_find(const struct weir_layer *layer, struct weir_key_ref ref)
{
    const struct weir_setting *setting = NULL;
    if (!weir_key_of_connection(ref.key))
        setting = layer->plain ? &layer->plain[ref.key - weir_keys] : NULL;
    else if (ref.connection < layer->connection_count)
        setting = &layer->connections[connection_slot(ref)];
    return setting && setting->given && !setting->is_null ? setting : NULL;
}

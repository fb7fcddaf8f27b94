/* SPDX-License-Identifier: MIT */
/*
 * What one source says: a slot for every key, filled or not.
 *
 * The keys of connections have a slot for every connection up to the last one that the source
 * speaks of. Texts belong to the layer and are wiped before they are freed. One thread at a time.
 */
#ifndef WEIR_CONFIG_LAYER_H
#define WEIR_CONFIG_LAYER_H

#include "config/value.h"

/* The sources, the weakest first. */
enum weir_layer_source {
    WEIR_SOURCE_FILE = 0,
    WEIR_SOURCE_ENVIRONMENT,
    WEIR_SOURCE_COMMAND,
    WEIR_SOURCE_COUNT
};

/* Where a setting stands. */
struct weir_layer_place {
    enum weir_layer_source source;
    const char *name; /* of the file or the variable */
    uint32_t line;    /* in the file, from 1; 0: not known */
};

struct weir_setting {
    bool given;    /* the source names the key … */
    bool is_null;  /* … but only to say that it is not set */
    bool by_alias; /* … under its other name */
    struct weir_layer_place place;
    struct weir_value value; /* texts point to `text` */
    char *text;              /* as written; owned */
    size_t text_len;
    char *variable; /* name of the variable; owned; NULL for other sources */
};

struct weir_layer {
    struct weir_setting *plain; /* one for each plain key; NULL: none was given */
    struct weir_setting *connections;
    size_t connection_count; /* connections that the source speaks of */
    size_t connection_capacity;
};

void weir_layer_release(struct weir_layer *layer);

/* The slot of a setting; lives until the next call. */
struct weir_setting *weir_layer_slot(struct weir_layer *layer, struct weir_key_ref ref);

/* Make it speak of connections 0 .. count - 1. */
void weir_layer_reserve(struct weir_layer *layer, size_t count);

/* NULL: nothing, or null, was said. */
const struct weir_setting *weir_layer_find(const struct weir_layer *layer, struct weir_key_ref ref);

/* Wipe and free a text; NULL is fine. */
void weir_text_wipe(char *text, size_t len);

#endif

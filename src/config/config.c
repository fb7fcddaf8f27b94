/* SPDX-License-Identifier: MIT */
/*
 * The configuration: what every source has in common; see config.h.
 *
 * All sources end up here as statements: a place, a path, a text. A statement is judged by itself
 * as soon as it is read, so that a message can say where it stands; what depends on other
 * statements waits for weir_config_finish(). After an error a config is good for nothing but being
 * freed.
 */
#include "config/config.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

/* Bytes of a file's or variable's name that a message shows: its end. */
#define NAME_BYTES_MAX 120

struct weir_config *weir_config_new(void)
{
    return weir_calloc(1, sizeof(struct weir_config));
}

void weir_config_free(struct weir_config *config)
{
    if (!config)
        return;
    for (int source = 0; source < WEIR_SOURCE_COUNT; source++)
        weir_layer_release(&config->layers[source]);
    free(config->file_name);
    free(config->connections);
    free(config->secret_variables);
    free(config->url);
    free(config);
}

/* ---- messages ---- */

struct weir_place_name weir_place_name(struct weir_layer_place place)
{
    struct weir_place_name name;
    if (place.source == WEIR_SOURCE_COMMAND) {
        snprintf(name.text, sizeof(name.text), "command line");
        return name;
    }
    size_t len = strlen(place.name);
    const char *tail = place.name;
    if (len > NAME_BYTES_MAX) {
        for (tail += len - NAME_BYTES_MAX; (*tail & 0xC0) == 0x80; tail++)
            ; /* not within a character */
    }
    const char *cut = tail > place.name ? "…" : "";
    if (place.source == WEIR_SOURCE_ENVIRONMENT)
        snprintf(name.text, sizeof(name.text), "environment %s%s", cut, tail);
    else if (place.line)
        snprintf(name.text, sizeof(name.text), "file %s%s, line %u", cut, tail, place.line);
    else
        snprintf(name.text, sizeof(name.text), "file %s%s", cut, tail);
    return name;
}

struct weir_quoted weir_setting_quote(const struct weir_key *key, struct weir_str text)
{
    struct weir_buf seen;
    weir_buf_init(&seen, text.len + strlen(WEIR_MASK));
    weir_value_mask(key, text, &seen);
    struct weir_quoted quoted = weir_quote(weir_str(seen.ptr, seen.len));
    weir_buf_release(&seen);
    return quoted;
}

static enum weir_status refuse_value(const struct weir_statement *statement,
                                     struct weir_key_ref ref, const char *problem,
                                     struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID, "%s: \"%s\" is %s%s; it must be %s",
                     weir_place_name(statement->place).text, weir_key_name(ref).text,
                     weir_setting_quote(ref.key, statement->text).text, problem,
                     weir_value_right(ref.key).text);
}

static enum weir_status refuse_shape(const struct weir_statement *statement, struct weir_str path,
                                     const char *right, struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID, "%s: %s is %s; it must be %s",
                     weir_place_name(statement->place).text, weir_quote(path).text,
                     weir_json_type_name(statement->type), right);
}

static enum weir_status refuse_unknown(const struct weir_statement *statement,
                                       struct weir_error *err)
{
    struct weir_place_name place = weir_place_name(statement->place);
    struct weir_quoted path = weir_quote(statement->path);
    struct weir_key_ref near;
    if (!weir_key_nearest(statement->path, &near))
        return weir_fail(err, WEIR_E_INVALID, "%s: %s is not a known key", place.text, path.text);
    return weir_fail(err, WEIR_E_INVALID, "%s: %s is not a known key; did you mean \"%s\"?",
                     place.text, path.text, weir_key_name(near).text);
}

static enum weir_status refuse_count(const struct weir_statement *statement, struct weir_error *err)
{
    return weir_fail(err, WEIR_E_TOO_BIG, "%s: %s is one too many; there can be %d connections",
                     weir_place_name(statement->place).text, weir_quote(statement->path).text,
                     WEIR_CONNECTIONS_MAX);
}

static enum weir_status refuse_twice(const struct weir_statement *statement,
                                     struct weir_key_ref ref, const struct weir_setting *other,
                                     struct weir_error *err)
{
    struct weir_place_name place = weir_place_name(statement->place);
    struct weir_place_name before = weir_place_name(other->place);
    if (ref.by_alias == other->by_alias)
        return weir_fail(err, WEIR_E_INVALID, "%s: \"%s\" is given twice, the first time by %s",
                         place.text, weir_key_name(ref).text, before.text);
    struct weir_key_ref form = { ref.key, ref.connection, other->by_alias };
    return weir_fail(err, WEIR_E_INVALID,
                     "%s: \"%s\" and \"%s\" (%s) are both forms of one setting; give one of them",
                     place.text, weir_key_name(ref).text, weir_key_name(form).text, before.text);
}

/* ---- statements ---- */

/* The file's name is kept once, by the config; those of variables with the setting. */
static void keep_place(struct weir_setting *setting, struct weir_layer_place place)
{
    setting->place = place;
    if (place.source == WEIR_SOURCE_ENVIRONMENT) {
        setting->variable = weir_strdup(place.name);
        setting->place.name = setting->variable;
    }
}

/* A copy of the text; names of files that a file mentions lie where that file lies. */
static char *copy_text(const struct weir_statement *statement, const struct weir_key *key,
                       size_t *ret_len)
{
    struct weir_str text = statement->text;
    const char *slash = key->is_file && statement->place.source == WEIR_SOURCE_FILE && text.len &&
                                text.ptr[0] != '/'
                            ? strrchr(statement->place.name, '/')
                            : NULL;
    size_t folder = slash ? (size_t)(slash + 1 - statement->place.name) : 0;
    char *copy = weir_calloc(folder + text.len + 1, 1);
    if (folder)
        memcpy(copy, statement->place.name, folder);
    if (text.len)
        memcpy(copy + folder, text.ptr, text.len);
    *ret_len = folder + text.len;
    return copy;
}

static enum weir_status accept_value(struct weir_setting *slot, struct weir_key_ref ref,
                                     const struct weir_statement *statement, struct weir_error *err)
{
    struct weir_str text = { 0 };
    char *copy = copy_text(statement, ref.key, &text.len);
    struct weir_value value;
    const char *problem =
        weir_value_parse(ref.key, statement->type, weir_str(copy, text.len), &value);
    if (problem) {
        weir_text_wipe(copy, text.len);
        return refuse_value(statement, ref, problem, err);
    }
    *slot = (struct weir_setting){
        .given = true,
        .by_alias = ref.by_alias,
        .value = value,
        .text = copy,
        .text_len = text.len,
    };
    keep_place(slot, statement->place);
    return WEIR_OK;
}

/* Null is not a value, so the other form of a key may stand beside it. */
static bool is_repeated(const struct weir_setting *slot, struct weir_key_ref ref, bool is_null)
{
    if (!slot->given)
        return false;
    return slot->by_alias == ref.by_alias || (!slot->is_null && !is_null);
}

static enum weir_status accept_key(struct weir_config *config, struct weir_key_ref ref,
                                   const struct weir_statement *statement, struct weir_error *err)
{
    enum weir_layer_source source = statement->place.source;
    if (ref.key->sight == WEIR_SIGHT_NOTHING && source == WEIR_SOURCE_COMMAND)
        return weir_fail(err, WEIR_E_INVALID,
                         "command line: \"%s\" is a secret, which other users of the machine could "
                         "see here; use ClientSecretFile, ClientSecretEnv or ClientSecretCommand",
                         weir_key_name(ref).text);
    if (ref.key->sight == WEIR_SIGHT_NOTHING && source == WEIR_SOURCE_FILE && config->file_shared &&
        statement->type != WEIR_JSON_NULL)
        return weir_fail(err, WEIR_E_INVALID,
                         "%s: \"%s\" is a secret in a file that others may read; make the file "
                         "yours alone: chmod 600 %s",
                         weir_place_name(statement->place).text, weir_key_name(ref).text,
                         weir_quote(weir_str_from(statement->place.name)).text);
    struct weir_setting *slot = weir_layer_slot(&config->layers[source], ref);
    bool is_null = statement->type == WEIR_JSON_NULL;
    if (is_repeated(slot, ref, is_null))
        return refuse_twice(statement, ref, slot, err);
    if (is_null && !slot->given) {
        *slot = (struct weir_setting){ .given = true, .is_null = true, .by_alias = ref.by_alias };
        keep_place(slot, statement->place);
    }
    if (is_null)
        return WEIR_OK;
    if (statement->type == WEIR_JSON_ARRAY || statement->type == WEIR_JSON_OBJECT)
        return refuse_shape(statement, weir_str_from(weir_key_name(ref).text),
                            weir_value_right(ref.key).text, err);
    return accept_value(slot, ref, statement, err);
}

enum weir_status weir_config_accept(struct weir_config *config,
                                    const struct weir_statement *statement, struct weir_error *err)
{
    if (config->finished)
        return weir_fail(err, WEIR_E_INVALID, "%s: the configuration has been finished already",
                         weir_place_name(statement->place).text);
    struct weir_key_ref ref;
    switch (weir_key_look(statement->path, &ref)) {
    case WEIR_SHAPE_VALUE:
        return accept_key(config, ref, statement, err);
    case WEIR_SHAPE_SECTION:
        return refuse_shape(statement, statement->path, "a section with keys below it", err);
    case WEIR_SHAPE_LIST:
        return refuse_shape(statement, statement->path, "an array of connections", err);
    case WEIR_SHAPE_TOO_MANY:
        return refuse_count(statement, err);
    case WEIR_SHAPE_UNKNOWN:
        break;
    }
    return refuse_unknown(statement, err);
}

/* ---- the command line ---- */

enum weir_status weir_config_set(struct weir_config *config, const char *setting,
                                 struct weir_error *err)
{
    const char *equals = strchr(setting, '=');
    struct weir_str path = weir_str(setting, equals ? (size_t)(equals - setting) : strlen(setting));
    if (!equals || !weir_str_starts_nocase(path, WEIR_KEY_ROOT ":"))
        return weir_fail(err, WEIR_E_INVALID,
                         "command line: %s is not of the form " WEIR_KEY_ROOT ":Path:Key=value",
                         weir_quote(path).text);
    struct weir_statement statement = {
        .place = { .source = WEIR_SOURCE_COMMAND },
        .path = path,
        .type = WEIR_JSON_STRING,
        .text = weir_str_from(equals + 1),
    };
    return weir_config_accept(config, &statement, err);
}

/* ---- the whole ---- */

enum weir_status weir_config_finish(struct weir_config *config, const struct weir_options **ret,
                                    struct weir_error *err)
{
    if (!config->finished) {
        weir_config_resolve(config);
        enum weir_status status = weir_config_check(config, err);
        if (status != WEIR_OK)
            return status;
        config->finished = true;
    }
    *ret = &config->options;
    return WEIR_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * The inside of a struct weir_config (weir/config.h), shared by the files that read, judge and show
 * it:
 *
 *     appsettings.c ─┐
 *     environment.c ─┼─ weir_config_accept() ─▶ layers ─ resolve.c ─▶ options ─ check.c ─▶ done
 *     config.c (set) ┘   key, type, range                precedence             what goes together
 *
 * One thread at a time.
 */
#ifndef WEIR_CONFIG_CONFIG_H
#define WEIR_CONFIG_CONFIG_H

#include "config/layer.h"
#include "config/quote.h"
#include "weir/config.h"

struct weir_config {
    struct weir_layer layers[WEIR_SOURCE_COUNT];
    char *file_name;  /* NULL: none was read */
    bool file_shared; /* others than its owner may read it, or it is not ours: no place for secrets
                       */
    bool finished;
    struct weir_options options;
    struct weir_connection_options *connections;
    const char **secret_variables; /* of all connections */
    char *url;                     /* without the slash at its end */
};

/* What a source says of one path. */
struct weir_statement {
    struct weir_layer_place place;
    struct weir_str path; /* from the root on */
    enum weir_json_type type;
    struct weir_str text; /* of scalars */
};

/*
 * Take a statement in, or refuse it: the key is unknown, it is no key but a section, the value does
 * not suit it, or the source has spoken of it before.
 */
enum weir_status weir_config_accept(struct weir_config *config,
                                    const struct weir_statement *statement, struct weir_error *err);

/* The strongest setting of a key; NULL: nobody said anything. */
const struct weir_setting *weir_config_strongest(const struct weir_config *config,
                                                 struct weir_key_ref ref);

/* Fill the options from the defaults, the preset and the layers. */
void weir_config_resolve(struct weir_config *config);

/* Judge the options as a whole. */
enum weir_status weir_config_check(struct weir_config *config, struct weir_error *err);

/* The key that makes the policy Aimd though nobody named one; NULL: it does not come from a key. */
const struct weir_key *weir_config_means_aimd(const struct weir_config *config);

/* The policy that is at work: Dop if adaptive rate is switched off. */
const char *weir_config_policy(const struct weir_config *config);

/* Whether a key that was not set takes its value from the preset. */
bool weir_key_from_preset(const struct weir_key *key);

/*
 * Every effective setting of a finished configuration, in the order of the keys. Texts live for the
 * call; secrets are masked. `value` NULL: nobody said anything and there is no default.
 */
typedef void weir_config_fn(void *ctx, const char *key, const char *value, const char *origin);
void weir_config_each(const struct weir_config *config, weir_config_fn *fn, void *ctx);

/* A place as it begins a message, by value: `weir_place_name(place).text`. */
struct weir_place_name {
    char text[192];
};
struct weir_place_name weir_place_name(struct weir_layer_place place);

/* The value of a setting as it stands in a message. */
struct weir_quoted weir_setting_quote(const struct weir_key *key, struct weir_str text);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Where the settings come from: the file that --config names, else ./appsettings.json, else
 * $XDG_CONFIG_HOME/weir/appsettings.json (~/.config without it); over it the environment; over that
 * the command line. And the log, which every command has.
 */
#ifndef WEIR_APP_SETTINGS_H
#define WEIR_APP_SETTINGS_H

#include "args.h"
#include "weir/config.h"
#include "weir/log.h"

/* What the command line says; zeroed, then filled through SETTINGS_ARGS. */
struct settings_args {
    const char *config;
    const char *url;
    struct arg_values sets;
    const char *policy; /* these four are short for settings; not every command takes them */
    const char *preset;
    const char *strategy;
    const char *max_retry_after;
    const char *log_level;
    const char *log_format;
    bool help;
};

/* For the table of a command. */
#define SETTINGS_ARGS(it)                                                                          \
    { .name = "--config", .text = &(it)->config }, { .name = "--url", .text = &(it)->url },        \
        { .name = "--set", .texts = &(it)->sets },                                                 \
        { .name = "--log-level", .text = &(it)->log_level },                                       \
        { .name = "--log-format", .text = &(it)->log_format }, ARGS_HELP(&(it)->help)

/* For the table of a command that runs jobs, besides. */
#define SETTINGS_RATE_ARGS(it)                                                                     \
    { .name = "--policy", .text = &(it)->policy }, { .name = "--preset", .text = &(it)->preset },  \
        { .name = "--strategy", .text = &(it)->strategy },                                         \
    {                                                                                              \
        .name = "--max-retry-after", .text = &(it)->max_retry_after                                \
    }

struct log_echo;

struct settings {
    struct weir_config *config; /* owns the options */
    const struct weir_options *options;
    char *file; /* that was read; NULL: none */
    struct weir_log_sink sink;
    bool log_json;
    struct log_echo *echo; /* of a terminal that nobody asked for more; NULL: everything is said */
};

/* The sink points into `settings`, which must not be moved. */
enum weir_status settings_read(struct settings *settings, const struct settings_args *args,
                               struct weir_error *err);

/* The same, whether or not there is an environment and a connection among them. */
enum weir_status settings_gather(struct settings *settings, const struct settings_args *args,
                                 struct weir_error *err);

void settings_release(struct settings *settings);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The part of a command line that says what the rows of a job are and how they are sent: the same
 * for create, update, upsert, delete and for check, which rehearses them. A resumed job has all of
 * it already.
 */
#ifndef WEIR_APP_ROW_ARGS_H
#define WEIR_APP_ROW_ARGS_H

#include "args.h"
#include "weir/bulk.h"

/* Texts point into argv; NULL: not given. */
struct row_args {
    const char *key;
    const char *id_from;
    const char *owner;
    const char *mapping;
    struct arg_values with;
    const char *ignore_columns;
    const char *empty;
    const char *timezone;
    const char *format;
    bool raw;
    const char *as;
    const char *bypass_logic;
    bool bypass_flows;
    bool detect_duplicates;
    const char *tag;
};

/* For the table of a command. */
#define ROW_ARGS(it)                                                                               \
    { .name = "--key", .text = &(it)->key, .fixed = true },                                        \
        { .name = "--id-from", .text = &(it)->id_from, .fixed = true },                            \
        { .name = "--owner", .text = &(it)->owner, .fixed = true },                                \
        { .name = "--mapping", .text = &(it)->mapping, .fixed = true },                            \
        { .name = "--with", .texts = &(it)->with, .fixed = true },                                 \
        { .name = "--ignore-columns", .text = &(it)->ignore_columns, .fixed = true },              \
        { .name = "--empty", .text = &(it)->empty, .fixed = true },                                \
        { .name = "--timezone", .text = &(it)->timezone, .fixed = true },                          \
        { .name = "--format", .text = &(it)->format, .fixed = true },                              \
        { .name = "--raw", .flag = &(it)->raw, .fixed = true },                                    \
        { .name = "--as", .text = &(it)->as, .fixed = true },                                      \
        { .name = "--bypass-logic", .text = &(it)->bypass_logic, .fixed = true },                  \
        { .name = "--bypass-flows", .flag = &(it)->bypass_flows, .fixed = true },                  \
        { .name = "--detect-duplicates", .flag = &(it)->detect_duplicates, .fixed = true },        \
    {                                                                                              \
        .name = "--tag", .text = &(it)->tag, .fixed = true                                         \
    }

/*
 * What was given, into options that have their defaults; texts are borrowed. WEIR_E_INVALID: a
 * value that cannot be right, as far as it can be told without the table and the files.
 */
enum weir_status row_args_options(const struct row_args *args, struct weir_job_options *ret,
                                  struct weir_error *err);

#endif

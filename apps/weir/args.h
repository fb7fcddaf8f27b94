/* SPDX-License-Identifier: MIT */
/*
 * Options on a command line: a table of what a command takes, and one walk over the arguments.
 *
 *     --name value    --name=value    --switch    --    everything after it is an operand
 *
 * Names in full; options and operands may stand in any order. A name that is not known
 * gets the nearest one as a suggestion.
 */
#ifndef WEIR_APP_ARGS_H
#define WEIR_APP_ARGS_H

#include "weir/error.h"

#include <stddef.h>

#define ARGS_MAX       64  /* options of a command */
#define ARG_VALUES_MAX 256 /* of an option that may be given several times */

struct arg_values {
    const char *texts[ARG_VALUES_MAX];
    size_t count;
};

/* One of the pointers is set. What is not given stays as it is. */
struct arg {
    const char *name; /* with its dashes */
    bool *flag;
    const char **text;
    struct arg_values *texts;
    bool fixed; /* for the command: it shapes a job when it begins, and is the job's from then on */
};

/* For the table of a command: both names of help. */
#define ARGS_HELP(it)                                                                              \
    { .name = "--help", .flag = (it) },                                                            \
    {                                                                                              \
        .name = "-h", .flag = (it)                                                                 \
    }

/* Whether it was given. */
bool arg_is_given(const struct arg *arg);

/* WEIR_E_INVALID: '--empty is "x"; it must be omit, null or reject'. */
enum weir_status args_refuse(const char *name, const char *text, const char *right,
                             struct weir_error *err);

/*
 * Walk over argv[0 .. argc - 1]; operands are left in place at its front, *ret_operands of them.
 * WEIR_E_INVALID: an option that is not known, lacks its value or is given twice.
 */
enum weir_status args_parse(const struct arg *args, size_t arg_count, int argc, char **argv,
                            int *ret_operands, struct weir_error *err);

/* The nearest of `names` to a mistyped one; NULL: none is near. */
const char *args_nearest(const char *typed, const char *const *names, size_t count);

#endif

/* SPDX-License-Identifier: MIT */
/* A sub-command of weir: one file each, registered in main.c. */
#ifndef WEIR_APP_COMMAND_H
#define WEIR_APP_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct arg;

struct command {
    const char *name;
    const char *summary;                /* one line of `weir help` */
    const char *help;                   /* one screen, with an example */
    int (*run)(int argc, char **argv);  /* what stands after the name; returns the exit code */
    size_t (*options)(struct arg *ret); /* up to ARGS_MAX, the same that `run` parses; the count */
    const char *const *operands;        /* words that it takes first, such as "show"; NULL: none */
    size_t operand_count;
};

extern const struct command command_create;
extern const struct command command_update;
extern const struct command command_upsert;
extern const struct command command_delete;
extern const struct command command_resume;
extern const struct command command_check;
extern const struct command command_describe;
extern const struct command command_map;
extern const struct command command_demo;
extern const struct command command_jobs;
extern const struct command command_rejects;
extern const struct command command_explain;
extern const struct command command_config;
extern const struct command command_completion;

/* All of them, in the order of the help. */
const struct command *const *command_all(size_t *ret_count);

/* "weir check: MESSAGE" on standard error, and where to read on. Returns EXIT_USAGE. */
int command_refuse(const struct command *command, const char *message);

/* Its help on standard output. Returns the exit code. */
int command_print_help(const struct command *command);

/*
 * Read the words after its name into `args`, one of which is --help. True: go on, with *argc
 * operands at the front of argv. False: that was all, because help was wanted or something is
 * wrong, and *ret_code is the exit code.
 */
bool command_parse(const struct command *command, const struct arg *args, size_t count, int *argc,
                   char **argv, int *ret_code);

#endif

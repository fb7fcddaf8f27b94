/* SPDX-License-Identifier: MIT */
/*
 * What a shell can complete, from the tables that the parser goes by: commands, their options, and
 * of some options the words that they take. A shell gets a script of its own on standard output.
 */
#ifndef WEIR_APP_COMPLETION_H
#define WEIR_APP_COMPLETION_H

#include "args.h"
#include "command.h"

/* What the value of an option is. */
enum completion_kind {
    COMPLETION_FLAG, /* it has none */
    COMPLETION_WORDS,
    COMPLETION_FILE,
    COMPLETION_DIRECTORY,
    COMPLETION_ANY, /* nobody can guess it */
};

/* *ret_words: with blanks between them, for WORDS. */
enum completion_kind completion_kind(const struct arg *arg, const char **ret_words);

/* What stands after the name of the command. */
enum completion_operand {
    COMPLETION_FILES,
    COMPLETION_JOBS,     /* the jobs of this user */
    COMPLETION_OPERANDS, /* the words of struct command; then jobs for "show" */
    COMPLETION_NOTHING,
};
enum completion_operand completion_operand(const struct command *command);

void completion_print_bash(void);
void completion_print_zsh(void);
void completion_print_fish(void);

#endif

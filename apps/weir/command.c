/* SPDX-License-Identifier: MIT */
/* What sub-commands share; see command.h. */
#include "command.h"

#include <stdio.h>
#include <string.h>

#include "args.h"
#include "exit_code.h"
#include "output.h"

int command_refuse(const struct command *command, const char *message)
{
    fprintf(stderr, "weir %s: %s\n", command->name, message);
    return EXIT_USAGE;
}

static bool wants_help(const struct arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(args[i].name, "--help") == 0)
            return *args[i].flag;
    }
    return false;
}

int command_print_help(const struct command *command)
{
    fputs(command->help, stdout);
    return output_end(command);
}

bool command_parse(const struct command *command, const struct arg *args, size_t count, int *argc,
                   char **argv, int *ret_code)
{
    struct weir_error err = { 0 };
    if (args_parse(args, count, *argc, argv, argc, &err)) {
        *ret_code = command_refuse(command, err.message);
        return false;
    }
    if (!wants_help(args, count))
        return true;
    *ret_code = command_print_help(command);
    return false;
}

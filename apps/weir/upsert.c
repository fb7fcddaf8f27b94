/* SPDX-License-Identifier: MIT */
/* weir upsert: rows that are there or not; see job_command.h. */
#include "job_args.h"
#include "job_command.h"

static int run(int argc, char **argv)
{
    return job_command_run(&command_upsert, WEIR_OPERATION_UPSERT, argc, argv);
}

static size_t options(struct arg *ret)
{
    return job_args_list(JOB_ARGS_NEW, WEIR_OPERATION_UPSERT, ret);
}

const struct command command_upsert = {
    .name = "upsert",
    .summary = "change rows, or create those that are missing",
    .run = run,
    .options = options,
    /* clang-format off */
    .help =
        "usage: weir upsert TABLE FILE... [OPTION]...\n"
        "\n"
        "Changes rows that are there and creates the others, by id or alternate key. It\n"
        "shows what it will do and asks, unless --yes is given. Headers: see weir(1).\n"
        "\n"
        "rows      --key COL[,COL] | --id-from COL[,COL]  --yes (do not ask)\n"
        "          --owner systemuser:ID|team:ID|caller (of rows that are there, too)\n"
        JOB_COMMAND_HELP_ROWS
        JOB_COMMAND_HELP_SENDING
        JOB_COMMAND_HELP_PLACE
        JOB_COMMAND_HELP_RUN
        "\n"
        JOB_COMMAND_HELP_CODES
        "example:\n"
        "  weir upsert account accounts.csv --key accountnumber --owner caller\n",
    /* clang-format on */
};

/* SPDX-License-Identifier: MIT */
/* weir update: columns of rows that are there; see job_command.h. */
#include "job_args.h"
#include "job_command.h"

static int run(int argc, char **argv)
{
    return job_command_run(&command_update, WEIR_OPERATION_UPDATE, argc, argv);
}

static size_t options(struct arg *ret)
{
    return job_args_list(JOB_ARGS_NEW, WEIR_OPERATION_UPDATE, ret);
}

const struct command command_update = {
    .name = "update",
    .summary = "change rows that are there",
    .run = run,
    .options = options,
    /* clang-format off */
    .help =
        "usage: weir update TABLE FILE... [OPTION]...\n"
        "\n"
        "Changes rows that are there: by the id in the column of the primary key, or by\n"
        "an alternate key. It shows what it will do and asks, unless --yes is given.\n"
        JOB_COMMAND_HELP_TARGETS
        "\n"
        "rows      --key COL[,COL] | --id-from COL[,COL]  --yes (do not ask)\n"
        JOB_COMMAND_HELP_ROWS
        JOB_COMMAND_HELP_SENDING
        JOB_COMMAND_HELP_PLACE
        JOB_COMMAND_HELP_RUN
        "\n"
        JOB_COMMAND_HELP_CODES
        "example:\n"
        "  weir update account phones.csv --key accountnumber\n",
    /* clang-format on */
};

/* SPDX-License-Identifier: MIT */
/* weir update: columns of rows that are there; see job_command.h. */
#include "job_command.h"

static int run(int argc, char **argv)
{
    return job_command_run(&command_update, WEIR_OPERATION_UPDATE, argc, argv);
}

const struct command command_update = {
    .name = "update",
    .summary = "change rows that are there",
    .run = run,
    .options = job_command_options,
    /* clang-format off */
    .help =
        "usage: weir update TABLE FILE... [OPTION]...\n"
        "\n"
        "Changes rows that are there, in the columns that the files have: by the id in the column\n"
        "of the primary key, or by an alternate key. A row that is not there is rejected. It\n"
        "shows what it is going to do and asks; without a terminal it needs --yes.\n"
        "\n"
        JOB_COMMAND_HELP_TARGETS
        "\n"
        "  --key COL[,COL]     the alternate key that names the rows\n"
        "  --id-from COL[,COL] the columns that their ids were derived from\n"
        "  --yes               do not ask\n"
        JOB_COMMAND_HELP_ROWS
        JOB_COMMAND_HELP_SENDING
        "  --batch-size N      rows in a request at most (100)\n"
        JOB_COMMAND_HELP_PLACE
        JOB_COMMAND_HELP_RUN
        "\n"
        JOB_COMMAND_HELP_CODES
        "\n"
        "example:\n"
        "  weir update account phones.csv --key accountnumber\n",
    /* clang-format on */
};

/* SPDX-License-Identifier: MIT */
/* weir delete: rows go; see job_command.h. */
#include "job_command.h"

static int run(int argc, char **argv)
{
    return job_command_run(&command_delete, WEIR_OPERATION_DELETE, argc, argv);
}

const struct command command_delete = {
    .name = "delete",
    .summary = "delete rows",
    .run = run,
    .options = job_command_options,
    /* clang-format off */
    .help =
        "usage: weir delete TABLE FILE... [OPTION]...\n"
        "\n"
        "Deletes a row for every record of the files: by the id in the column of the primary key,\n"
        "or by an alternate key. One that is not there is done already. It shows what it is\n"
        "going to do and asks; without a terminal it needs --yes.\n"
        "\n"
        "  --key COL[,COL]     the alternate key that names the rows\n"
        "  --id-from COL[,COL] or the columns that their ids were derived from\n"
        "  --yes               do not ask\n"
        "  --mapping FILE      which column is which; weir map writes one to edit\n"
        "  --ignore-columns COL[,COL]   of the files\n"
        "  --with COL=VALUE    part of every row's key, such as partitionid\n"
        JOB_COMMAND_HELP_SENDING
        "  --batch-size N      rows in a request at most (100)\n"
        JOB_COMMAND_HELP_PLACE
        JOB_COMMAND_HELP_RUN
        "\n"
        JOB_COMMAND_HELP_CODES
        "\n"
        "example:\n"
        "  weir delete account gone.csv --key accountnumber --yes\n",
    /* clang-format on */
};

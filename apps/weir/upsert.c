/* SPDX-License-Identifier: MIT */
/* weir upsert: rows that are there or not; see job_command.h. */
#include "job_command.h"

static int run(int argc, char **argv)
{
    return job_command_run(&command_upsert, WEIR_OPERATION_UPSERT, argc, argv);
}

const struct command command_upsert = {
    .name = "upsert",
    .summary = "change rows, or create those that are missing",
    .run = run,
    .options = job_command_options,
    /* clang-format off */
    .help =
        "usage: weir upsert TABLE FILE... [OPTION]...\n"
        "\n"
        "Changes the rows that are there and creates those that are not: by the id in the column\n"
        "of the primary key, or by an alternate key. It shows what it is going to do and asks;\n"
        "without a terminal it needs --yes.\n"
        "\n"
        JOB_COMMAND_HELP_TARGETS
        "\n"
        "  --key COL[,COL]     the alternate key that names the rows\n"
        "  --id-from COL[,COL] or the columns that their ids are derived from\n"
        "  --owner OWNER       of new rows: systemuser:ID, team:ID, or caller (who sends them)\n"
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
        "  weir upsert account accounts.csv --key accountnumber --owner caller\n",
    /* clang-format on */
};

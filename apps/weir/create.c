/* SPDX-License-Identifier: MIT */
/* weir create: new rows; see job_command.h. */
#include "job_command.h"

static int run(int argc, char **argv)
{
    return job_command_run(&command_create, WEIR_OPERATION_CREATE, argc, argv);
}

const struct command command_create = {
    .name = "create",
    .summary = "create rows from files",
    .run = run,
    .options = job_command_options,
    /* clang-format off */
    .help =
        "usage: weir create TABLE FILE... [OPTION]...\n"
        "\n"
        "Creates a row for every record of the files: .csv, .tsv, .jsonl, their .gz, or - for\n"
        "CSV on standard input. No row is lost and none created twice, whatever dies in\n"
        "between: weir resume goes on. weir check rehearses it all without a write.\n"
        "\n"
        JOB_COMMAND_HELP_TARGETS
        "\n"
        "  --owner OWNER       of the rows: systemuser:ID, team:ID, or caller (who sends them)\n"
        "  --id-from COL[,COL] ids derived from these columns; otherwise they are made up\n"
        JOB_COMMAND_HELP_ROWS
        JOB_COMMAND_HELP_SENDING
        "  --batch-size N      rows in a request at most (100)\n"
        JOB_COMMAND_HELP_PLACE
        JOB_COMMAND_HELP_RUN
        "\n"
        JOB_COMMAND_HELP_CODES
        "\n"
        "example:\n"
        "  weir create account accounts.csv --owner caller\n",
    /* clang-format on */
};

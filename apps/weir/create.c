/* SPDX-License-Identifier: MIT */
/* weir create: new rows; see job_command.h. */
#include "job_args.h"
#include "job_command.h"

static int run(int argc, char **argv)
{
    return job_command_run(&command_create, WEIR_OPERATION_CREATE, argc, argv);
}

static size_t options(struct arg *ret)
{
    return job_args_list(JOB_ARGS_NEW, WEIR_OPERATION_CREATE, ret);
}

const struct command command_create = {
    .name = "create",
    .summary = "create rows from files",
    .run = run,
    .options = options,
    /* clang-format off */
    .help =
        "usage: weir create TABLE FILE... [OPTION]...\n"
        "\n"
        "Creates a row for every record of the files: .csv, .tsv, .jsonl, their .gz, or -\n"
        "for CSV on standard input. None is lost or doubled: weir resume goes on.\n"
        JOB_COMMAND_HELP_TARGETS
        "\n"
        "rows      --owner systemuser:ID|team:ID|caller  --id-from COL[,COL]\n"
        JOB_COMMAND_HELP_ROWS
        JOB_COMMAND_HELP_SENDING
        JOB_COMMAND_HELP_PLACE
        JOB_COMMAND_HELP_RUN
        "\n"
        JOB_COMMAND_HELP_CODES
        "example:\n"
        "  weir create account accounts.csv --owner caller\n",
    /* clang-format on */
};

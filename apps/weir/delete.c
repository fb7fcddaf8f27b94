/* SPDX-License-Identifier: MIT */
/* weir delete: rows go; see job_command.h. */
#include "job_args.h"
#include "job_command.h"

static int run(int argc, char **argv)
{
    return job_command_run(&command_delete, WEIR_OPERATION_DELETE, argc, argv);
}

static size_t options(struct arg *ret)
{
    return job_args_list(JOB_ARGS_NEW, WEIR_OPERATION_DELETE, ret);
}

const struct command command_delete = {
    .name = "delete",
    .summary = "delete rows",
    .run = run,
    .options = options,
    /* clang-format off */
    .help =
        "usage: weir delete TABLE FILE... [OPTION]...\n"
        "\n"
        "Deletes a row for every record: by the id in the column of the primary key, or\n"
        "by an alternate key. One that is not there is done already. It shows what it\n"
        "will do and asks, unless --yes is given.\n"
        "\n"
        "rows      --key COL[,COL] | --id-from COL[,COL]  --yes (do not ask)\n"
        "          --mapping FILE  --with COL=VALUE (such as partitionid)\n"
        "          --ignore-columns COL[,COL]  --format csv|tsv|jsonl\n"
        JOB_COMMAND_HELP_SENDING
        JOB_COMMAND_HELP_PLACE
        JOB_COMMAND_HELP_RUN
        "\n"
        JOB_COMMAND_HELP_CODES
        "example:\n"
        "  weir delete account gone.csv --key accountnumber --yes\n",
    /* clang-format on */
};

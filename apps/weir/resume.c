/* SPDX-License-Identifier: MIT */
/* weir resume: go on with a job; see job_command.h. */
#include "job_args.h"
#include "job_command.h"

static int run(int argc, char **argv)
{
    return job_command_resume(&command_resume, argc, argv);
}

static size_t options(struct arg *ret)
{
    return job_args_list(JOB_ARGS_RESUME, WEIR_OPERATION_CREATE, ret);
}

const struct command command_resume = {
    .name = "resume",
    .summary = "go on with a job that did not come to its end",
    .run = run,
    .options = options,
    /* clang-format off */
    .help =
        "usage: weir resume JOB [-] [OPTION]...\n"
        "\n"
        "Goes on with a job (its id, or its directory) that was interrupted, killed or\n"
        "stopped: finished rows are passed over, the others are sent. The files must be\n"
        "as they were; rows of standard input must come from there again, with - behind\n"
        "the job. What shapes its rows is the job's own. A finished job stays as it is.\n"
        "\n"
        JOB_COMMAND_HELP_RUN
        "\n"
        JOB_COMMAND_HELP_CODES
        "\n"
        "example:\n"
        "  weir resume 20261116-054512-account-create-7f3a\n",
    /* clang-format on */
};

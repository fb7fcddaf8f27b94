/* SPDX-License-Identifier: MIT */
/*
 * The life that create, update, upsert, delete and resume share, and the exit codes that each step
 * may end with:
 *
 *     words ─▶ settings ─▶ client ─▶ prepare ─▶ (ask) ─▶ begin ─▶ wait ─▶ finish ─▶ last lines
 *       2         2         2 4     2 4 6 7 10    5       2 7      └─ the job's result ─┘
 */
#ifndef WEIR_APP_JOB_COMMAND_H
#define WEIR_APP_JOB_COMMAND_H

#include "command.h"
#include "weir/bulk.h"

/* What stands after the name of the command; returns the exit code. */
int job_command_run(const struct command *command, enum weir_operation operation, int argc,
                    char **argv);
int job_command_resume(const struct command *command, int argc, char **argv);

/* Of a help text: what every job takes. */
#define JOB_COMMAND_HELP_RUN                                                                       \
    "  --max-parallel N    requests in flight      --max-rate ROWS     a second\n"                 \
    "  --max-errors N|P%   rejected rows (100)     --memory SIZE       of rows on their way\n"     \
    "  --limit N           rows of this run        --deadline TIME     of this run, as in 2h\n"    \
    "  --config FILE, --url URL, --set KEY=VALUE   the settings; see weir help check\n"            \
    "  --progress plain|none, --log-level L        what standard error shows\n"

#define JOB_COMMAND_HELP_CODES                                                                     \
    "exit code: 0 done, 1 rows rejected, 2 usage, 3 too many errors, 4 credentials,\n"             \
    "5 interrupted, 6 limit reached, 7 local I/O, 8 unknown rows, 10 unreachable\n"

#endif

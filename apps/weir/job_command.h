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

/*
 * Of help texts. Each fits one screen of 24 lines and 80 columns, so options stand together with
 * those of their kind; what each does is for the manual.
 */
/* Where values go. */
#define JOB_COMMAND_HELP_TARGETS                                                                   \
    "Header cells and members name columns: name, parentid:account(key); see weir(1).\n"

/* What rows are made of. */
#define JOB_COMMAND_HELP_ROWS                                                                      \
    "          --mapping FILE  --with COL=VALUE  --ignore-columns COL[,COL]  --raw\n"              \
    "          --empty omit|null|reject  --timezone ZONE  --format csv|tsv|jsonl\n"

/* How they are sent. */
#define JOB_COMMAND_HELP_SENDING                                                                   \
    "service   --as ID  --bypass-logic sync|async|all  --bypass-flows  --tag TEXT\n"               \
    "          --detect-duplicates  --batch-size N|auto (100)\n"

/* Where a new job goes. */
#define JOB_COMMAND_HELP_PLACE                                                                     \
    "job       --job NAME | --job-dir DIR  --or-resume (go on with it if it is there)\n"

/* What every job takes. */
#define JOB_COMMAND_HELP_RUN                                                                       \
    "pace      --max-parallel N  --max-rate ROWS (a second)  --max-retry-after TIME\n"             \
    "          --policy P  --preset P  --strategy S  --memory SIZE (24MiB)\n"                      \
    "end       --max-errors N|P% (100)  --limit ROWS  --deadline TIME, as in 2h\n"                 \
    "shown     --progress auto|plain|json|none  --report FILE.html|FILE.json\n"                    \
    "          --metrics-listen [ADDR:]PORT  --log-level L  --log-format text|json\n"              \
    "settings  --config FILE  --url URL  --set KEY=VALUE; weir-config(5)\n"

#define JOB_COMMAND_HELP_CODES                                                                     \
    "exit code: 0 done, 1 rows rejected, 2 usage, 3 too many errors, 4 credentials,\n"             \
    "5 interrupted, 6 limit, 7 local I/O, 8 unknown rows, 10 unreachable, 70 internal\n"

#endif

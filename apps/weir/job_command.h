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

/* The options of a new job, for struct command. */
size_t job_command_options(struct arg *ret);

/* Of a help text: where values go. */
#define JOB_COMMAND_HELP_TARGETS                                                                   \
    "A header cell, a member's name or a mapping file says where values go:\n"                     \
    "  name                             a column, by its logical name; weir describe TABLE\n"      \
    "  parentcustomerid:account         a lookup: cells are ids of rows of this table\n"           \
    "  parentaccountid:account(accountnumber)   or values of this column, best of a key\n"         \
    "  parentaccountid:account(#code)   or what --id-from code made the ids of its rows of\n"

/* What rows are made of, and how they are sent. */
#define JOB_COMMAND_HELP_ROWS                                                                      \
    "  --mapping FILE      which column goes where; weir map writes one to edit\n"                 \
    "  --with COL=VALUE    the same value in every row; as often as needed\n"                      \
    "  --ignore-columns COL[,COL]   of the files\n"                                                \
    "  --empty E           cells without text: omit the column, null it, or reject (omit)\n"       \
    "  --timezone ZONE     of dates without an offset, as in Europe/Berlin\n"                      \
    "  --format F          csv, tsv or jsonl (by the name of the first file)\n"                    \
    "  --raw               JSON Lines with objects as the Web API takes them\n"

#define JOB_COMMAND_HELP_SENDING                                                                   \
    "  --as ID             for the user with this Entra object id\n"                               \
    "  --bypass-logic L    plug-ins and workflows: sync, async or all\n"                           \
    "  --bypass-flows, --detect-duplicates, --tag TEXT   for the service; see weir(1)\n"

/* Where a new job goes. */
#define JOB_COMMAND_HELP_PLACE                                                                     \
    "  --job NAME          of the job (an id is made), or --job-dir DIR, its directory\n"          \
    "  --or-resume         go on with that job if it is there; nothing to do if it is over\n"

/* What every job takes. */
#define JOB_COMMAND_HELP_RUN                                                                       \
    "  --max-parallel N    requests in flight      --max-rate ROWS     a second\n"                 \
    "  --max-errors N|P%   rejected rows (100)     --memory SIZE       of rows on their way\n"     \
    "  --limit N           rows of this run        --deadline TIME     of this run, as in 2h\n"    \
    "  --config FILE, --url URL, --set KEY=VALUE   the settings; see weir help check\n"            \
    "  --report FILE       of the run: a page (.html) or data (.json)\n"                           \
    "  --progress auto|plain|json|none, --log-level L   what standard error shows\n"               \
    "  --metrics-listen [ADDR:]PORT                serve Prometheus text meanwhile\n"

#define JOB_COMMAND_HELP_CODES                                                                     \
    "exit code: 0 done, 1 rows rejected, 2 usage, 3 too many errors, 4 credentials,\n"             \
    "5 interrupted, 6 limit reached, 7 local I/O, 8 unknown rows, 10 unreachable\n"

#endif

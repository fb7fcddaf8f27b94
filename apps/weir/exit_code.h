/* SPDX-License-Identifier: MIT */
/* How the command ends, as a job's result says it (weir/bulk.h). When several apply, the one
 * further up stands. */
#ifndef WEIR_APP_EXIT_CODE_H
#define WEIR_APP_EXIT_CODE_H

#include "weir/bulk.h"

enum exit_code {
    EXIT_INTERNAL = WEIR_EXIT_INTERNAL,
    EXIT_LOCAL_IO = WEIR_EXIT_LOCAL_IO,         /* disk full, journal */
    EXIT_CREDENTIALS = WEIR_EXIT_CREDENTIALS,   /* or privilege */
    EXIT_UNREACHABLE = WEIR_EXIT_UNREACHABLE,   /* the service */
    EXIT_UNKNOWN_ROWS = WEIR_EXIT_UNKNOWN_ROWS, /* rows whose outcome is unknown remain */
    EXIT_TOO_MANY = WEIR_EXIT_TOO_MANY,         /* stopped at --max-errors */
    EXIT_STOPPED = WEIR_EXIT_STOPPED,         /* deadline, limit or tolerance reached; resumable */
    EXIT_INTERRUPTED = WEIR_EXIT_INTERRUPTED, /* resumable */
    EXIT_USAGE = WEIR_EXIT_USAGE,             /* or configuration */
    EXIT_REJECTED_ROWS = WEIR_EXIT_REJECTED_ROWS, /* done, some rows rejected */
    EXIT_DONE = WEIR_EXIT_DONE,
};

/* The one of the two that stands. */
int exit_code_worse(int a, int b);

/* What a call that failed with `err` ends the command with. */
int exit_code_of(const struct weir_error *err);

/* "interrupted", for programs that read how a run ended. */
const char *exit_code_text(int code);

#endif

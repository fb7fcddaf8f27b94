/* SPDX-License-Identifier: MIT */
/* How the command ends. When several apply, the one further up stands. */
#ifndef WEIR_APP_EXIT_CODE_H
#define WEIR_APP_EXIT_CODE_H

#include "weir/error.h"

enum exit_code {
    EXIT_INTERNAL = 70,
    EXIT_LOCAL_IO = 7,      /* disk full, journal */
    EXIT_CREDENTIALS = 4,   /* or privilege */
    EXIT_UNREACHABLE = 10,  /* the service */
    EXIT_UNKNOWN_ROWS = 8,  /* rows whose outcome is unknown remain */
    EXIT_TOO_MANY = 3,      /* stopped at --max-errors */
    EXIT_STOPPED = 6,       /* deadline, limit or tolerance reached; resumable */
    EXIT_INTERRUPTED = 5,   /* resumable */
    EXIT_USAGE = 2,         /* or configuration */
    EXIT_REJECTED_ROWS = 1, /* done, some rows rejected */
    EXIT_DONE = 0,
};

/* The one of the two that stands. */
int exit_code_worse(int a, int b);

/* What a call that failed with `err` ends the command with. */
int exit_code_of(const struct weir_error *err);

/* "interrupted", for programs that read how a run ended. */
const char *exit_code_text(int code);

#endif

/* SPDX-License-Identifier: MIT */
/* How the command ends. When several apply, the one further up stands. */
#ifndef WEIR_APP_EXIT_CODE_H
#define WEIR_APP_EXIT_CODE_H

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
static inline int exit_code_worse(int a, int b)
{
    static const int order[] = { EXIT_INTERNAL,     EXIT_LOCAL_IO,     EXIT_CREDENTIALS,
                                 EXIT_UNREACHABLE,  EXIT_UNKNOWN_ROWS, EXIT_TOO_MANY,
                                 EXIT_STOPPED,      EXIT_INTERRUPTED,  EXIT_USAGE,
                                 EXIT_REJECTED_ROWS };
    for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (a == order[i] || b == order[i])
            return order[i];
    }
    return EXIT_DONE;
}

#endif

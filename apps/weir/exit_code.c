/* SPDX-License-Identifier: MIT */
/* How the command ends; see exit_code.h. */
#include "exit_code.h"

#include <stdbool.h>
#include <stddef.h>

int exit_code_worse(int a, int b)
{
    static const int order[] = { EXIT_INTERNAL,     EXIT_LOCAL_IO,     EXIT_CREDENTIALS,
                                 EXIT_UNREACHABLE,  EXIT_UNKNOWN_ROWS, EXIT_TOO_MANY,
                                 EXIT_STOPPED,      EXIT_INTERRUPTED,  EXIT_USAGE,
                                 EXIT_REJECTED_ROWS };
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (a == order[i] || b == order[i])
            return order[i];
    }
    return EXIT_DONE;
}

const char *exit_code_text(int code)
{
    static const char *const texts[] = {
        [EXIT_DONE] = "all rows done",
        [EXIT_REJECTED_ROWS] = "done, some rows rejected",
        [EXIT_USAGE] = "usage or configuration",
        [EXIT_TOO_MANY] = "stopped at --max-errors",
        [EXIT_CREDENTIALS] = "credentials or privilege",
        [EXIT_INTERRUPTED] = "interrupted",
        [EXIT_STOPPED] = "deadline, limit or tolerance reached",
        [EXIT_LOCAL_IO] = "local I/O",
        [EXIT_UNKNOWN_ROWS] = "rows with unknown outcome remain",
        [EXIT_UNREACHABLE] = "service unreachable",
    };
    bool known = code >= 0 && (size_t)code < sizeof(texts) / sizeof(texts[0]) && texts[code];
    return known ? texts[code] : "internal error";
}

/* A refusal that is not about who we are is about what was asked for. */
static int refusal_code(const struct weir_error *err)
{
    return err->http_status == 401 || err->http_status == 403 ? EXIT_CREDENTIALS : EXIT_USAGE;
}

int exit_code_of(const struct weir_error *err)
{
    switch (err->status) {
    case WEIR_OK:
        return EXIT_DONE;
    case WEIR_E_INVALID:
    case WEIR_E_NOT_FOUND:
    case WEIR_E_TOO_BIG:
    case WEIR_E_DAMAGED:
        return EXIT_USAGE;
    case WEIR_E_IO:
        return EXIT_LOCAL_IO;
    case WEIR_E_SERVICE_PROTECTION:
    case WEIR_E_POOL_EXHAUSTED:
        return EXIT_STOPPED;
    case WEIR_E_REFUSED:
        return refusal_code(err);
    case WEIR_E_CREDENTIALS:
    case WEIR_E_NO_CONNECTION: /* whoever was set aside was so for this */
        return EXIT_CREDENTIALS;
    case WEIR_E_UNAVAILABLE:
        return EXIT_UNREACHABLE;
    case WEIR_E_CANCELLED:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_INTERNAL;
    }
}

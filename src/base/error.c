/* SPDX-License-Identifier: MIT */
/* Filling a struct weir_error; see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

#undef weir_fail /* what analysers see instead */

static const char *const status_names[WEIR_STATUS_COUNT] = {
    [WEIR_OK] = "ok",
    [WEIR_E_INVALID] = "invalid",
    [WEIR_E_NOT_FOUND] = "not found",
    [WEIR_E_TOO_BIG] = "too big",
    [WEIR_E_DAMAGED] = "damaged",
    [WEIR_E_IO] = "input or output error",
    [WEIR_E_POOL_EXHAUSTED] = "pool exhausted",
    [WEIR_E_SERVICE_PROTECTION] = "service protection",
    [WEIR_E_NO_CONNECTION] = "no connection",
    [WEIR_E_CANCELLED] = "cancelled",
    [WEIR_E_SHUTDOWN] = "shutdown",
    [WEIR_E_STALE_LEASE] = "stale lease",
    [WEIR_E_WOULD_WAIT] = "would wait",
    [WEIR_E_UNAVAILABLE] = "unavailable",
    [WEIR_E_REFUSED] = "refused",
    [WEIR_E_CREDENTIALS] = "bad credentials",
};

const char *weir_status_name(enum weir_status status)
{
    return (unsigned)status < WEIR_STATUS_COUNT ? status_names[status] : "unknown status";
}

/*
 * A message is one line, whatever words of others are in it: those of a service or names of files.
 * Control characters could steer the terminal that it is shown on, or make a line of their own.
 */
static void make_one_line(char *message, size_t len)
{
    struct weir_str text = weir_str(message, len);
    size_t control;
    for (size_t i = 0; i < text.len; i += control ? control : 1) {
        control = weir_control_bytes(text, i);
        memset(message + i, strchr("\t\r\n", message[i]) ? ' ' : '?', control);
    }
}

enum weir_status weir_fail(struct weir_error *err, enum weir_status status, const char *format, ...)
{
    if (!err)
        return status;
    *err = (struct weir_error){ .status = status, .retry_after_us = -1, .outcome_known = true };
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);
    make_one_line(err->message, strlen(err->message));
    return status;
}

void weir_error_set_connection(struct weir_error *err, const char *name)
{
    if (err)
        snprintf(err->connection, sizeof(err->connection), "%s", name);
}

/* SPDX-License-Identifier: MIT */
/* Filling a struct weir_error; what it is stands in weir/error.h. Any thread. */
#ifndef WEIR_BASE_ERROR_H
#define WEIR_BASE_ERROR_H

#include "weir/error.h"

/*
 * Reset `err` to `status` with a message (cut at WEIR_MESSAGE_MAX, without control characters) and
 * return the status, so that failing is one line: `return weir_fail(err, WEIR_E_INVALID, "...",
 * ...)`. `err` may be NULL.
 */
enum weir_status weir_fail(struct weir_error *err, enum weir_status status, const char *format, ...)
    WEIR_PRINTF(3, 4);

#if defined(WEIR_ANALYSE) || defined(__clang_analyzer__)
/* An analyser sees one file at a time and would think that it may return WEIR_OK. */
static inline enum weir_status weir_fail_analysed(enum weir_status returned,
                                                  enum weir_status status)
{
    (void)returned;
    return status;
}
#define weir_fail(err, status, ...) weir_fail_analysed(weir_fail(err, status, __VA_ARGS__), status)
#endif

/* Copy a connection's name into `err`; cut if it is too long. `err` may be NULL. */
void weir_error_set_connection(struct weir_error *err, const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Structured log records, handed to a sink of the caller's.
 *
 * The library never prints. Whoever wants to see what it does gives it a sink; without one nothing
 * is formatted. A record and all that it points to live only for the duration of the call.
 */
#ifndef WEIR_LOG_H
#define WEIR_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum weir_log_level {
    WEIR_LOG_ERROR,
    WEIR_LOG_WARNING,
    WEIR_LOG_INFO,
    WEIR_LOG_DEBUG,
    WEIR_LOG_TRACE,
};

enum weir_log_type {
    WEIR_LOG_TEXT,
    WEIR_LOG_INTEGER,
    WEIR_LOG_CODE,       /* a service code: 0x80072322 */
    WEIR_LOG_DURATION_US /* written as seconds */
};

struct weir_log_field {
    const char *name; /* PascalCase, as the design documents write it: "RetryAfter" */
    enum weir_log_type type;
    int64_t integer;  /* every type but text */
    const char *text; /* type text only */
};

struct weir_log_record {
    enum weir_log_level level;
    const char *event;   /* stable, for machines: "throttle" */
    const char *message; /* for people: "service protection limit hit" */
    const struct weir_log_field *fields;
    size_t field_count;
};

struct weir_log_sink {
    enum weir_log_level level; /* records above this level are not made */
    void (*write)(void *ctx, const struct weir_log_record *record); /* NULL: no log at all */
    void *ctx;
};

/*
 * Write a record as one line without a newline, as people read it or as one JSON object, into
 * `line` of `line_bytes` bytes; cut if it does not fit, always terminated. Returns its length.
 * Any thread.
 */
WEIR_API size_t weir_log_format_text(const struct weir_log_record *record, char *line,
                                     size_t line_bytes);
WEIR_API size_t weir_log_format_json(const struct weir_log_record *record, char *line,
                                     size_t line_bytes);

/* "error", "warning", "info", "debug" or "trace". Any thread. */
WEIR_API const char *weir_log_level_name(enum weir_log_level level);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * An HTTP request and its answer as plain data, for everything in the simulator that knows no
 * socket. Texts of a request are borrowed from whoever read it; an answer owns its buffers.
 */
#ifndef SIM_SERVICE_HTTP_H
#define SIM_SERVICE_HTTP_H

#include "base/buf.h"
#include "base/str.h"

struct sim_header {
    struct weir_str name; /* any case */
    struct weir_str value;
};

struct sim_http_request {
    struct weir_str method; /* "POST" */
    struct weir_str
        target; /* path and query as they came, not decoded: "/api/data/v9.2/accounts?$top=1" */
    const struct sim_header *headers;
    size_t header_count;
    struct weir_str body;
};

/* The value of a header by name, any case; the first one if it is repeated. ptr NULL: not there. */
struct weir_str sim_http_header(const struct sim_header *headers, size_t count, const char *name);

/* The largest answer that is made, headers or body. */
#define SIM_ANSWER_BYTES_MAX ((size_t)256 * 1024 * 1024)

struct sim_answer {
    int status;
    struct weir_buf headers; /* "Name: value\r\n" each, in order; Content-Length is the shell's */
    struct weir_buf body;
};

void sim_answer_init(struct sim_answer *answer);
void sim_answer_release(struct sim_answer *answer);
void sim_answer_reset(struct sim_answer *answer); /* as new, memory kept */

void sim_answer_header(struct sim_answer *answer, const char *name, const char *format, ...)
    WEIR_PRINTF(3, 4);

/*
 * The ordinary OData error: {"error":{"code":"0x80040217","message":"…"}} with its Content-Type.
 * The message is escaped. Replaces a body that is there already; headers stay.
 */
void sim_answer_error(struct sim_answer *answer, int status, const char *code, const char *format,
                      ...) WEIR_PRINTF(4, 5);

/* The other shape that the service has: {"Message":"…","ErrorCode":"0x80097303"}. */
void sim_answer_flat_error(struct sim_answer *answer, int status, const char *code,
                           const char *format, ...) WEIR_PRINTF(4, 5);

/* "Not Found" and so on; "Unknown" for what is none. */
const char *sim_http_reason(int status);

#endif

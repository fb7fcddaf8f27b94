/* SPDX-License-Identifier: MIT */
/*
 * What may be asked for along with a request, and the header lines that ask for it.
 *
 * A $batch does not hand its headers on to its parts: whatever is asked for stands in every part
 * again. So there are three forms of the same options:
 *
 *     a request by itself   Accept, OData-Version, OData-MaxVersion, If-None-Match: null, and all
 *     the $batch request    the same without what belongs to the parts; continue-on-error
 *     a part of it          only what has a meaning there
 *
 * `If-None-Match: null` keeps caches on the way from answering. On a PATCH it would stand where the
 * conditions stand that make an update of an upsert, so it is left out there.
 *
 * Pure. Any thread.
 */
#ifndef WEIR_PROTOCOL_REQUEST_OPTIONS_H
#define WEIR_PROTOCOL_REQUEST_OPTIONS_H

#include "base/buf.h"
#include "weir/error.h"

enum weir_bypass {
    WEIR_BYPASS_NONE = 0,
    WEIR_BYPASS_SYNC,
    WEIR_BYPASS_ASYNC,
    WEIR_BYPASS_ALL,
};

/* Zeroed: nothing special. Texts are borrowed; NULL: none. */
struct weir_request_options {
    enum weir_bypass bypass_logic; /* plug-ins and workflows of the organisation */
    const char *bypass_step_ids;   /* single steps: GUIDs with commas between them */
    bool bypass_flows;
    bool detect_duplicates;    /* the service's detection rules, off unless asked for */
    bool error_details;        /* annotations on errors: which rows of an elastic table failed */
    bool continue_on_error;    /* of a $batch: all parts run, each with an answer of its own */
    const char *tag;           /* goes into the address: weir_odata_add_query("tag") */
    const char *impersonate;   /* the Entra object id of somebody else */
    const char *session_token; /* reads of an elastic table see what was written under it */
};

enum weir_request_kind {
    WEIR_REQUEST_READ = 0, /* GET */
    WEIR_REQUEST_CREATE,   /* POST, also of an action */
    WEIR_REQUEST_UPDATE,   /* PATCH with If-Match: *, so that nothing is created */
    WEIR_REQUEST_UPSERT,   /* PATCH */
    WEIR_REQUEST_DELETE,
    WEIR_REQUEST_KINDS
};

/* "GET", "POST", "PATCH" or "DELETE". */
const char *weir_request_method(enum weir_request_kind kind);

/* WEIR_E_INVALID, WEIR_E_TOO_BIG: a text that cannot stand in a header, or names nobody. */
enum weir_status weir_request_options_check(const struct weir_request_options *options,
                                            struct weir_error *err);

/* Lines "Name: value" for the transport. */
#define WEIR_REQUEST_LINES_MAX 16

struct weir_request_lines {
    const char *lines[WEIR_REQUEST_LINES_MAX];
    size_t count;
    char *text; /* what the lines point into */
};

/* Of a request by itself; `options` must have passed the check. */
void weir_request_lines_init(struct weir_request_lines *lines,
                             const struct weir_request_options *options,
                             enum weir_request_kind kind);

/* Of the request that carries a $batch with this boundary. */
void weir_request_lines_init_batch(struct weir_request_lines *lines,
                                   const struct weir_request_options *options,
                                   struct weir_str boundary);

void weir_request_lines_release(struct weir_request_lines *lines);

/* The headers of a part, "Name: value\r\n" each. */
void weir_request_add_part_headers(struct weir_buf *buf, const struct weir_request_options *options,
                                   enum weir_request_kind kind);

#endif

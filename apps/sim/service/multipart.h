/* SPDX-License-Identifier: MIT */
/*
 * Reading multipart/mixed bodies and the HTTP requests inside them, as slices of the body: nothing
 * is copied. Lines end with CR LF and nothing else.
 *
 *     preamble CRLF
 *     --boundary CRLF        delimiter: belongs to it the CRLF in front
 *     headers CRLF
 *     CRLF
 *     content
 *     CRLF --boundary-- CRLF    the end; whatever follows is ignored
 */
#ifndef SIM_SERVICE_MULTIPART_H
#define SIM_SERVICE_MULTIPART_H

#include "sim/service/http.h"

#define SIM_BOUNDARY_MAX     200 /* bytes; the standard says 70 */
#define SIM_PART_HEADERS_MAX 64

enum sim_multipart_step {
    SIM_MULTIPART_PART,
    SIM_MULTIPART_END,
    SIM_MULTIPART_BROKEN, /* ends too early, or a line does not end with CR LF */
};

struct sim_multipart {
    struct weir_str body;
    struct weir_str boundary;
    size_t at;   /* behind the last delimiter line */
    bool begun;  /* a delimiter was seen */
    bool nested; /* the CRLF behind the end may belong to the body around it */
    bool ended;
};

struct sim_part {
    struct sim_header headers[SIM_PART_HEADERS_MAX];
    size_t header_count;
    struct weir_str content;
};

struct sim_part_request {
    struct weir_str method;
    struct weir_str target;
    struct sim_header headers[SIM_PART_HEADERS_MAX];
    size_t header_count;
    struct weir_str body;
};

/* The boundary of a Content-Type, quoted or not. False: it is not multipart/mixed, or has none. */
bool sim_multipart_boundary(struct weir_str content_type, struct weir_str *ret);

void sim_multipart_init(struct sim_multipart *multipart, struct weir_str body,
                        struct weir_str boundary, bool nested);

/* The next part. A body without a single delimiter of this boundary is at its end at once. */
enum sim_multipart_step sim_multipart_next(struct sim_multipart *multipart, struct sim_part *ret);

/*
 * The request that an application/http part contains. Its body ends at the first line that begins
 * with two dashes: JSON has none, so it is a delimiter of some other boundary, and what it begins
 * is nobody's.
 */
bool sim_part_request_parse(struct weir_str content, struct sim_part_request *ret);

#endif

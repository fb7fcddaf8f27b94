/* SPDX-License-Identifier: MIT */
/*
 * multipart/mixed, cut into its parts: bytes in, slices out. What a part holds is not known here.
 *
 *     preamble            skipped
 *     --boundary          a line of its own, ended by CR LF or LF; blanks behind it are allowed
 *     part
 *     --boundary
 *     part                the line end in front of a delimiter belongs to the delimiter
 *     --boundary--        without it the whole is incomplete
 *     epilogue            skipped
 *
 * Pure; nothing is allocated. Any thread.
 */
#ifndef WEIR_PROTOCOL_MULTIPART_H
#define WEIR_PROTOCOL_MULTIPART_H

#include "base/str.h"

/*
 * The boundary of a Content-Type: `multipart/mixed; boundary=b` or `boundary="b"`, any case, other
 * parameters around it. False: another type, no boundary, or one over WEIR_BOUNDARY_BYTES_MAX.
 */
bool weir_multipart_boundary(struct weir_str content_type, struct weir_str *ret);

struct weir_multipart {
    struct weir_str rest; /* behind the last delimiter that was found */
    struct weir_str boundary;
    bool complete; /* the closing delimiter has been found */
};

/* Find the first delimiter. False: there is none. Both texts are borrowed. */
bool weir_multipart_open(struct weir_multipart *multipart, struct weir_str body,
                         struct weir_str boundary);

/*
 * The next part. False: there is none. If `complete` is not set then, the text was cut: what
 * follows the last delimiter has no end and is not handed out.
 */
bool weir_multipart_next(struct weir_multipart *multipart, struct weir_str *ret);

/* One line taken off *text, without its end (CR LF or LF). False: it has no end. */
bool weir_multipart_take_line(struct weir_str *text, struct weir_str *ret);

#endif

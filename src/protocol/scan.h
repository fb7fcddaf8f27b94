/* SPDX-License-Identifier: MIT */
/*
 * JSON in bytes that somebody else owns, without a tree: for answers that may be large, hostile, or
 * both. A document is checked once, whole; from then on a value is simply its bytes as written.
 *
 *     struct weir_str root, ids, key, id;
 *     if (weir_scan_document(body, &root) && weir_scan_find(root, "Ids", &ids)) {
 *         struct weir_scan scan = weir_scan_open(ids);
 *         while (weir_scan_next(&scan, &key, &id))
 *             ...
 *     }
 *
 * The grammar is that of RFC 8259 and nothing more, nesting ends at WEIR_SCAN_DEPTH_MAX, and what
 * is cut anywhere is no document. Bytes that are not UTF-8 are let through inside of strings; they
 * are replaced when a text is taken out. Nothing is allocated. Any thread.
 */
#ifndef WEIR_PROTOCOL_SCAN_H
#define WEIR_PROTOCOL_SCAN_H

#include "base/str.h"

/* The whole of `text` is one JSON value: its bytes without the space around it. A byte order mark
 * is skipped. */
bool weir_scan_document(struct weir_str text, struct weir_str *ret_value);

/* What follows takes values of a checked document; of other bytes the answers are worth nothing. */

bool weir_scan_is_object(struct weir_str value);
bool weir_scan_is_array(struct weir_str value);
bool weir_scan_is_string(struct weir_str value);
bool weir_scan_is_number(struct weir_str value);

/* A walk over the members of an object or the elements of an array. */
struct weir_scan {
    struct weir_str rest;
    bool object;
};

/* Of a value that is neither: a walk that ends at once. */
struct weir_scan weir_scan_open(struct weir_str container);

/* False: there is no more. A key is a string as written, quotes and all; of an element it is empty.
 */
bool weir_scan_next(struct weir_scan *scan, struct weir_str *ret_key, struct weir_str *ret_value);

/* The first member of that name, exactly. False: there is none, or `object` is no object. */
bool weir_scan_find(struct weir_str object, const char *name, struct weir_str *ret_value);

/*
 * The text of a string, as a C string in `out` of `out_bytes` bytes (at least one), cut at a
 * character if it does not fit. Escapes are resolved; what is not UTF-8, half a surrogate pair and
 * U+0000 become U+FFFD. Of a number: its digits. Of anything else: nothing. Returns the length; it
 * is at most three times that of the value.
 */
size_t weir_scan_text(struct weir_str value, char *out, size_t out_bytes);

/*
 * The same, but what does not fit is left out of its middle: the beginning, a gap, and as much of
 * the end as fits into `tail_bytes`, whole characters all. `out_bytes` must be larger than the tail
 * and the gap together.
 */
#define WEIR_SCAN_GAP " \xe2\x80\xa6 "
size_t weir_scan_text_ends(struct weir_str value, char *out, size_t out_bytes, size_t tail_bytes);

/* A text in which nothing would have to be replaced. */
bool weir_scan_is_clean(struct weir_str value);

#endif

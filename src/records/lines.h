/* SPDX-License-Identifier: MIT */
/*
 * Physical lines of bytes that are handed over in pieces of any size: what formats stand on that
 * have a record a line. It is called as format.h says; where the pieces were cut makes no
 * difference.
 *
 * - A line ends with LF, CR LF or a lone CR. The last one need not end.
 * - A byte order mark of UTF-8 is skipped; UTF-16 and UTF-32 are refused.
 * - A line that is longer than the bound is passed over; its beginning is kept.
 *
 *      window  ┌──── gone ────┬─ the line at hand ────────┬─ not looked at ─┐
 *              0            begin                at       …               len
 *              └ stands at offset `base` of the file
 *
 * Memory: a window that grows to one line and one piece of input. Pure; one thread at a time.
 * Messages lack their subject: whoever knows the file's name puts it in front.
 */
#ifndef WEIR_RECORDS_LINES_H
#define WEIR_RECORDS_LINES_H

#include "base/limits.h"
#include "records/format.h"

/* Bytes that are looked at in one go. */
#define WEIR_LINES_STRIDE 64

struct weir_line {
    /*
     * Without its line end. Lies in the window: until the next call but weir_lines_peek(). Behind
     * it stands a byte below ' ', and WEIR_LINES_STRIDE bytes can be read. Of a line that is too
     * long: its beginning, somewhere else.
     */
    struct weir_str text;
    bool too_long;
    bool plain;      /* bytes from 1 to 127 only */
    uint64_t offset; /* of the first byte */
    uint64_t end;    /* of the byte behind the last, line end included */
    uint64_t number; /* from 1; 0: not known */
};

struct weir_lines {
    size_t line_bytes_max; /* without the line end */

    char *window;
    size_t len;
    size_t capacity;
    uint64_t base;
    bool last; /* nothing comes behind `len` */

    /* The line at hand. */
    size_t begin;
    size_t at;                        /* everything before it has been looked at */
    bool found;                       /* its end is known: `at`, and … */
    size_t end;                       /* … behind its line end */
    bool odd;                         /* a byte that is not plain was met */
    bool too_long;                    /* of what is left of it … */
    uint64_t dropped;                 /* … so many bytes are no longer in the window … */
    char kept[WEIR_RECORD_CUT_BYTES]; /* … and this is its beginning */

    bool begun;        /* what stands before the first line has been looked at */
    uint64_t enter_at; /* bytes before this offset are skipped */
    uint64_t line;     /* the number of the line at hand; 0: not known */

    enum weir_status broken; /* with `why`, for good */
    struct weir_error why;
};

void weir_lines_init(struct weir_lines *lines, size_t line_bytes_max);
void weir_lines_release(struct weir_lines *lines);

/* As in format.h. */
void weir_lines_begin(struct weir_lines *lines);
void weir_lines_feed(struct weir_lines *lines, uint64_t offset, const char *bytes, size_t len,
                     bool last);
enum weir_step weir_lines_head(struct weir_lines *lines, struct weir_error *err);
void weir_lines_enter(struct weir_lines *lines, uint64_t offset, uint64_t line);

/* The line at hand, the same one until it is passed: RECORD, MORE, END or BROKEN. */
enum weir_step weir_lines_peek(struct weir_lines *lines, struct weir_line *ret,
                               struct weir_error *err);

/* It is done with. Only after RECORD. */
void weir_lines_pass(struct weir_lines *lines);

#endif

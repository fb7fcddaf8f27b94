/* SPDX-License-Identifier: MIT */
/*
 * Progress as a view for a terminal: a total line, what is in the way if something is, and a line
 * for each connection.
 *
 *     [########............]  41 %  12,300 done, 10 rejected, 1,234 rows/s, 21 s left
 *     connection    state                            in flight      bound by          req  exec
 *     app1          ok                               ####..  5/8    aimd              ###. ####
 *     app2          throttled until 14:03:12, 0:25   ......  0/4    throttle ceiling  -    -
 *     and 23 more: 20 ok, 3 throttled
 *
 * Pure: the same snapshot and options give the same text. No line takes more than the columns it is
 * given less one: a terminal whose last column is written may go to the next line.
 */
#ifndef WEIR_APP_PROGRESS_VIEW_H
#define WEIR_APP_PROGRESS_VIEW_H

#include "base/buf.h"
#include "progress_snapshot.h"

/* Bytes of a view at most: so many lines are never asked for. */
#define PROGRESS_VIEW_MAX     ((size_t)256 * 1024)
#define PROGRESS_VIEW_COLUMNS 400 /* that are used at most … */
#define PROGRESS_VIEW_LINES   100 /* … and lines */

struct progress_view_options {
    unsigned columns; /* of the terminal */
    unsigned lines;   /* of the view at most */
    bool colour;
    bool utf8; /* what is not ASCII may be shown */
};

/* The lines, each with its end. */
void progress_view_draw(const struct progress_snapshot *snapshot,
                        const struct progress_view_options *options, struct weir_buf *ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The inside of the view, for the files that are it; see progress_view.h.
 *
 *     progress_view.c             which lines there are, the total, what is in the way
 *     progress_view_connection.c  the table of connections and its columns
 *     progress_view_line.c        one line: cut to its columns, coloured, bars
 */
#ifndef WEIR_APP_PROGRESS_VIEW_PARTS_H
#define WEIR_APP_PROGRESS_VIEW_PARTS_H

#include "base/buf.h"
#include "figures.h"
#include "progress_snapshot.h"

/* --- progress_view_line.c --- */

enum view_colour {
    VIEW_PLAIN,
    VIEW_BOLD,
    VIEW_DIM,
    VIEW_GREEN,
    VIEW_YELLOW,
    VIEW_RED,
};

/* A line that grows until it is full; what comes then is left out. */
struct view_line {
    struct weir_buf *buf;
    unsigned columns; /* taken so far */
    unsigned columns_max;
    bool colour;
    bool utf8;
};

void view_add_text(struct view_line *line, const char *ascii);
void view_printf(struct view_line *line, enum view_colour colour, const char *format, ...)
    WEIR_PRINTF(3, 4);

/* The same after a comma, if there is room for all of it. */
void view_add_piece(struct view_line *line, enum view_colour colour, const char *format, ...)
    WEIR_PRINTF(3, 4);

/* Somebody else's words, made harmless; so many columns at most. */
void view_add_words(struct view_line *line, const char *words, enum view_colour colour,
                    unsigned columns_max);

/* `share` of `columns` is full; a share above 0 shows. */
void view_add_bar(struct view_line *line, double share, unsigned columns, enum view_colour colour);

/* Blanks until `columns` are taken. */
void view_pad(struct view_line *line, unsigned columns);

/* The next one may be begun. */
void view_end_line(struct view_line *line);

/* 0:25, 61:05, 2 h: five columns where it matters; never 0:00 while it runs. */
struct figure view_countdown(double seconds);

/* --- progress_view_connection.c --- */

enum view_state {
    VIEW_OK,
    VIEW_THROTTLED,
    VIEW_BROKEN,
    VIEW_SET_ASIDE,
    VIEW_STATES
};

enum view_state view_state(const struct weir_job_connection *connection);
const char *view_state_name(enum view_state state);
enum view_colour view_state_colour(enum view_state state);

void view_draw_heading(struct view_line *line);
void view_draw_connection(struct view_line *line, const struct progress_connection *connection,
                          int64_t wall_us);

#endif

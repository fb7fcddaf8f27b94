/* SPDX-License-Identifier: MIT */
/* One line of the view; see progress_view_parts.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"
#include "progress_view_parts.h"

/* Characters from here on may be two columns wide, or none. */
#define NARROW_END_LEAD 0xe1u /* U+1000 */

static const char *const colours[] = {
    [VIEW_BOLD] = "\033[1m",    [VIEW_DIM] = "\033[2m",  [VIEW_GREEN] = "\033[32m",
    [VIEW_YELLOW] = "\033[33m", [VIEW_RED] = "\033[31m",
};

static void begin_colour(struct view_line *line, enum view_colour colour)
{
    if (line->colour && colour != VIEW_PLAIN)
        weir_buf_add_text(line->buf, colours[colour]);
}

static void end_colour(struct view_line *line, enum view_colour colour)
{
    if (line->colour && colour != VIEW_PLAIN)
        weir_buf_add_text(line->buf, "\033[m");
}

static unsigned room(const struct view_line *line)
{
    return line->columns_max - line->columns;
}

void view_add_text(struct view_line *line, const char *ascii)
{
    size_t len = strnlen(ascii, room(line));
    weir_buf_add(line->buf, ascii, len);
    line->columns += (unsigned)len;
}

static void add_coloured(struct view_line *line, enum view_colour colour, const char *text)
{
    begin_colour(line, colour);
    view_add_text(line, text);
    end_colour(line, colour);
}

void view_printf(struct view_line *line, enum view_colour colour, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    add_coloured(line, colour, text);
}

void view_add_piece(struct view_line *line, enum view_colour colour, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (strlen(text) + 2 > room(line))
        return;
    view_add_text(line, ", ");
    add_coloured(line, colour, text);
}

/* One character of well-formed UTF-8; returns its bytes. */
static size_t add_character(struct view_line *line, const char *at)
{
    unsigned char first = (unsigned char)at[0];
    size_t len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    bool shown = len == 1 || (line->utf8 && first < NARROW_END_LEAD);
    weir_buf_add(line->buf, shown ? at : "?", shown ? len : 1);
    line->columns++;
    return len;
}

void view_add_words(struct view_line *line, const char *words, enum view_colour colour,
                    unsigned columns_max)
{
    struct weir_buf safe;
    unsigned end = line->columns + (columns_max < room(line) ? columns_max : room(line));
    weir_buf_init(&safe, 4096);
    printable_add(&safe, weir_str_cut(weir_str_from(words), 1024));
    begin_colour(line, colour);
    for (const char *at = weir_buf_text(&safe); *at && line->columns < end;)
        at += add_character(line, at);
    end_colour(line, colour);
    weir_buf_release(&safe);
}

static void add_cells(struct view_line *line, unsigned count, const char *utf8, const char *ascii,
                      enum view_colour colour)
{
    begin_colour(line, colour);
    for (unsigned i = 0; i < count && room(line) > 0; i++) {
        weir_buf_add_text(line->buf, line->utf8 ? utf8 : ascii);
        line->columns++;
    }
    end_colour(line, colour);
}

void view_add_bar(struct view_line *line, double share, unsigned columns, enum view_colour colour)
{
    double bounded = share > 0 ? (share < 1 ? share : 1) : 0;
    unsigned full = (unsigned)(bounded * columns + 0.5);
    if (full == 0 && bounded > 0)
        full = 1;
    if (full == columns && bounded < 1 && columns > 1)
        full = columns - 1;
    if (full > 0)
        add_cells(line, full, "\u2588", "#", colour);
    if (full < columns)
        add_cells(line, columns - full, "\u2591", ".", VIEW_DIM);
}

void view_pad(struct view_line *line, unsigned columns)
{
    while (line->columns < columns && room(line) > 0)
        view_add_text(line, " ");
}

void view_end_line(struct view_line *line)
{
    weir_buf_add_char(line->buf, '\n');
    line->columns = 0;
}

struct figure view_countdown(double seconds)
{
    struct figure figure;
    int64_t whole = seconds > 0 && seconds < 1e9 ? (int64_t)(seconds + 0.999) : 0;
    int64_t minutes = whole / 60;
    if (minutes > 99)
        snprintf(figure.text, sizeof(figure.text), "%" PRId64 " h", minutes / 60);
    else
        snprintf(figure.text, sizeof(figure.text), "%d:%02d", (int)minutes, (int)(whole % 60));
    return figure;
}

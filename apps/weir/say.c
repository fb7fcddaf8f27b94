/* SPDX-License-Identifier: MIT */
/* Lines for people; see say.h. */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json_text.h"
#include "screen.h"
#include "wrap.h"

#define JSON_LINE_MAX (6 * SAY_LINE_MAX + 64) /* a byte is six at most */
#define INDENT        2                       /* of the lines of a sentence after its first */
#define BLANKS_MAX    16                      /* in front of a sentence */

static bool as_json;
static _Thread_local char parts[SAY_LINE_MAX]; /* of a line that is to be an object */

void say_as_json(void)
{
    as_json = true;
}

bool say_has_room(void)
{
    return screen_has_room();
}

static void write_object(const char *text)
{
    struct weir_buf line;
    weir_buf_init(&line, JSON_LINE_MAX);
    weir_buf_add_text(&line, "{\"message\":");
    weir_json_text_add(&line, weir_str_from(text));
    weir_buf_add_text(&line, "}\n");
    screen_write(weir_buf_text(&line), line.len);
    weir_buf_release(&line);
}

/* What has no text is an empty line, which is for the eye. */
WEIR_PRINTF(2, 0)
static void add_to_object(const char *end, const char *format, va_list args)
{
    size_t len = strlen(parts);
    vsnprintf(parts + len, sizeof(parts) - len, format, args);
    if (!*end)
        return;
    if (parts[0])
        write_object(parts);
    parts[0] = '\0';
}

WEIR_PRINTF(2, 0)
static void write_line(const char *end, const char *format, va_list args)
{
    if (as_json) {
        add_to_object(end, format, args);
        return;
    }
    char line[SAY_LINE_MAX + 1];
    int len = vsnprintf(line, SAY_LINE_MAX, format, args);
    if (len < 0)
        return;
    if (len >= SAY_LINE_MAX)
        len = SAY_LINE_MAX - 1;
    if (*end)
        line[len++] = *end;
    screen_write(line, (size_t)len);
}

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line("\n", format, args);
    va_end(args);
}

void say_wrapped(const char *format, ...)
{
    char line[SAY_LINE_MAX];
    struct weir_buf lines;
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    size_t columns = as_json ? 0 : wrap_columns(STDERR_FILENO);
    if (!columns) {
        say("%s", line);
        return;
    }
    int blanks = (int)strspn(line, " ");
    char first[BLANKS_MAX + 1];
    blanks = blanks < BLANKS_MAX ? blanks : BLANKS_MAX;
    snprintf(first, sizeof(first), "%*s", blanks, "");
    weir_buf_init(&lines, (size_t)4 * SAY_LINE_MAX);
    wrap_add(&lines, first, (size_t)blanks + INDENT, columns, line);
    say("%.*s", (int)lines.len - 1, weir_buf_text(&lines));
    weir_buf_release(&lines);
}

void say_part(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line("", format, args);
    va_end(args);
}

/* SPDX-License-Identifier: MIT */
/* Lines for people; see say.h. */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>

#include "screen.h"

bool say_has_room(void)
{
    return screen_has_room();
}

WEIR_PRINTF(2, 0)
static void write_line(const char *end, const char *format, va_list args)
{
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

void say_part(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line("", format, args);
    va_end(args);
}

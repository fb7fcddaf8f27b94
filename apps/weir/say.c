/* SPDX-License-Identifier: MIT */
/* Lines for people; see say.h. */
#include "say.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Standard error may be one that does not wait; whoever shares it may have made it so. */
#define PATIENCE_MS 1000

static bool wait_for_room(int timeout_ms)
{
    struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
    return poll(&out, 1, timeout_ms) == 1 && out.revents & POLLOUT;
}

bool say_has_room(void)
{
    return wait_for_room(0);
}

static void write_all(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t written = write(STDERR_FILENO, text, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN && wait_for_room(PATIENCE_MS))
            continue;
        if (written <= 0)
            return; /* there is nobody to tell */
        text += written;
        len -= (size_t)written;
    }
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
    write_all(line, (size_t)len);
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

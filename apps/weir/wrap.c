/* SPDX-License-Identifier: MIT */
/* Sentences within the width of a terminal; see wrap.h. */
#include "wrap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "printable.h"

#define COLUMNS_MIN 20
#define COLUMNS_MAX 10000
#define TEXT_MAX    ((size_t)64 * 1024)

size_t wrap_columns(int fd)
{
    struct winsize size = { 0 };
    const char *text = getenv("COLUMNS");
    int64_t given;
    if (text && weir_str_to_int64(weir_str_from(text), &given) && given >= COLUMNS_MIN &&
        given < COLUMNS_MAX)
        return (size_t)given;
    if (ioctl(fd, TIOCGWINSZ, &size))
        return 0;
    return size.ws_col > 0 && size.ws_col < COLUMNS_MAX ? size.ws_col : WRAP_COLUMNS;
}

void wrap_add(struct weir_buf *out, const char *first, size_t indent, size_t columns,
              const char *text)
{
    size_t at = printable_columns(weir_str_from(first));
    bool begun = false; /* the line has a word */
    weir_buf_add_text(out, first);
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        struct weir_str word = weir_str(text, strcspn(text, " "));
        size_t wide = printable_columns(word);
        if (begun && columns && at + 1 + wide > columns) {
            weir_buf_printf(out, "\n%*s", (int)indent, "");
            at = indent;
            begun = false;
        }
        if (begun)
            weir_buf_add_char(out, ' ');
        at += wide + begun;
        weir_buf_add(out, word.ptr, word.len);
        begun = true;
        text += word.len;
    }
    weir_buf_add_char(out, '\n');
}

void wrap_print(FILE *out, const char *first, size_t indent, size_t columns, const char *text)
{
    struct weir_buf lines;
    weir_buf_init(&lines, TEXT_MAX);
    wrap_add(&lines, first, indent, columns, text);
    fputs(weir_buf_text(&lines), out);
    weir_buf_release(&lines);
}

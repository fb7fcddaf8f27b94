/* SPDX-License-Identifier: MIT */
/* Words from elsewhere, for a terminal; see printable.h. */
#include "printable.h"

#include "records/utf8.h"

/* Bytes of the character at the front, or 1 if there is none; whether it may be shown. */
static size_t next_character(struct weir_str text, bool *ret_shown)
{
    unsigned char first = (unsigned char)text.ptr[0];
    size_t len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    bool whole = len <= text.len && weir_utf8_check(weir_str(text.ptr, len)) == len;
    bool low = first < ' ' || first == 0x7f;
    bool high = whole && first == 0xc2 && (unsigned char)text.ptr[1] < 0xa0;
    *ret_shown = whole && !low && !high;
    return whole ? len : 1;
}

void printable_add(struct weir_buf *buf, struct weir_str text)
{
    bool shown;
    for (size_t at = 0; at < text.len;) {
        size_t len = next_character(weir_str(text.ptr + at, text.len - at), &shown);
        if (shown)
            weir_buf_add(buf, text.ptr + at, len);
        else
            weir_buf_add_char(buf, '?');
        at += len;
    }
}

size_t printable_columns(struct weir_str text)
{
    size_t columns = 0;
    bool shown;
    for (size_t at = 0; at < text.len; columns++)
        at += next_character(weir_str(text.ptr + at, text.len - at), &shown);
    return columns;
}

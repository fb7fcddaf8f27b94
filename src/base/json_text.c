/* SPDX-License-Identifier: MIT */
/* Names as JSON; see json_text.h. */
#include "base/json_text.h"

/* How long a character is that begins so, and the bounds of its second byte, which rule out
 * overlong forms, surrogates and what lies above U+10FFFF. */
struct lead {
    size_t len; /* 0: nothing begins so */
    uint8_t second_min;
    uint8_t second_max;
};

static struct lead lead_of(uint8_t c)
{
    if (c < 0x80)
        return (struct lead){ 1, 0, 0 };
    if (c >= 0xc2 && c <= 0xdf)
        return (struct lead){ 2, 0x80, 0xbf };
    if (c >= 0xe0 && c <= 0xef)
        return (struct lead){ 3, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf };
    if (c >= 0xf0 && c <= 0xf4)
        return (struct lead){ 4, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf };
    return (struct lead){ 0, 0, 0 };
}

/* Bytes of the character that `text` begins with; 0: it begins with none. */
static size_t character(struct weir_str text)
{
    struct lead lead = lead_of((uint8_t)text.ptr[0]);
    if (lead.len > text.len)
        return 0;
    for (size_t i = 1; i < lead.len; i++) {
        uint8_t c = (uint8_t)text.ptr[i];
        uint8_t min = i == 1 ? lead.second_min : 0x80;
        uint8_t max = i == 1 ? lead.second_max : 0xbf;
        if (c < min || c > max)
            return 0;
    }
    return lead.len;
}

static void add_ascii(struct weir_buf *buf, char c)
{
    if (c == '\n')
        weir_buf_add_text(buf, "\\n");
    else if ((unsigned char)c < 0x20)
        weir_buf_printf(buf, "\\u%04x", (unsigned)c);
    else if (c == '"' || c == '\\')
        weir_buf_printf(buf, "\\%c", c);
    else
        weir_buf_add_char(buf, c);
}

void weir_json_text_add(struct weir_buf *buf, struct weir_str text)
{
    weir_buf_add_char(buf, '"');
    while (text.len > 0) {
        size_t len = character(text);
        if (len == 0)
            weir_buf_add_text(buf, "\xef\xbf\xbd");
        else if (len == 1)
            add_ascii(buf, text.ptr[0]);
        else
            weir_buf_add(buf, text.ptr, len);
        len += len == 0;
        text = weir_str(text.ptr + len, text.len - len);
    }
    weir_buf_add_char(buf, '"');
}

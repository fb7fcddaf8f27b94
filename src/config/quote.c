/* SPDX-License-Identifier: MIT */
/* Foreign text in messages; see quote.h. */
#include "config/quote.h"

#include <stdio.h>

/* How much of `text` is shown: never a part of a character. */
static size_t shown_bytes(struct weir_str text)
{
    if (text.len <= WEIR_QUOTE_BYTES_MAX)
        return text.len;
    size_t len = WEIR_QUOTE_BYTES_MAX;
    while (len && (text.ptr[len] & 0xC0) == 0x80)
        len--;
    return len;
}

struct weir_quoted weir_quote(struct weir_str text)
{
    char clean[WEIR_QUOTE_BYTES_MAX] = { 0 };
    size_t len = shown_bytes(text);
    size_t control;
    for (size_t i = 0; i < len; i += control ? control : 1) {
        control = weir_control_bytes(text, i);
        clean[i] = text.ptr[i];
        memset(clean + i, '?', control);
    }
    struct weir_quoted quoted;
    snprintf(quoted.text, sizeof(quoted.text), "\"%.*s%s\"", (int)len, clean,
             len < text.len ? "…" : "");
    return quoted;
}

void weir_buf_add_masked(struct weir_buf *buf, struct weir_str text)
{
    size_t scheme = weir_str_find_nocase(text, "://");
    size_t user = scheme < text.len ? scheme + 3 : 0;
    const char *colon = memchr(text.ptr + user, ':', text.len - user);
    const char *at = memrchr(text.ptr + user, '@', text.len - user);
    if (!colon || !at || colon > at) {
        weir_buf_add(buf, text.ptr, text.len);
        return;
    }
    weir_buf_add(buf, text.ptr, (size_t)(colon - text.ptr) + 1);
    weir_buf_add_text(buf, WEIR_MASK);
    weir_buf_add(buf, at, text.len - (size_t)(at - text.ptr));
}

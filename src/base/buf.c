/* SPDX-License-Identifier: MIT */
/* A growable buffer with a maximum; see buf.h. */
#include "base/buf.h"

#include <stdio.h>

#include "base/mem.h"

#define FIRST_CAPACITY 64

void weir_buf_init(struct weir_buf *buf, size_t bytes_max)
{
    *buf = (struct weir_buf){ .bytes_max = bytes_max };
}

void weir_buf_init_secret(struct weir_buf *buf, size_t bytes_max)
{
    *buf = (struct weir_buf){ .bytes_max = bytes_max, .secret = true };
}

static void wipe(struct weir_buf *buf)
{
    if (buf->secret && buf->ptr)
        explicit_bzero(buf->ptr, buf->len);
}

void weir_buf_release(struct weir_buf *buf)
{
    wipe(buf);
    free(buf->ptr);
    *buf = (struct weir_buf){ .bytes_max = buf->bytes_max, .secret = buf->secret };
}

void weir_buf_reset(struct weir_buf *buf)
{
    wipe(buf);
    buf->len = 0;
    buf->overflow = false;
    if (buf->ptr)
        buf->ptr[0] = '\0';
}

/* What realloc() leaves behind would not be wiped. */
static void move(struct weir_buf *buf, size_t capacity)
{
    char *moved = weir_realloc(NULL, capacity, 1);
    if (buf->len)
        memcpy(moved, buf->ptr, buf->len);
    wipe(buf);
    free(buf->ptr);
    buf->ptr = moved;
}

/* Room for `len` more bytes and the terminator; false: that would exceed the maximum. */
static bool reserve(struct weir_buf *buf, size_t len)
{
    if (len > buf->bytes_max - buf->len) {
        buf->overflow = true;
        return false;
    }
    size_t wanted = buf->len + len + 1;
    if (wanted <= buf->capacity)
        return true;
    size_t capacity = buf->capacity ? buf->capacity : FIRST_CAPACITY;
    while (capacity < wanted)
        capacity *= 2;
    if (buf->secret)
        move(buf, capacity);
    else
        buf->ptr = weir_realloc(buf->ptr, capacity, 1);
    buf->capacity = capacity;
    return true;
}

void weir_buf_add(struct weir_buf *buf, const void *bytes, size_t len)
{
    if (!reserve(buf, len))
        return;
    if (len)
        memcpy(buf->ptr + buf->len, bytes, len);
    buf->len += len;
    buf->ptr[buf->len] = '\0';
}

void weir_buf_add_text(struct weir_buf *buf, const char *text)
{
    weir_buf_add(buf, text, strlen(text));
}

void weir_buf_add_char(struct weir_buf *buf, char c)
{
    weir_buf_add(buf, &c, 1);
}

void weir_buf_printf(struct weir_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    /* Into the room that is there; only what does not fit is written a second time. */
    size_t room = buf->capacity - buf->len;
    int len = vsnprintf(room ? buf->ptr + buf->len : NULL, room, format, args);
    va_end(args);
    if (len >= 0 && reserve(buf, (size_t)len)) {
        if ((size_t)len >= room)
            vsnprintf(buf->ptr + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    } else if (room) {
        buf->ptr[buf->len] = '\0';
    }
    va_end(again);
}

void weir_buf_add_json_string(struct weir_buf *buf, struct weir_str text)
{
    weir_buf_add_char(buf, '"');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"' || c == '\\')
            weir_buf_printf(buf, "\\%c", c);
        else if (c == '\n')
            weir_buf_add_text(buf, "\\n");
        else if ((unsigned char)c < 0x20)
            weir_buf_printf(buf, "\\u%04x", (unsigned)c);
        else
            weir_buf_add_char(buf, c);
    }
    weir_buf_add_char(buf, '"');
}

size_t weir_buf_json_string_bytes(struct weir_str text)
{
    size_t bytes = 2 + text.len;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"' || c == '\\' || c == '\n')
            bytes += 1;
        else if ((unsigned char)c < 0x20)
            bytes += 5;
    }
    return bytes;
}

const char *weir_buf_text(const struct weir_buf *buf)
{
    return buf->ptr ? buf->ptr : "";
}

char *weir_buf_take(struct weir_buf *buf)
{
    char *text = buf->ptr ? buf->ptr : weir_strdup("");
    *buf = (struct weir_buf){ .bytes_max = buf->bytes_max };
    return text;
}

size_t weir_buf_hand_over(struct weir_buf *buf, char *text, size_t text_bytes)
{
    size_t len = 0;
    if (text_bytes) {
        len = buf->len < text_bytes ? buf->len : text_bytes - 1;
        memcpy(text, weir_buf_text(buf), len);
        text[len] = '\0';
    }
    weir_buf_release(buf);
    return len;
}

/* SPDX-License-Identifier: MIT */
/*
 * A growable buffer of bytes that was given a maximum. What would exceed the maximum is not
 * appended and sets `overflow`, which stays: check it once, at the end. The contents are always
 * terminated, so `ptr` can be read as a C string (it is NULL while nothing was ever appended;
 * weir_buf_text() never is).
 */
#ifndef WEIR_BASE_BUF_H
#define WEIR_BASE_BUF_H

#include <stdarg.h>

#include "base/str.h"
#include "weir/error.h"

struct weir_buf {
    char *ptr;
    size_t len;
    size_t capacity;
    size_t bytes_max;
    bool overflow;
    bool secret;
};

void weir_buf_init(struct weir_buf *buf, size_t bytes_max);
void weir_buf_init_secret(struct weir_buf *buf, size_t bytes_max); /* what it held is wiped */
void weir_buf_release(struct weir_buf *buf);
void weir_buf_reset(struct weir_buf *buf); /* empty again; keeps memory and maximum */

void weir_buf_add(struct weir_buf *buf, const void *bytes, size_t len);
void weir_buf_add_text(struct weir_buf *buf, const char *text);
void weir_buf_add_char(struct weir_buf *buf, char c);
void weir_buf_printf(struct weir_buf *buf, const char *format, ...) WEIR_PRINTF(2, 3);

/* `text` as a JSON string with its quotes. Bytes that are not UTF-8 pass through unchanged. */
void weir_buf_add_json_string(struct weir_buf *buf, struct weir_str text);

/* How many bytes that appends. */
size_t weir_buf_json_string_bytes(struct weir_str text);

/* The contents as a C string; lives until the next append. */
const char *weir_buf_text(const struct weir_buf *buf);

/* The contents as a C string that the caller frees; the buffer is left released. Never NULL. */
char *weir_buf_take(struct weir_buf *buf);

/*
 * Copy the contents into `text` of `text_bytes` bytes, cut to fit and terminated, and release the
 * buffer. Returns how many bytes were copied, without the terminator.
 */
size_t weir_buf_hand_over(struct weir_buf *buf, char *text, size_t text_bytes);

#endif

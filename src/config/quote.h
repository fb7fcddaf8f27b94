/* SPDX-License-Identifier: MIT */
/*
 * Foreign text made fit for a message or a listing: in quotes, of bounded length, without control
 * characters, without passwords. Any thread.
 */
#ifndef WEIR_CONFIG_QUOTE_H
#define WEIR_CONFIG_QUOTE_H

#include "base/buf.h"

/* Bytes of a text that are shown. */
#define WEIR_QUOTE_BYTES_MAX 80

/* What stands in for a secret. */
#define WEIR_MASK "***"

/* By value, so that it can be made where it is printed: `weir_quote(text).text`. */
struct weir_quoted {
    char text[WEIR_QUOTE_BYTES_MAX + 8];
};

/* In double quotes; control characters become `?`, what is too long ends with `…`. */
struct weir_quoted weir_quote(struct weir_str text);

/* Append the text with the password of `//user:password@` masked; rather too much than too
 * little. */
void weir_buf_add_masked(struct weir_buf *buf, struct weir_str text);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Names and words that come from elsewhere, for a terminal: nothing in them may steer it. Each
 * control character, and each byte that is no part of well-formed UTF-8, becomes a question mark.
 * Any thread.
 */
#ifndef WEIR_APP_PRINTABLE_H
#define WEIR_APP_PRINTABLE_H

#include "base/buf.h"
#include "base/str.h"

void printable_add(struct weir_buf *buf, struct weir_str text);

/* The places on a terminal that it takes, as far as characters are one wide. */
size_t printable_columns(struct weir_str text);

#endif

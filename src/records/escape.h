/* SPDX-License-Identifier: MIT */
/*
 * Texts as JSON strings, into memory that was measured first: for cells, of which there are many.
 * What needs no escape is looked at eight bytes at a time and copied in runs. Text is UTF-8; other
 * bytes pass through. Any thread.
 */
#ifndef WEIR_RECORDS_ESCAPE_H
#define WEIR_RECORDS_ESCAPE_H

#include "base/str.h"

/* Bytes of `text` as a JSON string with its quotes. */
size_t weir_escape_bytes(struct weir_str text);

/* Write them. Returns the byte behind. */
char *weir_escape_write(struct weir_str text, char *to);

#endif

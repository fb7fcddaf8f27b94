/* SPDX-License-Identifier: MIT */
/*
 * Sentences within the width of a terminal: lines are broken between words, never within one. A
 * word that is wider than a line has one to itself. Any thread.
 */
#ifndef WEIR_APP_WRAP_H
#define WEIR_APP_WRAP_H

#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

#define WRAP_COLUMNS 80 /* of whoever does not say */

/* COLUMNS of the environment, or of the terminal that `fd` is; 0: it is none. */
size_t wrap_columns(int fd);

/*
 * `first`, then the words of `text`; lines after the first begin with `indent` blanks, and all end.
 * `columns` 0: in one line.
 */
void wrap_add(struct weir_buf *out, const char *first, size_t indent, size_t columns,
              const char *text);

/* The same, at once. */
void wrap_print(FILE *out, const char *first, size_t indent, size_t columns, const char *text);

#endif

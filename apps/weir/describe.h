/* SPDX-License-Identifier: MIT */
/* What is known of a table, for people and for programs; see describe.c. */
#ifndef WEIR_APP_DESCRIBE_H
#define WEIR_APP_DESCRIBE_H

#include <stdio.h>

#include "protocol/metadata.h"

/* Lines of at most so many places, as far as one word fits. */
#define DESCRIBE_COLUMNS 120

/* `all`: also the columns that nobody can write. */
void describe_text(FILE *out, const struct weir_table *table, bool all);

/* One object, with a line's end. */
void describe_json(FILE *out, const struct weir_table *table);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What is known of the kinds of requests that a job sends (sizing.h): a line for each operation,
 * and for either way in which its rows travel. Passes differ in their operation, and what a row
 * costs in a bulk message says nothing of what it costs in a $batch. Plain data; pure.
 */
#ifndef WEIR_BULK_SIZES_H
#define WEIR_BULK_SIZES_H

#include "bulk/load.h"
#include "bulk/sizing.h"
#include "weir/bulk.h"

#define WEIR_SIZES_OPERATIONS (WEIR_OPERATION_DELETE + 1)
#define WEIR_SIZES_WAYS       (WEIR_LOAD_SINGLES + 1)

struct weir_sizes {
    struct weir_sizing of[WEIR_SIZES_OPERATIONS][WEIR_SIZES_WAYS];
};

/*
 * As a text, one line for each kind of which enough is known, for a later run; and back. Whatever
 * else stands in it is passed over.
 */
#define WEIR_SIZES_TEXT_MAX ((size_t)WEIR_SIZES_OPERATIONS * WEIR_SIZES_WAYS * 128)
void weir_sizes_print(const struct weir_sizes *sizes, char ret[WEIR_SIZES_TEXT_MAX]);
void weir_sizes_parse(struct weir_sizes *sizes, const char *text);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The C library's allocator with a free that wipes, for libraries that secrets pass through. These
 * may return NULL; whoever called them has to cope.
 */
#ifndef WEIR_BASE_WIPING_H
#define WEIR_BASE_WIPING_H

#include <stddef.h>

void *weir_wiping_malloc(size_t bytes);
void *weir_wiping_calloc(size_t count, size_t size);
void *weir_wiping_realloc(void *memory, size_t bytes);
char *weir_wiping_strdup(const char *text);
void weir_wiping_free(void *memory);

#endif

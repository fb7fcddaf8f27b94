/* SPDX-License-Identifier: MIT */
/*
 * The one allocator. Running out of memory aborts with one message: the journal makes a crash
 * resumable, and half-handled exhaustion would be worse. Free with free(). Any thread.
 */
#ifndef WEIR_BASE_MEM_H
#define WEIR_BASE_MEM_H

#include <stddef.h>
#include <stdlib.h>

/* Zeroed memory for `count` objects of `size` bytes. Never NULL. */
void *weir_calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));

/* `memory` resized to `count` objects of `size` bytes; what is added is not zeroed. Never NULL. */
void *weir_realloc(void *memory, size_t count, size_t size) __attribute__((returns_nonnull));

/* A terminated copy of `text`. Never NULL. */
char *weir_strdup(const char *text) __attribute__((malloc, returns_nonnull));

/* A terminated copy of the `len` bytes at `text`. Never NULL. */
char *weir_strndup(const char *text, size_t len) __attribute__((malloc, returns_nonnull));

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Counts the calls of the allocator in a test program. The linker hands all of them to us: see the
 * tests that are linked with --wrap in tests/meson.build. One thread at a time.
 */
#ifndef TEST_ALLOCATOR_CALLS_H
#define TEST_ALLOCATOR_CALLS_H

#include <stddef.h>
#include <stdint.h>

static uint64_t allocator_calls; /* of malloc, calloc and realloc, so far */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    allocator_calls++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    allocator_calls++;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    allocator_calls++;
    return __real_realloc(memory, bytes);
}

#endif

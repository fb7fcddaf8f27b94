/* SPDX-License-Identifier: MIT */
/* The C library's allocator with a free that wipes; see wiping.h. */
#include "base/wiping.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void *weir_wiping_malloc(size_t bytes)
{
    return malloc(bytes);
}

void *weir_wiping_calloc(size_t count, size_t size)
{
    return calloc(count, size);
}

void weir_wiping_free(void *memory)
{
    if (memory)
        explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

/* Moved by us: what realloc() leaves behind would not be wiped. */
void *weir_wiping_realloc(void *memory, size_t bytes)
{
    size_t held = memory ? malloc_usable_size(memory) : 0;
    if (memory && bytes && bytes <= held)
        return memory;
    void *moved = malloc(bytes);
    if (moved && memory)
        memcpy(moved, memory, held < bytes ? held : bytes);
    if (moved || bytes == 0)
        weir_wiping_free(memory);
    return moved;
}

char *weir_wiping_strdup(const char *text)
{
    return strdup(text);
}

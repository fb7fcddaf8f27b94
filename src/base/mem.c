/* SPDX-License-Identifier: MIT */
/* The one allocator; see mem.h. */
#include "base/mem.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void out_of_memory(void)
{
    static const char text[] = "weir: out of memory\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)written;
    abort();
}

void *weir_calloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        out_of_memory();
    return memory;
}

void *weir_realloc(void *memory, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        out_of_memory();
    size_t bytes = count * size;
    void *moved = realloc(memory, bytes ? bytes : 1);
    if (!moved)
        out_of_memory();
    return moved;
}

char *weir_strndup(const char *text, size_t len)
{
    char *copy = weir_calloc(len + 1, 1);
    memcpy(copy, text, len);
    return copy;
}

char *weir_strdup(const char *text)
{
    return weir_strndup(text, strlen(text));
}

/* SPDX-License-Identifier: MIT */
/*
 * See wiping.h. libcurl puts every request together in a block that it doubles from 32 bytes on and
 * gives back when all is sent. So a block that grows gets room for a usual head at once, grows in
 * place while there is room, and one of the size that a request with its body comes to is kept, so
 * that the same memory, which is still in the cache, is filled and wiped again.
 */
#include "base/wiping.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define GROWN_BYTES_MIN 2048
#define SPARE_BYTES     65536

static void *spare; /* atomic: of SPARE_BYTES, wiped; or NULL */

static void *take_spare(size_t bytes)
{
    if (bytes > SPARE_BYTES || bytes <= SPARE_BYTES / 2)
        return NULL;
    return __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQ_REL);
}

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
    if (!memory)
        return;
    size_t held = malloc_usable_size(memory);
    explicit_bzero(memory, held);
    if (held >= SPARE_BYTES && held < SPARE_BYTES + SPARE_BYTES / 8)
        memory = __atomic_exchange_n(&spare, memory, __ATOMIC_ACQ_REL);
    free(memory);
}

/* Moved by us: what realloc() leaves behind would not be wiped. */
void *weir_wiping_realloc(void *memory, size_t bytes)
{
    size_t held = memory ? malloc_usable_size(memory) : 0;
    if (memory && bytes && bytes <= held)
        return memory;
    void *moved = take_spare(bytes);
    if (!moved)
        moved = malloc(held && bytes && bytes < GROWN_BYTES_MIN ? GROWN_BYTES_MIN : bytes);
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

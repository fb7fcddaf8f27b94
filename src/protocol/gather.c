/* SPDX-License-Identifier: MIT */
/*
 * A body in slices; see gather.h. What is owned lies in blocks that never move, so that slices into
 * them stay good while the list of slices grows.
 */
#include "protocol/gather.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"

#define BLOCK_BYTES    ((size_t)16 * 1024)
#define FIRST_CAPACITY 64

struct weir_gather_block {
    struct weir_gather_block *next;
    size_t used;
    size_t capacity;
    char bytes[];
};

void weir_gather_init(struct weir_gather *gather, size_t bytes_max)
{
    *gather = (struct weir_gather){ .bytes_max = bytes_max };
}

void weir_gather_release(struct weir_gather *gather)
{
    while (gather->blocks) {
        struct weir_gather_block *next = gather->blocks->next;
        free(gather->blocks);
        gather->blocks = next;
    }
    free(gather->slices);
    *gather = (struct weir_gather){ .bytes_max = gather->bytes_max };
}

static bool fits(struct weir_gather *gather, size_t len)
{
    if (len > gather->bytes_max - gather->bytes)
        gather->overflow = true;
    return !gather->overflow;
}

/* Does `text` begin where the last slice ends, in the block that is being filled? */
static bool touches_last(const struct weir_gather *gather, struct weir_str text)
{
    if (gather->count == 0 || !gather->blocks)
        return false;
    const struct weir_str *last = &gather->slices[gather->count - 1];
    return last->ptr + last->len == text.ptr && text.ptr > gather->blocks->bytes &&
           text.ptr < gather->blocks->bytes + gather->blocks->capacity;
}

static void add_slice(struct weir_gather *gather, struct weir_str text)
{
    if (touches_last(gather, text)) {
        gather->slices[gather->count - 1].len += text.len;
        gather->bytes += text.len;
        return;
    }
    if (gather->count == WEIR_GATHER_SLICES_MAX) {
        gather->overflow = true;
        return;
    }
    if (gather->count == gather->capacity) {
        gather->capacity = gather->capacity ? gather->capacity * 2 : FIRST_CAPACITY;
        gather->slices = weir_realloc(gather->slices, gather->capacity, sizeof(*gather->slices));
    }
    gather->slices[gather->count++] = text;
    gather->bytes += text.len;
}

void weir_gather_borrow(struct weir_gather *gather, struct weir_str text)
{
    if (text.len && fits(gather, text.len))
        add_slice(gather, text);
}

static struct weir_gather_block *block_for(struct weir_gather *gather, size_t len)
{
    struct weir_gather_block *block = gather->blocks;
    if (block && block->capacity - block->used >= len)
        return block;
    size_t capacity = len > BLOCK_BYTES ? len : BLOCK_BYTES;
    block = weir_realloc(NULL, 1, sizeof(*block) + capacity);
    *block = (struct weir_gather_block){ .next = gather->blocks, .capacity = capacity };
    gather->blocks = block;
    return block;
}

char *weir_gather_take(struct weir_gather *gather, size_t len)
{
    if (len == 0 || !fits(gather, len))
        return NULL;
    struct weir_gather_block *block = block_for(gather, len);
    char *piece = block->bytes + block->used;
    block->used += len;
    add_slice(gather, weir_str(piece, len));
    return piece;
}

void weir_gather_own(struct weir_gather *gather, const void *bytes, size_t len)
{
    char *copy = weir_gather_take(gather, len);
    if (copy)
        memcpy(copy, bytes, len);
}

void weir_gather_own_text(struct weir_gather *gather, const char *text)
{
    weir_gather_own(gather, text, strlen(text));
}

void weir_gather_own_json_string(struct weir_gather *gather, struct weir_str text)
{
    struct weir_buf string;
    weir_buf_init(&string, weir_buf_json_string_bytes(text));
    weir_buf_add_json_string(&string, text);
    weir_gather_own(gather, string.ptr, string.len);
    weir_buf_release(&string);
}

struct weir_gather_mark weir_gather_mark(const struct weir_gather *gather)
{
    return (struct weir_gather_mark){
        .count = gather->count,
        .bytes = gather->bytes,
        .last_len = gather->count ? gather->slices[gather->count - 1].len : 0,
        .overflow = gather->overflow,
    };
}

/* The bytes in the blocks are left behind: nothing points to them any more. */
void weir_gather_rewind(struct weir_gather *gather, struct weir_gather_mark mark)
{
    gather->count = mark.count;
    gather->bytes = mark.bytes;
    gather->overflow = mark.overflow;
    if (mark.count)
        gather->slices[mark.count - 1].len = mark.last_len;
}

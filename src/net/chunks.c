/* SPDX-License-Identifier: MIT */
/* A chunked body; see chunks.h. */
#include "net/chunks.h"

#include "base/limits.h"
#include "base/str.h"

/* Of a size: what fits into 60 bits. */
#define DIGITS_MAX 15

/* A digit, or what comes behind the last one. */
static enum weir_chunks_state read_size(struct weir_chunks *chunks, char c)
{
    int digit = weir_str_hex_digit(c);
    if (digit >= 0 && chunks->digits < DIGITS_MAX) {
        chunks->digits++;
        chunks->left = chunks->left << 4 | (uint64_t)digit;
        return WEIR_CHUNKS_SIZE;
    }
    if (chunks->digits == 0 || digit >= 0)
        return WEIR_CHUNKS_WRONG;
    if (c == '\r')
        return WEIR_CHUNKS_SIZE_LF;
    return c == ';' || c == ' ' || c == '\t' ? WEIR_CHUNKS_EXTENSION : WEIR_CHUNKS_WRONG;
}

/* Text up to a CR, bounded and thrown away. */
static enum weir_chunks_state read_text(struct weir_chunks *chunks, char c,
                                        enum weir_chunks_state behind)
{
    if (c == '\r')
        return behind;
    bool control = ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
    if (control)
        return WEIR_CHUNKS_WRONG;
    return ++chunks->extra_bytes > WEIR_ANSWER_HEAD_BYTES_MAX ? WEIR_CHUNKS_TOO_BIG : chunks->state;
}

static enum weir_chunks_state after_size(struct weir_chunks *chunks)
{
    chunks->digits = 0;
    return chunks->left ? WEIR_CHUNKS_DATA : WEIR_CHUNKS_TRAILER;
}

static enum weir_chunks_state expect(char c, char wanted, enum weir_chunks_state then)
{
    return c == wanted ? then : WEIR_CHUNKS_WRONG;
}

/* Every byte that is not data. */
static enum weir_chunks_state step(struct weir_chunks *chunks, char c)
{
    switch (chunks->state) {
    case WEIR_CHUNKS_SIZE:
        return read_size(chunks, c);
    case WEIR_CHUNKS_EXTENSION:
        return read_text(chunks, c, WEIR_CHUNKS_SIZE_LF);
    case WEIR_CHUNKS_SIZE_LF:
        return c == '\n' ? after_size(chunks) : WEIR_CHUNKS_WRONG;
    case WEIR_CHUNKS_DATA_CR:
        return expect(c, '\r', WEIR_CHUNKS_DATA_LF);
    case WEIR_CHUNKS_DATA_LF:
        return expect(c, '\n', WEIR_CHUNKS_SIZE);
    case WEIR_CHUNKS_TRAILER:
        if (c == '\r')
            return WEIR_CHUNKS_END_LF;
        chunks->state = WEIR_CHUNKS_TRAILER_TEXT;
        return read_text(chunks, c, WEIR_CHUNKS_TRAILER_LF);
    case WEIR_CHUNKS_TRAILER_TEXT:
        return read_text(chunks, c, WEIR_CHUNKS_TRAILER_LF);
    case WEIR_CHUNKS_TRAILER_LF:
        return expect(c, '\n', WEIR_CHUNKS_TRAILER);
    case WEIR_CHUNKS_END_LF:
        return expect(c, '\n', WEIR_CHUNKS_DONE);
    case WEIR_CHUNKS_DATA:
    case WEIR_CHUNKS_DONE:
    case WEIR_CHUNKS_WRONG:
    case WEIR_CHUNKS_TOO_BIG:
        break;
    }
    return WEIR_CHUNKS_WRONG;
}

size_t weir_chunks_read(struct weir_chunks *chunks, const char *bytes, size_t len,
                        struct weir_buf *body)
{
    size_t at = 0;
    while (at < len && chunks->state < WEIR_CHUNKS_DONE) {
        if (chunks->state != WEIR_CHUNKS_DATA) {
            chunks->state = step(chunks, bytes[at++]);
            continue;
        }
        size_t part = chunks->left < len - at ? (size_t)chunks->left : len - at;
        weir_buf_add(body, bytes + at, part);
        at += part;
        chunks->left -= part;
        if (chunks->left == 0)
            chunks->state = WEIR_CHUNKS_DATA_CR;
    }
    return at;
}

/* SPDX-License-Identifier: MIT */
/*
 * A chunked body, read as it comes: sizes, data, trailers. A line ends with CR LF, a size has at
 * most fifteen digits, and the end is the blank line after the last chunk. What extensions and
 * trailers say is not kept, only bounded. Pure.
 */
#ifndef WEIR_NET_CHUNKS_H
#define WEIR_NET_CHUNKS_H

#include "base/buf.h"

enum weir_chunks_state {
    WEIR_CHUNKS_SIZE = 0,  /* before a digit of a size */
    WEIR_CHUNKS_EXTENSION, /* behind the size, up to its CR */
    WEIR_CHUNKS_SIZE_LF,
    WEIR_CHUNKS_DATA,
    WEIR_CHUNKS_DATA_CR,
    WEIR_CHUNKS_DATA_LF,
    WEIR_CHUNKS_TRAILER, /* at the beginning of a line behind the last chunk */
    WEIR_CHUNKS_TRAILER_TEXT,
    WEIR_CHUNKS_TRAILER_LF,
    WEIR_CHUNKS_END_LF,
    WEIR_CHUNKS_DONE,
    WEIR_CHUNKS_WRONG,
    WEIR_CHUNKS_TOO_BIG, /* extensions and trailers */
};

/* Zeroed: before the first byte. */
struct weir_chunks {
    enum weir_chunks_state state;
    uint32_t digits;
    uint64_t left;      /* the size so far, then what is missing of the data */
    size_t extra_bytes; /* of extensions and trailers */
};

/*
 * Append the data that `bytes` hold to `body`. Returns how many bytes belong to the body: fewer
 * than `len` once it is DONE (the rest is not part of this answer), WRONG or TOO_BIG.
 */
size_t weir_chunks_read(struct weir_chunks *chunks, const char *bytes, size_t len,
                        struct weir_buf *body);

#endif

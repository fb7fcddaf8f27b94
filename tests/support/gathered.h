/* SPDX-License-Identifier: MIT */
/* A body in slices as one text, and a source of random bytes, for the tests of src/protocol. */
#ifndef WEIR_TESTS_GATHERED_H
#define WEIR_TESTS_GATHERED_H

#include "base/mem.h"
#include "base/rng.h"
#include "protocol/gather.h"
#include "support/suite.h"

/* All slices one after the other; to be freed. */
static inline char *gathered(const struct weir_gather *gather)
{
    char *text = weir_calloc(gather->bytes + 1, 1);
    size_t used = 0;
    for (size_t i = 0; i < gather->count; i++) {
        must(gather->slices[i].len > 0);
        must(used + gather->slices[i].len <= gather->bytes);
        memcpy(text + used, gather->slices[i].ptr, gather->slices[i].len);
        used += gather->slices[i].len;
    }
    must(used == gather->bytes);
    return text;
}

/* Is one of the slices exactly this memory? */
static inline bool gathered_borrows(const struct weir_gather *gather, struct weir_str text)
{
    for (size_t i = 0; i < gather->count; i++) {
        if (gather->slices[i].ptr == text.ptr && gather->slices[i].len == text.len)
            return true;
    }
    return false;
}

/* A copy of just this size, not terminated, so that reading beyond its end is noticed. */
static inline char *exact_copy(struct weir_str text)
{
    char *copy = weir_calloc(text.len ? text.len : 1, 1);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

/* Change, drop or double a few bytes of `text`, which has room for `capacity`; its new length. */
static inline size_t mutate(struct weir_rng *rng, char *text, size_t len, size_t capacity)
{
    static const char spice[] = "{}[]\",:\\-\r\n \t0u";
    for (uint64_t n = 1 + weir_rng_below(rng, 4); n > 0 && len > 0; n--) {
        size_t at = (size_t)weir_rng_below(rng, len);
        switch (weir_rng_below(rng, 4)) {
        case 0:
            text[at] = (char)weir_rng_below(rng, 256);
            break;
        case 1:
            text[at] = spice[weir_rng_below(rng, sizeof(spice) - 1)];
            break;
        case 2:
            memmove(text + at, text + at + 1, len - at - 1);
            len--;
            break;
        default:
            if (len < capacity) {
                memmove(text + at + 1, text + at, len - at);
                len++;
            }
        }
    }
    return len;
}

#endif

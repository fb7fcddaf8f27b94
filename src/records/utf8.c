/* SPDX-License-Identifier: MIT */
/* Whether bytes are text; see utf8.h. */
#include "records/utf8.h"

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

#define WORD sizeof(uint64_t)

/* High bits are set unless all eight bytes are between 1 and 127. (A borrow can only make a word
 * with a NUL look worse.) */
static inline uint64_t oddities(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return word | (word - ONES);
}

static inline bool is_plain(const char *bytes)
{
    return !(oddities(bytes) & HIGHS);
}

/* Four words at a time, then the last one, which may begin within the one before. False: it is to
 * be looked at more closely. */
static inline bool is_all_plain(struct weir_str text)
{
    size_t at = 0;
    uint64_t odd = 0;
    if (text.len < WORD)
        return false;
    for (; text.len - at >= 4 * WORD; at += 4 * WORD)
        odd |= oddities(text.ptr + at) | oddities(text.ptr + at + WORD) |
               oddities(text.ptr + at + 2 * WORD) | oddities(text.ptr + at + 3 * WORD);
    for (; text.len - at >= WORD; at += WORD)
        odd |= oddities(text.ptr + at);
    return !((odd | oddities(text.ptr + text.len - WORD)) & HIGHS);
}

static bool continues(const unsigned char *bytes, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return false;
    }
    return true;
}

/* Bytes of the character at `bytes`; 0: it is none. */
static size_t character(const unsigned char *bytes, size_t left)
{
    unsigned char first = bytes[0];
    if (first < 0x80)
        return first ? 1 : 0;
    size_t count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || count > left || !continues(bytes, count))
        return 0;
    unsigned char second = bytes[1];
    bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    bool surrogate = first == 0xED && second > 0x9F;
    bool beyond = first == 0xF4 && second > 0x8F;
    return overlong || surrogate || beyond ? 0 : count;
}

size_t weir_utf8_check(struct weir_str text)
{
    size_t at = 0;
    if (is_all_plain(text))
        return text.len;
    while (at < text.len) {
        if (text.len - at >= WORD && is_plain(text.ptr + at)) {
            at += WORD;
            continue;
        }
        size_t count = character((const unsigned char *)text.ptr + at, text.len - at);
        if (!count)
            return at;
        at += count;
    }
    return text.len;
}

/* SPDX-License-Identifier: MIT */
/* Texts as JSON strings; see escape.h. */
#include "records/escape.h"

#include <endian.h>

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* Longest escape: \u001f. */
#define LONG_BYTES 6

/* The letter behind the backslash of those that have a short escape; 0: none. */
static const char letters[256] = {
    ['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'
};

/*
 * The high bit of each byte of `word` that is special: below 0x20, or one of two that become zero
 * by an xor. A borrow may set those of bytes above such a one, too: only the lowest is worth
 * anything.
 */
static inline uint64_t specials(uint64_t word)
{
    uint64_t quote = (word ^ ONES * '"') - ONES;
    uint64_t backslash = (word ^ ONES * '\\') - ONES;
    return (quote | backslash | (word - ONES * 0x20)) & ~word & HIGHS;
}

/* Eight bytes, the first one lowest. */
static inline uint64_t load(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return le64toh(word);
}

static inline uint64_t load_half(const char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof(word));
    return le32toh(word);
}

/* One to seven bytes, and zeros above: two pieces or three bytes, which may overlap. */
static inline uint64_t load_some(const char *bytes, size_t len)
{
    if (len >= 4)
        return load_half(bytes) | load_half(bytes + len - 4) << (8 * (len - 4));
    const unsigned char *b = (const unsigned char *)bytes;
    return b[0] | (uint64_t)b[len / 2] << (8 * (len / 2)) | (uint64_t)b[len - 1] << (8 * (len - 1));
}

/* The first special byte; `end`: there is none. The zeros behind the last bytes are special: the
 * first of them stands where the end is. */
static const char *find_special(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t mask = specials(load(at));
        if (mask)
            return at + __builtin_ctzll(mask) / 8;
    }
    if (at == end)
        return end;
    return at + __builtin_ctzll(specials(load_some(at, (size_t)(end - at)))) / 8;
}

size_t weir_escape_bytes(struct weir_str text)
{
    size_t bytes = 2 + text.len;
    const char *end = text.ptr + text.len;
    const char *at = find_special(text.ptr, end);
    for (; at < end; at = find_special(at + 1, end))
        bytes += letters[(unsigned char)*at] ? 1 : LONG_BYTES - 1;
    return bytes;
}

static char *write_escape(char c, char *to)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char code = (unsigned char)c;
    *to++ = '\\';
    if (letters[code]) {
        *to++ = letters[code];
        return to;
    }
    memcpy(to, "u00", 3);
    to[3] = digits[code >> 4];
    to[4] = digits[code & 15];
    return to + LONG_BYTES - 1;
}

char *weir_escape_write(struct weir_str text, char *to)
{
    const char *at = text.ptr;
    const char *end = text.ptr + text.len;
    *to++ = '"';
    while (at < end) {
        const char *special = find_special(at, end);
        memcpy(to, at, (size_t)(special - at));
        to += special - at;
        at = special;
        if (at < end)
            to = write_escape(*at++, to);
    }
    *to++ = '"';
    return to;
}

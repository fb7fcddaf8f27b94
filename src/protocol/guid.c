/* SPDX-License-Identifier: MIT */
/* GUIDs; see guid.h. */
#include "protocol/guid.h"

#include <endian.h>

/*
 * Eight digits at a time: every row of a job comes by here, more than once. No sum of two bytes
 * below reaches over its byte: those with a high bit have been sorted out.
 */
#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS (ONES * 0x80)

/* The high bit of each byte that is `low` to `high`. */
static inline uint64_t within(uint64_t word, unsigned char low, unsigned char high)
{
    return (word + ONES * (0x80u - low)) & ~(word + ONES * (0x7fu - high)) & HIGHS;
}

static inline uint64_t load_half(const char *at)
{
    uint32_t half;
    memcpy(&half, at, sizeof(half));
    return le32toh(half);
}

/* The four bytes that the digits at `first` and at `second` say, four each. False: not all of them
 * are digits, or with `small` some are capitals. */
static inline __attribute__((always_inline)) bool take_eight(const char *first, const char *second,
                                                             bool small, uint8_t *ret)
{
    uint64_t word = load_half(first) | load_half(second) << 32;
    uint64_t letters = small ? word : word | ONES * 0x20;
    if ((word & HIGHS) || (within(word, '0', '9') | within(letters, 'a', 'f')) != HIGHS)
        return false;
    uint64_t digits = (word & ONES * 0x0f) + (word >> 6 & ONES) * 9;
    uint64_t pairs = (digits << 4 | digits >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    pairs = (pairs | pairs >> 8) & UINT64_C(0x0000ffff0000ffff);
    uint32_t bytes = htole32((uint32_t)(pairs | pairs >> 16));
    memcpy(ret, &bytes, sizeof(bytes));
    return true;
}

static bool read_all(const char *text, bool small, struct weir_guid *ret)
{
    return text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-' &&
           take_eight(text, text + 4, small, ret->bytes) &&
           take_eight(text + 9, text + 14, small, ret->bytes + 4) &&
           take_eight(text + 19, text + 24, small, ret->bytes + 8) &&
           take_eight(text + 28, text + 32, small, ret->bytes + 12);
}

bool weir_guid_parse(struct weir_str text, struct weir_guid *ret)
{
    if (text.len == WEIR_GUID_CHARS + 2 && text.ptr[0] == '{' && text.ptr[text.len - 1] == '}')
        text = weir_str(text.ptr + 1, text.len - 2);
    struct weir_guid guid;
    if (text.len != WEIR_GUID_CHARS || !read_all(text.ptr, false, &guid))
        return false;
    *ret = guid;
    return true;
}

/* The eight digits of four bytes. */
static inline uint64_t digits_of(const uint8_t *bytes)
{
    uint32_t four;
    memcpy(&four, bytes, sizeof(four));
    uint64_t spread = le32toh(four);
    spread = (spread | spread << 16) & UINT64_C(0x0000ffff0000ffff);
    spread = (spread | spread << 8) & UINT64_C(0x00ff00ff00ff00ff);
    uint64_t digits =
        (spread >> 4 & UINT64_C(0x000f000f000f000f)) | (spread & UINT64_C(0x000f000f000f000f)) << 8;
    uint64_t letters = (digits + ONES * 6) >> 4 & ONES;
    return htole64(digits + ONES * '0' + letters * ('a' - '0' - 10));
}

/* Eight digits, half of them here and half there. */
static inline void put_eight(uint64_t digits, char *first, char *second)
{
    memcpy(first, &digits, 4);
    memcpy(second, (const char *)&digits + 4, 4);
}

const char *weir_guid_print(const struct weir_guid *guid, char text[WEIR_GUID_TEXT])
{
    put_eight(digits_of(guid->bytes), text, text + 4);
    put_eight(digits_of(guid->bytes + 4), text + 9, text + 14);
    put_eight(digits_of(guid->bytes + 8), text + 19, text + 24);
    put_eight(digits_of(guid->bytes + 12), text + 28, text + 32);
    text[8] = text[13] = text[18] = text[23] = '-';
    text[WEIR_GUID_CHARS] = '\0';
    return text;
}

bool weir_guid_parse_canonical(struct weir_str text, struct weir_guid *ret)
{
    struct weir_guid guid;
    if (text.len != WEIR_GUID_CHARS || !read_all(text.ptr, true, &guid))
        return false;
    *ret = guid;
    return true;
}

bool weir_guid_is_canonical(struct weir_str text)
{
    struct weir_guid guid;
    return weir_guid_parse_canonical(text, &guid);
}

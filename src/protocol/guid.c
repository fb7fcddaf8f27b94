/* SPDX-License-Identifier: MIT */
/* GUIDs; see guid.h. */
#include "protocol/guid.h"

/*
 * All digits at a time, in two vectors of sixteen: every row of a job comes by here, more than
 * once. Vectors are the compiler's own, so that it finds the instructions of any processor.
 */
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint32_t words4 __attribute__((vector_size(16)));
typedef uint64_t halves __attribute__((vector_size(16)));

#ifdef __clang__
#define CHOOSE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define CHOOSE(a, b, ...) __builtin_shuffle(a, b, (bytes16){ __VA_ARGS__ })
#endif

#define EVENS      0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODDS       1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define PAIRS_LOW  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define PAIRS_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31

static inline uint32_t load(const char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

/* What sixteen digits say, and which of them are digits at all; with `small`: capitals are not. */
static inline __attribute__((always_inline)) bytes16 read_digits(bytes16 text, bool small,
                                                                 bytes16 *ret_good)
{
    bytes16 decimals = (bytes16)((text - '0') <= 9);
    bytes16 letters = (bytes16)(((small ? text : text | 0x20) - 'a') <= 5);
    *ret_good = decimals | letters;
    return (text & 0x0f) + (letters & 9);
}

static inline __attribute__((always_inline)) bool read_all(const char *text, bool small,
                                                           struct weir_guid *ret)
{
    if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-')
        return false;
    bytes16 good, better;
    words4 first = { load(text), load(text + 4), load(text + 9), load(text + 14) };
    words4 second = { load(text + 19), load(text + 24), load(text + 28), load(text + 32) };
    bytes16 upper = read_digits((bytes16)first, small, &good);
    bytes16 lower = read_digits((bytes16)second, small, &better);
    halves all = (halves)(good & better);
    if ((all[0] & all[1]) != UINT64_MAX)
        return false;
    bytes16 bytes = CHOOSE(upper, lower, EVENS) * 16 + CHOOSE(upper, lower, ODDS);
    memcpy(ret->bytes, &bytes, sizeof(ret->bytes));
    return true;
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

static inline bytes16 write_digits(bytes16 digits)
{
    return digits + '0' + ((bytes16)(digits > 9) & ('a' - '0' - 10));
}

static inline void put(char *at, uint32_t word)
{
    memcpy(at, &word, sizeof(word));
}

const char *weir_guid_print(const struct weir_guid *guid, char text[WEIR_GUID_TEXT])
{
    uint64_t words[2];
    memcpy(words, guid->bytes, sizeof(words));
    bytes16 upper = (bytes16)(halves){ words[0] >> 4, words[1] >> 4 } & 0x0f;
    bytes16 lower = (bytes16)(halves){ words[0], words[1] } & 0x0f;
    words4 first = (words4)write_digits(CHOOSE(upper, lower, PAIRS_LOW));
    words4 second = (words4)write_digits(CHOOSE(upper, lower, PAIRS_HIGH));
    put(text, first[0]);
    put(text + 4, first[1]);
    put(text + 9, first[2]);
    put(text + 14, first[3]);
    put(text + 19, second[0]);
    put(text + 24, second[1]);
    put(text + 28, second[2]);
    put(text + 32, second[3]);
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

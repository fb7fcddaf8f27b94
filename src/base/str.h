/* SPDX-License-Identifier: MIT */
/*
 * Borrowed text: a pointer and a length, passed by value, owned by somebody else. Not terminated.
 * Comparing without case is ASCII only, as HTTP and configuration keys are.
 */
#ifndef WEIR_BASE_STR_H
#define WEIR_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct weir_str {
    const char *ptr;
    size_t len;
};

static inline struct weir_str weir_str(const char *ptr, size_t len)
{
    return (struct weir_str){ ptr, len };
}

/* NULL is the empty text. */
static inline struct weir_str weir_str_from(const char *text)
{
    return (struct weir_str){ text, text ? strlen(text) : 0 };
}

bool weir_str_equal(struct weir_str a, struct weir_str b);
bool weir_str_same_nocase(const char *a, const char *b, size_t len);
bool weir_str_starts_nocase(struct weir_str text, const char *prefix);

/* Mostly they differ in length already. */
static inline bool weir_str_equal_nocase(struct weir_str a, struct weir_str b)
{
    return a.len == b.len && weir_str_same_nocase(a.ptr, b.ptr, a.len);
}

/* Without blanks, tabs and line ends on either side. */
struct weir_str weir_str_trim(struct weir_str text);

/* Length in bytes of the control character (C0, DEL, C1) at `at`; 0: it is none. */
size_t weir_control_bytes(struct weir_str text, size_t at);

/* Where `needle` begins in `text`, ignoring case, or text.len if it does not occur. */
size_t weir_str_find_nocase(struct weir_str text, const char *needle);

/*
 * A decimal number, the whole of `text`: an optional sign, then digits only. False (and *ret
 * untouched) for anything else and for what does not fit.
 */
bool weir_str_to_int64(struct weir_str text, int64_t *ret);

/* The value of a hexadecimal digit of either case; -1: it is none. */
static inline int weir_str_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The beginning of a UTF-8 text, `bytes_max` bytes at most, without half a character at its end. */
struct weir_str weir_str_cut(struct weir_str text, size_t bytes_max);

/*
 * How many letters must be added, taken out or changed to make one of the other, ignoring case; a
 * very large number if either is longer than WEIR_STR_WORD_MAX. And how many may be wrong for a
 * word to be recognised as this one.
 */
#define WEIR_STR_WORD_MAX 48
size_t weir_str_distance(struct weir_str a, struct weir_str b);
size_t weir_str_tolerance(struct weir_str word);

/* The one of `names` that a mistyped word was meant to be; NULL: none is near. */
const char *weir_str_nearest(struct weir_str typed, const char *const *names, size_t count);

/* FNV-1a. */
uint64_t weir_str_hash(struct weir_str text);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The strings of JSON Lines; see jsonl_parts.h. What ends a run of plain bytes (a quote, a
 * backslash, a control character) is looked for 16 bytes at a time. Most strings are one run and
 * stay where they are; one with a backslash is resolved, run by run.
 */
#include "base/mem.h"
#include "records/jsonl_parts.h"

#define FIRST_CAPACITY 1024

#if defined(__SSE2__) && !defined(WEIR_PORTABLE)
#include <emmintrin.h>

/* The first byte from `at` on that ends a run. There is one: at the line's end. */
static inline const char *find_stop(const char *at)
{
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i control = _mm_set1_epi8(0x1F);
    for (;; at += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i stops = _mm_or_si128(_mm_cmpeq_epi8(part, quote), _mm_cmpeq_epi8(part, backslash));
        stops = _mm_or_si128(stops, _mm_cmpeq_epi8(_mm_min_epu8(part, control), part));
        unsigned mask = (unsigned)_mm_movemask_epi8(stops);
        if (mask)
            return at + __builtin_ctz(mask);
    }
}
#else
static inline const char *find_stop(const char *at)
{
    while (*at != '"' && *at != '\\' && (unsigned char)*at >= 0x20)
        at++;
    return at;
}
#endif

/* ---- escapes ---- */

/* The four digits at `at`; -1: a problem. */
static int32_t take_unit(struct weir_jsonl_scan *scan, const char *at)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = weir_str_hex_digit(at[i]);
        if (digit < 0) {
            weir_jsonl_fail_byte(scan, at + i);
            return -1;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

/* The problem of the escape at scan->at; for a character that is none. */
static uint32_t no_character(struct weir_jsonl_scan *scan, enum weir_record_problem problem)
{
    weir_jsonl_fail(scan, problem, scan->at, 0);
    return 0;
}

/*
 * The escape at scan->at is "\u…": its character, and how many bytes it takes, those of the other
 * half included. 0: a problem.
 */
static uint32_t take_character(struct weir_jsonl_scan *scan, size_t *ret_bytes)
{
    const char *at = scan->at;
    int32_t first = take_unit(scan, at + 2);
    *ret_bytes = 6;
    if (first < 0)
        return 0;
    if (first == 0)
        return no_character(scan, WEIR_RECORD_NUL);
    if (first < 0xD800 || first > 0xDFFF)
        return (uint32_t)first;
    if (first > 0xDBFF || at[6] != '\\' || at[7] != 'u')
        return no_character(scan, WEIR_RECORD_HALF_CHARACTER);
    int32_t second = take_unit(scan, at + 8);
    *ret_bytes = 12;
    if (second < 0)
        return 0;
    if (second < 0xDC00 || second > 0xDFFF)
        return no_character(scan, WEIR_RECORD_HALF_CHARACTER);
    return 0x10000 + ((uint32_t)(first - 0xD800) << 10) + (uint32_t)(second - 0xDC00);
}

/* What a backslash and this letter stand for; 0: nothing. */
static char short_escape(char letter)
{
    switch (letter) {
    case '"':
    case '\\':
    case '/':
        return letter;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

/* UTF-8. Returns the byte behind. */
static char *encode(uint32_t code, char *to)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (char)(0xE0 | code >> 12);
        } else {
            *to++ = (char)(0xF0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *to++ = (char)(0x80 | (code & 0x3F));
    return to;
}

/* The escape at scan->at, resolved at *to. False: a problem. */
static bool take_escape(struct weir_jsonl_scan *scan, char **to)
{
    char letter = scan->at[1];
    if (letter != 'u') {
        char c = short_escape(letter);
        if (!c)
            return weir_jsonl_fail_byte(scan, scan->at + 1);
        *(*to)++ = c;
        scan->at += 2;
        return true;
    }
    size_t bytes;
    uint32_t code = take_character(scan, &bytes);
    if (!code)
        return false;
    *to = encode(code, *to);
    scan->at += bytes;
    return true;
}

/* ---- strings ---- */

/* Room for all texts of the line. */
static void reserve(struct weir_jsonl *jsonl)
{
    size_t capacity = jsonl->resolved_capacity ? jsonl->resolved_capacity : FIRST_CAPACITY;
    if (jsonl->resolved && jsonl->line.len <= capacity)
        return;
    while (capacity < jsonl->line.len)
        capacity *= 2;
    jsonl->resolved = weir_realloc(jsonl->resolved, capacity, 1);
    jsonl->resolved_capacity = capacity;
}

/* The rest of a string that began at `begin` and has its first backslash at `stop`. */
static bool take_resolved(struct weir_jsonl_scan *scan, const char *begin, const char *stop,
                          struct weir_jsonl_text *ret)
{
    struct weir_jsonl *jsonl = scan->jsonl;
    reserve(jsonl);
    char *start = jsonl->resolved + jsonl->resolved_len;
    char *to = start;
    scan->at = begin;
    for (;;) {
        size_t run = (size_t)(stop - scan->at);
        memcpy(to, scan->at, run);
        to += run;
        scan->at = stop;
        if (*stop != '\\')
            break;
        if (!take_escape(scan, &to))
            return false;
        stop = find_stop(scan->at);
    }
    if (*stop != '"')
        return weir_jsonl_fail_byte(scan, stop);
    *ret = (struct weir_jsonl_text){ (uint32_t)jsonl->resolved_len, (uint32_t)(to - start),
                                     WEIR_JSONL_RESOLVED };
    jsonl->resolved_len += ret->len;
    scan->at = stop + 1;
    return true;
}

bool weir_jsonl_take_string(struct weir_jsonl_scan *scan, struct weir_jsonl_text *ret)
{
    const char *begin = scan->at + 1;
    const char *stop = find_stop(begin);
    if (*stop == '\\')
        return take_resolved(scan, begin, stop, ret);
    if (*stop != '"')
        return weir_jsonl_fail_byte(scan, stop);
    *ret = (struct weir_jsonl_text){ (uint32_t)(begin - scan->jsonl->line.ptr),
                                     (uint32_t)(stop - begin), WEIR_JSONL_LINE };
    scan->at = stop + 1;
    return true;
}

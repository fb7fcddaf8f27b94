/* SPDX-License-Identifier: MIT */
/*
 * Cells that are sent just as they stand; see cell_kinds.h. Most are: they are looked at once,
 * without taking them apart, and copied. Whatever is not obvious here is left to its kind, which
 * says the same of every cell that is plain (tests/unit/test_cells_plain.c).
 */
#include <stdio.h>

#include "base/error.h"
#include "records/calendar.h"
#include "records/cell_kinds.h"

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

#define DIGITS_MAX 15 /* of which an int64_t holds more */
#define DATE_CHARS 10
#define YEAR_MIN   1753

/* ---- texts ---- */

/* Some byte is below 0x20 or above 0x7F, a quote or a backslash. A borrow can only make a word look
 * worse that has such a byte. */
static inline bool has_special(uint64_t word)
{
    uint64_t quote = (word ^ ONES * '"') - ONES;
    uint64_t backslash = (word ^ ONES * '\\') - ONES;
    return (word | quote | backslash | (word - ONES * 0x20)) & HIGHS;
}

static inline uint64_t load(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

static inline uint64_t load_half(const char *bytes)
{
    uint32_t half;
    memcpy(&half, bytes, sizeof(half));
    return half;
}

/* One to seven bytes, some of them more than once. */
static inline uint64_t load_some(struct weir_str text)
{
    if (text.len >= 4)
        return load_half(text.ptr) | load_half(text.ptr + text.len - 4) << 32;
    uint64_t word = ONES * (unsigned char)text.ptr[0];
    for (size_t i = 1; i < text.len; i++)
        word = word << 8 | (unsigned char)text.ptr[i];
    return word;
}

#if defined(__SSE2__) && !defined(WEIR_PORTABLE)
#include <emmintrin.h>

static inline __m128i load_two(const char *first, const char *second)
{
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(const void *)first),
                              _mm_loadl_epi64((const __m128i *)(const void *)second));
}

/* As above, of sixteen bytes; those above 0x7F are negative. */
static inline bool have_special(__m128i bytes)
{
    __m128i special = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)),
                                   _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                                _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
    return _mm_movemask_epi8(special);
}

/* Of eight bytes or more; the last ones may be looked at twice. */
static inline bool has_special_text(struct weir_str text)
{
    const char *at = text.ptr;
    const char *end = text.ptr + text.len;
    for (; end - at > 16; at += 16) {
        if (have_special(_mm_loadu_si128((const __m128i *)(const void *)at)))
            return true;
    }
    return have_special(load_two(end - at >= 8 ? at : end - 8, end - 8));
}
#else
static inline bool has_special_text(struct weir_str text)
{
    for (size_t at = 0; at + 8 < text.len; at += 8) {
        if (has_special(load(text.ptr + at)))
            return true;
    }
    return has_special(load(text.ptr + text.len - 8));
}
#endif

static bool is_plain_text(const struct weir_cell_rule *rule, struct weir_str cell)
{
    uint32_t max = rule->column->length_max;
    if (max && cell.len > max)
        return false;
    return cell.len < 8 ? !has_special(load_some(cell)) : !has_special_text(cell);
}

/* ---- numbers ---- */

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits at the beginning, none of them a zero in front of others, and their value. 0: there are
 * none, or too many. */
static inline size_t take_whole(struct weir_str text, int64_t *ret)
{
    size_t len = 0;
    int64_t value = 0;
    for (; len < text.len && len <= DIGITS_MAX && is_digit(text.ptr[len]); len++)
        value = value * 10 + (text.ptr[len] - '0');
    *ret = value;
    return len > DIGITS_MAX || (len > 1 && text.ptr[0] == '0') ? 0 : len;
}

static bool is_plain_whole(const struct weir_cell_rule *rule, struct weir_str cell)
{
    int64_t value;
    size_t len = take_whole(cell, &value);
    return len && len == cell.len && value <= rule->plain_max;
}

/* With a fraction it must be below the bound. */
static bool is_plain_decimal(const struct weir_cell_rule *rule, struct weir_str cell, size_t kept)
{
    int64_t value;
    size_t len = take_whole(cell, &value);
    if (!len || value >= rule->plain_max)
        return false;
    if (len == cell.len)
        return true;
    size_t places = cell.len - len - 1;
    if (cell.ptr[len] != '.' || !places || places > kept)
        return false;
    for (size_t i = len + 1; i < cell.len; i++) {
        if (!is_digit(cell.ptr[i]))
            return false;
    }
    return true;
}

static size_t places_kept(const struct weir_cell_rule *rule)
{
    int precision = rule->column->precision;
    return precision < 0 || precision > DIGITS_MAX ? DIGITS_MAX : (size_t)precision;
}

/* ---- the rest ---- */

static bool is_plain_boolean(const struct weir_cell_rule *rule, struct weir_str cell)
{
    if (rule->plain_max < 1)
        return false;
    return (cell.len == 4 && memcmp(cell.ptr, "true", 4) == 0) ||
           (cell.len == 5 && memcmp(cell.ptr, "false", 5) == 0);
}

static bool is_plain_choice(const struct weir_cell_rule *rule, struct weir_str cell)
{
    int64_t value;
    size_t len = take_whole(cell, &value);
    return len && len == cell.len && value <= rule->plain_max &&
           weir_choice_index_value(&rule->choices, value);
}

static inline int two_digits(const char *at)
{
    return is_digit(at[0]) && is_digit(at[1]) ? (at[0] - '0') * 10 + (at[1] - '0') : -1;
}

static bool is_plain_date(struct weir_str cell)
{
    if (cell.len != DATE_CHARS || cell.ptr[4] != '-' || cell.ptr[7] != '-')
        return false;
    int century = two_digits(cell.ptr);
    int year = two_digits(cell.ptr + 2);
    struct weir_date date = { .month = two_digits(cell.ptr + 5), .day = two_digits(cell.ptr + 8) };
    if (century < 0 || year < 0 || date.month < 1 || date.day < 1)
        return false;
    date.year = century * 100 + year;
    return date.year >= YEAR_MIN && weir_calendar_has(&date);
}

enum weir_cell_plain weir_cell_rule_plain(const struct weir_cell_rule *rule, struct weir_str cell)
{
    const struct weir_typed_kind *kind = rule->kind;
    bool bare = false;
    if (!cell.len)
        return WEIR_CELL_NOT_PLAIN;
    if (kind == &weir_kind_text)
        return is_plain_text(rule, cell) ? WEIR_CELL_QUOTED_AS_IS : WEIR_CELL_NOT_PLAIN;
    if (kind == &weir_kind_date)
        return is_plain_date(cell) ? WEIR_CELL_QUOTED_AS_IS : WEIR_CELL_NOT_PLAIN;
    if (kind == &weir_kind_whole)
        bare = is_plain_whole(rule, cell);
    else if (kind == &weir_kind_decimal)
        bare = is_plain_decimal(rule, cell, places_kept(rule));
    else if (kind == &weir_kind_floating)
        bare = is_plain_decimal(rule, cell, DIGITS_MAX);
    else if (kind == &weir_kind_boolean)
        bare = is_plain_boolean(rule, cell);
    else if (kind == &weir_kind_choice)
        bare = is_plain_choice(rule, cell);
    return bare ? WEIR_CELL_AS_IS : WEIR_CELL_NOT_PLAIN;
}

/* ---- making ---- */

/* The greatest whole number that is surely not too great; -1: zero is too little, or too great. */
static int64_t plain_max(const struct weir_cell_rule *rule)
{
    static const char zero[] = "0";
    struct weir_decimal none;
    weir_decimal_parse(weir_str_from(zero), &none);
    if (weir_decimal_compare(&rule->low, &none) > 0 || weir_decimal_compare(&rule->high, &none) < 0)
        return -1;
    int64_t value = 0;
    if (rule->high.exponent.len || rule->high.whole.len > DIGITS_MAX)
        return INT64_C(999999999999999);
    for (size_t i = 0; i < rule->high.whole.len; i++)
        value = value * 10 + (rule->high.whole.ptr[i] - '0');
    return value;
}

/* A word or a value means itself: no label has it that means something else. */
static bool means_itself(const struct weir_cell_rule *rule, const char *text)
{
    char written[16];
    struct weir_error err;
    size_t bytes;
    struct weir_str cell = weir_str_from(text);
    if (rule->kind->measure(rule, cell, &bytes, &err) || bytes != cell.len)
        return false;
    rule->kind->write(rule, cell, written);
    return memcmp(written, text, bytes) == 0;
}

static bool all_mean_themselves(const struct weir_cell_rule *rule)
{
    for (uint32_t i = 0; i < rule->choices.value_count; i++) {
        char text[16];
        snprintf(text, sizeof(text), "%d", (int)rule->choices.by_value[i]->value);
        if (!means_itself(rule, text))
            return false;
    }
    return rule->choices.value_count > 0;
}

void weir_cell_rule_set_plain(struct weir_cell_rule *rule)
{
    const struct weir_typed_kind *kind = rule->kind;
    rule->plain_max = -1;
    if (kind == &weir_kind_whole || kind == &weir_kind_decimal || kind == &weir_kind_floating)
        rule->plain_max = plain_max(rule);
    else if (kind == &weir_kind_boolean)
        rule->plain_max = means_itself(rule, "true") && means_itself(rule, "false");
    else if (kind == &weir_kind_choice)
        rule->plain_max = all_mean_themselves(rule) ? INT32_MAX : -1;
}

/* SPDX-License-Identifier: MIT */
/*
 * Numbers of any locale; see number.h for the rule. A number is split into groups of digits, each
 * with the separator that stands before it; then the groups are judged, then added up.
 *
 *     1,200.00  ->  {0 "1"} {',' "200"} {'.' "00"}
 */
#include "throttle/number.h"

/* Enough for int64_t millionths in groups of two, and a fraction. */
#define GROUPS_MAX 8

#define FRACTION_DIGITS 6

struct group {
    struct weir_str digits;
    char separator; /* before it: one of , . ' and blank; 0: none */
};

/* Typographic forms and what they stand for. U+00A0 also comes as a single byte, in Latin-1. */
static const struct {
    const char *bytes;
    char separator;
} separators[] = {
    { ",", ',' },
    { ".", '.' },
    { "'", '\'' },
    { "\xe2\x80\x99", '\'' }, /* U+2019, right single quotation mark */
    { " ", ' ' },
    { "\xc2\xa0", ' ' }, /* U+00A0, no-break space */
    { "\xa0", ' ' },
    { "\xe2\x80\xaf", ' ' }, /* U+202F, narrow no-break space */
    { "\xe2\x80\x89", ' ' }, /* U+2009, thin space */
};

static bool digit_at(struct weir_str text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

/* The length of the separator at `at` if a digit follows it, else 0. */
static size_t separator_at(struct weir_str text, size_t at, char *ret)
{
    for (size_t i = 0; i < sizeof(separators) / sizeof(separators[0]); i++) {
        size_t len = strlen(separators[i].bytes);
        if (digit_at(text, at + len) && memcmp(text.ptr + at, separators[i].bytes, len) == 0) {
            *ret = separators[i].separator;
            return len;
        }
    }
    return 0;
}

static struct weir_str digits_at(struct weir_str text, size_t at)
{
    size_t len = 0;
    while (digit_at(text, at + len))
        len++;
    return weir_str(text.ptr + at, len);
}

/* Returns the number of groups; 0: no number, or too many of them. */
static size_t split(struct weir_str text, struct group *groups, size_t *ret_len)
{
    if (!digit_at(text, 0))
        return 0;
    size_t at = 0;
    char separator = 0;
    for (size_t count = 0; count < GROUPS_MAX; count++) {
        groups[count] = (struct group){ digits_at(text, at), separator };
        at += groups[count].digits.len;
        size_t len = separator_at(text, at, &separator);
        if (len == 0) {
            *ret_len = at;
            return count + 1;
        }
        at += len;
    }
    return 0;
}

static bool leads_thousands(struct weir_str digits)
{
    return digits.len <= 3 && digits.ptr[0] != '0';
}

static bool last_is_fraction(const struct group *groups, size_t count)
{
    const struct group *last = &groups[count - 1];
    if (last->separator != ',' && last->separator != '.')
        return false;
    for (size_t i = 1; i < count - 1; i++) {
        if (groups[i].separator == last->separator)
            return false;
    }
    return count > 2 || last->digits.len != 3 || !leads_thousands(groups[0].digits);
}

static bool grouped_well(const struct group *groups, size_t count)
{
    if (count > 1 && !leads_thousands(groups[0].digits))
        return false;
    for (size_t i = 1; i < count; i++) {
        size_t len = groups[i].digits.len;
        if (groups[i].separator != groups[1].separator ||
            (len != 3 && (len != 2 || i == count - 1)))
            return false;
    }
    return true;
}

static bool append_digits(int64_t *value, struct weir_str digits)
{
    for (size_t i = 0; i < digits.len; i++) {
        if (__builtin_mul_overflow(*value, (int64_t)10, value) ||
            __builtin_add_overflow(*value, (int64_t)(digits.ptr[i] - '0'), value))
            return false;
    }
    return true;
}

/* The first six decimals, filled up with zeros. */
static bool append_fraction(int64_t *value, struct weir_str digits)
{
    size_t kept = digits.len < FRACTION_DIGITS ? digits.len : FRACTION_DIGITS;
    return append_digits(value, weir_str(digits.ptr, kept)) &&
           append_digits(value, weir_str("000000", FRACTION_DIGITS - kept));
}

size_t weir_number_scan(struct weir_str text, int64_t *ret_us)
{
    struct group groups[GROUPS_MAX];
    size_t len;
    size_t count = split(text, groups, &len);
    if (count == 0)
        return 0;

    size_t whole = last_is_fraction(groups, count) ? count - 1 : count;
    if (!grouped_well(groups, whole))
        return 0;
    int64_t value = 0;
    for (size_t i = 0; i < whole; i++) {
        if (!append_digits(&value, groups[i].digits))
            return 0;
    }
    if (!append_fraction(&value, whole < count ? groups[whole].digits : weir_str("", 0)))
        return 0;
    *ret_us = value;
    return len;
}

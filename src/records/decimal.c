/* SPDX-License-Identifier: MIT */
/*
 * Decimal numbers of any length; see decimal.h. Two are compared in the form
 *
 *     0.d₁d₂d₃… × 10^magnitude      d₁ is not 0
 *
 * by magnitude, then digit by digit; behind the last one there are zeros.
 */
#include "records/decimal.h"

/* From here on digits of an exponent do not count: no cell has as many to make up for it. */
#define SCALE_MAX INT64_C(1000000000)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct weir_str take_digits(struct weir_str *rest)
{
    size_t len = 0;
    while (len < rest->len && is_digit(rest->ptr[len]))
        len++;
    struct weir_str digits = weir_str(rest->ptr, len);
    *rest = weir_str(rest->ptr + len, rest->len - len);
    return digits;
}

static bool take_any(struct weir_str *rest, const char *letters, char *ret)
{
    if (!rest->len || !memchr(letters, rest->ptr[0], strlen(letters)))
        return false;
    *ret = rest->ptr[0];
    *rest = weir_str(rest->ptr + 1, rest->len - 1);
    return true;
}

static struct weir_str without_zeros_before(struct weir_str digits)
{
    while (digits.len && digits.ptr[0] == '0')
        digits = weir_str(digits.ptr + 1, digits.len - 1);
    return digits;
}

/* All that is left must be the exponent. */
static bool read_exponent(struct weir_str text, struct weir_decimal *decimal)
{
    struct weir_str rest = text;
    char c;
    char sign = '+';
    decimal->exponent = text;
    decimal->scale = 0;
    if (!text.len)
        return true;
    if (!take_any(&rest, "eE", &c))
        return false;
    take_any(&rest, "+-", &sign);
    struct weir_str digits = take_digits(&rest);
    if (!digits.len || rest.len)
        return false;
    for (size_t i = 0; i < digits.len && decimal->scale < SCALE_MAX; i++)
        decimal->scale = decimal->scale * 10 + (digits.ptr[i] - '0');
    if (sign == '-')
        decimal->scale = -decimal->scale;
    return true;
}

bool weir_decimal_parse(struct weir_str text, struct weir_decimal *ret)
{
    struct weir_decimal decimal;
    char sign = '+';
    char point;
    take_any(&text, "+-", &sign);
    struct weir_str whole = take_digits(&text);
    decimal.negative = sign == '-';
    decimal.whole = without_zeros_before(whole);
    decimal.fraction = weir_str(text.ptr, 0);
    if (take_any(&text, ".", &point)) {
        decimal.fraction = take_digits(&text);
        if (!decimal.fraction.len)
            return false;
    } else if (!whole.len) {
        return false;
    }
    if (!read_exponent(text, &decimal))
        return false;
    *ret = decimal;
    return true;
}

bool weir_decimal_is_zero(const struct weir_decimal *decimal)
{
    return !decimal->whole.len && !without_zeros_before(decimal->fraction).len;
}

static int64_t magnitude(const struct weir_decimal *decimal)
{
    if (decimal->whole.len)
        return (int64_t)decimal->whole.len + decimal->scale;
    size_t zeros = decimal->fraction.len - without_zeros_before(decimal->fraction).len;
    return decimal->scale - (int64_t)zeros;
}

/* The digits from d₁ on, in two pieces. */
struct digits {
    struct weir_str here;
    struct weir_str then;
};

static struct digits digits_of(const struct weir_decimal *decimal)
{
    if (decimal->whole.len)
        return (struct digits){ decimal->whole, decimal->fraction };
    return (struct digits){ without_zeros_before(decimal->fraction), weir_str("", 0) };
}

static bool is_over(const struct digits *digits)
{
    return !digits->here.len && !digits->then.len;
}

static char next_digit(struct digits *digits)
{
    if (!digits->here.len) {
        digits->here = digits->then;
        digits->then = weir_str("", 0);
    }
    if (!digits->here.len)
        return '0';
    char digit = digits->here.ptr[0];
    digits->here = weir_str(digits->here.ptr + 1, digits->here.len - 1);
    return digit;
}

/* Both are not zero, and signs do not count. */
static int compare_sizes(const struct weir_decimal *a, const struct weir_decimal *b)
{
    int64_t magnitude_a = magnitude(a);
    int64_t magnitude_b = magnitude(b);
    if (magnitude_a != magnitude_b)
        return magnitude_a < magnitude_b ? -1 : 1;
    struct digits digits_a = digits_of(a);
    struct digits digits_b = digits_of(b);
    while (!is_over(&digits_a) || !is_over(&digits_b)) {
        int difference = next_digit(&digits_a) - next_digit(&digits_b);
        if (difference)
            return difference;
    }
    return 0;
}

static int sign_of(const struct weir_decimal *decimal)
{
    return weir_decimal_is_zero(decimal) ? 0 : decimal->negative ? -1 : 1;
}

int weir_decimal_compare(const struct weir_decimal *a, const struct weir_decimal *b)
{
    int sign_a = sign_of(a);
    int sign_b = sign_of(b);
    if (sign_a != sign_b || !sign_a)
        return sign_a - sign_b;
    return sign_a * compare_sizes(a, b);
}

size_t weir_decimal_places(const struct weir_decimal *decimal)
{
    size_t places = decimal->fraction.len;
    while (places && decimal->fraction.ptr[places - 1] == '0')
        places--;
    return places;
}

size_t weir_decimal_bytes(const struct weir_decimal *decimal)
{
    size_t whole = decimal->whole.len ? decimal->whole.len : 1;
    size_t fraction = decimal->fraction.len ? decimal->fraction.len + 1 : 0;
    return decimal->negative + whole + fraction + decimal->exponent.len;
}

static char *add(char *to, struct weir_str text)
{
    memcpy(to, text.ptr, text.len);
    return to + text.len;
}

char *weir_decimal_write(const struct weir_decimal *decimal, char *to)
{
    if (decimal->negative)
        *to++ = '-';
    to = add(to, decimal->whole.len ? decimal->whole : weir_str("0", 1));
    if (decimal->fraction.len) {
        *to++ = '.';
        to = add(to, decimal->fraction);
    }
    return add(to, decimal->exponent);
}

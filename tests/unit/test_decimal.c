/* SPDX-License-Identifier: MIT */
/*
 * Decimal numbers of any length, against the slow way: every number is laid out as one row of
 * digits, so many before the point and so many behind it, and those are compared and counted.
 */
#include "records/decimal.h"

#include <stdio.h>

#include "base/rng.h"
#include "support/suite.h"

#define SIDE  160 /* digits on either side of the point in the slow form */
#define ROUND 200000

struct slow {
    int sign;
    char digits[2 * SIDE]; /* 0 to 9 */
};

/* `text` is one that was made below: all of it fits. */
static struct slow slow_of(const char *text)
{
    struct slow slow = { .sign = *text == '-' ? -1 : 1 };
    const char *at = text + (*text == '-' || *text == '+');
    const char *e = strpbrk(at, "eE");
    int exponent = e ? (int)strtol(e + 1, NULL, 10) : 0;
    size_t len = e ? (size_t)(e - at) : strlen(at);
    const char *point = memchr(at, '.', len);
    int place = SIDE - (int)(point ? point - at : (ptrdiff_t)len) - exponent;
    bool zero = true;
    for (size_t i = 0; i < len; i++) {
        if (at[i] == '.')
            continue;
        must(place >= 0 && place < 2 * SIDE);
        slow.digits[place++] = (char)(at[i] - '0');
        zero = zero && at[i] == '0';
    }
    if (zero)
        slow.sign = 0;
    return slow;
}

static int slow_compare(const char *a, const char *b)
{
    struct slow slow_a = slow_of(a);
    struct slow slow_b = slow_of(b);
    if (slow_a.sign != slow_b.sign)
        return slow_a.sign < slow_b.sign ? -1 : 1;
    int order = memcmp(slow_a.digits, slow_b.digits, sizeof(slow_a.digits));
    return slow_a.sign * ((order > 0) - (order < 0));
}

static void add_digits(struct weir_rng *rng, char **to, uint64_t count)
{
    /* Mostly of few kinds, so that numbers meet. */
    uint64_t kinds = weir_rng_below(rng, 4) ? 2 : 10;
    for (uint64_t i = 0; i < count; i++)
        *(*to)++ = (char)('0' + weir_rng_below(rng, kinds));
}

static void make(struct weir_rng *rng, char *text)
{
    static const char signs[] = { '-', '+', 0, 0 };
    char sign = signs[weir_rng_below(rng, sizeof(signs))];
    uint64_t longest = weir_rng_below(rng, 8) ? 3 : 60;
    uint64_t whole = weir_rng_below(rng, longest + 1);
    uint64_t fraction = weir_rng_below(rng, longest + 1);
    if (!whole && !fraction)
        whole = 1;
    if (sign)
        *text++ = sign;
    add_digits(rng, &text, whole);
    if (fraction)
        *text++ = '.';
    add_digits(rng, &text, fraction);
    *text = '\0';
    if (!weir_rng_below(rng, 3))
        snprintf(text, 16, "%c%d", "eE"[weir_rng_below(rng, 2)], (int)weir_rng_below(rng, 9) - 4);
}

static int sign_of(int value)
{
    return (value > 0) - (value < 0);
}

static void parse(const char *text, struct weir_decimal *ret)
{
    if (!weir_decimal_parse(weir_str_from(text), ret))
        ck_abort_msg("\"%s\"", text);
}

START_TEST(numbers_compare_like_their_digits)
{
    struct weir_rng rng;
    char a[200];
    char b[200];
    int orders[3] = { 0, 0, 0 };
    weir_rng_init(&rng, 42, 1);
    for (int i = 0; i < ROUND; i++) {
        struct weir_decimal x;
        struct weir_decimal y;
        make(&rng, a);
        make(&rng, b);
        parse(a, &x);
        parse(b, &y);
        int order = slow_compare(a, b);
        if (sign_of(weir_decimal_compare(&x, &y)) != order)
            ck_abort_msg("%s and %s", a, b);
        must(sign_of(weir_decimal_compare(&y, &x)) == -order);
        must(weir_decimal_is_zero(&x) == (slow_of(a).sign == 0));
        orders[order + 1]++;
    }
    ck_assert_msg(orders[0] > 1000 && orders[1] > 1000 && orders[2] > 1000, "%d %d %d", orders[0],
                  orders[1], orders[2]);
}
END_TEST

/* What is written is JSON, and the same number with the same digits. */
static bool is_json(const char *text)
{
    text += *text == '-';
    if (*text < '0' || *text > '9' || (text[0] == '0' && text[1] >= '0' && text[1] <= '9'))
        return false;
    text += strspn(text, "0123456789");
    if (*text == '.') {
        size_t digits = strspn(++text, "0123456789");
        if (!digits)
            return false;
        text += digits;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '-' || *text == '+';
        size_t digits = strspn(text, "0123456789");
        if (!digits)
            return false;
        text += digits;
    }
    return !*text;
}

START_TEST(what_is_written_is_the_same_number)
{
    struct weir_rng rng;
    char text[200];
    char json[200];
    weir_rng_init(&rng, 42, 2);
    for (int i = 0; i < ROUND; i++) {
        struct weir_decimal x;
        struct weir_decimal y;
        make(&rng, text);
        parse(text, &x);
        size_t bytes = weir_decimal_bytes(&x);
        must(bytes < sizeof(json) && weir_decimal_write(&x, json) == json + bytes);
        json[bytes] = '\0';
        if (!is_json(json) || slow_compare(text, json))
            ck_abort_msg("%s: %s", text, json);
        parse(json, &y);
        must(weir_str_equal(x.fraction, y.fraction) && weir_str_equal(x.exponent, y.exponent) &&
             x.negative == y.negative && weir_decimal_places(&x) == weir_decimal_places(&y));
    }
}
END_TEST

START_TEST(places_are_counted_without_the_zeros_at_the_end)
{
    static const struct {
        const char *text;
        size_t places;
    } rows[] = { { "1", 0 },     { "1.0", 0 },  { "1.50", 1 }, { "1.05", 2 },
                 { "0.000", 0 }, { ".001", 3 }, { "100", 0 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct weir_decimal decimal;
        parse(rows[i].text, &decimal);
        ck_assert_uint_eq(weir_decimal_places(&decimal), rows[i].places);
    }
}
END_TEST

/* Giant exponents are cut, but order is kept against whatever fits into a cell. */
START_TEST(giant_exponents_are_beyond_everything)
{
    static const char *const order[] = {
        "-1e99999999999999999999",
        "-1e9999",
        "-1",
        "-1e-9999",
        "-1e-99999999999999999999",
        "0e99999999999999999999",
        "1e-99999999999999999999",
        "1e-9999",
        "1",
        "1e9999",
        "1e99999999999999999999",
    };
    size_t count = sizeof(order) / sizeof(order[0]);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            struct weir_decimal x;
            struct weir_decimal y;
            parse(order[i], &x);
            parse(order[j], &y);
            ck_assert_int_eq(sign_of(weir_decimal_compare(&x, &y)), (i > j) - (i < j));
        }
    }
}
END_TEST

START_TEST(what_is_no_number_is_refused)
{
    static const char *const wrong[] = {
        "",    "+",     "-",    ".",   "-.",  "1.",   "1.e5", "e5",       "1e",
        "1e+", "1e5.0", "1 ",   " 1",  "1,0", "1.0.", "0x1",  "1_000",    "--1",
        "+-1", "1-",    "1e5x", "NaN", "inf", "1e 5", "1f",   "\xd9\xa1",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct weir_decimal decimal;
        ck_assert_msg(!weir_decimal_parse(weir_str_from(wrong[i]), &decimal), "\"%s\"", wrong[i]);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("decimal");
    suite_add(&s, numbers_compare_like_their_digits);
    suite_add(&s, what_is_written_is_the_same_number);
    suite_add(&s, places_are_counted_without_the_zeros_at_the_end);
    suite_add(&s, giant_exponents_are_beyond_everything);
    suite_add(&s, what_is_no_number_is_refused);
    return suite_run(&s);
}

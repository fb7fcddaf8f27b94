/* SPDX-License-Identifier: MIT */
/* Dates and decimals; see literal.h. */
#include "sim/service/literal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

#define REAL_BYTES_MAX 64

/* Dates. */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Days from 1970-01-01 in the Gregorian calendar, counted in eras of 400 years that begin in March.
 */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = floor_div(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static void date_from_days(int64_t days, int *year, int *month, int *day)
{
    days += 719468;
    int64_t era = floor_div(days, 146097);
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153;
    *day = (int)(day_of_year - (153 * shifted + 2) / 5 + 1);
    *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = (int)(year_of_era + era * 400 + (*month <= 2));
}

/* `count` digits; false: they are not there or exceed `max`. */
static bool take_digits(struct weir_str *text, int count, int max, int *ret)
{
    int value = 0;
    if (text->len < (size_t)count)
        return false;
    for (int i = 0; i < count; i++) {
        char c = text->ptr[i];
        if (c < '0' || c > '9')
            return false;
        value = value * 10 + (c - '0');
    }
    *text = weir_str(text->ptr + count, text->len - (size_t)count);
    *ret = value;
    return value <= max;
}

static bool take_char(struct weir_str *text, char c)
{
    if (!text->len || *text->ptr != c)
        return false;
    *text = weir_str(text->ptr + 1, text->len - 1);
    return true;
}

static bool take_date(struct weir_str *text, int64_t *ret_days)
{
    int year;
    int month;
    int day;
    if (!take_digits(text, 4, 9999, &year) || !take_char(text, '-') ||
        !take_digits(text, 2, 12, &month) || !take_char(text, '-') ||
        !take_digits(text, 2, 31, &day) || year == 0 || month == 0 || day == 0)
        return false;
    *ret_days = days_from_date(year, month, day);
    int same_year;
    int same_month;
    int same_day;
    date_from_days(*ret_days, &same_year, &same_month, &same_day);
    return same_month == month && same_day == day; /* no 30th of February */
}

/* ":SS.fffffff"; all of it may be missing. */
static bool take_seconds(struct weir_str *text, int64_t *us)
{
    int seconds;
    if (!take_char(text, ':'))
        return true;
    if (!take_digits(text, 2, 59, &seconds))
        return false;
    *us += seconds * WEIR_US_PER_S;
    if (!take_char(text, '.'))
        return true;
    int64_t unit = WEIR_US_PER_S / 10;
    int digit;
    int count = 0;
    for (; take_digits(text, 1, 9, &digit); count++) {
        *us += digit * unit;
        unit /= 10;
    }
    return count > 0;
}

static bool take_zone(struct weir_str *text, int64_t *us)
{
    if (take_char(text, 'Z') || take_char(text, 'z'))
        return true;
    bool east = take_char(text, '+');
    int hours;
    int minutes;
    if ((!east && !take_char(text, '-')) || !take_digits(text, 2, 14, &hours) ||
        !take_char(text, ':') || !take_digits(text, 2, 59, &minutes))
        return false;
    int64_t offset = hours * WEIR_US_PER_HOUR + minutes * WEIR_US_PER_MINUTE;
    *us += east ? -offset : offset;
    return true;
}

bool sim_date_parse(struct weir_str text, enum sim_date_behavior behavior, int64_t *ret_us)
{
    int64_t days;
    if (!take_date(&text, &days))
        return false;
    int64_t us = days * WEIR_US_PER_DAY;
    if (behavior != SIM_DATE_ONLY) {
        int hours;
        int minutes;
        if (!take_char(&text, 'T') || !take_digits(&text, 2, 23, &hours) ||
            !take_char(&text, ':') || !take_digits(&text, 2, 59, &minutes))
            return false;
        us += hours * WEIR_US_PER_HOUR + minutes * WEIR_US_PER_MINUTE;
        if (!take_seconds(&text, &us) || !take_zone(&text, &us))
            return false;
    }
    if (text.len)
        return false;
    *ret_us = us;
    return true;
}

void sim_date_print(int64_t us, enum sim_date_behavior behavior, struct weir_buf *text)
{
    int64_t days = floor_div(us, WEIR_US_PER_DAY);
    int64_t seconds = (us - days * WEIR_US_PER_DAY) / WEIR_US_PER_S;
    int year;
    int month;
    int day;
    date_from_days(days, &year, &month, &day);
    weir_buf_printf(text, "%04d-%02d-%02d", year, month, day);
    if (behavior != SIM_DATE_ONLY)
        weir_buf_printf(text, "T%02d:%02d:%02dZ", (int)(seconds / 3600), (int)(seconds / 60 % 60),
                        (int)(seconds % 60));
}

/* Decimals. */

typedef unsigned __int128 wide;

/* A number taken apart: digits × 10^exponent. Digits beyond what `wide` holds are dropped. */
struct parts {
    bool negative;
    bool exact; /* nothing but zeros was dropped */
    wide digits;
    int64_t exponent;
};

#define WIDE_LAST    ((~(wide)0 - 9) / 10) /* with one digit more it still fits */
#define EXPONENT_MAX INT64_C(100000)

static struct parts take_apart(struct weir_str number)
{
    struct parts parts = { .negative = *number.ptr == '-', .exact = true };
    bool fraction = false;
    size_t at = parts.negative;
    for (; at < number.len && (number.ptr[at] | 0x20) != 'e'; at++) {
        if (number.ptr[at] == '.') {
            fraction = true;
            continue;
        }
        bool room = parts.digits <= WIDE_LAST;
        if (room)
            parts.digits = parts.digits * 10 + (wide)(number.ptr[at] - '0');
        parts.exact &= room || number.ptr[at] == '0';
        parts.exponent += !room - fraction;
    }
    if (at < number.len) {
        int64_t exponent;
        struct weir_str rest = weir_str(number.ptr + at + 1, number.len - at - 1);
        if (!weir_str_to_int64(rest, &exponent) || exponent > EXPONENT_MAX)
            exponent = *rest.ptr == '-' ? -EXPONENT_MAX : EXPONENT_MAX;
        parts.exponent += exponent < -EXPONENT_MAX ? -EXPONENT_MAX : exponent;
    }
    return parts;
}

/* One digit goes. */
static void drop_digit(struct parts *parts, bool rounded)
{
    parts->exact &= parts->digits % 10 == 0;
    parts->digits = (parts->digits + (rounded ? 5 : 0)) / 10;
}

bool sim_decimal_parse(struct weir_str number, unsigned precision, sim_wide *ret, bool *ret_exact)
{
    struct parts parts = take_apart(number);
    int64_t shift = parts.exponent + (int64_t)precision;
    for (; shift > 0 && parts.digits; shift--) {
        if (parts.digits > WIDE_LAST)
            return false;
        parts.digits *= 10;
    }
    for (; shift < 0 && parts.digits; shift++)
        drop_digit(&parts, shift == -1);
    if (parts.digits > (wide)SIM_WIDE_MAX)
        return false;
    sim_wide value = (sim_wide)parts.digits;
    *ret = parts.negative ? -value : value;
    if (ret_exact)
        *ret_exact = parts.exact;
    return true;
}

void sim_decimal_print(sim_wide scaled, unsigned precision, struct weir_buf *text)
{
    char digits[64];
    size_t at = sizeof(digits);
    wide size = scaled < 0 ? 0 - (wide)scaled : (wide)scaled;
    for (unsigned count = 0; size || count <= precision; count++) {
        if (precision && count == precision)
            digits[--at] = '.';
        digits[--at] = (char)('0' + (int)(size % 10));
        size /= 10;
    }
    if (scaled < 0)
        digits[--at] = '-';
    weir_buf_add(text, digits + at, sizeof(digits) - at);
}

bool sim_real_parse(struct weir_str number, double *ret)
{
    char text[REAL_BYTES_MAX];
    if (number.len == 0 || number.len >= sizeof(text))
        return false;
    memcpy(text, number.ptr, number.len);
    text[number.len] = '\0';
    char *end;
    double value = strtod(text, &end);
    if (*end || !isfinite(value))
        return false;
    *ret = value;
    return true;
}

void sim_real_print(double real, struct weir_buf *text)
{
    char digits[REAL_BYTES_MAX];
    int precision = 1;
    do
        snprintf(digits, sizeof(digits), "%.*g", precision, real);
    while (strtod(digits, NULL) != real && precision++ < 17);
    weir_buf_add_text(text, digits);
    if (!strpbrk(digits, ".e"))
        weir_buf_add_text(text, ".0");
}

/* Literals. */

static bool is_number(struct weir_str text)
{
    size_t at = text.len && text.ptr[0] == '-';
    size_t digits = 0;
    size_t points = 0;
    for (; at < text.len; at++) {
        points += text.ptr[at] == '.';
        digits += text.ptr[at] >= '0' && text.ptr[at] <= '9';
    }
    size_t sign = text.len && text.ptr[0] == '-';
    return digits > 0 && points <= 1 && digits + points + sign == text.len;
}

static bool parse_bool(struct weir_str text, int64_t *ret)
{
    *ret = weir_str_equal(text, weir_str_from("true"));
    return *ret || weir_str_equal(text, weir_str_from("false"));
}

bool sim_literal_parse(const struct sim_column *column, struct weir_str text, struct sim_value *ret)
{
    struct sim_value value = { .kind = SIM_NUMBER };
    bool good = false;
    switch (column->type) {
    case SIM_TYPE_STRING:
    case SIM_TYPE_MEMO:
    case SIM_TYPE_MULTI_PICKLIST:
        value = (struct sim_value){ .kind = SIM_TEXT, .text = text };
        good = true;
        break;
    case SIM_TYPE_INTEGER:
    case SIM_TYPE_BIGINT:
    case SIM_TYPE_PICKLIST:
    case SIM_TYPE_STATE:
    case SIM_TYPE_STATUS:
        good = weir_str_to_int64(text, &value.number);
        break;
    case SIM_TYPE_DECIMAL:
    case SIM_TYPE_MONEY:
        value.kind = SIM_DECIMAL;
        good = is_number(text) && sim_decimal_parse(text, column->precision, &value.decimal, NULL);
        break;
    case SIM_TYPE_DOUBLE:
        value.kind = SIM_REAL;
        good = sim_real_parse(text, &value.real);
        break;
    case SIM_TYPE_BOOLEAN:
        good = parse_bool(text, &value.number);
        break;
    case SIM_TYPE_DATETIME:
        good = sim_date_parse(text, column->behavior, &value.number);
        break;
    case SIM_TYPE_UNIQUEIDENTIFIER:
    case SIM_TYPE_LOOKUP:
    case SIM_TYPE_CUSTOMER:
    case SIM_TYPE_OWNER:
        value.kind = SIM_ID;
        good = sim_guid_parse(text, &value.id);
        break;
    case SIM_TYPE_FILE:
    case SIM_TYPE_IMAGE:
    case SIM_TYPES:
        break;
    }
    if (good)
        *ret = value;
    return good;
}

/* SPDX-License-Identifier: MIT */
/* Durations as people write them; see duration.h. */
#include "config/duration.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

/* .NET counts in ticks of 100 ns: seven digits of a second. */
#define FRACTION_DIGITS_MAX 7

static bool eat(struct weir_str *rest, char c)
{
    if (!rest->len || rest->ptr[0] != c)
        return false;
    *rest = weir_str(rest->ptr + 1, rest->len - 1);
    return true;
}

/* Digits, as many as there are; returns how many. A number that does not fit ends at INT64_MAX. */
static size_t eat_digits(struct weir_str *rest, int64_t *ret)
{
    size_t count = 0;
    *ret = 0;
    for (; rest->len && rest->ptr[0] >= '0' && rest->ptr[0] <= '9'; count++) {
        int digit = rest->ptr[0] - '0';
        if (__builtin_mul_overflow(*ret, (int64_t)10, ret) ||
            __builtin_add_overflow(*ret, (int64_t)digit, ret))
            *ret = INT64_MAX;
        eat(rest, rest->ptr[0]);
    }
    return count;
}

/* Exactly two digits, below `limit`. */
static bool eat_two(struct weir_str *rest, int64_t limit, int64_t *ret)
{
    return eat_digits(rest, ret) == 2 && *ret < limit;
}

/* An optional fraction of `unit_us`. False: there is a point, but no fraction after it. */
static bool eat_fraction(struct weir_str *rest, int64_t unit_us, int64_t *ret_us)
{
    *ret_us = 0;
    if (!eat(rest, '.'))
        return true;
    int64_t value;
    size_t digits = eat_digits(rest, &value);
    if (digits < 1 || digits > FRACTION_DIGITS_MAX)
        return false;
    *ret_us = value * unit_us; /* below 10^7 × one day: fits */
    while (digits--)
        *ret_us /= 10;
    return true;
}

/* count × unit_us + more_us, ending at INT64_MAX. */
static int64_t sum(int64_t count, int64_t unit_us, int64_t more_us)
{
    int64_t us;
    if (__builtin_mul_overflow(count, unit_us, &us) || __builtin_add_overflow(us, more_us, &us))
        return INT64_MAX;
    return us;
}

/* [d.]hh:mm:ss[.fffffff] */
static bool parse_clock(struct weir_str rest, int64_t *ret_us)
{
    int64_t days = 0;
    int64_t hours;
    size_t digits = eat_digits(&rest, &hours);
    if (digits && eat(&rest, '.')) {
        days = hours;
        digits = eat_digits(&rest, &hours);
    }
    int64_t minutes;
    int64_t seconds;
    int64_t fraction_us;
    if (digits != 2 || hours > 23 || !eat(&rest, ':') || !eat_two(&rest, 60, &minutes) ||
        !eat(&rest, ':') || !eat_two(&rest, 60, &seconds) ||
        !eat_fraction(&rest, WEIR_US_PER_S, &fraction_us) || rest.len)
        return false;
    int64_t day_us = hours * WEIR_US_PER_HOUR + minutes * WEIR_US_PER_MINUTE +
                     seconds * WEIR_US_PER_S + fraction_us;
    *ret_us = sum(days, WEIR_US_PER_DAY, day_us);
    return true;
}

/* 0: no unit of that name. */
static int64_t unit_us(struct weir_str name)
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {
        { "us", 1 },
        { "ms", WEIR_US_PER_MS },
        { "s", WEIR_US_PER_S },
        { "m", WEIR_US_PER_MINUTE },
        { "h", WEIR_US_PER_HOUR },
        { "d", WEIR_US_PER_DAY },
    };
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (weir_str_equal(name, weir_str_from(units[i].name)))
            return units[i].us;
    }
    return 0;
}

/* 1.5h */
static bool parse_unit(struct weir_str rest, int64_t *ret_us)
{
    size_t len = rest.len;
    while (len && rest.ptr[len - 1] >= 'a' && rest.ptr[len - 1] <= 'z')
        len--;
    int64_t unit = unit_us(weir_str(rest.ptr + len, rest.len - len));
    rest.len = len;
    int64_t count;
    int64_t fraction_us;
    if (!unit || !eat_digits(&rest, &count) || !eat_fraction(&rest, unit, &fraction_us) || rest.len)
        return false;
    *ret_us = sum(count, unit, fraction_us);
    return true;
}

bool weir_duration_parse(struct weir_str text, int64_t *ret_us)
{
    bool negative = eat(&text, '-');
    bool clock = text.len && memchr(text.ptr, ':', text.len);
    int64_t us = 0;
    if (!(clock ? parse_clock(text, &us) : parse_unit(text, &us)))
        return false;
    *ret_us = negative ? -us : us;
    return true;
}

bool weir_duration_lacks_unit(struct weir_str text)
{
    int64_t ignored;
    if (!eat(&text, '-'))
        eat(&text, '+');
    if (!eat_digits(&text, &ignored))
        return false;
    return !text.len || (eat(&text, '.') && eat_digits(&text, &ignored) && !text.len);
}

void weir_duration_print(int64_t us, char text[WEIR_DURATION_TEXT_MAX])
{
    int64_t days = us / WEIR_US_PER_DAY;
    int64_t second = us % WEIR_US_PER_DAY / WEIR_US_PER_S;
    int64_t fraction = us % WEIR_US_PER_S;
    int len = days ? snprintf(text, WEIR_DURATION_TEXT_MAX, "%" PRId64 ".", days) : 0;
    len += snprintf(text + len, WEIR_DURATION_TEXT_MAX - (size_t)len, "%02d:%02d:%02d",
                    (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60));
    if (fraction % 1000)
        snprintf(text + len, WEIR_DURATION_TEXT_MAX - (size_t)len, ".%06d", (int)fraction);
    else if (fraction)
        snprintf(text + len, WEIR_DURATION_TEXT_MAX - (size_t)len, ".%03d", (int)(fraction / 1000));
}

/* SPDX-License-Identifier: MIT */
/* Moments; see moment.h. */
#include "base/moment.h"

#include <time.h>

#include "base/clock.h"

#define DATE_LEN 19 /* 2026-01-01T00:00:00 */

static bool digits(struct weir_str text, size_t at, size_t len, int *ret)
{
    *ret = 0;
    for (size_t i = at; i < at + len; i++) {
        if (i >= text.len || text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        *ret = *ret * 10 + (text.ptr[i] - '0');
    }
    return true;
}

static int days_of(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* The first nineteen bytes. A second of 60 is left to mktime. */
static bool parse_date(struct weir_str text, struct tm *ret)
{
    static const char pattern[] = "0000-00-00?00:00:00";
    struct tm tm = { .tm_isdst = -1 };
    for (size_t i = 0; i < DATE_LEN; i++) {
        if (i >= text.len ||
            ((pattern[i] == '-' || pattern[i] == ':') && text.ptr[i] != pattern[i]))
            return false;
    }
    if (!digits(text, 0, 4, &tm.tm_year) || !digits(text, 5, 2, &tm.tm_mon) ||
        !digits(text, 8, 2, &tm.tm_mday) || !digits(text, 11, 2, &tm.tm_hour) ||
        !digits(text, 14, 2, &tm.tm_min) || !digits(text, 17, 2, &tm.tm_sec))
        return false;
    if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 ||
        tm.tm_mday > days_of(tm.tm_year, tm.tm_mon) || tm.tm_hour > 23 || tm.tm_min > 59 ||
        tm.tm_sec > 60)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    *ret = tm;
    return true;
}

/* `.123`, which may be missing, taken off *rest. False: a point without digits. */
static bool take_fraction(struct weir_str *rest, int64_t *ret_us)
{
    int64_t unit_us = WEIR_US_PER_S;
    size_t len = rest->len && rest->ptr[0] == '.';
    *ret_us = 0;
    for (; len && len < rest->len && rest->ptr[len] >= '0' && rest->ptr[len] <= '9'; len++) {
        unit_us /= 10; /* from the seventh digit on nothing is left of it */
        *ret_us += (rest->ptr[len] - '0') * unit_us;
    }
    *rest = weir_str(rest->ptr + len, rest->len - len);
    return len != 1;
}

/* `Z`, `+01:00` or nothing. */
static bool parse_zone(struct weir_str zone, int *ret_s)
{
    int hours;
    int minutes;
    *ret_s = 0;
    if (!zone.len || weir_str_equal_nocase(zone, weir_str("Z", 1)))
        return true;
    if (zone.len != 6 || (zone.ptr[0] != '+' && zone.ptr[0] != '-') || zone.ptr[3] != ':' ||
        !digits(zone, 1, 2, &hours) || !digits(zone, 4, 2, &minutes) || hours > 14 || minutes > 59)
        return false;
    *ret_s = (hours * 60 + minutes) * (zone.ptr[0] == '+' ? 60 : -60);
    return true;
}

/* One of the forms with a date; `local_allowed`: without a T and a zone it is local time. */
static bool parse(struct weir_str text, bool local_allowed, int64_t *ret_us)
{
    struct tm tm;
    int offset_s;
    int64_t fraction_us;
    if (!parse_date(text, &tm))
        return false;
    struct weir_str rest = weir_str(text.ptr + DATE_LEN, text.len - DATE_LEN);
    if (!take_fraction(&rest, &fraction_us) || !parse_zone(rest, &offset_s))
        return false;
    char between = text.ptr[10];
    if (between != 'T' && between != 't' && (between != ' ' || !local_allowed))
        return false;
    bool local = between == ' ' && !rest.len;
    int64_t seconds = (int64_t)(local ? mktime(&tm) : timegm(&tm)) - offset_s;
    *ret_us = seconds * WEIR_US_PER_S + fraction_us;
    return true;
}

bool weir_moment_parse_iso(struct weir_str text, int64_t *ret_us)
{
    return parse(text, false, ret_us);
}

bool weir_moment_parse(struct weir_str text, int64_t *ret_s)
{
    int64_t us;
    text = weir_str_trim(text);
    if (text.len && text.ptr[0] >= '0' && text.ptr[0] <= '9' && weir_str_to_int64(text, ret_s))
        return true;
    if (!parse(text, true, &us))
        return false;
    *ret_s = us / WEIR_US_PER_S - (us % WEIR_US_PER_S < 0);
    return true;
}

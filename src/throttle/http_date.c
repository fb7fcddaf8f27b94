/* SPDX-License-Identifier: MIT */
/*
 * HTTP dates; see http_date.h. Each form is a pattern that is read from left to right, in the
 * letters of strptime(), which is not used because it goes by the locale and forgives too much.
 */
#include "throttle/http_date.h"

#define SECONDS_PER_DAY 86400

/* %a %A weekday, short and in full; %d day; %e day, a blank for its first digit; %b month. */
static const char *const forms[] = {
    "%a, %d %b %Y %H:%M:%S GMT",
    "%A, %d-%b-%y %H:%M:%S GMT",
    "%a %b %e %H:%M:%S %Y",
};

static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
static const char *const weekdays[] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday" };

struct date {
    int year;
    bool short_year; /* the century is not known yet */
    int month;       /* 1 to 12 */
    int day;
    int hour;
    int minute;
    int second;
};

static struct weir_str rest(struct weir_str text, size_t from)
{
    return weir_str(text.ptr + from, text.len - from);
}

static bool take_number(struct weir_str *text, size_t digits, int *ret)
{
    if (text->len < digits)
        return false;
    int value = 0;
    for (size_t i = 0; i < digits; i++) {
        char c = text->ptr[i];
        if (c < '0' || c > '9')
            return false;
        value = value * 10 + (c - '0');
    }
    *ret = value;
    *text = rest(*text, digits);
    return true;
}

static bool take_padded_day(struct weir_str *text, int *ret)
{
    if (text->len && text->ptr[0] == ' ') {
        *text = rest(*text, 1);
        return take_number(text, 1, ret);
    }
    return take_number(text, 2, ret);
}

/* One of `names`, or of their first `letters` letters; *ret counts from 1. */
static bool take_name(struct weir_str *text, const char *const *names, int count, size_t letters,
                      int *ret)
{
    for (int i = 0; i < count; i++) {
        struct weir_str name = weir_str_from(names[i]);
        name.len = name.len < letters ? name.len : letters;
        if (text->len >= name.len && weir_str_equal_nocase(weir_str(text->ptr, name.len), name)) {
            *text = rest(*text, name.len);
            *ret = i + 1;
            return true;
        }
    }
    return false;
}

static bool take_field(struct weir_str *text, char field, struct date *date)
{
    int weekday;
    switch (field) {
    case 'a':
        return take_name(text, weekdays, 7, 3, &weekday);
    case 'A':
        return take_name(text, weekdays, 7, SIZE_MAX, &weekday);
    case 'b':
        return take_name(text, months, 12, 3, &date->month);
    case 'd':
        return take_number(text, 2, &date->day);
    case 'e':
        return take_padded_day(text, &date->day);
    case 'Y':
        return take_number(text, 4, &date->year);
    case 'y':
        date->short_year = true;
        return take_number(text, 2, &date->year);
    case 'H':
        return take_number(text, 2, &date->hour);
    case 'M':
        return take_number(text, 2, &date->minute);
    case 'S':
        return take_number(text, 2, &date->second);
    default:
        return false;
    }
}

static bool matches(struct weir_str text, const char *form, struct date *date)
{
    *date = (struct date){ 0 };
    for (; *form; form++) {
        if (*form == '%') {
            if (!take_field(&text, *++form, date))
                return false;
        } else {
            if (text.len == 0 || text.ptr[0] != *form)
                return false;
            text = rest(text, 1);
        }
    }
    return text.len == 0;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in_month(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Second 60 is a leap second. */
static bool is_possible(const struct date *date)
{
    return date->day >= 1 && date->day <= days_in_month(date->year, date->month) &&
           date->hour <= 23 && date->minute <= 59 && date->second <= 60;
}

/* Days before the first of January, from a fixed day 400 years before year 1: never negative. */
static int64_t days_before(int year)
{
    int64_t years = (int64_t)year + 399;
    return years * 365 + years / 4 - years / 100 + years / 400;
}

static int64_t to_seconds(const struct date *date)
{
    int64_t days = days_before(date->year) - days_before(1970) + date->day - 1;
    for (int month = 1; month < date->month; month++)
        days += days_in_month(date->year, month);
    return days * SECONDS_PER_DAY + date->hour * 3600 + date->minute * 60 + date->second;
}

static bool is_within_50_years_of(struct date date, int64_t near_s)
{
    date.year -= 50;
    return to_seconds(&date) <= near_s;
}

/* The latest one in which there is such a day and which is not too far ahead. */
static void find_century(struct date *date, int64_t near_s)
{
    for (date->year += 9900; date->year >= 100; date->year -= 100) {
        if (is_possible(date) && is_within_50_years_of(*date, near_s))
            return;
    }
}

bool weir_http_date_parse(struct weir_str text, int64_t near_s, int64_t *ret_s)
{
    struct date date;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (!matches(text, forms[i], &date))
            continue;
        if (date.short_year)
            find_century(&date, near_s);
        if (!is_possible(&date))
            return false;
        *ret_s = to_seconds(&date);
        return true;
    }
    return false;
}

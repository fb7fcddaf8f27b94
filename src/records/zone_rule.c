/* SPDX-License-Identifier: MIT */
/*
 * The rule of a zone; see zone_rule.h. What holds at a moment follows from the changes of its year
 * and of its neighbours, in the order in which they come:
 *
 *     ──┬─ summer ──┬─ standard ──┬─ summer ──┬──        the last one that has been holds,
 *      y-1         y-1            y    ▲      y          until the next one
 *
 * A zone may have its summer over the turn of the year, or always: then the clocks go back and
 * forward at the same moment, and the change that is of the later year comes last.
 */
#include "records/zone_rule.h"

#include "records/calendar.h"

/* ---- reading ---- */

static bool take_char(struct weir_str *rest, char c)
{
    if (!rest->len || rest->ptr[0] != c)
        return false;
    *rest = weir_str(rest->ptr + 1, rest->len - 1);
    return true;
}

/* One to three digits. */
static bool take_number(struct weir_str *rest, int min, int max, int *ret)
{
    int value = 0;
    size_t len = 0;
    for (; len < rest->len && len < 3 && rest->ptr[len] >= '0' && rest->ptr[len] <= '9'; len++)
        value = value * 10 + (rest->ptr[len] - '0');
    *rest = weir_str(rest->ptr + len, rest->len - len);
    *ret = value;
    return len && value >= min && value <= max;
}

/* `CET`, or `<+03>`. */
static bool take_name(struct weir_str *rest)
{
    bool quoted = take_char(rest, '<');
    size_t len = 0;
    for (; len < rest->len; len++) {
        char c = rest->ptr[len];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool other = (c >= '0' && c <= '9') || c == '+' || c == '-';
        if (!letter && !(quoted && other))
            break;
    }
    *rest = weir_str(rest->ptr + len, rest->len - len);
    return len >= 3 && (!quoted || take_char(rest, '>'));
}

/* `-1`, `5:30`, `26:00:00`, in seconds. */
static bool take_time(struct weir_str *rest, int hours_max, int32_t *ret_s)
{
    int hours;
    int minutes = 0;
    int seconds = 0;
    bool negative = take_char(rest, '-');
    if (!negative)
        take_char(rest, '+');
    if (!take_number(rest, 0, hours_max, &hours))
        return false;
    if (take_char(rest, ':')) {
        if (!take_number(rest, 0, 59, &minutes))
            return false;
        if (take_char(rest, ':') && !take_number(rest, 0, 59, &seconds))
            return false;
    }
    *ret_s = (hours * 3600 + minutes * 60 + seconds) * (negative ? -1 : 1);
    return true;
}

/* Written the wrong way round: hours that UTC is ahead. */
static bool take_offset(struct weir_str *rest, int32_t *ret_s)
{
    int32_t behind_s;
    if (!take_time(rest, 24, &behind_s))
        return false;
    *ret_s = -behind_s;
    return true;
}

static bool take_day(struct weir_str *rest, struct weir_zone_change *change)
{
    if (take_char(rest, 'M')) {
        change->kind = WEIR_ZONE_DAY_OF_MONTH;
        return take_number(rest, 1, 12, &change->month) && take_char(rest, '.') &&
               take_number(rest, 1, 5, &change->week) && take_char(rest, '.') &&
               take_number(rest, 0, 6, &change->day);
    }
    bool leap_day_missing = take_char(rest, 'J');
    change->kind = leap_day_missing ? WEIR_ZONE_DAY_OF_365 : WEIR_ZONE_DAY_OF_366;
    return take_number(rest, leap_day_missing, 365, &change->day);
}

static bool take_change(struct weir_str *rest, struct weir_zone_change *ret)
{
    struct weir_zone_change change = { .time_s = 2 * 3600 };
    if (!take_char(rest, ',') || !take_day(rest, &change))
        return false;
    if (take_char(rest, '/') && !take_time(rest, 167, &change.time_s))
        return false;
    *ret = change;
    return true;
}

bool weir_zone_rule_parse(struct weir_str text, struct weir_zone_rule *ret)
{
    struct weir_zone_rule rule = { 0 };
    if (!take_name(&text) || !take_offset(&text, &rule.standard_s))
        return false;
    if (text.len) {
        rule.has_summer = true;
        rule.summer_s = rule.standard_s + 3600;
        if (!take_name(&text))
            return false;
        if (text.len && text.ptr[0] != ',' && !take_offset(&text, &rule.summer_s))
            return false;
        if (!take_change(&text, &rule.to_summer) || !take_change(&text, &rule.to_standard))
            return false;
    }
    if (text.len)
        return false;
    *ret = rule;
    return true;
}

/* ---- holding ---- */

/* The day of a weekday of a month, in days since 1970. */
static int64_t day_in_month(const struct weir_zone_change *change, int year)
{
    struct weir_date first = { year, change->month, 1 };
    int64_t days = weir_calendar_days(&first);
    int weekday = (int)((days + 4 + 7 * 1000000) % 7); /* 1970 began on a Thursday */
    int day = (change->day - weekday + 7) % 7 + 7 * (change->week - 1);
    if (day >= weir_calendar_days_of(year, change->month))
        day -= 7;
    return days + day;
}

static int64_t day_in_year(const struct weir_zone_change *change, int year)
{
    struct weir_date first = { year, 1, 1 };
    int64_t days = weir_calendar_days(&first);
    if (change->kind == WEIR_ZONE_DAY_OF_366)
        return days + change->day;
    bool after_february = change->day >= 60;
    return days + change->day - 1 + (after_february && weir_calendar_is_leap(year));
}

static int64_t moment_of(const struct weir_zone_change *change, int year, int32_t before_s)
{
    int64_t day = change->kind == WEIR_ZONE_DAY_OF_MONTH ? day_in_month(change, year)
                                                         : day_in_year(change, year);
    return day * WEIR_DAY_S + change->time_s - before_s;
}

struct change {
    int64_t at_s;
    int32_t offset_s;
};

/* The two changes of a year, in their order. */
static void changes_of(const struct weir_zone_rule *rule, int year, struct change ret[2])
{
    struct change summer = { moment_of(&rule->to_summer, year, rule->standard_s), rule->summer_s };
    struct change standard = { moment_of(&rule->to_standard, year, rule->summer_s),
                               rule->standard_s };
    bool summer_first = summer.at_s <= standard.at_s;
    ret[0] = summer_first ? summer : standard;
    ret[1] = summer_first ? standard : summer;
}

static int year_of(int64_t utc_s)
{
    int64_t days = utc_s / WEIR_DAY_S - (utc_s % WEIR_DAY_S < 0);
    return weir_calendar_date(days).year;
}

int32_t weir_zone_rule_offset_s(const struct weir_zone_rule *rule, int64_t utc_s,
                                int64_t *ret_until_s)
{
    int32_t offset_s = rule->standard_s;
    *ret_until_s = INT64_MAX;
    if (!rule->has_summer)
        return offset_s;
    int year = year_of(utc_s);
    for (int y = year - 1; y <= year + 1; y++) {
        struct change changes[2];
        changes_of(rule, y, changes);
        for (int i = 0; i < 2; i++) {
            if (changes[i].at_s <= utc_s)
                offset_s = changes[i].offset_s;
            else if (changes[i].at_s < *ret_until_s)
                *ret_until_s = changes[i].at_s;
        }
    }
    return offset_s;
}

/* SPDX-License-Identifier: MIT */
/*
 * Days and dates; see calendar.h. Days are counted from the first of March of year -400, so that
 * none is negative and the day of a leap year is the last one of its year, of its four years, of
 * its century and of its four centuries.
 */
#include "records/calendar.h"

#define DAYS_OF_YEAR   365
#define DAYS_OF_FOUR   (4 * DAYS_OF_YEAR + 1)
#define DAYS_OF_100    (25 * DAYS_OF_FOUR - 1)
#define DAYS_OF_400    (4 * DAYS_OF_100 + 1)
#define DAYS_TILL_1970 (DAYS_OF_400 + 719468)

/* Days of the year, which begins in March, before each of its months; and before the next year. */
static const int before[] = { 0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337, 366 };

bool weir_calendar_is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int weir_calendar_days_of(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return days[month - 1] + (month == 2 && weir_calendar_is_leap(year));
}

bool weir_calendar_has(const struct weir_date *date)
{
    return date->month >= 1 && date->month <= 12 && date->day >= 1 &&
           date->day <= weir_calendar_days_of(date->year, date->month);
}

int64_t weir_calendar_days(const struct weir_date *date)
{
    int64_t year = (int64_t)date->year + 400 - (date->month <= 2);
    int64_t days = year * DAYS_OF_YEAR + year / 4 - year / 100 + year / 400;
    return days + before[(date->month + 9) % 12] + date->day - 1 - DAYS_TILL_1970;
}

/* How many whole spans of that many days; the last of `count` may be a day longer. */
static int take_spans(int64_t *days, int span_days, int count)
{
    int spans = (int)(*days / span_days);
    if (spans >= count)
        spans = count - 1;
    *days -= (int64_t)spans * span_days;
    return spans;
}

struct weir_date weir_calendar_date(int64_t days)
{
    days += DAYS_TILL_1970;
    int year = 400 * (int)(days / DAYS_OF_400);
    days %= DAYS_OF_400;
    year += 100 * take_spans(&days, DAYS_OF_100, 4);
    year += 4 * take_spans(&days, DAYS_OF_FOUR, 25);
    year += take_spans(&days, DAYS_OF_YEAR, 4);
    int month = 0;
    while (days >= before[month + 1])
        month++;
    int number = (month + 2) % 12 + 1;
    return (struct weir_date){ year - 400 + (number <= 2), number, (int)days - before[month] + 1 };
}

/* SPDX-License-Identifier: MIT */
/* Days and dates of the Gregorian calendar, carried back before its time. Pure. Any thread. */
#ifndef WEIR_RECORDS_CALENDAR_H
#define WEIR_RECORDS_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#define WEIR_DAY_S INT64_C(86400)

struct weir_date {
    int year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
};

bool weir_calendar_is_leap(int year);

/* `month` is 1 to 12. */
int weir_calendar_days_of(int year, int month);

/* There is such a day. */
bool weir_calendar_has(const struct weir_date *date);

/* Days from 1970-01-01 to it, and back. Years from 0 to 9999. */
int64_t weir_calendar_days(const struct weir_date *date);
struct weir_date weir_calendar_date(int64_t days);

#endif

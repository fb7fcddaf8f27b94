/* SPDX-License-Identifier: MIT */
/*
 * What the clocks of a zone do year after year: the rule at the end of a TZif file, written like
 * the variable TZ of POSIX.
 *
 *     CET-1CEST,M3.5.0,M10.5.0/3      an hour ahead; another one from the last Sunday of March to
 *                                     the last one of October
 *
 * Times of a change may be negative or go beyond a day, as RFC 8536 allows. Pure. Any thread.
 */
#ifndef WEIR_RECORDS_ZONE_RULE_H
#define WEIR_RECORDS_ZONE_RULE_H

#include "base/str.h"

enum weir_zone_day {
    WEIR_ZONE_DAY_OF_365 = 0, /* 1 to 365: the 29th of February is not counted */
    WEIR_ZONE_DAY_OF_366,     /* 0 to 365: it is */
    WEIR_ZONE_DAY_OF_MONTH,   /* a weekday: the first … fourth, or the last (5) */
};

/* When the clocks change, by what they showed before. */
struct weir_zone_change {
    enum weir_zone_day kind;
    int month; /* 1 to 12 */
    int week;  /* 1 to 5 */
    int day;   /* of the year; of the week, Sunday being 0 */
    int32_t time_s;
};

struct weir_zone_rule {
    int32_t standard_s; /* ahead of UTC */
    int32_t summer_s;   /* likewise, if there is a summer */
    bool has_summer;
    struct weir_zone_change to_summer;
    struct weir_zone_change to_standard;
};

/* False: it is none. A summer without its changes is none either. */
bool weir_zone_rule_parse(struct weir_str text, struct weir_zone_rule *ret);

/* How far clocks are ahead of UTC at a moment, and until when; INT64_MAX: for ever. */
int32_t weir_zone_rule_offset_s(const struct weir_zone_rule *rule, int64_t utc_s,
                                int64_t *ret_until_s);

#endif

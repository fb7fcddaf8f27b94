/* SPDX-License-Identifier: MIT */
/*
 * Cells of dates, by the behaviour of their column; see cell_kinds.h.
 *
 *     date      a day. A time is refused, unless it is midnight without a zone
 *     clock     what the clock on the wall shows: sent as it stands, with the Z that the service
 *               wants and does not mean. An offset is refused, but for the Z that it wrote itself
 *     moment    sent as UTC. What says no offset is in the zone of the rule; there a time that
 *               clocks never showed, or showed twice, is refused
 *
 * They are written YYYY-MM-DD, then T or a blank, HH:MM, with or without :SS and a fraction, of
 * which seven digits are sent; then nothing, Z, +HH:MM, +HHMM or +HH, with or without a blank
 * before it. A day without a time is its midnight. The service has the years 1753 to 9999.
 */
#include "base/error.h"
#include "records/calendar.h"
#include "records/cell_kinds.h"

#define FIRST_S      (-INT64_C(6847804800)) /* 1753-01-01 */
#define LAST_S       INT64_C(253402300799)  /* the last second of 9999 */
#define FRACTION_MAX 7                      /* digits */
#define OFFSET_MAX_S (14 * 3600)
#define DATE_CHARS   10
#define STAMP_CHARS  19 /* 2024-02-29T09:30:00 */

struct stamp {
    struct weir_date date;
    int hour;
    int minute;
    int second;
    struct weir_str fraction; /* digits */
    bool has_offset;
    int offset_s;
};

/* ---- reading ---- */

static bool take_char(struct weir_str *rest, const char *any)
{
    if (!rest->len || !memchr(any, rest->ptr[0], strlen(any)))
        return false;
    *rest = weir_str(rest->ptr + 1, rest->len - 1);
    return true;
}

static bool take_digits(struct weir_str *rest, size_t count, int *ret)
{
    int value = 0;
    if (rest->len < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        char c = rest->ptr[i];
        if (c < '0' || c > '9')
            return false;
        value = value * 10 + (c - '0');
    }
    *rest = weir_str(rest->ptr + count, rest->len - count);
    *ret = value;
    return true;
}

static bool take_date(struct weir_str *rest, struct weir_date *ret)
{
    return take_digits(rest, 4, &ret->year) && take_char(rest, "-") &&
           take_digits(rest, 2, &ret->month) && take_char(rest, "-") &&
           take_digits(rest, 2, &ret->day);
}

/* `.123`, which may be missing. */
static bool take_fraction(struct weir_str *rest, struct weir_str *ret)
{
    size_t len = 0;
    if (!take_char(rest, "."))
        return true;
    while (len < rest->len && rest->ptr[len] >= '0' && rest->ptr[len] <= '9')
        len++;
    *ret = weir_str(rest->ptr, len < FRACTION_MAX ? len : FRACTION_MAX);
    *rest = weir_str(rest->ptr + len, rest->len - len);
    return len > 0;
}

static bool take_time(struct weir_str *rest, struct stamp *stamp)
{
    if (!take_digits(rest, 2, &stamp->hour) || !take_char(rest, ":") ||
        !take_digits(rest, 2, &stamp->minute))
        return false;
    if (!take_char(rest, ":"))
        return true;
    return take_digits(rest, 2, &stamp->second) && take_fraction(rest, &stamp->fraction);
}

/* All that is left must be the offset, or nothing. */
static bool read_offset(struct weir_str rest, struct stamp *stamp)
{
    int hours;
    int minutes = 0;
    if (!rest.len)
        return true;
    stamp->has_offset = true;
    take_char(&rest, " ");
    if (take_char(&rest, "Zz"))
        return !rest.len;
    int sign = rest.len && rest.ptr[0] == '-' ? -60 : 60;
    if (!take_char(&rest, "+-") || !take_digits(&rest, 2, &hours))
        return false;
    if (rest.len) {
        take_char(&rest, ":");
        if (!take_digits(&rest, 2, &minutes))
            return false;
    }
    stamp->offset_s = (hours * 60 + minutes) * sign;
    return !rest.len && minutes <= 59 && hours * 3600 + minutes * 60 <= OFFSET_MAX_S;
}

static bool parse(struct weir_str text, struct stamp *ret)
{
    *ret = (struct stamp){ .fraction = weir_str("", 0) };
    if (!take_date(&text, &ret->date))
        return false;
    if (!text.len)
        return true;
    return take_char(&text, "Tt ") && take_time(&text, ret) && read_offset(text, ret);
}

static bool is_possible(const struct stamp *stamp)
{
    return weir_calendar_has(&stamp->date) && stamp->hour <= 23 && stamp->minute <= 59 &&
           stamp->second <= 59;
}

static enum weir_status read_stamp(const struct weir_cell_rule *rule, struct weir_str cell,
                                   const char *form, struct stamp *ret, struct weir_error *err)
{
    if (!parse(weir_str_trim(cell), ret))
        return weir_fail(err, WEIR_E_INVALID, "\"%.*s\" is no date; \"%s\" takes %s",
                         WEIR_CELL_QUOTED(cell), rule->column->name, form);
    if (!is_possible(ret))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is in no calendar or on no clock; \"%s\" takes %s",
                         WEIR_CELL_QUOTED(cell), rule->column->name, form);
    return WEIR_OK;
}

/* By the clock, as if it were UTC. */
static int64_t seconds_of(const struct stamp *stamp)
{
    return weir_calendar_days(&stamp->date) * WEIR_DAY_S + stamp->hour * 3600 + stamp->minute * 60 +
           stamp->second;
}

static enum weir_status check_years(const struct weir_cell_rule *rule, struct weir_str cell,
                                    int64_t utc_s, struct weir_error *err)
{
    if (utc_s >= FIRST_S && utc_s <= LAST_S)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "\"%.*s\" is out of range; \"%s\" takes dates from 1753-01-01 to 9999-12-31",
                     WEIR_CELL_QUOTED(cell), rule->column->name);
}

/* ---- writing ---- */

/* With zeros in front, and something behind it. */
static char *add_number(char *to, int value, int digits, char behind)
{
    for (int i = digits - 1; i >= 0; i--, value /= 10)
        to[i] = (char)('0' + value % 10);
    to[digits] = behind;
    return to + digits + 1;
}

static char *write_stamp(int64_t utc_s, struct weir_str fraction, char *to)
{
    int64_t days = utc_s / WEIR_DAY_S - (utc_s % WEIR_DAY_S < 0);
    int second = (int)(utc_s - days * WEIR_DAY_S);
    struct weir_date date = weir_calendar_date(days);
    *to++ = '"';
    to = add_number(to, date.year, 4, '-');
    to = add_number(to, date.month, 2, '-');
    to = add_number(to, date.day, 2, 'T');
    to = add_number(to, second / 3600, 2, ':');
    to = add_number(to, second / 60 % 60, 2, ':');
    to = add_number(to, second % 60, 2, fraction.len ? '.' : 'Z');
    if (fraction.len) {
        memcpy(to, fraction.ptr, fraction.len);
        to += fraction.len;
        *to++ = 'Z';
    }
    *to++ = '"';
    return to;
}

static size_t stamp_bytes(struct weir_str fraction)
{
    return STAMP_CHARS + strlen("\"Z\"") + (fraction.len ? fraction.len + 1 : 0);
}

/* ---- days ---- */

#define DAY_FORM "YYYY-MM-DD"

static bool has_only_zeros(struct weir_str digits)
{
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] != '0')
            return false;
    }
    return true;
}

static bool is_midnight(const struct stamp *stamp)
{
    return !stamp->hour && !stamp->minute && !stamp->second && has_only_zeros(stamp->fraction);
}

static enum weir_status measure_date(const struct weir_cell_rule *rule, struct weir_str cell,
                                     size_t *ret_bytes, struct weir_error *err)
{
    struct stamp stamp;
    enum weir_status status = read_stamp(rule, cell, DAY_FORM, &stamp, err);
    if (!status && (stamp.has_offset || !is_midnight(&stamp)))
        status = weir_fail(err, WEIR_E_INVALID,
                           "\"%.*s\" is more than a day; \"%s\" takes " DAY_FORM " and no time",
                           WEIR_CELL_QUOTED(cell), rule->column->name);
    if (!status)
        status = check_years(rule, cell, seconds_of(&stamp), err);
    if (!status)
        *ret_bytes = DATE_CHARS + 2;
    return status;
}

/* The cell begins with it just as it is sent. */
static char *write_date(const struct weir_cell_rule *rule, struct weir_str cell, char *to)
{
    (void)rule;
    *to++ = '"';
    memcpy(to, weir_str_trim(cell).ptr, DATE_CHARS);
    to[DATE_CHARS] = '"';
    return to + DATE_CHARS + 1;
}

const struct weir_typed_kind weir_kind_date = { measure_date, write_date };

/* ---- clocks ---- */

#define CLOCK_FORM "YYYY-MM-DDTHH:MM:SS"

static enum weir_status measure_clock(const struct weir_cell_rule *rule, struct weir_str cell,
                                      size_t *ret_bytes, struct weir_error *err)
{
    struct stamp stamp;
    enum weir_status status = read_stamp(rule, cell, CLOCK_FORM, &stamp, err);
    if (!status && stamp.offset_s)
        status = weir_fail(err, WEIR_E_INVALID,
                           "\"%.*s\" has an offset; \"%s\" is the same in every zone and takes "
                           "none",
                           WEIR_CELL_QUOTED(cell), rule->column->name);
    if (!status)
        status = check_years(rule, cell, seconds_of(&stamp), err);
    if (!status)
        *ret_bytes = stamp_bytes(stamp.fraction);
    return status;
}

static char *write_clock(const struct weir_cell_rule *rule, struct weir_str cell, char *to)
{
    struct stamp stamp;
    (void)rule;
    if (!parse(weir_str_trim(cell), &stamp))
        return to;
    return write_stamp(seconds_of(&stamp), stamp.fraction, to);
}

const struct weir_typed_kind weir_kind_clock = { measure_clock, write_clock };

/* ---- moments ---- */

#define MOMENT_FORM "YYYY-MM-DDTHH:MM:SS and an offset"

static enum weir_status find_in_zone(const struct weir_cell_rule *rule, struct weir_str cell,
                                     int64_t local_s, int64_t *ret_s, struct weir_error *err)
{
    static const char *const words[] = {
        [WEIR_CLOCK_NEVER] = "never", [WEIR_CLOCK_TWICE] = "twice"
    };
    if (!rule->zone)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" says no zone; \"%s\" takes an offset such as +01:00 or Z, or a "
                         "time zone for the whole input",
                         WEIR_CELL_QUOTED(cell), rule->column->name);
    int64_t utc_s;
    enum weir_clock clock = weir_zone_moment(rule->zone, local_s, &utc_s);
    if (clock != WEIR_CLOCK_ONCE)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" was %s on the clocks of %s, which were changed then; \"%s\" "
                         "takes it with an offset such as +01:00",
                         WEIR_CELL_QUOTED(cell), words[clock], weir_zone_name(rule->zone),
                         rule->column->name);
    *ret_s = utc_s;
    return WEIR_OK;
}

/* A day at the edge may lie beyond it in a zone whose clocks go before or behind. */
static enum weir_status check_moment(const struct weir_cell_rule *rule, struct weir_str cell,
                                     int64_t local_s, int64_t utc_s, struct weir_error *err)
{
    bool early = utc_s < FIRST_S;
    if (local_s < FIRST_S || local_s > LAST_S || (!early && utc_s <= LAST_S))
        return check_years(rule, cell, utc_s, err);
    return weir_fail(err, WEIR_E_INVALID, "\"%.*s\" is in UTC %s, the %s moment that \"%s\" takes",
                     WEIR_CELL_QUOTED(cell),
                     early ? "before 1753-01-01T00:00:00Z" : "after 9999-12-31T23:59:59Z",
                     early ? "first" : "last", rule->column->name);
}

static enum weir_status read_moment(const struct weir_cell_rule *rule, struct weir_str cell,
                                    int64_t *ret_s, struct weir_str *ret_fraction,
                                    struct weir_error *err)
{
    struct stamp stamp;
    enum weir_status status = read_stamp(rule, cell, MOMENT_FORM, &stamp, err);
    if (status)
        return status;
    int64_t utc_s = seconds_of(&stamp) - stamp.offset_s;
    if (!stamp.has_offset)
        status = find_in_zone(rule, cell, utc_s, &utc_s, err);
    if (!status)
        status = check_moment(rule, cell, seconds_of(&stamp), utc_s, err);
    if (status)
        return status;
    *ret_s = utc_s;
    *ret_fraction = stamp.fraction;
    return WEIR_OK;
}

static enum weir_status measure_moment(const struct weir_cell_rule *rule, struct weir_str cell,
                                       size_t *ret_bytes, struct weir_error *err)
{
    int64_t utc_s;
    struct weir_str fraction;
    enum weir_status status = read_moment(rule, cell, &utc_s, &fraction, err);
    if (!status)
        *ret_bytes = stamp_bytes(fraction);
    return status;
}

static char *write_moment(const struct weir_cell_rule *rule, struct weir_str cell, char *to)
{
    int64_t utc_s;
    struct weir_str fraction;
    return read_moment(rule, cell, &utc_s, &fraction, NULL) ? to : write_stamp(utc_s, fraction, to);
}

const struct weir_typed_kind weir_kind_moment = { measure_moment, write_moment };

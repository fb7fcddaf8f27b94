/* SPDX-License-Identifier: MIT */
/*
 * How long an answer asks to wait; declared in signal.h. Headers in the order of their precedence:
 *
 *     retry-after-ms, x-ms-retry-after-ms    milliseconds
 *     Retry-After                            seconds, with or without decimals, or a date
 *
 * One that cannot be used makes way for the next. The result is always between a second and an
 * hour: less would be no wait, and nobody is trusted to ask for more.
 */
#include "base/limits.h"
#include "throttle/http_date.h"
#include "throttle/signal.h"

bool weir_signal_parse_http_date(struct weir_str text, int64_t *ret_s)
{
    const int64_t end_of_2019_s = 1577836799; /* years of two digits are 1970 to 2069 */
    return weir_http_date_parse(weir_str_trim(text), end_of_2019_s, ret_s);
}

static bool digit_at(struct weir_str text, size_t at)
{
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

/*
 * `30` or `1.5` of a unit. Unlike in a budget a dot is always the decimal point. However many
 * digits there are, the span stops growing once it is too long anyway.
 */
static bool parse_span(struct weir_str text, int64_t unit_us, int64_t *ret_us)
{
    int64_t us = 0;
    size_t at = 0;
    for (; digit_at(text, at); at++) {
        if (us <= WEIR_RETRY_AFTER_MAX_US)
            us = us * 10 + (text.ptr[at] - '0') * unit_us;
    }
    if (at > 0 && at < text.len && text.ptr[at] == '.' && digit_at(text, at + 1)) {
        for (at++; digit_at(text, at); at++) {
            unit_us /= 10;
            us += (text.ptr[at] - '0') * unit_us;
        }
    }
    if (at == 0 || at < text.len)
        return false;
    *ret_us = us;
    return true;
}

/* Relative to the answer's own Date: what the clock is here does not matter. */
static bool date_span(const struct weir_http_header *headers, size_t header_count, int64_t *ret_us)
{
    struct weir_str date = weir_signal_header(headers, header_count, "Date");
    struct weir_str until = weir_signal_header(headers, header_count, "Retry-After");
    int64_t date_s;
    int64_t until_s;
    if (!weir_signal_parse_http_date(date, &date_s) ||
        !weir_http_date_parse(until, date_s, &until_s))
        return false;
    *ret_us = (until_s - date_s) * WEIR_US_PER_S;
    return true;
}

/* What the headers ask for, by precedence; it may be in the past. */
static bool asked_span(const struct weir_http_header *headers, size_t header_count, int64_t *ret_us)
{
    static const struct {
        const char *name;
        int64_t unit_us;
    } forms[] = {
        { "retry-after-ms", WEIR_US_PER_MS },
        { "x-ms-retry-after-ms", WEIR_US_PER_MS },
        { "Retry-After", WEIR_US_PER_S },
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct weir_str value = weir_signal_header(headers, header_count, forms[i].name);
        if (parse_span(value, forms[i].unit_us, ret_us))
            return true;
    }
    return date_span(headers, header_count, ret_us);
}

static int64_t clamp_span(int64_t us)
{
    if (us < WEIR_RETRY_AFTER_MIN_US)
        return WEIR_RETRY_AFTER_MIN_US;
    return us > WEIR_RETRY_AFTER_MAX_US ? WEIR_RETRY_AFTER_MAX_US : us;
}

struct weir_retry_after weir_signal_retry_after(const struct weir_http_header *headers,
                                                size_t header_count, int64_t fallback_us)
{
    int64_t us;
    if (asked_span(headers, header_count, &us))
        return (struct weir_retry_after){ .us = clamp_span(us),
                                          .clamped = us > WEIR_RETRY_AFTER_MAX_US };
    if (fallback_us < 0)
        return (struct weir_retry_after){ .us = -1 };
    return (struct weir_retry_after){ .us = clamp_span(fallback_us), .fallback = true };
}

/* SPDX-License-Identifier: MIT */
/* Retry-After in every form, and the dates of HTTP. */
#include <stdio.h>
#include <time.h>

#include "base/limits.h"
#include "base/rng.h"
#include "support/suite.h"
#include "throttle/http_date.h"
#include "throttle/signal.h"

#define S            WEIR_US_PER_S
#define HOUR         WEIR_US_PER_HOUR
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define DATE         "Sun, 06 Nov 1994 08:49:37 GMT"

static struct weir_str text(const char *s)
{
    return weir_str_from(s);
}

struct retry_row {
    struct weir_http_header headers[3];
    int64_t us; /* 7 s is the fallback in these tables */
    bool fallback;
    bool clamped;
};

static void check_retry_rows(const struct retry_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct weir_retry_after got = weir_signal_retry_after(rows[i].headers, 3, 7 * S);
        ck_assert_msg(got.us == rows[i].us, "row %zu, \"%s\": %lld us", i, rows[i].headers[0].value,
                      (long long)got.us);
        ck_assert_msg(got.fallback == rows[i].fallback, "row %zu", i);
        ck_assert_msg(got.clamped == rows[i].clamped, "row %zu", i);

        struct weir_retry_after bare = weir_signal_retry_after(rows[i].headers, 3, -1);
        ck_assert_int_eq(bare.us, rows[i].fallback ? -1 : rows[i].us);
        ck_assert(!bare.fallback);
    }
}

START_TEST(retry_after_extraction)
{
    static const struct retry_row rows[] = {
        { { { "Retry-After", "30" } }, 30 * S, false, false },
        { { { "RETRY-AFTER", "30" } }, 30 * S, false, false },
        { { { "Retry-After", " \t30 " } }, 30 * S, false, false },
        { { { "Retry-After", "0030" } }, 30 * S, false, false },
        { { { "Retry-After", "1.3" } }, 1300000, false, false },
        { { { "Retry-After", "2.1234567" } }, 2123456, false, false },
        { { { "Retry-After", "1.200" } }, 1200000, false, false },
        { { { "Retry-After", "3600" } }, HOUR, false, false },
        { { { "retry-after-ms", "1500" } }, 1500000, false, false },
        { { { "retry-after-ms", "1500.25" } }, 1500250, false, false },
        { { { "x-ms-retry-after-ms", "2500" } }, 2500000, false, false },
        { { { "Retry-After", "5" }, { "Retry-After", "6" } }, 6 * S, false, false },
        /* precedence */
        { { { "Retry-After", "5" },
            { "x-ms-retry-after-ms", "6000" },
            { "retry-after-ms", "8000" } },
          8 * S,
          false,
          false },
        { { { "Retry-After", "5" }, { "x-ms-retry-after-ms", "6000" } }, 6 * S, false, false },
        { { { "retry-after-ms", "x" }, { "x-ms-retry-after-ms", "-1" }, { "Retry-After", "5" } },
          5 * S,
          false,
          false },
        { { { "retry-after-ms", "" },
            { "Retry-After", "Sun, 06 Nov 1994 08:49:47 GMT" },
            { "Date", DATE } },
          10 * S,
          false,
          false },
    };
    check_retry_rows(rows, COUNT(rows));
}
END_TEST

START_TEST(retry_after_too_short_becomes_a_second_and_too_long_an_hour)
{
    static const struct retry_row rows[] = {
        { { { "Retry-After", "0" } }, 1 * S, false, false },
        { { { "Retry-After", "0.0" } }, 1 * S, false, false },
        { { { "Retry-After", "0.999999" } }, 1 * S, false, false },
        { { { "retry-after-ms", "0" } }, 1 * S, false, false },
        { { { "retry-after-ms", "999" } }, 1 * S, false, false },
        { { { "Retry-After", "3601" } }, HOUR, false, true },
        { { { "Retry-After", "3600.000001" } }, HOUR, false, true },
        { { { "retry-after-ms", "3600001" } }, HOUR, false, true },
        { { { "Retry-After", "9223372036854775807" } }, HOUR, false, true },
        { { { "Retry-After", "18446744073709551617" } }, HOUR, false, true },
        { { { "Retry-After", "99999999999999999999999999999999999999999999999999.5" } },
          HOUR,
          false,
          true },
    };
    check_retry_rows(rows, COUNT(rows));
}
END_TEST

START_TEST(fallback_when_retry_after_is_missing)
{
    static const struct retry_row rows[] = {
        { { { "Date", "30" } }, 7 * S, true, false },
        { { { NULL, NULL } }, 7 * S, true, false },
        { { { "Retry-After", NULL } }, 7 * S, true, false },
        { { { "Retry-After", "" } }, 7 * S, true, false },
        { { { "Retry-After", "  " } }, 7 * S, true, false },
        { { { "Retry-After", "-5" } }, 7 * S, true, false },
        { { { "Retry-After", "+5" } }, 7 * S, true, false },
        { { { "Retry-After", "soon" } }, 7 * S, true, false },
        { { { "Retry-After", "5s" } }, 7 * S, true, false },
        { { { "Retry-After", "5." } }, 7 * S, true, false },
        { { { "Retry-After", ".5" } }, 7 * S, true, false },
        { { { "Retry-After", "1.2.3" } }, 7 * S, true, false },
        { { { "Retry-After", "1,5" } }, 7 * S, true, false },
        { { { "Retry-After", "1e3" } }, 7 * S, true, false },
        { { { "Retry-After", "0x10" } }, 7 * S, true, false },
        { { { "Retry-After", "00:00:30" } }, 7 * S, true, false },
        { { { "retry-after-ms", "-5" } }, 7 * S, true, false },
        { { { "Retry-After", "5" }, { "Retry-After", "soon" } }, 7 * S, true, false },
    };
    check_retry_rows(rows, COUNT(rows));

    /* the caller sees the flag and logs a warning */
    struct weir_http_answer http = { .status = 429, .error_code = "0x80072322" };
    struct weir_answer answer;
    weir_answer_read(&http, 12 * S, &answer);
    ck_assert_int_eq(answer.verdict.retry_after_us, 12 * S);
    ck_assert(answer.verdict.retry_after_fallback);
    weir_answer_read(&http, 0, &answer); /* the pool's own will stand in */
    ck_assert_int_eq(answer.verdict.retry_after_us, -1);
    ck_assert(answer.verdict.retry_after_fallback);
    weir_answer_read(&http, -1, &answer);
    ck_assert_int_eq(answer.verdict.retry_after_us, -1);
    weir_answer_read(&http, 1, &answer);
    ck_assert_int_eq(answer.verdict.retry_after_us, 1 * S);
    weir_answer_read(&http, 2 * HOUR, &answer);
    ck_assert_int_eq(answer.verdict.retry_after_us, HOUR);
    ck_assert(!answer.verdict.retry_after_clamped);
}
END_TEST

START_TEST(retry_after_as_a_date_is_relative_to_the_answers_date)
{
    static const struct retry_row rows[] = {
        { { { "Retry-After", "Sun, 06 Nov 1994 08:50:07 GMT" }, { "Date", DATE } },
          30 * S,
          false,
          false },
        { { { "Retry-After", "Sunday, 06-Nov-94 08:50:07 GMT" }, { "Date", DATE } },
          30 * S,
          false,
          false },
        { { { "Retry-After", "Sun Nov  6 08:50:07 1994" }, { "Date", DATE } },
          30 * S,
          false,
          false },
        { { { "Retry-After", "Sun, 06 Nov 1994 09:49:37 GMT" }, { "Date", DATE } },
          HOUR,
          false,
          false },
        { { { "Retry-After", "Sun, 06 Nov 1994 09:49:38 GMT" }, { "Date", DATE } },
          HOUR,
          false,
          true },
        { { { "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT" }, { "Date", DATE } },
          HOUR,
          false,
          true },
        { { { "Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT" }, { "Date", DATE } },
          1 * S,
          false,
          false },
        { { { "Retry-After", "Sat, 05 Nov 1994 08:49:37 GMT" }, { "Date", DATE } },
          1 * S,
          false,
          false },
        { { { "Retry-After", "Sat, 01 Jan 0000 00:00:00 GMT" }, { "Date", DATE } },
          1 * S,
          false,
          false },
        { { { "Retry-After", "Saturday, 31-Dec-80 00:00:30 GMT" },
            { "Date", "Tue, 31 Dec 2080 00:00:10 GMT" } },
          20 * S,
          false,
          false },
        { { { "Retry-After", "Sun, 06 Nov 1994 08:50:07 GMT" } }, 7 * S, true, false },
        { { { "Retry-After", "Sun, 06 Nov 1994 08:50:07 GMT" }, { "Date", "now" } },
          7 * S,
          true,
          false },
        { { { "Retry-After", "Sun, 06 Nov 1994 08:50:07" }, { "Date", DATE } },
          7 * S,
          true,
          false },
    };
    check_retry_rows(rows, COUNT(rows));
}
END_TEST

START_TEST(http_dates_are_read_in_three_forms)
{
    static const struct {
        const char *text;
        int64_t s;
    } rows[] = {
        { "Sun, 06 Nov 1994 08:49:37 GMT", 784111777 },
        { "Sunday, 06-Nov-94 08:49:37 GMT", 784111777 },
        { "Sun Nov  6 08:49:37 1994", 784111777 },
        { "Wed Nov 16 08:49:37 1994", 784975777 },
        { " sun, 06 nov 1994 08:49:37 GMT ", 784111777 },
        { "Thu, 01 Jan 1970 00:00:00 GMT", 0 },
        { "Wed, 31 Dec 1969 23:59:59 GMT", -1 },
        { "Tue, 29 Feb 2000 00:00:00 GMT", 951782400 },
        { "Thu, 29 Feb 2024 12:00:00 GMT", 1709208000 },
        { "Sat, 31 Dec 2016 23:59:60 GMT", 1483228800 },
        { "Mon, 01 Mar 2100 00:00:00 GMT", 4107542400 },
        { "Fri, 31 Dec 9999 23:59:59 GMT", 253402300799 },
        { "Sat, 01 Jan 0000 00:00:00 GMT", -62167219200 },
        { "Thursday, 01-Jan-70 00:00:00 GMT", 0 },
        { "Tuesday, 31-Dec-69 23:59:59 GMT", 3155759999 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t s = 1;
        ck_assert_msg(weir_signal_parse_http_date(text(rows[i].text), &s), "%s", rows[i].text);
        ck_assert_msg(s == rows[i].s, "%s: %lld", rows[i].text, (long long)s);
    }
}
END_TEST

static void write_date(int form, const struct tm *tm, char *date, size_t bytes)
{
    if (form == 0) {
        strftime(date, bytes, "%a, %d %b %Y %H:%M:%S GMT", tm);
    } else if (form == 1) {
        size_t len = strftime(date, bytes, "%A, %d-%b-", tm);
        len += (size_t)snprintf(date + len, bytes - len, "%02d", tm->tm_year % 100);
        strftime(date + len, bytes - len, " %H:%M:%S GMT", tm);
    } else {
        strftime(date, bytes, "%a %b %e %H:%M:%S %Y", tm);
    }
}

START_TEST(what_the_c_library_writes_is_read_back)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 3, 0);
    for (int i = 0; i < 20000; i++) {
        time_t written_s = (time_t)weir_rng_below(&rng, 250000000000); /* to the year 9892 */
        struct tm tm;
        char date[64];
        write_date(i % 3, gmtime_r(&written_s, &tm), date, sizeof(date));
        int64_t s;
        ck_assert_msg(weir_http_date_parse(text(date), written_s, &s), "%s", date);
        ck_assert_msg(s == written_s, "%s: %lld", date, (long long)s);
    }
}
END_TEST

START_TEST(what_is_not_a_date_is_refused)
{
    static const char *const rows[] = {
        "",
        "Sun",
        "Son, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 08:49:37 GMTx",
        "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Okt 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Tue, 29 Feb 2100 00:00:00 GMT",
        "Wed, 29 Feb 2023 00:00:00 GMT",
        "Monday, 31-Feb-94 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994",
        "1994-11-06T08:49:37Z",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t s = 42;
        ck_assert_msg(!weir_signal_parse_http_date(text(rows[i]), &s), "%s", rows[i]);
        ck_assert_int_eq(s, 42);
    }
    int64_t s;
    ck_assert(!weir_signal_parse_http_date(text(NULL), &s));
}
END_TEST

/* Each beginning in memory of its own, so that a sanitizer sees a step too far. */
START_TEST(a_date_that_is_cut_is_refused)
{
    static const char *const rows[] = { DATE, "Sunday, 06-Nov-94 08:49:37 GMT",
                                        "Sun Nov  6 08:49:37 1994" };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t len = 0; len < strlen(rows[i]); len++) {
            char *beginning = malloc(len);
            memcpy(beginning, rows[i], len);
            int64_t s;
            ck_assert(!weir_http_date_parse(weir_str(beginning, len), 0, &s));
            free(beginning);
        }
    }
}
END_TEST

START_TEST(a_year_of_two_digits_is_at_most_fifty_years_ahead)
{
    static const struct {
        const char *near;
        const char *text;
        const char *same;
    } rows[] = {
        { "Mon, 01 Jan 2024 00:00:00 GMT", "Monday, 01-Jan-73 00:00:00 GMT",
          "Sun, 01 Jan 2073 00:00:00 GMT" },
        { "Mon, 01 Jan 2024 00:00:00 GMT", "Monday, 01-Jan-75 00:00:00 GMT",
          "Wed, 01 Jan 1975 00:00:00 GMT" },
        { "Mon, 01 Jan 2024 00:00:00 GMT", "Monday, 01-Jan-74 00:00:00 GMT",
          "Mon, 01 Jan 2074 00:00:00 GMT" },
        { "Mon, 01 Jan 2024 00:00:00 GMT", "Monday, 01-Jan-74 00:00:01 GMT",
          "Tue, 01 Jan 1974 00:00:01 GMT" },
        { "Sat, 31 Dec 2099 23:59:59 GMT", "Friday, 01-Jan-00 00:00:30 GMT",
          "Fri, 01 Jan 2100 00:00:30 GMT" },
        { "Mon, 01 Jan 2080 00:00:00 GMT", "Tuesday, 29-Feb-00 00:00:00 GMT",
          "Tue, 29 Feb 2000 00:00:00 GMT" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t near_s, same_s, s;
        ck_assert(weir_http_date_parse(text(rows[i].near), 0, &near_s));
        ck_assert(weir_http_date_parse(text(rows[i].same), 0, &same_s));
        ck_assert(weir_http_date_parse(text(rows[i].text), near_s, &s));
        ck_assert_msg(s == same_s, "row %zu", i);
    }
}
END_TEST

/* Pieces of well-formed values, so that random ones come close. */
static const char *const pieces[] = { "0",      "9",       "30",   "999999999", ".",
                                      "-",      " ",       "Sun",  "Sunday",    ", ",
                                      "06 Nov", "06-Nov-", "1994", " 08:49:37", " GMT" };

/* Random bytes, or random pieces; never a NUL, as in any header. */
static void random_text(struct weir_rng *rng, char *out, size_t bytes)
{
    size_t len = 0;
    bool raw = weir_rng_below(rng, 2);
    for (uint64_t n = weir_rng_below(rng, raw ? 60 : 9); n > 0; n--) {
        if (raw)
            out[len++] = (char)(1 + weir_rng_below(rng, 255));
        else
            len += (size_t)snprintf(out + len, bytes - len, "%s",
                                    pieces[weir_rng_below(rng, COUNT(pieces))]);
    }
    out[len] = '\0';
}

START_TEST(whatever_retry_after_says_the_wait_is_between_a_second_and_an_hour)
{
    static const char *const names[] = { "Retry-After", "retry-after-ms", "x-ms-retry-after-ms" };
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 0);
    int used = 0;
    for (int i = 0; i < 20000; i++) {
        char value[256], date[256];
        random_text(&rng, value, sizeof(value));
        random_text(&rng, date, sizeof(date));
        struct weir_http_header headers[] = {
            { "Date", weir_rng_below(&rng, 2) ? date : DATE },
            { names[weir_rng_below(&rng, COUNT(names))], value },
        };
        struct weir_retry_after got = weir_signal_retry_after(headers, 2, 7 * S);
        ck_assert(got.us >= WEIR_RETRY_AFTER_MIN_US && got.us <= WEIR_RETRY_AFTER_MAX_US);
        ck_assert(!got.fallback || (got.us == 7 * S && !got.clamped));
        ck_assert(!got.clamped || got.us == WEIR_RETRY_AFTER_MAX_US);
        used += !got.fallback;
    }
    ck_assert_int_gt(used, 100);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("retry_after");
    suite_add(&s, retry_after_extraction);
    suite_add(&s, retry_after_too_short_becomes_a_second_and_too_long_an_hour);
    suite_add(&s, fallback_when_retry_after_is_missing);
    suite_add(&s, retry_after_as_a_date_is_relative_to_the_answers_date);
    suite_add(&s, http_dates_are_read_in_three_forms);
    suite_add(&s, what_the_c_library_writes_is_read_back);
    suite_add(&s, what_is_not_a_date_is_refused);
    suite_add(&s, a_date_that_is_cut_is_refused);
    suite_add(&s, a_year_of_two_digits_is_at_most_fifty_years_ahead);
    suite_add(&s, whatever_retry_after_says_the_wait_is_between_a_second_and_an_hour);
    return suite_run(&s);
}

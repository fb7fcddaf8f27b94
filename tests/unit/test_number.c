/* SPDX-License-Identifier: MIT */
/* Numbers in headers and messages, as servers of any locale write them. */
#include <stdio.h>

#include "base/clock.h"
#include "base/rng.h"
#include "support/suite.h"
#include "throttle/number.h"
#include "throttle/signal.h"

#define S            WEIR_US_PER_S
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct weir_str text(const char *s)
{
    return weir_str_from(s);
}

START_TEST(the_limit_named_in_the_message_is_read)
{
    static const struct {
        const char *message;
        int64_t value;
        int64_t window_s;
    } rows[] = {
        { "Number of requests exceeded the limit of 6000 over time window of 300 seconds.", 6000,
          300 },
        { "Number of requests exceeded the limit of {6000} over time window of {300} seconds.",
          6000, 300 },
        { "Number of requests exceeded the limit of 8000 over time window of 300 seconds.", 8000,
          300 },
        { "Combined execution time of incoming requests exceeded limit of 1,200,000 milliseconds "
          "over time window of 300 seconds. Decrease number of concurrent requests or reduce the "
          "duration of requests and try again later.",
          1200000, 300 },
        { "exceeded limit of {1,200,000} milliseconds over time window of {300} seconds.", 1200000,
          300 },
        { "limit of 1.200.000 milliseconds over time window of 300 seconds.", 1200000, 300 },
        { "limit of 1200000 milliseconds over time window of 300 seconds.", 1200000, 300 },
        { "limit of 1 200 000 milliseconds", 1200000, 0 },
        { "limit of 1\u00a0200\u00a0000 milliseconds", 1200000, 0 },
        { "limit of 1\u202f200\u202f000 milliseconds", 1200000, 0 },
        { "limit of 1'200'000 milliseconds", 1200000, 0 },
        { "limit of 1\u2019200\u2019000 milliseconds", 1200000, 0 },
        { "limit of 12,00,000 milliseconds", 1200000, 0 },
        { "limit of 6,000 over time window of 1,200 seconds", 6000, 1200 },
        { "LIMIT OF 6000 over TIME WINDOW OF 300 seconds", 6000, 300 },
        { "Number of concurrent requests exceeded the limit of 52.", 52, 0 },
        { "Number of concurrent requests exceeded the limit of {52}.", 52, 0 },
        { "Number of concurrent requests exceeded the limit of 100.", 100, 0 },
        { "Number of concurrent requests exceeded the limit of 40", 40, 0 },
        { "beyond the limit of requests: the limit of 52 holds", 52, 0 },
        { "over time window of 300 seconds", 0, 300 },
        { "limit of", 0, 0 },
        { "limit of {", 0, 0 },
        { "limit of -5", 0, 0 },
        { "the limit of your patience", 0, 0 },
        { "limit of 99999999999999999999999 over time window of 300 seconds", 0, 300 },
        { "limit of 1,1,1,1,1,1,1,1,1,1,1,1", 0, 0 },
        { "Too many requests.", 0, 0 },
        { "", 0, 0 },
        { NULL, 0, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_named_limit limit = weir_signal_parse_limit(text(rows[i].message));
        ck_assert_msg(limit.value == rows[i].value, "%s: %lld", rows[i].message,
                      (long long)limit.value);
        ck_assert_msg(limit.window_us == rows[i].window_s * S, "%s: %lld", rows[i].message,
                      (long long)limit.window_us);
    }
}
END_TEST

/* Pieces of well-formed values, so that random ones come close. */
static const char *const pieces[] = {
    "0",      "52",     "999",       "999999999",       ".",        ",", " ", "'", "{", "}",
    "\u00a0", "\u202f", "limit of ", "time window of ", "1,200,000"
};

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

START_TEST(random_messages_never_overflow_the_limit)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 2, 0);
    int named = 0;
    for (int i = 0; i < 20000; i++) {
        char message[256];
        random_text(&rng, message, sizeof(message));
        struct weir_named_limit limit = weir_signal_parse_limit(text(message));
        ck_assert(limit.value >= 0 && limit.value <= INT64_MAX / S);
        ck_assert(limit.window_us >= 0);
        named += limit.value > 0;
    }
    ck_assert_int_gt(named, 100);
}
END_TEST

START_TEST(decimals_are_read_as_any_locale_writes_them)
{
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {
        { "0", 0 },
        { "5999", 5999000000 },
        { "963.5", 963500000 },
        { "963,5", 963500000 },
        { "963,50", 963500000 },
        { "1,200.00", 1200000000 },
        { "1.200,00", 1200000000 },
        { "1 200,00", 1200000000 },
        { "1 200.00", 1200000000 },
        { "1\u00a0200,00", 1200000000 },
        { "1\240200,00", 1200000000 },
        { "1\u202f200,00", 1200000000 },
        { "1\u2009200,00", 1200000000 },
        { "1'200.00", 1200000000 },
        { "1\u2019200.00", 1200000000 },
        { "1200.00", 1200000000 },
        { "1200,00", 1200000000 },
        { "1,200", 1200000000 }, /* three digits after the only separator: thousands */
        { "1.200", 1200000000 },
        { "1 200", 1200000000 },
        { "123.456", 123456000000 },
        { "0.500", 500000 }, /* no group of thousands begins with 0 */
        { "0,500", 500000 },
        { "1200.000", 1200000000 },  /* nor has it four digits */
        { "1,200.000", 1200000000 }, /* another kind before it: the decimal point */
        { "1.200,000", 1200000000 },
        { "1,200,000", 1200000000000 },
        { "1,200,000.25", 1200000250000 },
        { "12,00,000.25", 1200000250000 },
        { "1.2345678", 1234567 },
        { " 5 ", 5000000 },
        { "-1", -1000000 },
        { "-1,200.5", -1200500000 },
        { "9223372036854.775807", INT64_MAX },
        { "9,223,372,036,854.775807", INT64_MAX },
        { "00000000000000000000000000001", 1000000 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t us = 1;
        ck_assert_msg(weir_signal_parse_decimal_us(text(rows[i].text), &us), "%s", rows[i].text);
        ck_assert_msg(us == rows[i].us, "%s: %lld", rows[i].text, (long long)us);
    }
}
END_TEST

START_TEST(what_is_not_a_decimal_is_refused)
{
    static const char *const rows[] = {
        "",
        " ",
        "-",
        "--1",
        "+1",
        ".5",
        "5.",
        "1..2",
        "1,2,3",
        "1,200,00",
        "1,200.000,5",
        "1,200 000",
        "1 200'000.5",
        "1 20",
        "1'20",
        "1234,567,890",
        "0,123,456",
        "1,2345,678",
        "1e3",
        "0x10",
        "NaN",
        "12a",
        "1,,200",
        "1 ,200",
        "9223372036854.775808",
        "99999999999999999999",
        "1,000,000,000,000,000,000,000,000,000",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t us = 42;
        ck_assert_msg(!weir_signal_parse_decimal_us(text(rows[i]), &us), "%s", rows[i]);
        ck_assert_int_eq(us, 42);
    }
    int64_t us;
    ck_assert(!weir_signal_parse_decimal_us(text(NULL), &us));
}
END_TEST

/* Each beginning in memory of its own, so that a sanitizer sees a step too far. */
START_TEST(a_number_ends_with_its_text)
{
    static const char number[] = "1\u202f200\u00a0000,25";
    for (size_t len = 1; len <= strlen(number); len++) {
        char *beginning = malloc(len);
        memcpy(beginning, number, len);
        int64_t us;
        size_t scanned = weir_number_scan(weir_str(beginning, len), &us);
        ck_assert(scanned <= len);
        free(beginning);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("number");
    suite_add(&s, the_limit_named_in_the_message_is_read);
    suite_add(&s, random_messages_never_overflow_the_limit);
    suite_add(&s, decimals_are_read_as_any_locale_writes_them);
    suite_add(&s, what_is_not_a_decimal_is_refused);
    suite_add(&s, a_number_ends_with_its_text);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* Moments as others write them. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/moment.h"
#include "base/rng.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(moments_in_every_form)
{
    static const struct {
        const char *text;
        int64_t s; /* -1: refused */
    } rows[] = {
        { "1767225600", 1767225600 },
        { " 1767225600 ", 1767225600 },
        { "0", 0 },
        { "2026-01-01T00:00:00Z", 1767225600 },
        { "2026-01-01t00:00:00z", 1767225600 },
        { "2026-01-01T00:00:00", 1767225600 },
        { "2026-01-01T00:00:00.1234567Z", 1767225600 },
        { "2026-01-01T01:30:00+01:30", 1767225600 },
        { "2025-12-31T22:00:00-02:00", 1767225600 },
        { "2026-01-01 00:00:00Z", 1767225600 },
        { "2024-02-29T00:00:00Z", 1709164800 },
        { "2026-01-01 02:00:00.000000", 1767225600 }, /* in the zone of this test */
        { "2026-07-01 03:00:00", 1782864000 },        /* in its summer */
        { "", -1 },
        { "-5", -1 },
        { "+5", -1 },
        { "soon", -1 },
        { "2026-01-01", -1 },
        { "2026-01-01T00:00", -1 },
        { "2026-13-01T00:00:00Z", -1 },
        { "2026-02-29T00:00:00Z", -1 },
        { "2026-01-00T00:00:00Z", -1 },
        { "2026-01-01T24:00:00Z", -1 },
        { "2026-01-01T00:60:00Z", -1 },
        { "2026-01-01T00:00:00.Z", -1 },
        { "2026-01-01T00:00:00+1:00", -1 },
        { "2026-01-01T00:00:00+01:99", -1 },
        { "2026-01-01T00:00:00ZZ", -1 },
        { "2026-01-01X00:00:00Z", -1 },
        { "2026/01/01T00:00:00Z", -1 },
        { "99999999999999999999", -1 },
    };
    setenv("TZ", "TEST-2SUMMER-3,M3.5.0/3,M10.5.0/4", 1);
    tzset();
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t got = -1;
        bool ok = weir_moment_parse(weir_str_from(rows[i].text), &got);
        ck_assert_msg(ok == (rows[i].s >= 0) && (!ok || got == rows[i].s), "\"%s\": %d, %lld",
                      rows[i].text, ok, (long long)got);
    }
}
END_TEST

START_TEST(only_one_form_is_iso_8601)
{
    static const struct {
        const char *text;
        int64_t us; /* -1: refused */
    } rows[] = {
        { "2026-01-01T00:00:00Z", 1767225600000000 },
        { "2026-01-01T00:00:00", 1767225600000000 },
        { "2026-01-01T00:00:00.1Z", 1767225600100000 },
        { "2026-01-01T00:00:00.1234567Z", 1767225600123456 },
        { "2026-01-01T00:00:00.00000099999Z", 1767225600000000 },
        { "2026-01-01T01:30:00.000001+01:30", 1767225600000001 },
        { "1970-01-01T00:00:00.000000Z", 0 },
        { "9999-12-31T23:59:59.999999Z", 253402300799999999 },
        { "1767225600", -1 },
        { "2026-01-01 00:00:00", -1 },
        { "2026-01-01 00:00:00Z", -1 },
        { " 2026-01-01T00:00:00Z", -1 },
        { "2026-01-01T00:00:00Z ", -1 },
        { "2026-01-01T00:00:00.Z", -1 },
        { "2026-01-01", -1 },
        { "", -1 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t got = -1;
        bool ok = weir_moment_parse_iso(weir_str_from(rows[i].text), &got);
        ck_assert_msg(ok == (rows[i].us >= 0) && got == rows[i].us, "\"%s\": %d, %lld",
                      rows[i].text, ok, (long long)got);
    }
}
END_TEST

START_TEST(random_moments_survive_print_and_parse)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 23, 0);
    for (int run = 0; run < 20000; run++) {
        /* from the year 1 to 9999 */
        int64_t s = (int64_t)weir_rng_below(&rng, 315537897599) - 62135596800;
        int64_t us = (int64_t)weir_rng_below(&rng, 1000000);
        time_t time = s;
        struct tm tm;
        char date[32], text[64];
        gmtime_r(&time, &tm);
        strftime(date, sizeof(date), "%FT%T", &tm);
        size_t pad = strcspn(date, "-"); /* of the year: four digits, whatever strftime makes */
        snprintf(text, sizeof(text), "%.*s%s.%06lldZ", (int)(4 - pad), "000", date, (long long)us);
        int64_t got_us = 0, got_s = 0;
        if (!weir_moment_parse_iso(weir_str_from(text), &got_us) ||
            !weir_moment_parse(weir_str_from(text), &got_s))
            ck_abort_msg("%s", text);
        must(got_us == s * WEIR_US_PER_S + us);
        must(got_s == s);
        for (size_t len = 0; len < 19; len++)
            must(!weir_moment_parse_iso(weir_str(text, len), &got_us));
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("moment");
    suite_add(&s, moments_in_every_form);
    suite_add(&s, only_one_form_is_iso_8601);
    suite_add(&s, random_moments_survive_print_and_parse);
    return suite_run(&s);
}

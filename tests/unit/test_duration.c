/* SPDX-License-Identifier: MIT */
/* Durations as people write them. */
#include "base/clock.h"
#include "config/duration.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(durations_are_read_in_both_forms)
{
    static const struct {
        const char *text;
        int64_t us;
    } good[] = {
        { "00:00:00", 0 },
        { "00:00:01", WEIR_US_PER_S },
        { "00:02:00", 2 * WEIR_US_PER_MINUTE },
        { "23:59:59", WEIR_US_PER_DAY - WEIR_US_PER_S },
        { "1.00:00:00", WEIR_US_PER_DAY },
        { "10.01:00:00", 10 * WEIR_US_PER_DAY + WEIR_US_PER_HOUR },
        { "00:00:00.5", 500000 },
        { "00:00:00.05", 50000 },
        { "00:00:00.005", 5000 },
        { "1.02:03:04.567", 93784567000 },
        { "00:00:00.1234567", 123456 },
        { "00:00:00.0000009", 0 },
        { "-00:00:01", -WEIR_US_PER_S },
        { "7us", 7 },
        { "500ms", 500000 },
        { "30s", 30 * WEIR_US_PER_S },
        { "2m", 2 * WEIR_US_PER_MINUTE },
        { "1h", WEIR_US_PER_HOUR },
        { "1d", WEIR_US_PER_DAY },
        { "1.5h", 90 * WEIR_US_PER_MINUTE },
        { "0.0000001d", 8640 },
        { "0.25s", 250000 },
        { "007s", 7 * WEIR_US_PER_S },
        { "-5s", -5 * WEIR_US_PER_S },
        { "99999999999999999999s", INT64_MAX },
        { "9999999999999d", INT64_MAX },
        { "99999999999999999999.00:00:00", INT64_MAX },
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        int64_t us = -77;
        ck_assert_msg(weir_duration_parse(weir_str_from(good[i].text), &us), "%s", good[i].text);
        ck_assert_msg(us == good[i].us, "%s is %lld", good[i].text, (long long)us);
        ck_assert_msg(!weir_duration_lacks_unit(weir_str_from(good[i].text)), "%s", good[i].text);
    }
}
END_TEST

START_TEST(what_is_no_duration_is_refused)
{
    /* clang-format off */
    static const char *const bad[] = {
        "", "s", "5", "-5", "1.5", "+5s", " 5s", "5s ", "5 s", "5S", "5sec", "5min", "5ns",
        ".5s", "5.s", "1.12345678s", "1e3s", "0x5s", "00:01", "1:00:00", "24:00:00", "00:60:00",
        "00:00:60", "00:00:5", "0:00:05", "000:00:05", "00:00:00.", "00:00:00.12345678",
        "1.0:00:00", ".00:00:00", "1..00:00:00", "00:00:00s", "00:00:00:00", "1d00:00:00",
        "--5s", "00:-1:00", "1.00:00", "00 :00:00", ":", "::", "5,5s",
    };
    /* clang-format on */
    for (size_t i = 0; i < COUNT(bad); i++) {
        int64_t us = -77;
        ck_assert_msg(!weir_duration_parse(weir_str_from(bad[i]), &us), "%s", bad[i]);
        ck_assert(us == -77);
    }
    static const char *const bare[] = { "0", "5", "-5", "+5", "1.5", "00" };
    for (size_t i = 0; i < COUNT(bare); i++)
        ck_assert(weir_duration_lacks_unit(weir_str_from(bare[i])));
    static const char *const other[] = { "", "-", "5.", ".5", "1.2.3", "5s", "00:00:01" };
    for (size_t i = 0; i < COUNT(other); i++)
        ck_assert(!weir_duration_lacks_unit(weir_str_from(other[i])));
}
END_TEST

START_TEST(durations_are_printed_in_the_dotnet_form)
{
    static const struct {
        int64_t us;
        const char *text;
    } rows[] = {
        { 0, "00:00:00" },
        { 1, "00:00:00.000001" },
        { 1000, "00:00:00.001" },
        { 90 * WEIR_US_PER_MINUTE, "01:30:00" },
        { WEIR_US_PER_DAY - 1, "23:59:59.999999" },
        { WEIR_US_PER_DAY, "1.00:00:00" },
        { INT64_MAX, "106751991.04:00:54.775807" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[WEIR_DURATION_TEXT_MAX];
        weir_duration_print(rows[i].us, text);
        ck_assert_str_eq(text, rows[i].text);
        int64_t us;
        ck_assert(weir_duration_parse(weir_str_from(text), &us) && us == rows[i].us);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("duration");
    suite_add(&s, durations_are_read_in_both_forms);
    suite_add(&s, what_is_no_duration_is_refused);
    suite_add(&s, durations_are_printed_in_the_dotnet_form);
    return suite_run(&s);
}

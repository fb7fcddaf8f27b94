/* SPDX-License-Identifier: MIT */
/* Text, buffers, maps, randomness, errors and log lines. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "base/rng.h"
#include "base/str.h"
#include "pool/event.h"
#include "support/suite.h"
#include "weir/weir.h"

START_TEST(numbers_are_read_whole_or_not_at_all)
{
    const struct {
        const char *text;
        bool ok;
        int64_t value;
    } rows[] = {
        { "0", true, 0 },
        { "-0", true, 0 },
        { "+12", true, 12 },
        { "9223372036854775807", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "9223372036854775808", false, 0 },
        { "-9223372036854775809", false, 0 },
        { "99999999999999999999999", false, 0 },
        { "", false, 0 },
        { "-", false, 0 },
        { "+-1", false, 0 },
        { " 1", false, 0 },
        { "1x", false, 0 },
        { "0x10", false, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t value = -77;
        ck_assert_msg(weir_str_to_int64(weir_str_from(rows[i].text), &value) == rows[i].ok, "%s",
                      rows[i].text);
        ck_assert(value == (rows[i].ok ? rows[i].value : -77));
    }
}
END_TEST

START_TEST(hexadecimal_digits_of_either_case_have_a_value)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int found = 0;
    for (int c = 0; c < 256; c++)
        found += weir_str_hex_digit((char)c) >= 0;
    ck_assert_int_eq(found, 22);
    for (int i = 0; i < 32; i++)
        ck_assert_int_eq(weir_str_hex_digit(digits[i]), i % 16);
}
END_TEST

START_TEST(a_cut_leaves_whole_characters)
{
    static const char text[] = "a\xc3\xab\xe2\x82\xac\xf0\x9f\x92\xa7z";
    static const size_t lengths[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11, 11 };
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct weir_str cut = weir_str_cut(weir_str_from(text), i);
        ck_assert_uint_eq(cut.len, lengths[i]);
        ck_assert_ptr_eq(cut.ptr, text);
    }
    ck_assert_uint_eq(weir_str_cut(weir_str_from("\x80\x80\x80"), 2).len, 0);
    ck_assert_uint_eq(weir_str_cut(weir_str(NULL, 0), 2).len, 0);
}
END_TEST

START_TEST(a_json_string_weighs_what_is_said)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 22, 0);
    for (int run = 0; run < 2000; run++) {
        char bytes[40];
        struct weir_buf buf;
        size_t len = (size_t)weir_rng_below(&rng, sizeof(bytes));
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)weir_rng_below(&rng, run % 2 ? 256 : 0x60);
        weir_buf_init(&buf, 1000);
        weir_buf_add_json_string(&buf, weir_str(bytes, len));
        must(weir_buf_json_string_bytes(weir_str(bytes, len)) == buf.len);
        weir_buf_release(&buf);
    }
}
END_TEST

START_TEST(text_is_compared_trimmed_and_searched_without_case)
{
    ck_assert(weir_str_equal_nocase(weir_str_from("Retry-After"), weir_str_from("RETRY-after")));
    ck_assert(!weir_str_equal_nocase(weir_str_from("a"), weir_str_from("ab")));
    ck_assert(weir_str_equal(weir_str_from(NULL), weir_str_from("")));
    ck_assert(weir_str_equal(weir_str_trim(weir_str_from(" \t x y\r\n")), weir_str_from("x y")));
    ck_assert_uint_eq(weir_str_trim(weir_str_from("  ")).len, 0);
    ck_assert_uint_eq(weir_str_find_nocase(weir_str_from("the LIMIT of"), "limit"), 4);
    ck_assert_uint_eq(weir_str_find_nocase(weir_str_from("abc"), "x"), 3);
    ck_assert(!weir_str_starts_nocase(weir_str_from("0"), "0x"));
}
END_TEST

START_TEST(a_buffer_stops_at_its_maximum_and_says_so)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 10);
    ck_assert_str_eq(weir_buf_text(&buf), "");
    weir_buf_add_text(&buf, "12345");
    weir_buf_printf(&buf, "%s", "67890");
    ck_assert(!buf.overflow);
    weir_buf_add_char(&buf, 'x');
    ck_assert(buf.overflow);
    ck_assert_str_eq(weir_buf_text(&buf), "1234567890");
    weir_buf_reset(&buf);
    ck_assert(!buf.overflow);
    weir_buf_printf(&buf, "%011d", 1);
    ck_assert(buf.overflow);
    ck_assert_str_eq(weir_buf_text(&buf), "");
    weir_buf_reset(&buf);
    weir_buf_add(&buf, NULL, 0);
    char *taken = weir_buf_take(&buf);
    ck_assert_str_eq(taken, "");
    free(taken);
    weir_buf_release(&buf);
}
END_TEST

START_TEST(json_strings_are_escaped)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 1000);
    weir_buf_add_json_string(&buf, weir_str("a\"b\\c\nd\x01\xc3\xa9\0e", 12));
    ck_assert_str_eq(weir_buf_text(&buf), "\"a\\\"b\\\\c\\nd\\u0001\xc3\xa9\\u0000e\"");
    weir_buf_release(&buf);
}
END_TEST

START_TEST(a_map_finds_ten_thousand_names_and_no_other)
{
    static char names[WEIR_CONNECTIONS_MAX][16];
    struct weir_map map;
    weir_map_init(&map);
    uint32_t value;
    must(!weir_map_find(&map, weir_str_from("x"), &value));
    for (uint32_t i = 0; i < WEIR_CONNECTIONS_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "app%u", i);
        must(weir_map_add(&map, weir_str_from(names[i]), i));
    }
    must(!weir_map_add(&map, weir_str_from("app17"), 99));
    for (uint32_t i = 0; i < WEIR_CONNECTIONS_MAX; i++) {
        must(weir_map_find(&map, weir_str_from(names[i]), &value));
        must(value == i);
    }
    must(!weir_map_find(&map, weir_str_from("App1"), &value));
    weir_map_release(&map);
}
END_TEST

START_TEST(draws_are_uniform_and_streams_are_independent)
{
    struct weir_rng a;
    struct weir_rng b;
    struct weir_rng again;
    weir_rng_init(&a, 42, 0);
    weir_rng_init(&b, 42, 1);
    weir_rng_init(&again, 42, 0);
    int counts[10] = { 0 };
    int same = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t draw = weir_rng_u64(&a);
        same += draw == weir_rng_u64(&b);
        must(draw == weir_rng_u64(&again));
        counts[weir_rng_below(&a, 10)]++;
        weir_rng_below(&again, 10);
        double unit = weir_rng_unit(&b);
        must(unit >= 0.0 && unit < 1.0);
    }
    must(same == 0);
    for (int i = 0; i < 10; i++)
        ck_assert_int_lt(abs(counts[i] - 10000), 500);
    must(weir_rng_below(&a, 0) == 0);
    ck_assert_uint_ne(weir_rng_system_seed(), weir_rng_system_seed());
}
END_TEST

START_TEST(every_status_class_outcome_kind_bound_and_level_has_a_name)
{
    for (int i = 0; i < WEIR_STATUS_COUNT; i++)
        ck_assert_ptr_nonnull(weir_status_name((enum weir_status)i));
    for (int i = 0; i < WEIR_CLASS_COUNT; i++)
        ck_assert_ptr_nonnull(weir_class_name((enum weir_class)i));
    for (int i = 0; i < WEIR_BOUND_COUNT; i++)
        ck_assert_ptr_nonnull(weir_bound_name((enum weir_bound)i));
    for (int i = 0; i <= WEIR_THROTTLE_OTHER; i++)
        ck_assert_ptr_nonnull(weir_throttle_kind_name((enum weir_throttle_kind)i));
    for (int i = 0; i <= WEIR_OUTCOME_UNKNOWN; i++)
        ck_assert_ptr_nonnull(weir_outcome_name((enum weir_outcome)i));
    for (int i = 0; i <= WEIR_LOG_TRACE; i++)
        ck_assert_ptr_nonnull(weir_log_level_name((enum weir_log_level)i));
    ck_assert_str_eq(weir_status_name((enum weir_status)999), "unknown status");
    ck_assert_str_eq(weir_bound_name((enum weir_bound)999), "unknown bound");
    char version[32];
    snprintf(version, sizeof(version), "%d.%d.%d", WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR,
             WEIR_VERSION_PATCH);
    ck_assert_str_eq(weir_version(), version);
}
END_TEST

START_TEST(an_error_is_filled_in_one_line_and_cut_at_its_bound)
{
    struct weir_error err;
    char text[WEIR_MESSAGE_MAX * 2];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    ck_assert_int_eq(weir_fail(&err, WEIR_E_INVALID, "%s", text), WEIR_E_INVALID);
    ck_assert_uint_eq(strlen(err.message), WEIR_MESSAGE_MAX - 1);
    ck_assert(err.outcome_known && !err.retryable && err.retry_after_us == -1);
    weir_error_set_connection(&err, text);
    ck_assert_uint_eq(strlen(err.connection), WEIR_CONNECTION_NAME_MAX);
    ck_assert_int_eq(weir_fail(NULL, WEIR_E_IO, "nobody listens"), WEIR_E_IO);
    weir_error_set_connection(NULL, "x");
}
END_TEST

START_TEST(words_of_others_in_a_message_are_one_line_and_steer_no_terminal)
{
    static const char *const cases[][2] = {
        { "no \033]0;owned\a", "no ?]0;owned?" },
        { "first\r\nweir: all rows are done\tx", "first  weir: all rows are done x" },
        { "\xc2\x9b"
          "2J \177",
          "??2J ?" }, /* CSI as one character; DEL */
        { "Caf\u00e9 \u00a0 \U0001f600", "Caf\u00e9 \u00a0 \U0001f600" },
        { "ends with half a character \xc2", "ends with half a character \xc2" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct weir_error err;
        weir_fail(&err, WEIR_E_REFUSED, "%s", cases[i][0]);
        ck_assert_str_eq(err.message, cases[i][1]);
    }
}
END_TEST

START_TEST(log_records_become_lines_of_text_and_of_json)
{
    const struct weir_log_field fields[] = {
        { .name = "Connection", .type = WEIR_LOG_TEXT, .text = "App \"1\"" },
        { .name = "ErrorCode", .type = WEIR_LOG_CODE, .integer = 0x80072322 },
        { .name = "RetryAfter", .type = WEIR_LOG_DURATION_US, .integer = 1500000 },
        { .name = "Attempt", .type = WEIR_LOG_INTEGER, .integer = -2 },
    };
    const struct weir_log_record record = { WEIR_LOG_WARNING, "throttle", "limit hit", fields, 4 };
    char line[WEIR_LOG_LINE_MAX];
    size_t len = weir_log_format_text(&record, line, sizeof(line));
    ck_assert_str_eq(line, "warning limit hit Connection=App \"1\" ErrorCode=0x80072322 "
                           "RetryAfter=1.500s Attempt=-2");
    ck_assert_uint_eq(len, strlen(line));
    weir_log_format_json(&record, line, sizeof(line));
    ck_assert_str_eq(line,
                     "{\"level\":\"warning\",\"event\":\"throttle\",\"message\":\"limit hit\","
                     "\"Connection\":\"App \\\"1\\\"\",\"ErrorCode\":\"0x80072322\","
                     "\"RetryAfter\":1.500,\"Attempt\":-2}");
    ck_assert_uint_eq(weir_log_format_text(&record, line, 8), 7);
    ck_assert_str_eq(line, "warning");
    ck_assert_uint_eq(weir_log_format_text(&record, line, 0), 0);
}
END_TEST

START_TEST(events_that_nobody_takes_are_forgotten_oldest_first_and_counted)
{
    struct weir_pool_events events;
    weir_pool_events_init(&events, true);
    for (int i = 0; i < WEIR_EVENTS_MAX + 10; i++) {
        struct weir_pool_event event = { .time_us = i };
        weir_pool_events_add(&events, &event);
    }
    ck_assert_uint_eq(events.lost, 10);
    struct weir_pool_event event;
    for (int i = 10; i < WEIR_EVENTS_MAX + 10; i++) {
        ck_assert(weir_pool_events_take(&events, &event));
        ck_assert_int_eq(event.time_us, i);
    }
    ck_assert(!weir_pool_events_take(&events, &event));
    weir_pool_events_release(&events);
}
END_TEST

START_TEST(time_is_added_without_overflow_and_timers_are_never_long)
{
    ck_assert(weir_time_add(WEIR_FOREVER, 1) == WEIR_FOREVER);
    ck_assert(weir_time_add(5, 6) == 11);
    struct timespec soon;
    struct timespec later;
    weir_clock_deadline(WEIR_FOREVER, &later);
    weir_clock_deadline(-5, &soon);
    ck_assert_int_le(later.tv_sec - soon.tv_sec, 2);
    ck_assert(weir_clock_now_us() > 0);
    ck_assert(weir_wall_offset_us() + weir_clock_now_us() > INT64_C(1700000000) * 1000000);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("base");
    suite_add(&s, numbers_are_read_whole_or_not_at_all);
    suite_add(&s, hexadecimal_digits_of_either_case_have_a_value);
    suite_add(&s, a_cut_leaves_whole_characters);
    suite_add(&s, a_json_string_weighs_what_is_said);
    suite_add(&s, text_is_compared_trimmed_and_searched_without_case);
    suite_add(&s, a_buffer_stops_at_its_maximum_and_says_so);
    suite_add(&s, json_strings_are_escaped);
    suite_add(&s, a_map_finds_ten_thousand_names_and_no_other);
    suite_add(&s, draws_are_uniform_and_streams_are_independent);
    suite_add(&s, every_status_class_outcome_kind_bound_and_level_has_a_name);
    suite_add(&s, an_error_is_filled_in_one_line_and_cut_at_its_bound);
    suite_add(&s, words_of_others_in_a_message_are_one_line_and_steer_no_terminal);
    suite_add(&s, log_records_become_lines_of_text_and_of_json);
    suite_add(&s, events_that_nobody_takes_are_forgotten_oldest_first_and_counted);
    suite_add(&s, time_is_added_without_overflow_and_timers_are_never_long);
    return suite_run(&s);
}

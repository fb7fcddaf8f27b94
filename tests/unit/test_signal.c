/* SPDX-License-Identifier: MIT */
/* Answers of the service and what is read out of them, mostly as tables. */
#include <stdio.h>

#include "base/clock.h"
#include "support/suite.h"
#include "throttle/signal.h"

#define S            WEIR_US_PER_S
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct weir_str text(const char *s)
{
    return weir_str_from(s);
}

static struct weir_answer read_answer(const struct weir_http_answer *http)
{
    struct weir_answer answer;
    weir_answer_read(http, 0, &answer);
    return answer;
}

/* ---- codes ---- */

START_TEST(try_get_throttle_info_identifies_service_protection_errors)
{
    static const struct {
        const char *code;
        enum weir_throttle_kind kind;
    } rows[] = {
        { "0x80072322", WEIR_THROTTLE_REQUESTS },
        { "0X80072322", WEIR_THROTTLE_REQUESTS },
        { "2147951394", WEIR_THROTTLE_REQUESTS },
        { "-2147015902", WEIR_THROTTLE_REQUESTS },
        { " 0x80072322 ", WEIR_THROTTLE_REQUESTS },
        { "0x80072321", WEIR_THROTTLE_EXECUTION_TIME },
        { "0X80072321", WEIR_THROTTLE_EXECUTION_TIME },
        { "2147951393", WEIR_THROTTLE_EXECUTION_TIME },
        { "-2147015903", WEIR_THROTTLE_EXECUTION_TIME },
        { "0x80072326", WEIR_THROTTLE_CONCURRENCY },
        { "0X80072326", WEIR_THROTTLE_CONCURRENCY },
        { "2147951398", WEIR_THROTTLE_CONCURRENCY },
        { "-2147015898", WEIR_THROTTLE_CONCURRENCY },
    };
    static const int statuses[] = { 200, 400, 401, 412, 429, 500, 503 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t k = 0; k < COUNT(statuses); k++) {
            struct weir_http_answer http = { .status = statuses[k], .error_code = rows[i].code };
            struct weir_verdict verdict = read_answer(&http).verdict;
            ck_assert_msg(verdict.class_ == WEIR_CLASS_THROTTLE, "%s", rows[i].code);
            ck_assert_int_eq(verdict.throttle, rows[i].kind);
            ck_assert_int_eq(verdict.outcome, WEIR_OUTCOME_NOT_EXECUTED);
            ck_assert_int_eq(verdict.http_status, statuses[k]);
            ck_assert(weir_is_service_protection(verdict.code));
        }
    }
}
END_TEST

START_TEST(codes_are_read_in_every_form)
{
    static const struct {
        const char *text;
        uint32_t code;
    } rows[] = {
        { "0x0", 0 },
        { "0", 0 },
        { "0x8004a001", 0x8004A001 },
        { "0X8004A001", 0x8004A001 },
        { "0xffffffff", UINT32_MAX },
        { "4294967295", UINT32_MAX },
        { "-1", UINT32_MAX },
        { "-2147483648", 0x80000000 },
        { "2147483648", 0x80000000 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t code = 1;
        ck_assert_msg(weir_signal_parse_code(text(rows[i].text), &code), "%s", rows[i].text);
        ck_assert_uint_eq(code, rows[i].code);
    }
}
END_TEST

START_TEST(what_is_not_a_code_is_refused)
{
    static const char *const rows[] = {
        "",
        "80072322",
        "8004A001",
        "0x",
        "0x800723221",
        "0x8007232g",
        "-",
        "+2147951394",
        "4294967296",
        "-2147483649",
        "2147483647",
        "--1",
        "0x 80072322",
        "2147951394.",
        "21479 51394",
        "-0x7FF8DCDE",
        "000000000000000000000000",
        "0x000000000000000000000080072322",
        "ThrottlingBurstRequestLimitExceededError",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t code = 7;
        ck_assert_msg(!weir_signal_parse_code(text(rows[i]), &code), "%s", rows[i]);
        ck_assert_uint_eq(code, 7);
    }
    uint32_t code = 7;
    ck_assert(!weir_signal_parse_code(text(NULL), &code));
}
END_TEST

START_TEST(service_protection_is_exactly_three_codes)
{
    int found = 0;
    for (uint32_t low = 0; low <= 0xffff; low++)
        found += weir_is_service_protection(0x80070000 | low);
    ck_assert_int_eq(found, 3);
    ck_assert(weir_is_service_protection(0x80072321));
    ck_assert(weir_is_service_protection(0x80072322));
    ck_assert(weir_is_service_protection(0x80072326));
    ck_assert(!weir_is_service_protection(0));
    ck_assert(!weir_is_service_protection(0x00072322));
}
END_TEST

START_TEST(a_known_code_decides_whatever_the_status)
{
    static const struct {
        uint32_t code;
        enum weir_class class_;
        enum weir_outcome outcome;
    } rows[] = {
        { 0x80072323, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 0x80072324, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 0x80072327, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 0x80072329, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 0x80072330, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 0x8005F103, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 0x8004A001, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 0x80048559, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 0x80060308, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 0x80048544, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED },
        { 0x80050544, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED },
        { 0x80048644, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED },
        { 0x80048744, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED },
        { 0x80048745, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED },
        { 0x80040265, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED },
        { 0x80048d0b, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED },
        { 0x80048d02, WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED },
    };
    static const int statuses[] = { 200, 400, 429, 500, 503 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char code[16];
        snprintf(code, sizeof(code), "0x%08x", rows[i].code);
        for (size_t k = 0; k < COUNT(statuses); k++) {
            struct weir_http_answer http = { .status = statuses[k], .error_code = code };
            struct weir_verdict verdict = read_answer(&http).verdict;
            ck_assert_msg(verdict.class_ == rows[i].class_, "%s with %d", code, statuses[k]);
            ck_assert_msg(verdict.outcome == rows[i].outcome, "%s with %d", code, statuses[k]);
            ck_assert_uint_eq(verdict.code, rows[i].code);
            ck_assert_int_eq(verdict.throttle, WEIR_THROTTLE_NONE);
        }
    }
}
END_TEST

START_TEST(a_throttle_text_inside_a_plugin_fault_is_a_row_error)
{
    struct weir_http_header headers[] = { { "Retry-After", "30" } };
    struct weir_http_answer http = {
        .status = 429,
        .headers = headers,
        .header_count = 1,
        .error_code = "0x80040265",
        .error_message = "Number of requests exceeded the limit of 6000 over time window of 300 "
                         "seconds.",
    };
    struct weir_verdict verdict = read_answer(&http).verdict;
    ck_assert_int_eq(verdict.class_, WEIR_CLASS_BAD_ROWS);
    ck_assert_int_eq(verdict.retry_after_us, -1);
    ck_assert_int_eq(verdict.limit.value, 0);
}
END_TEST

/* ---- statuses ---- */

START_TEST(without_a_deciding_code_the_status_decides)
{
    static const struct {
        int status;
        const char *code;
        enum weir_class class_;
        enum weir_outcome outcome;
    } rows[] = {
        { 200, NULL, WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED },
        { 200, "", WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED },
        { 204, NULL, WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED },
        { 299, "0x0", WEIR_CLASS_OK, WEIR_OUTCOME_EXECUTED },
        { 200, "0x8004ffff", WEIR_CLASS_OTHER, WEIR_OUTCOME_UNKNOWN },
        { 200, "nonsense", WEIR_CLASS_OTHER, WEIR_OUTCOME_UNKNOWN },
        { 100, NULL, WEIR_CLASS_OTHER, WEIR_OUTCOME_UNKNOWN },
        { 302, NULL, WEIR_CLASS_OTHER, WEIR_OUTCOME_UNKNOWN },
        { 399, NULL, WEIR_CLASS_OTHER, WEIR_OUTCOME_UNKNOWN },
        { 400, NULL, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED },
        { 400, "", WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED },
        { 400, "0x0", WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED },
        { 401, NULL, WEIR_CLASS_BAD_CREDENTIALS, WEIR_OUTCOME_NOT_EXECUTED },
        { 403, "0x8004ffff", WEIR_CLASS_PRIVILEGE, WEIR_OUTCOME_NOT_EXECUTED },
        { 404, "0x8004ffff", WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED },
        { 408, NULL, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 404, NULL, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED },
        { 412, NULL, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED },
        { 412, "0x8004ffff", WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED },
        { 413, NULL, WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_NOT_EXECUTED },
        { 414, NULL, WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_NOT_EXECUTED },
        { 421, NULL, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_NOT_EXECUTED },
        { 425, NULL, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_NOT_EXECUTED },
        { 431, NULL, WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_NOT_EXECUTED },
        { 449, NULL, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_NOT_EXECUTED },
        { 429, NULL, WEIR_CLASS_THROTTLE, WEIR_OUTCOME_NOT_EXECUTED },
        { 429, "0x8004ffff", WEIR_CLASS_THROTTLE, WEIR_OUTCOME_NOT_EXECUTED },
        { 429, "0x0", WEIR_CLASS_THROTTLE, WEIR_OUTCOME_NOT_EXECUTED },
        { 499, NULL, WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED },
        { 500, NULL, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 500, "0x80040216", WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 400, "0x80040216", WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED },
        { 502, NULL, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 503, NULL, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 599, NULL, WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN },
        { 600, NULL, WEIR_CLASS_OTHER, WEIR_OUTCOME_UNKNOWN },
        { -1, NULL, WEIR_CLASS_OTHER, WEIR_OUTCOME_UNKNOWN },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_http_answer http = { .status = rows[i].status, .error_code = rows[i].code };
        struct weir_verdict verdict = read_answer(&http).verdict;
        ck_assert_msg(verdict.class_ == rows[i].class_, "row %zu: %d %s", i, rows[i].status,
                      weir_class_name(verdict.class_));
        ck_assert_msg(verdict.outcome == rows[i].outcome, "row %zu: %d", i, rows[i].status);
        bool throttle = rows[i].class_ == WEIR_CLASS_THROTTLE;
        ck_assert_int_eq(verdict.throttle, throttle ? WEIR_THROTTLE_OTHER : WEIR_THROTTLE_NONE);
        ck_assert_int_eq(verdict.retry_after_us, -1);
        ck_assert(verdict.retry_after_fallback == throttle);
    }
}
END_TEST

START_TEST(what_may_have_been_executed_in_part_is_not_called_unexecuted)
{
    static const int statuses[] = { 400, 404, 412, 413, 429 };
    for (size_t i = 0; i < COUNT(statuses); i++) {
        struct weir_http_answer http = { .status = statuses[i], .sent = true, .error_code = "0x0" };
        ck_assert_int_eq(read_answer(&http).verdict.outcome, WEIR_OUTCOME_NOT_EXECUTED);
        enum weir_class class_ = read_answer(&http).verdict.class_;
        http.partial = true;
        ck_assert_int_eq(read_answer(&http).verdict.outcome, WEIR_OUTCOME_UNKNOWN);
        ck_assert_int_eq(read_answer(&http).verdict.class_, class_);
    }
}
END_TEST

START_TEST(silence_is_transient_and_known_only_if_nothing_was_sent)
{
    struct weir_http_answer http = { .status = 0, .sent = true };
    struct weir_verdict verdict = read_answer(&http).verdict;
    ck_assert_int_eq(verdict.class_, WEIR_CLASS_TRANSIENT);
    ck_assert_int_eq(verdict.outcome, WEIR_OUTCOME_UNKNOWN);
    http.sent = false;
    verdict = read_answer(&http).verdict;
    ck_assert_int_eq(verdict.class_, WEIR_CLASS_TRANSIENT);
    ck_assert_int_eq(verdict.outcome, WEIR_OUTCOME_NOT_EXECUTED);
}
END_TEST

START_TEST(the_code_of_an_incomplete_answer_decides_nothing)
{
    struct weir_http_answer http = { .status = 0, .sent = true, .error_code = "0x80072322" };
    struct weir_verdict verdict = read_answer(&http).verdict;
    ck_assert_int_eq(verdict.class_, WEIR_CLASS_TRANSIENT);
    ck_assert_int_eq(verdict.outcome, WEIR_OUTCOME_UNKNOWN);
    ck_assert_uint_eq(verdict.code, 0);
}
END_TEST

START_TEST(an_unavailable_service_keeps_its_retry_after_and_its_unknown_outcome)
{
    struct weir_http_header headers[] = { { "Retry-After", "45" } };
    struct weir_http_answer http = { .status = 503, .headers = headers, .header_count = 1 };
    struct weir_verdict verdict = read_answer(&http).verdict;
    ck_assert_int_eq(verdict.class_, WEIR_CLASS_TRANSIENT);
    ck_assert_int_eq(verdict.outcome, WEIR_OUTCOME_UNKNOWN);
    ck_assert_int_eq(verdict.retry_after_us, 45 * S);
    headers[0].value = "soon";
    verdict = read_answer(&http).verdict;
    ck_assert_int_eq(verdict.retry_after_us, -1);
    ck_assert(!verdict.retry_after_fallback);
}
END_TEST

START_TEST(durations_are_passed_on)
{
    struct weir_http_answer http = { .status = 204, .duration_us = 12, .ttfb_us = 5 };
    struct weir_answer answer = read_answer(&http);
    ck_assert_int_eq(answer.duration_us, 12);
    ck_assert_int_eq(answer.ttfb_us, 5);
}
END_TEST

START_TEST(a_throttle_carries_the_limit_that_its_message_names)
{
    struct weir_http_answer http = {
        .status = 429,
        .error_code = "0x80072326",
        .error_message = "Number of concurrent requests exceeded the limit of 52.",
    };
    ck_assert_int_eq(read_answer(&http).verdict.limit.value, 52);
    http.status = 503;
    http.error_code = NULL;
    ck_assert_int_eq(read_answer(&http).verdict.limit.value, 0);
}
END_TEST

/* ---- headers ---- */

START_TEST(a_header_is_found_in_any_case_and_the_last_one_counts)
{
    static const struct weir_http_header headers[] = {
        { "x-ms-service-request-id", "first" },
        { NULL, "nameless" },
        { "X-MS-Service-Request-Id", " second " },
        { "Expires", "-1" },
        { "Empty", "" },
    };
    struct weir_str value = weir_signal_header(headers, COUNT(headers), "x-ms-SERVICE-request-id");
    ck_assert(weir_str_equal(value, text("second")));
    value = weir_signal_header(headers, COUNT(headers), "empty");
    ck_assert(value.ptr && value.len == 0);
    ck_assert_ptr_null(weir_signal_header(headers, COUNT(headers), "absent").ptr);
    ck_assert_ptr_null(weir_signal_header(NULL, 0, "absent").ptr);
}
END_TEST

START_TEST(budget_headers_are_read)
{
    static const struct {
        const char *requests;
        const char *time;
        const char *hint;
        struct weir_budget_headers budget;
    } rows[] = {
        { "5999", "1,200.00", "48", { true, true, 5999, 1200 * S, 48, 0 } },
        { "5,999", "1.200,00", "4", { true, true, 5999, 1200 * S, 4, 0 } },
        { "5.999", "1 200,00", "52", { true, true, 5999, 1200 * S, 52, 0 } },
        { "5\u00a0999", "963.5", "53", { true, true, 5999, 963500000, 52, 0 } },
        { "0", "0.00", "1", { true, true, 0, 0, 1, 0 } },
        { "-3", "-0.5", "100000", { true, true, 0, 0, 52, 0 } },
        { "many", "a while", "lots", { false, false, 0, 0, 0, 0 } },
        { "", "", "", { false, false, 0, 0, 0, 0 } },
        { NULL, NULL, NULL, { false, false, 0, 0, 0, 0 } },
        { "99999999999999999999", "1,2,3", "0", { false, false, 0, 0, 0, 0 } },
        { "7.0", "7", "-4", { true, true, 7, 7 * S, 0, 0 } },
        { "7", "7", "99999999999999999999", { true, true, 7, 7 * S, 0, 0 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct weir_http_header headers[] = {
            { "X-MS-RateLimit-Burst-Remaining-XRM-Requests", rows[i].requests },
            { "x-ms-ratelimit-time-remaining-xrm-requests", rows[i].time },
            { "x-ms-dop-hint", rows[i].hint },
        };
        struct weir_http_answer http = { .status = 200, .headers = headers, .header_count = 3 };
        struct weir_budget_headers got = read_answer(&http).budget;
        ck_assert_msg(got.requests_known == rows[i].budget.requests_known, "row %zu", i);
        ck_assert_msg(got.execution_known == rows[i].budget.execution_known, "row %zu", i);
        ck_assert_msg(got.requests_remaining == rows[i].budget.requests_remaining, "row %zu", i);
        ck_assert_msg(got.execution_remaining_us == rows[i].budget.execution_remaining_us,
                      "row %zu", i);
        ck_assert_msg(got.dop_hint == rows[i].budget.dop_hint, "row %zu", i);
        ck_assert_uint_eq(got.server_id, 0);
    }
}
END_TEST

static uint64_t server_of(struct weir_http_header a, struct weir_http_header b)
{
    struct weir_http_header headers[] = { a, b };
    return weir_signal_budget(headers, 2).server_id;
}

#define H(name, value) ((struct weir_http_header){ name, value })

START_TEST(the_server_is_named_by_the_last_source_or_else_by_the_affinity_cookie)
{
    const struct weir_http_header none = { NULL, NULL };
    const struct weir_http_header cookie = H("Set-Cookie", "ARRAffinity=abc; path=/; Secure");
    uint64_t node = server_of(H("X-Source", "node 7"), none);
    uint64_t abc = server_of(cookie, none);
    ck_assert_uint_ne(node, 0);
    ck_assert_uint_ne(abc, 0);
    ck_assert_uint_ne(node, abc);

    ck_assert_uint_eq(server_of(H("X-Source", "node 1"), H("x-source", " node 7 ")), node);
    ck_assert_uint_eq(server_of(H("X-Source", "node 7"), cookie), node);
    ck_assert_uint_eq(server_of(H("X-Source", ""), cookie), abc);
    ck_assert_uint_eq(server_of(cookie, H("set-cookie", "ReqClientId=def; Secure")), abc);
    ck_assert_uint_eq(server_of(cookie, H("Set-Cookie", "ARRAffinitySameSite=def;")), abc);
    ck_assert_uint_eq(server_of(H("Set-Cookie", "ARRAffinity=def"), cookie), abc);
    ck_assert_uint_eq(server_of(H("Set-Cookie", "ARRAffinity=abc"), none), abc);
    ck_assert_uint_ne(server_of(cookie, H("Set-Cookie", "ARRAffinity=def")), abc);
    ck_assert_uint_eq(server_of(H("Set-Cookie", "ARRAffinity=; path=/"), none), 0);
    ck_assert_uint_eq(server_of(H("Cookie", "ARRAffinity=abc"), none), 0);
}
END_TEST

START_TEST(every_enumerator_has_a_name_of_its_own)
{
    for (int i = 0; i < WEIR_CLASS_COUNT; i++) {
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(weir_class_name((enum weir_class)i),
                             weir_class_name((enum weir_class)k));
    }
    ck_assert_str_eq(weir_class_name(WEIR_CLASS_BAD_CREDENTIALS), "bad credentials");
    ck_assert_str_eq(weir_class_name(WEIR_CLASS_COUNT), "unknown class");
    ck_assert_str_eq(weir_outcome_name(WEIR_OUTCOME_NOT_EXECUTED), "not executed");
    ck_assert_str_eq(weir_outcome_name(WEIR_OUTCOME_EXECUTED), "executed");
    ck_assert_str_eq(weir_outcome_name(WEIR_OUTCOME_UNKNOWN), "unknown");
    ck_assert_str_eq(weir_outcome_name((enum weir_outcome)99), "unknown outcome");
    ck_assert_str_eq(weir_throttle_kind_name(WEIR_THROTTLE_EXECUTION_TIME), "execution time");
    ck_assert_str_eq(weir_throttle_kind_name(WEIR_THROTTLE_OTHER), "other");
    ck_assert_str_eq(weir_throttle_kind_name((enum weir_throttle_kind)99), "unknown kind");
}
END_TEST

int main(void)
{
    struct suite s = suite_new("signal");
    suite_add(&s, try_get_throttle_info_identifies_service_protection_errors);
    suite_add(&s, codes_are_read_in_every_form);
    suite_add(&s, what_is_not_a_code_is_refused);
    suite_add(&s, service_protection_is_exactly_three_codes);
    suite_add(&s, a_known_code_decides_whatever_the_status);
    suite_add(&s, a_throttle_text_inside_a_plugin_fault_is_a_row_error);
    suite_add(&s, without_a_deciding_code_the_status_decides);
    suite_add(&s, what_may_have_been_executed_in_part_is_not_called_unexecuted);
    suite_add(&s, silence_is_transient_and_known_only_if_nothing_was_sent);
    suite_add(&s, the_code_of_an_incomplete_answer_decides_nothing);
    suite_add(&s, an_unavailable_service_keeps_its_retry_after_and_its_unknown_outcome);
    suite_add(&s, durations_are_passed_on);
    suite_add(&s, a_throttle_carries_the_limit_that_its_message_names);
    suite_add(&s, a_header_is_found_in_any_case_and_the_last_one_counts);
    suite_add(&s, budget_headers_are_read);
    suite_add(&s, the_server_is_named_by_the_last_source_or_else_by_the_affinity_cookie);
    suite_add(&s, every_enumerator_has_a_name_of_its_own);
    return suite_run(&s);
}

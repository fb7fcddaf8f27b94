/* SPDX-License-Identifier: MIT */
/* Headers, the two error shapes, reasons. */
#include "base/json.h"
#include "sim/service/http.h"
#include "support/suite.h"

START_TEST(a_header_is_found_by_any_case_and_the_first_counts)
{
    static const struct sim_header headers[] = {
        { { "Prefer", 6 }, { "one", 3 } },
        { { "IF-MATCH", 8 }, { "*", 1 } },
        { { "prefer", 6 }, { "two", 3 } },
    };
    ck_assert(weir_str_equal(sim_http_header(headers, 3, "PREFER"), weir_str_from("one")));
    ck_assert(weir_str_equal(sim_http_header(headers, 3, "If-Match"), weir_str_from("*")));
    ck_assert_ptr_null(sim_http_header(headers, 3, "If").ptr);
    ck_assert_ptr_null(sim_http_header(NULL, 0, "If-Match").ptr);
}
END_TEST

START_TEST(both_error_shapes_are_escaped)
{
    struct sim_answer answer;
    sim_answer_init(&answer);
    sim_answer_header(&answer, "A", "%d", 1);
    sim_answer_error(&answer, 404, "0x80040217", "no \"%s\"\n", "x\\y");
    ck_assert_int_eq(answer.status, 404);
    ck_assert_str_eq(weir_buf_text(&answer.body),
                     "{\"error\":{\"code\":\"0x80040217\",\"message\":\"no \\\"x\\\\y\\\"\\n\"}}");
    sim_answer_flat_error(&answer, 400, "0x80097303", "b");
    ck_assert_str_eq(weir_buf_text(&answer.body),
                     "{\"Message\":\"b\",\"ErrorCode\":\"0x80097303\"}");
    ck_assert_str_eq(weir_buf_text(&answer.headers),
                     "A: 1\r\nContent-Type: application/json; odata.metadata=minimal\r\n");
    sim_answer_reset(&answer);
    ck_assert(answer.status == 0 && answer.headers.len == 0 && answer.body.len == 0);
    sim_answer_release(&answer);
}
END_TEST

START_TEST(a_value_cannot_begin_another_header)
{
    struct sim_answer answer;
    sim_answer_init(&answer);
    sim_answer_header(&answer, "A", "x\r\nB: %s", "y\x01");
    ck_assert_str_eq(weir_buf_text(&answer.headers), "A: x  B: y \r\n");
    sim_answer_release(&answer);
}
END_TEST

START_TEST(a_message_that_is_cut_stays_utf8)
{
    char text[9000];
    for (size_t i = 0; i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xa4", 2);
    for (size_t shift = 0; shift < 2; shift++) {
        struct sim_answer answer;
        struct weir_json *json;
        text[sizeof(text) - 2] = '\0';
        sim_answer_init(&answer);
        sim_answer_error(&answer, 400, "0x0", "%s%s", shift ? "x" : "", text);
        ck_assert_int_eq(weir_json_parse(weir_str(answer.body.ptr, answer.body.len), &json, NULL),
                         WEIR_OK);
        weir_json_free(json);
        sim_answer_release(&answer);
    }
}
END_TEST

START_TEST(statuses_have_their_reasons)
{
    ck_assert_str_eq(sim_http_reason(204), "No Content");
    ck_assert_str_eq(sim_http_reason(412), "Precondition Failed");
    ck_assert_str_eq(sim_http_reason(429), "Too Many Requests");
    ck_assert_str_eq(sim_http_reason(777), "Unknown");
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_answer");
    suite_add(&s, a_header_is_found_by_any_case_and_the_first_counts);
    suite_add(&s, both_error_shapes_are_escaped);
    suite_add(&s, a_value_cannot_begin_another_header);
    suite_add(&s, a_message_that_is_cut_stays_utf8);
    suite_add(&s, statuses_have_their_reasons);
    return suite_run(&s);
}

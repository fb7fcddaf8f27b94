/* SPDX-License-Identifier: MIT */
/* Bodies of failed answers: both shapes, the rows of elastic tables, and everything that is none.
 */
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "protocol/fault.h"
#include "support/gathered.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define DETAILS      "\"@Microsoft.PowerApps.CDS.ErrorDetails.Plugin.BulkApiErrorDetails\":"
#define GUID         "00000000-0000-4000-8000-000000000001"

static struct weir_fault read_fault(const char *body)
{
    struct weir_fault fault;
    struct weir_str all = weir_str_from(body);
    char *copy = exact_copy(all);
    weir_fault_read(weir_str(copy, all.len), &fault);
    free(copy); /* nothing is borrowed */
    return fault;
}

struct fault_case {
    const char *body;
    const char *code;
    const char *message;
};

static const struct fault_case shapes[] = {
    { "{\"error\":{\"code\":\"0x80072322\",\"message\":\"Number of requests\"}}", "0x80072322",
      "Number of requests" },
    { " {\r\n \"error\" : { \"message\" : \"m\" , \"code\" : \"0x0\" } } ", "0x0", "m" },
    { "\xef\xbb\xbf{\"error\":{\"code\":\"1\",\"message\":\"\"}}", "1", "" },
    { "{\"error\":{\"code\":\"\",\"message\":\"m\"}}", "", "m" },
    { "{\"error\":{\"code\":-2147015902,\"message\":\"m\"}}", "-2147015902", "m" },
    { "{\"error\":{\"code\":\"c\",\"message\":{\"lang\":\"en-US\",\"value\":\"m\"}}}", "c", "m" },
    { "{\"error\":{\"code\":\"c\",\"message\":{\"lang\":\"en-US\"}}}", "c", "" },
    { "{\"error\":{\"code\":\"c\",\"message\":null}}", "c", "" },
    { "{\"error\":{\"code\":\"c\"}}", "c", "" },
    { "{\"error\":{\"code\":null,\"message\":\"m\"}}", "", "m" },
    { "{\"error\":{\"code\":\"c\",\"message\":\"m\",\"details\":[{\"code\":\"d\"}],"
      "\"innererror\":{\"message\":\"i\"}}}",
      "c", "m" },
    { "{\"Message\":\"m\",\"ErrorCode\":\"0x80097303\"}", "0x80097303", "m" },
    { "{\"ErrorCode\":\"c\"}", "c", "" },
    { "{\"Message\":\"m\"}", "", "m" },
    { "{\"x\":{\"error\":1},\"ErrorCode\":5,\"Message\":\"m\"}", "5", "m" },
    { "{\"error\":{\"code\":\"c\",\"message\":\"Zo\\u00eb \xff\"}}", "c",
      "Zo\xc3\xab \xef\xbf\xbd" },
    { "{\"\\u0065rror\":{\"c\\u006fde\":\"c\",\"message\":\"m\"}}", "c", "m" },
};

START_TEST(both_shapes_are_read)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct weir_fault fault = read_fault(shapes[i].body);
        ck_assert_msg(fault.found, "%s", shapes[i].body);
        ck_assert_str_eq(fault.code, shapes[i].code);
        ck_assert_str_eq(fault.message, shapes[i].message);
        ck_assert_int_eq(fault.details, WEIR_FAULT_DETAILS_NONE);
        ck_assert_str_eq(fault.retry_after, "");
        struct weir_http_answer http = { .status = 400 };
        weir_fault_tell(&fault, &http);
        ck_assert_str_eq(http.error_code ? http.error_code : "", shapes[i].code);
        ck_assert_str_eq(http.error_message ? http.error_message : "", shapes[i].message);
        ck_assert(!http.error_code || http.error_code[0]);
        weir_fault_release(&fault);
        weir_fault_release(&fault);
    }
}
END_TEST

START_TEST(a_body_that_is_cut_anywhere_says_nothing)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        size_t whole = strlen(shapes[i].body);
        while (shapes[i].body[whole - 1] != '}')
            whole--;
        for (size_t len = 0; len < whole; len++) {
            struct weir_fault fault;
            char *cut = exact_copy(weir_str(shapes[i].body, len));
            weir_fault_read(weir_str(cut, len), &fault);
            must(!fault.found && !fault.code[0] && !fault.message[0]);
            struct weir_http_answer http = { .status = 429 };
            weir_fault_tell(&fault, &http);
            must(!http.error_code && !http.error_message);
            weir_fault_release(&fault);
            free(cut);
        }
    }
}
END_TEST

START_TEST(what_is_no_fault_is_none)
{
    static const char *const bodies[] = {
        "",
        " ",
        "null",
        "[]",
        "{}",
        "\"error\"",
        "{\"error\":null}",
        "{\"error\":\"invalid_client\",\"error_description\":\"AADSTS7000215\"}",
        "{\"error\":{}}",
        "{\"error\":{\"code\":null}}",
        "{\"error\":[\"code\"]}",
        "{\"Message\":{},\"ErrorCode\":[]}",
        "{\"value\":[]}",
        "<html><head><title>502 Bad Gateway</title></head></html>",
        "{\"error\":{\"code\":\"c\",\"message\":\"m\"}}<html>",
        "{\"error\":{\"code\":\"c\",\"message\":\"m\",}}",
        "upstream connect error",
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct weir_fault fault = read_fault(bodies[i]);
        ck_assert_msg(!fault.found && !fault.code[0] && !fault.message[0], "%s", bodies[i]);
        weir_fault_release(&fault);
    }
}
END_TEST

START_TEST(code_and_message_are_bounded)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 100000);
    weir_buf_add_text(&buf, "{\"error\":{\"code\":\"");
    for (int i = 0; i < 1000; i++)
        weir_buf_add_text(&buf, "\xc3\xab");
    weir_buf_add_text(&buf, "\",\"message\":\"x");
    for (int i = 0; i < 1000; i++)
        weir_buf_add_text(&buf, "\\u00eb");
    weir_buf_add_text(&buf, "\"}}");
    struct weir_fault fault = read_fault(weir_buf_text(&buf));
    ck_assert(fault.found);
    ck_assert_uint_eq(strlen(fault.code), WEIR_FAULT_CODE_MAX - 2);
    ck_assert_uint_lt(strlen(fault.message), WEIR_FAULT_MESSAGE_MAX);
    ck_assert_uint_gt(strlen(fault.message), WEIR_FAULT_MESSAGE_MAX - 4);
    weir_fault_release(&fault);
    weir_buf_release(&buf);
}
END_TEST

/* A fault whose message is one text again and again, `before` bytes at least, and then `end`. */
static struct weir_fault read_long(size_t before, const char *character, const char *end)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 1024 * 1024);
    weir_buf_add_text(&buf, "{\"error\":{\"code\":\"0x80044150\",\"message\":\"");
    size_t start = buf.len;
    while (buf.len - start < before)
        weir_buf_add_text(&buf, character);
    weir_buf_printf(&buf, "%s\"}}", end);
    struct weir_fault fault = read_fault(weir_buf_text(&buf));
    ck_assert(fault.found);
    weir_buf_release(&buf);
    return fault;
}

START_TEST(the_end_of_a_long_message_decides_as_that_of_a_short_one)
{
    static const size_t befores[] = { 0, 700, 1000, 1020, 1100, 5000, 100000 };
    static const char *const characters[] = { "x", "\xc3\xab", "\xe2\x82\xac", "\xf0\x9f\x92\xa7",
                                              "Sql Number: 2627 " };
    static const struct {
        const char *end;
        enum weir_class class_;
    } ends[] = {
        { " Sql Number: 1205", WEIR_CLASS_RACE },
        { " Sql Number: -2", WEIR_CLASS_TOO_BIG },
        { " Sql Number: 2627", WEIR_CLASS_BAD_ROWS },
        { " Sql Number: 1205 - and two hundred bytes more: ..................................."
          "...........................................................................",
          WEIR_CLASS_RACE },
    };
    for (size_t i = 0; i < COUNT(befores) * COUNT(characters) * COUNT(ends); i++) {
        size_t before = befores[i % COUNT(befores)];
        const char *character = characters[i / COUNT(befores) % COUNT(characters)];
        size_t end = i / COUNT(befores) / COUNT(characters);
        struct weir_fault fault = read_long(before, character, ends[end].end);
        struct weir_http_answer http = { .status = 400, .sent = true };
        struct weir_answer answer;
        weir_fault_tell(&fault, &http);
        weir_answer_read(&http, WEIR_US_PER_S, &answer);
        ck_assert_msg(answer.verdict.class_ == ends[end].class_, "%zu bytes of \"%s\", \"%s\"",
                      before, character, ends[end].end);
        weir_fault_release(&fault);
    }
}
END_TEST

START_TEST(a_long_message_keeps_whole_characters_of_both_ends)
{
    static const char *const characters[] = { "x", "\xc3\xab", "\xe2\x82\xac", "\xf0\x9f\x92\xa7" };
    for (size_t i = 0; i < COUNT(characters); i++) {
        size_t width = strlen(characters[i]);
        for (size_t before = 1000; before < 1040; before++) {
            struct weir_fault fault = read_long(before, characters[i], "!");
            size_t len = strlen(fault.message);
            size_t whole = (before + width - 1) / width * width + 1;
            const char *gap = strstr(fault.message, " \xe2\x80\xa6 ");
            must(len < WEIR_FAULT_MESSAGE_MAX && fault.message[len - 1] == '!');
            must((gap != NULL) == (whole >= WEIR_FAULT_MESSAGE_MAX));
            size_t head = gap ? (size_t)(gap - fault.message) : len - 1;
            size_t tail = gap ? len - 1 - head - 5 : 0;
            must(head % width == 0 && tail % width == 0);
            must(!gap ||
                 (tail <= WEIR_FAULT_TAIL_BYTES - 1 && tail > WEIR_FAULT_TAIL_BYTES - 1 - width &&
                  len + 2 * width > WEIR_FAULT_MESSAGE_MAX - 1));
            for (size_t at = 0; at < head; at += width)
                must(memcmp(fault.message + at, characters[i], width) == 0);
            for (size_t at = len - 1 - tail; at < len - 1; at += width)
                must(memcmp(fault.message + at, characters[i], width) == 0);
            weir_fault_release(&fault);
        }
    }
}
END_TEST

/* ---- the rows of an elastic table ---- */

static struct weir_fault read_details(const char *value)
{
    struct weir_buf buf;
    weir_buf_init(&buf, 16 * 1024 * 1024);
    weir_buf_printf(&buf, "{\"error\":{\"code\":\"0x80040216\",\"message\":\"m\"," DETAILS "%s}}",
                    value);
    struct weir_fault fault = read_fault(weir_buf_text(&buf));
    ck_assert(fault.found);
    weir_buf_release(&buf);
    return fault;
}

static void check_rows(const char *value)
{
    struct weir_fault fault = read_details(value);
    struct weir_guid id;
    weir_guid_parse(weir_str_from(GUID), &id);
    ck_assert_int_eq(fault.details, WEIR_FAULT_DETAILS_ROWS);
    ck_assert_uint_eq(fault.row_count, 3);
    ck_assert_uint_eq(fault.rows[0].index, 7);
    ck_assert_int_eq(fault.rows[0].status, 409);
    ck_assert(fault.rows[0].id_known && weir_guid_equal(&fault.rows[0].id, &id));
    ck_assert_str_eq(fault.rows[0].code, "");
    ck_assert_uint_eq(fault.rows[1].index, 0);
    ck_assert_int_eq(fault.rows[1].status, 429);
    ck_assert(!fault.rows[1].id_known);
    ck_assert_str_eq(fault.rows[1].code, "0x80072322");
    ck_assert_uint_eq(fault.rows[2].index, 999);
    ck_assert_int_eq(fault.rows[2].status, 0);
    weir_fault_release(&fault);
}

START_TEST(rows_that_failed_are_listed_as_a_text_or_as_a_list)
{
    static const char list[] =
        "[{\"RequestIndex\":7,\"Id\":\"" GUID "\",\"StatusCode\":409},"
        "{\"StatusCode\":\"429\",\"ErrorCode\":\"0x80072322\",\"Id\":\"none\",\"RequestIndex\":"
        "\"0\"},"
        "{\"requestIndex\":999,\"StatusCode\":12345,\"more\":{\"RequestIndex\":1}}]";
    check_rows(list);
    struct weir_buf buf;
    weir_buf_init(&buf, 4096);
    weir_buf_add_json_string(&buf, weir_str_from(list));
    check_rows(weir_buf_text(&buf));
    weir_buf_release(&buf);
}
END_TEST

START_TEST(a_list_that_is_not_understood_whole_is_not_used)
{
    static const char *const values[] = {
        "null",
        "\"\"",
        "\"[\"",
        "[]",
        "\"[]\"",
        "{}",
        "5",
        "[5]",
        "[{}]",
        "[{\"RequestIndex\":1},{\"StatusCode\":409}]",
        "[{\"RequestIndex\":-1}]",
        "[{\"RequestIndex\":1000}]",
        "[{\"RequestIndex\":1.5}]",
        "[{\"RequestIndex\":null}]",
        "\"[{\\\"RequestIndex\\\":1}\"",
        "\"[{\\\"RequestIndex\\\":1}],\"",
        "[{\"RequestIndex\":1}]," DETAILS "[{\"RequestIndex\":2}]", /* told twice */
        "[{\"RequestIndex\":1},{\"RequestIndex\":0},{\"RequestIndex\":1}]",
    };
    for (size_t i = 0; i < COUNT(values); i++) {
        struct weir_fault fault = read_details(values[i]);
        ck_assert_msg(fault.details == WEIR_FAULT_DETAILS_BAD, "%s", values[i]);
        ck_assert_str_eq(fault.code, "0x80040216");
        ck_assert(!fault.rows && !fault.row_count);
        weir_fault_release(&fault);
    }
}
END_TEST

START_TEST(a_list_that_names_rows_which_were_not_sent_is_not_used)
{
    for (size_t sent = 0; sent < 12; sent++) {
        struct weir_fault fault =
            read_details("[{\"RequestIndex\":3},{\"RequestIndex\":9},{\"RequestIndex\":0}]");
        weir_fault_bind(&fault, sent);
        bool good = sent > 9;
        ck_assert_int_eq(fault.details, good ? WEIR_FAULT_DETAILS_ROWS : WEIR_FAULT_DETAILS_BAD);
        ck_assert_uint_eq(fault.row_count, good ? 3 : 0);
        ck_assert((fault.rows != NULL) == good);
        ck_assert_str_eq(fault.code, "0x80040216");
        weir_fault_bind(&fault, 5);
        ck_assert_int_eq(fault.details, WEIR_FAULT_DETAILS_BAD);
        weir_fault_release(&fault);
    }
    struct weir_fault silent = read_fault("{\"error\":{\"code\":\"c\",\"message\":\"m\"}}");
    weir_fault_bind(&silent, 0);
    ck_assert_int_eq(silent.details, WEIR_FAULT_DETAILS_NONE);
    weir_fault_release(&silent);
}
END_TEST

START_TEST(the_annotation_is_known_by_its_end)
{
    static const struct {
        const char *name;
        bool known;
    } names[] = {
        { "@Microsoft.PowerApps.CDS.ErrorDetails.Plugin.BulkApiErrorDetails", true },
        { "@Some.Other.Plugin.bulkapierrordetails", true },
        { "@BulkApiErrorDetails", true },
        { "BulkApiErrorDetails", false },
        { "@Plugin.BulkApiErrorDetails.X", false },
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        char body[512];
        snprintf(body, sizeof(body),
                 "{\"error\":{\"code\":\"c\",\"message\":\"m\",\"%s\":[{\"RequestIndex\":3}]}}",
                 names[i].name);
        struct weir_fault fault = read_fault(body);
        ck_assert_int_eq(fault.details == WEIR_FAULT_DETAILS_ROWS, names[i].known);
        ck_assert_uint_eq(fault.row_count, names[i].known);
        weir_fault_release(&fault);
    }
}
END_TEST

START_TEST(rows_have_a_bound)
{
    for (int more = 0; more < 2; more++) {
        struct weir_buf buf;
        weir_buf_init(&buf, 16 * 1024 * 1024);
        for (int i = 0; i < WEIR_TARGETS_MAX + more; i++)
            weir_buf_printf(&buf, "%c{\"RequestIndex\":%d}", i ? ',' : '[', i % WEIR_TARGETS_MAX);
        weir_buf_add_char(&buf, ']');
        struct weir_fault fault = read_details(weir_buf_text(&buf));
        ck_assert_int_eq(fault.details, more ? WEIR_FAULT_DETAILS_BAD : WEIR_FAULT_DETAILS_ROWS);
        ck_assert_uint_eq(fault.row_count, more ? 0 : WEIR_TARGETS_MAX);
        weir_fault_release(&fault);
        weir_buf_reset(&buf);

        weir_buf_add_text(&buf, "\"");
        size_t blanks = WEIR_FAULT_DETAILS_MAX - strlen("\"[{\\\"RequestIndex\\\":1}]\"");
        for (size_t i = 0; i < blanks + (size_t)more; i++)
            weir_buf_add_char(&buf, ' ');
        weir_buf_add_text(&buf, "[{\\\"RequestIndex\\\":1}]\"");
        fault = read_details(weir_buf_text(&buf));
        ck_assert_int_eq(fault.details, more ? WEIR_FAULT_DETAILS_BAD : WEIR_FAULT_DETAILS_ROWS);
        weir_fault_release(&fault);
        weir_buf_release(&buf);
    }
}
END_TEST

START_TEST(an_annotation_may_say_how_long_to_wait)
{
    static const struct {
        const char *value;
        const char *retry_after;
    } rows[] = {
        { "\"30\"", "30" },
        { "30", "30" },
        { "1.5", "1.5" },
        { "\"00:05:00\"", "300" },
        { "\"01:00:01\"", "3601" },
        { "\"00:00:01.3\"", "2" },
        { "\"00:00\"", "00:00" },
        { "\"soon\"", "soon" },
        { "null", "" },
        { "\"-1:00:00\"", "-1:00:00" },
        { "\"00:00:01.x\"", "00:00:01.x" },
    };
    static const char *const names[] = { "@Microsoft.PowerApps.CDS.ErrorDetails.Retry-After",
                                         "@x.RetryAfter" };
    for (size_t i = 0; i < COUNT(rows) * 2; i++) {
        char body[256];
        snprintf(body, sizeof(body), "{\"error\":{\"code\":\"c\",\"message\":\"m\",\"%s\":%s}}",
                 names[i % 2], rows[i / 2].value);
        struct weir_fault fault = read_fault(body);
        ck_assert_str_eq(fault.retry_after, rows[i / 2].retry_after);
        weir_fault_release(&fault);
    }
}
END_TEST

/* ---- hostile bodies ---- */

START_TEST(large_and_deep_bodies_are_only_read)
{
    size_t len = (size_t)16 * 1024 * 1024;
    static const char *const fillings[] = { "[", "{\"error\":", "{\"", "\\", "1,", "[]," };
    char *body = weir_calloc(len, 1);
    for (size_t i = 0; i < COUNT(fillings); i++) {
        struct weir_fault fault;
        size_t step = strlen(fillings[i]);
        for (size_t at = 0; at + step <= len; at += step)
            memcpy(body + at, fillings[i], step);
        weir_fault_read(weir_str(body, len), &fault);
        ck_assert(!fault.found);
        weir_fault_release(&fault);
    }
    /* a fault with a very long list in front of it, which is complete */
    static const char end[] = "0],\"error\":{\"code\":\"c\",\"message\":\"m\"}}";
    memcpy(body, "{\"a\":[", 6);
    for (size_t at = 6; at < len; at += 2)
        memcpy(body + at, "1,", 2);
    memcpy(body + len - strlen(end), end, strlen(end));
    if (body[len - strlen(end) - 1] == '1')
        body[len - strlen(end) - 1] = ' ';
    struct weir_fault fault;
    weir_fault_read(weir_str(body, len), &fault);
    ck_assert(fault.found);
    ck_assert_str_eq(fault.code, "c");
    weir_fault_release(&fault);
    free(body);
}
END_TEST

START_TEST(mutated_bodies_are_read_or_not_and_never_more)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 10, (uint64_t)_i);
    static const char whole[] =
        "{\"error\":{\"code\":\"0x80040216\",\"message\":\"Zo\\u00eb\"," DETAILS
        "\"[{\\\"RequestIndex\\\":1,\\\"Id\\\":\\\"" GUID "\\\",\\\"StatusCode\\\":409}]\"}}";
    for (int run = 0; run < 20000; run++) {
        char changed[1024];
        memcpy(changed, whole, sizeof(whole));
        size_t len = mutate(&rng, changed, sizeof(whole) - 1, sizeof(changed));
        char *copy = exact_copy(weir_str(changed, len));
        struct weir_fault fault;
        weir_fault_read(weir_str(copy, len), &fault);
        must(fault.found || (!fault.code[0] && !fault.message[0] && !fault.row_count));
        must(fault.details == WEIR_FAULT_DETAILS_ROWS || !fault.row_count);
        weir_fault_release(&fault);
        free(copy);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("protocol_fault");
    suite_add(&s, both_shapes_are_read);
    suite_add(&s, a_body_that_is_cut_anywhere_says_nothing);
    suite_add(&s, what_is_no_fault_is_none);
    suite_add(&s, code_and_message_are_bounded);
    suite_add(&s, the_end_of_a_long_message_decides_as_that_of_a_short_one);
    suite_add(&s, a_long_message_keeps_whole_characters_of_both_ends);
    suite_add(&s, rows_that_failed_are_listed_as_a_text_or_as_a_list);
    suite_add(&s, a_list_that_is_not_understood_whole_is_not_used);
    suite_add(&s, a_list_that_names_rows_which_were_not_sent_is_not_used);
    suite_add(&s, the_annotation_is_known_by_its_end);
    suite_add(&s, rows_have_a_bound);
    suite_add(&s, an_annotation_may_say_how_long_to_wait);
    suite_add(&s, large_and_deep_bodies_are_only_read);
    suite_add_loop(&s, "mutated_bodies_are_read_or_not_and_never_more",
                   mutated_bodies_are_read_or_not_and_never_more, 4);
    return suite_run(&s);
}

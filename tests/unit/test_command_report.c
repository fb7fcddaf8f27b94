/* SPDX-License-Identifier: MIT */
/* What a report is made of: problems. Linked with the files of apps/weir that make them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "report_problems.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- problems --------------------------------------------------------------------------------- */

static struct weir_reject own(uint64_t row, const char *column, const char *message)
{
    return (struct weir_reject){ .row = row,
                                 .column = weir_str_from(column),
                                 .class_name = weir_str_from("input"),
                                 .message = weir_str_from(message),
                                 .bytes = weir_str_from("a,b,c\r\n") };
}

static struct weir_reject told(uint64_t row, uint32_t code, const char *message)
{
    return (struct weir_reject){ .row = row,
                                 .http_status = 400,
                                 .service_code = code,
                                 .class_name = weir_str_from("bad rows"),
                                 .message = weir_str_from(message) };
}

static void add_all(struct report_problems *problems, const struct weir_reject *rejects, size_t n)
{
    for (size_t i = 0; i < n; i++)
        report_problems_add(problems, &rejects[i], "rows.csv");
    report_problems_sort(problems);
}

START_TEST(rows_with_the_same_cause_are_one_problem)
{
    const struct weir_reject rejects[] = {
        own(2, "revenue", "\"1.000,00\" is no number; \"revenue\" takes digits"),
        told(3, 0x80040237, "A record with matching key values exists: 'A-17'."),
        told(4, 0x80040265,
             "Custom: the limit of Mr. O'Neill is reached, id "
             "0b5a7c1e-8d1f-4a52-9f5e-0c8d3a9be111"),
        told(5, 0x80040265,
             "Custom: the limit of Mr. O'Neill is reached, id "
             "ffffffff-8d1f-4a52-9f5e-0c8d3a9be112"),
        own(6, "revenue", "\"abc\" is no number; \"revenue\" takes digits"),
        own(7, "industrycode", "\"IR\" is no choice of \"industrycode\"; did you mean 7 (IT)?"),
        own(8, "industrycode", "\"BR\" is no choice of \"industrycode\"; did you mean 9 (Bar)?"),
        told(9, 0x80040237, "Another text altogether"),
        told(10, 0x80040237, "And another"),
    };
    struct report_problems problems = { 0 };
    add_all(&problems, rejects, COUNT(rejects));
    ck_assert_uint_eq(problems.count, 4);
    ck_assert_uint_eq(problems.rejects, COUNT(rejects));
    ck_assert_uint_eq(problems.others, 0);
    ck_assert_uint_eq(problems.list[0].rows, 3);
    ck_assert_uint_eq(problems.list[0].row, 3);
    ck_assert_str_eq(problems.list[0].name, "duplicate record");
    ck_assert_str_eq(problems.list[1].value, "1.000,00");
    ck_assert_str_eq(problems.list[1].line, "a,b,c");
    ck_assert_str_eq(problems.list[1].file, "rows.csv");
    ck_assert_uint_eq(problems.list[2].row, 4);
    ck_assert_str_eq(problems.list[3].name, "no choice of the column");
    report_problems_release(&problems);
}
END_TEST

START_TEST(the_service_and_we_never_share_a_problem)
{
    struct weir_reject rejects[] = { own(1, "name", "wrong"), told(2, 0, "wrong"),
                                     told(3, 0x80040203, "wrong"), own(4, "city", "wrong") };
    struct report_problems problems = { 0 };
    add_all(&problems, rejects, COUNT(rejects));
    ck_assert_uint_eq(problems.count, 4);
    for (size_t i = 0; i < problems.count; i++)
        ck_assert_uint_gt(strlen(problems.list[i].advice), 0);
    report_problems_release(&problems);
}
END_TEST

START_TEST(however_many_causes_there_are_every_row_is_counted)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 7, 0);
    for (unsigned causes = 1; causes <= 4 * REPORT_PROBLEMS_MAX; causes *= 2) {
        struct report_problems problems = { 0 };
        uint64_t sum = 0;
        for (uint64_t row = 1; row <= 3000; row++) {
            char column[16];
            snprintf(column, sizeof(column), "c%u", (unsigned)(weir_rng_u64(&rng) % causes));
            struct weir_reject reject = own(row, column, "\"x\" is no number");
            report_problems_add(&problems, &reject, "");
        }
        report_problems_sort(&problems);
        for (size_t i = 0; i < problems.count; i++) {
            sum += problems.list[i].rows;
            ck_assert(i == 0 || problems.list[i - 1].rows >= problems.list[i].rows);
        }
        ck_assert_uint_eq(sum + problems.others, 3000);
        ck_assert_uint_eq(problems.rejects, 3000);
        ck_assert_uint_le(problems.count, REPORT_PROBLEMS_MAX);
        ck_assert_uint_eq(problems.others > 0, causes > REPORT_PROBLEMS_MAX);
        report_problems_release(&problems);
    }
}
END_TEST

START_TEST(few_problems_are_said_and_nothing_in_them_steers_a_terminal)
{
    struct report_problems problems = { 0 };
    struct weir_buf text;
    weir_buf_init(&text, 65536);
    report_problems_print(&problems, NULL, &text);
    ck_assert_uint_eq(text.len, 0);
    for (uint64_t row = 1; row <= REPORT_PROBLEMS_SAID + 3; row++) {
        char column[16];
        snprintf(column, sizeof(column), "c%" PRIu64, row);
        struct weir_reject reject = own(row, column, "\"\x1b[2J\n\" is no number");
        report_problems_add(&problems, &reject, "a\x1b.csv");
    }
    report_problems_sort(&problems);
    report_problems_print(&problems, "out.html", &text);
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&text), "8 rejects = 8 problems\n"));
    ck_assert_ptr_nonnull(strstr(weir_buf_text(&text), "and 3 more: see out.html\n"));
    ck_assert_ptr_null(strchr(weir_buf_text(&text), '\x1b'));
    ck_assert_ptr_null(strstr(weir_buf_text(&text), "c6"));
    report_problems_release(&problems);
    weir_buf_release(&text);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("command_report");
    suite_add(&s, rows_with_the_same_cause_are_one_problem);
    suite_add(&s, the_service_and_we_never_share_a_problem);
    suite_add(&s, however_many_causes_there_are_every_row_is_counted);
    suite_add(&s, few_problems_are_said_and_nothing_in_them_steers_a_terminal);
    return suite_run(&s);
}

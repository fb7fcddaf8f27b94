/* SPDX-License-Identifier: MIT */
/* What a report is made of: problems, timelines, latencies, charts. Linked with the files of
 * apps/weir that make them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "report_chart.h"
#include "report_problems.h"
#include "report_timeline.h"
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

/* --- timelines -------------------------------------------------------------------------------- */

/* A job with two connections, seen every quarter of a second. */
struct world {
    struct progress_snapshot snapshot;
    struct progress_connection connections[2];
    double in_flight; /* of the first connection, added up over the samples but the first */
    uint64_t throttled;
};

static void step(struct world *world, struct weir_rng *rng)
{
    struct weir_job_progress *job = &world->snapshot.job;
    struct weir_job_connection *first = &world->connections[0].now;
    world->snapshot.connections = world->connections;
    world->snapshot.connection_count = COUNT(world->connections);
    job->elapsed_s += 0.25;
    job->pass = 1;
    job->pass_ended += weir_rng_u64(rng) % 1000;
    first->in_flight = (uint32_t)(weir_rng_u64(rng) % 52);
    first->throttled_for_s = (double)(weir_rng_u64(rng) % 2);
    world->in_flight += first->in_flight;
    world->throttled += first->throttled_for_s > 0;
}

START_TEST(however_long_a_run_is_no_row_and_no_moment_is_lost_between_points)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 11, 0);
    for (size_t samples = 1; samples <= 20000; samples = samples * 3 + 1) {
        struct world world = { 0 };
        struct report_timeline timeline = { 0 };
        report_timeline_add(&timeline, (step(&world, &rng), &world.snapshot));
        uint64_t from_rows = world.snapshot.job.pass_ended;
        world.in_flight = 0;
        world.throttled = 0;
        for (size_t i = 0; i < samples; i++)
            report_timeline_add(&timeline, (step(&world, &rng), &world.snapshot));
        double from_s = timeline.from_s, in_flight = 0, throttled = 0;
        ck_assert_uint_le(timeline.count, REPORT_POINTS_MAX);
        ck_assert_uint_ge(timeline.count, samples < 300 ? samples : 300);
        for (size_t i = 0; i < timeline.count; i++) {
            double weight = (timeline.points[i].at_s - from_s) / 0.25;
            ck_assert_double_gt(weight, 0);
            in_flight += weight * report_timeline_mark(&timeline, i, 0)->in_flight;
            throttled += weight * report_timeline_mark(&timeline, i, 0)->throttled;
            from_s = timeline.points[i].at_s;
        }
        ck_assert_double_eq_tol(from_s, world.snapshot.job.elapsed_s, 1e-6);
        ck_assert_uint_eq(timeline.points[timeline.count - 1].rows - from_rows,
                          world.snapshot.job.pass_ended - from_rows);
        ck_assert_double_eq_tol(in_flight, world.in_flight, 0.001 * world.in_flight + 1e-3);
        ck_assert_double_eq_tol(throttled, (double)world.throttled,
                                0.001 * (double)world.throttled + 1e-3);
        report_timeline_release(&timeline);
    }
}
END_TEST

START_TEST(a_rate_is_that_of_a_second_or_of_what_there_is)
{
    struct world world = { 0 };
    struct report_timeline timeline = { 0 };
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 0);
    for (int i = 0; i < 9; i++) {
        step(&world, &rng);
        world.snapshot.job.pass_ended = i == 8 ? 1000 : 0;
        report_timeline_add(&timeline, &world.snapshot);
    }
    ck_assert_uint_eq(timeline.count, 8);
    ck_assert_double_eq_tol(report_timeline_rate(&timeline, 0), 0, 1e-9);
    ck_assert_double_eq_tol(report_timeline_rate(&timeline, 7), 1000, 1e-6);
    report_timeline_release(&timeline);
}
END_TEST

/* --- latencies -------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

START_TEST(quantiles_are_near_those_of_all_durations)
{
    enum {
        MANY = 5000
    };
    static const double shares[] = { 0.01, 0.5, 0.9, 0.99 };
    static int64_t all[MANY];
    struct weir_histogram halves[2] = { 0 };
    struct weir_rng rng;
    weir_rng_init(&rng, 3, 0);
    for (int i = 0; i < MANY; i++) {
        all[i] = (int64_t)(200 * pow(10, (double)(weir_rng_u64(&rng) % 6000) / 1000));
        weir_histogram_add(&halves[i % 2], all[i]);
    }
    weir_histogram_merge(&halves[0], &halves[1]);
    qsort(all, MANY, sizeof(all[0]), compare);
    ck_assert_uint_eq(halves[0].count, MANY);
    ck_assert_int_eq(halves[0].max_us, all[MANY - 1]);
    for (size_t i = 0; i < COUNT(shares); i++) {
        double exact = (double)all[(size_t)ceil(shares[i] * MANY) - 1];
        double told = (double)weir_histogram_quantile_us(&halves[0], shares[i]);
        ck_assert_double_eq_tol(told, exact, 0.04 * exact);
    }
    ck_assert_int_eq(weir_histogram_quantile_us(&halves[0], 1), all[MANY - 1]);
}
END_TEST

START_TEST(durations_that_nobody_expects_have_a_bucket)
{
    static const int64_t odd[] = { INT64_MIN, -1, 0, 1, 127, 128, INT64_C(1) << 33, INT64_MAX };
    struct weir_histogram histogram = { 0 };
    ck_assert_int_eq(weir_histogram_quantile_us(&histogram, 0.5), 0);
    for (size_t i = 0; i < COUNT(odd); i++)
        weir_histogram_add(&histogram, odd[i]);
    ck_assert_uint_eq(histogram.count, COUNT(odd));
    ck_assert_int_eq(histogram.max_us, INT64_MAX);
    ck_assert_int_eq(weir_histogram_quantile_us(&histogram, 1), INT64_MAX);
    ck_assert_int_le(weir_histogram_quantile_us(&histogram, 0), 128);
}
END_TEST

/* --- pages ------------------------------------------------------------------------------------ */

START_TEST(whatever_bytes_come_a_page_has_only_text_of_them)
{
    struct weir_rng rng;
    struct weir_buf html;
    weir_rng_init(&rng, 9, 0);
    weir_buf_init(&html, 65536);
    report_html_text(&html, "<a href='x'>\"&\n\x1b");
    ck_assert_str_eq(weir_buf_text(&html), "&lt;a href=&#39;x&#39;&gt;&quot;&amp; ?");
    for (int round = 0; round < 2000; round++) {
        char text[40];
        for (size_t i = 0; i + 1 < sizeof(text); i++)
            text[i] = (char)(weir_rng_u64(&rng) | 1);
        text[sizeof(text) - 1] = '\0';
        weir_buf_reset(&html);
        report_html_text(&html, text);
        ck_assert_ptr_null(strpbrk(weir_buf_text(&html), "<>\"'\x01\x1b"));
    }
    weir_buf_release(&html);
}
END_TEST

START_TEST(a_scale_holds_its_values_and_wastes_no_more_than_half)
{
    for (double most = 0.3; most < 1e9; most *= 1.07) {
        double scale = report_chart_scale(most);
        ck_assert_double_ge(scale, most * (1 - 1e-9));
        ck_assert(most < 2 || scale < most * 2.5);
    }
    ck_assert_double_eq(report_chart_scale(0), 2);
    ck_assert_double_eq(report_chart_scale(5), 6);
    ck_assert_double_eq(report_chart_scale(101), 200);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("command_report");
    suite_add(&s, rows_with_the_same_cause_are_one_problem);
    suite_add(&s, the_service_and_we_never_share_a_problem);
    suite_add(&s, however_many_causes_there_are_every_row_is_counted);
    suite_add(&s, few_problems_are_said_and_nothing_in_them_steers_a_terminal);
    suite_add(&s, however_long_a_run_is_no_row_and_no_moment_is_lost_between_points);
    suite_add(&s, a_rate_is_that_of_a_second_or_of_what_there_is);
    suite_add(&s, quantiles_are_near_those_of_all_durations);
    suite_add(&s, durations_that_nobody_expects_have_a_bucket);
    suite_add(&s, whatever_bytes_come_a_page_has_only_text_of_them);
    suite_add(&s, a_scale_holds_its_values_and_wastes_no_more_than_half);
    return suite_run(&s);
}

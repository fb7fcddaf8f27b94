/* SPDX-License-Identifier: MIT */
/* The executor with requests that are sized by what they take: loads are cut when they go. */
#include <math.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "support/executor_rig.h"

#define ROWS_EACH 1000

static void setup_adaptive(int level)
{
    setup(1, level);
    plan.adaptive = true;
}

static struct weir_report took(uint32_t rows, double a_us, double b_us)
{
    struct weir_report report = whole(OK_, WEIR_FAULT_NONE);
    report.answer.ttfb_us = (int64_t)(a_us + b_us * rows);
    report.answer.duration_us = 3 * report.answer.ttfb_us; /* not what counts */
    return report;
}

/* What goes now, or when a wait is over; NULL: nothing is left. */
static struct weir_load *next_flight(void)
{
    struct weir_load *load = try_flight();
    bool waits = executor.loads.line.count || executor.loads.rest.count;
    return load || !waits ? load : flight_later(MINUTES(1));
}

/* Send and answer whatever goes, one after the other; the rows of the last request. */
static uint32_t work(double a_us, double b_us, uint64_t requests)
{
    uint32_t rows = 0;
    for (struct weir_load *load; requests-- && (load = next_flight());) {
        rows = load->row_count;
        answer(load, took(rows, a_us, b_us));
    }
    return rows;
}

static uint32_t chosen(void)
{
    return weir_executor_rows_chosen(&executor);
}

START_TEST(a_batch_is_cut_as_it_goes_and_every_row_goes_once)
{
    setup_adaptive(4);
    start_warm();
    give(ROWS_EACH);
    give(ROWS_EACH);
    uint32_t last = 0;
    for (struct weir_load *load; (load = try_flight());) {
        for (uint32_t i = 0; i < load->row_count; i++)
            must(weir_load_state(load, i)->attempts == 1);
        last = load->row_count;
        answer(load, took(last, 1e4, 1e4)); /* 19 rows */
    }
    ck_assert_uint_ge(chosen(), 17);
    ck_assert_uint_le(chosen(), 21);
    ck_assert_uint_le(last, 21);
    ck_assert_uint_ge(executor.result.requests, 2 * ROWS_EACH / 30);
    ck_assert_uint_eq(executor.result.rows_again, 0);
    finish(0);
}
END_TEST

START_TEST(a_plan_that_is_not_adaptive_sends_what_was_packed)
{
    setup(1, 4);
    start_warm();
    give(ROWS_EACH);
    give(7);
    ck_assert_uint_eq(chosen(), 0);
    ck_assert_uint_eq(work(1e6, 1e5, 1), ROWS_EACH);
    ck_assert_uint_eq(work(1e6, 1e5, 1), 7);
    ck_assert_uint_eq(executor.sizes.of[WEIR_OPERATION_CREATE][WEIR_LOAD_BULK].answers, 0);
    finish(0);
}
END_TEST

/* The rest stays behind it in line, before what comes later. */
START_TEST(rows_leave_in_the_order_of_the_input)
{
    setup_adaptive(4);
    start_warm();
    give(ROWS_EACH);
    give(ROWS_EACH);
    uint64_t next = 1;
    for (struct weir_load *load; (load = try_flight());) {
        for (uint32_t i = 0; i < load->row_count; i++)
            must(weir_load_row(load, i)->number == next++);
        answer(load, took(load->row_count, 2e5, 2e4));
    }
    finish(0);
}
END_TEST

START_TEST(the_first_bulk_message_tells_nothing)
{
    struct weir_sizing *line = &executor.sizes.of[WEIR_OPERATION_CREATE][WEIR_LOAD_BULK];
    setup_adaptive(4);
    start();
    give(ROWS_EACH);
    work(6e7, 1e4, 1);
    ck_assert_uint_eq(line->answers, 0);
    work(1e5, 1e4, 1);
    ck_assert_uint_eq(line->answers, 1);
    work(1e5, 1e4, UINT64_MAX);
    finish(0);
}
END_TEST

/* Only what was done tells how long it takes. */
START_TEST(throttles_and_failures_tell_nothing)
{
    const struct weir_sizing *line = &executor.sizes.of[WEIR_OPERATION_CREATE][WEIR_LOAD_BULK];
    setup_adaptive(1);
    start_warm();
    give(ROWS_EACH);
    reply(flight(), THROTTLED);
    struct weir_load *again = flight_later(MINUTES(1));
    ck_assert_uint_eq(again->row_count, 100); /* as it was */
    reply(again, BUSY);
    again = flight_later(MINUTES(1));
    ck_assert_uint_eq(line->answers, 0);
    answer(again, took(again->row_count, 1e5, 1e3));
    ck_assert_uint_eq(line->answers, 1);
    work(1e5, 1e3, UINT64_MAX);
    finish(0);
}
END_TEST

START_TEST(what_was_too_big_bounds_all_that_follows)
{
    setup_adaptive(1);
    start_warm();
    give(ROWS_EACH);
    give(ROWS_EACH);
    struct weir_load *load = flight();
    while (load->row_count < 150) {
        answer(load, took(load->row_count, 4e5, 1e2));
        load = flight();
    }
    uint32_t too_many = load->row_count;
    reply(load, TOO_BIG);
    for (struct weir_load *next; (next = try_flight());) {
        must(next->row_count <= too_many / 2 + 1);
        answer(next, took(next->row_count, 4e5, 1e2));
    }
    ck_assert_uint_le(chosen(), too_many / 2);
    finish(0);
}
END_TEST

START_TEST(a_time_out_bounds_what_follows)
{
    setup_adaptive(1);
    start_warm();
    give(ROWS_EACH);
    struct weir_load *load = flight();
    struct weir_report report = whole(SILENT, WEIR_FAULT_NONE);
    uint32_t rows = load->row_count;
    report.timed_out = true;
    answer(load, report);
    ck_assert_uint_le(chosen(), rows / 2);
    while ((load = next_flight())) {
        must(load->row_count <= rows / 2);
        answer(load, took(load->row_count, 4e5, 1e3));
    }
    finish(0);
}
END_TEST

/* The limits of the service are those that it tells. */
START_TEST(the_crossover_is_that_of_the_budgets)
{
    static const int64_t requests[] = { 6000, 3000, 1, 0 };
    static const int64_t crossovers_us[] = { 200000, 400000, 200000, 200000 }; /* or not believed */
    setup_adaptive(1);
    start_warm();
    give(ROWS_EACH);
    give(ROWS_EACH);
    struct weir_load *load = flight();
    struct weir_report report = took(load->row_count, 1e3, 1e4);
    report.answer.budget = (struct weir_budget_headers){
        .requests_known = requests[_i] > 0,
        .execution_known = true,
        .requests_remaining = requests[_i],
        .execution_remaining_us = SECONDS(1200),
    };
    answer(load, report);
    ck_assert_int_eq(executor.crossover_us, crossovers_us[_i]);
    work(1e3, 1e4, UINT64_MAX);
    double right = (double)(crossovers_us[_i] - 1000) / 1e4;
    ck_assert_msg(fabs(chosen() - right) <= 2, "%u, not %g", chosen(), right);
    finish(0);
}
END_TEST

/* Each way has its own maximum. */
START_TEST(elastic_tables_and_singles_have_their_own_bounds)
{
    setup_adaptive(1);
    plan.elastic = _i == 0;
    plan.bulk = _i == 0;
    start_warm();
    give(ROWS_EACH);
    for (struct weir_load *load; (load = try_flight());) {
        must(load->row_count <= (_i == 0 ? 100 : plan.singles_max));
        ck_assert_int_eq(load->mode, _i == 0 ? WEIR_LOAD_BULK : WEIR_LOAD_SINGLES);
        struct weir_report report = each(load);
        report.answer.ttfb_us = 500000;
        answer(load, report);
    }
    ck_assert_uint_eq(chosen(), _i == 0 ? 100 : plan.singles_max);
    finish(0);
}
END_TEST

/* A pass that updates knows nothing of creates, and creates are known when they come again. */
START_TEST(each_operation_is_learned_by_itself)
{
    setup_adaptive(4);
    start_warm();
    give(ROWS_EACH);
    give(ROWS_EACH);
    work(1e4, 1e4, UINT64_MAX);
    uint32_t of_create = chosen();
    ck_assert_uint_le(of_create, 25);
    weir_executor_end_of_input(&executor, rig.now_us);
    commit();
    ck_assert_ptr_null(boarding());
    ck_assert(over);
    over = false;
    plan.operation = WEIR_OPERATION_UPDATE;
    rows_made = 0;
    memset(fates, 0, sizeof(fates));
    weir_executor_next_pass(&executor, &plan, rig.now_us);
    ck_assert_uint_eq(chosen(), WEIR_SIZING_START_ROWS);
    give(500);
    ck_assert_uint_eq(work(1e4, 1e4, 1), WEIR_SIZING_START_ROWS);
    work(1e4, 1e4, UINT64_MAX);
    ck_assert_uint_le(executor.sizes.of[WEIR_OPERATION_UPDATE][WEIR_LOAD_BULK].answers, 12);
    finish(0);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("executor_sizing");
    suite_add(&s, a_batch_is_cut_as_it_goes_and_every_row_goes_once);
    suite_add(&s, a_plan_that_is_not_adaptive_sends_what_was_packed);
    suite_add(&s, rows_leave_in_the_order_of_the_input);
    suite_add(&s, the_first_bulk_message_tells_nothing);
    suite_add(&s, throttles_and_failures_tell_nothing);
    suite_add(&s, what_was_too_big_bounds_all_that_follows);
    suite_add(&s, a_time_out_bounds_what_follows);
    suite_add_loop(&s, "the_crossover_is_that_of_the_budgets", the_crossover_is_that_of_the_budgets,
                   4);
    suite_add_loop(&s, "elastic_tables_and_singles_have_their_own_bounds",
                   elastic_tables_and_singles_have_their_own_bounds, 2);
    suite_add(&s, each_operation_is_learned_by_itself);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* Rows that have nothing to do in a pass, and the same executor in one pass after another. */
#include "support/executor_rig.h"

/* A batch of which every other row has nothing to do, the first of them to begin with. */
static uint64_t give_idle(uint32_t count, uint32_t every, uint64_t after)
{
    struct weir_batch *batch = weir_calloc(1, sizeof(*batch));
    uint64_t *serials = weir_calloc(1, sizeof(*serials));
    batch->serial = ++batches_made;
    batch->rows = weir_calloc(count, sizeof(*batch->rows));
    batch->row_count = count;
    batch->bytes = 1000;
    batch->after = serials;
    batch->after_count = after ? 1 : 0;
    serials[0] = after;
    for (uint32_t i = 0; i < count; i++) {
        batch->rows[i].number = ++rows_made;
        batch->rows[i].idle = i % every == 0;
    }
    weir_executor_offer(&executor, batch, rig.now_us);
    return batch->serial;
}

START_TEST(a_row_with_nothing_to_do_is_done_without_a_request)
{
    setup(1, 4);
    plan.operation = WEIR_OPERATION_UPDATE;
    start_warm();
    give_idle(10, 2, 0);
    struct weir_load *load = flight();
    ck_assert_uint_eq(load->row_count, 5);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert(!weir_load_row(load, i)->idle);
    ck_assert_int_eq(fates[1], WEIR_FATE_DONE); /* before the others were answered */
    reply(load, OK_);
    give_idle(7, 1, 0);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(executor.result.requests, 1);
    finish(0);
    for (uint64_t row = 1; row <= rows_made; row++)
        ck_assert_int_eq(fates[row], WEIR_FATE_DONE);
}
END_TEST

START_TEST(a_row_with_nothing_to_do_waits_for_its_turn)
{
    setup(1, 4);
    plan.operation = WEIR_OPERATION_UPDATE;
    start_warm();
    uint64_t first = give(1);
    give_idle(1, 1, first);
    struct weir_load *load = flight();
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[2], WEIR_FATE_OPEN);
    bool given_up = _i == 1;
    if (given_up)
        weir_executor_stop(&executor, WEIR_END_INTERRUPT, rig.now_us);
    reply(load, OK_);
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[2], given_up ? WEIR_FATE_OPEN : WEIR_FATE_DONE);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), given_up);
    finish(given_up ? 5 : 0);
}
END_TEST

/* What an earlier run may have sent: not those that are not sent at all. */
START_TEST(a_row_with_nothing_to_do_is_never_tainted)
{
    setup(1, 4);
    plan.operation = WEIR_OPERATION_UPDATE;
    plan.tainted_through = 4;
    start_warm();
    uint64_t first = give(1);
    give_idle(2, 1, first);
    give_idle(1, 1, 0);
    weir_executor_stop(&executor, WEIR_END_INTERRUPT, rig.now_us);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 1);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 2);
    finish(8);
    ck_assert_int_eq(fates[4], WEIR_FATE_DONE);
}
END_TEST

/* Its end is not durable: a later run will find out again that there is nothing to do. */
START_TEST(a_row_with_nothing_to_do_is_not_sent_if_the_journal_fails)
{
    setup(1, 4);
    plan.operation = WEIR_OPERATION_UPDATE;
    start_warm();
    give_idle(3, 1, 0);
    ck_assert_ptr_null(boarding());
    weir_executor_journal_failed(&executor, rig.now_us);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 3);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 0);
    finish(7);
}
END_TEST

/* --- one pass after another ------------------------------------------------------------------- */

static void end_pass(void)
{
    weir_executor_end_of_input(&executor, rig.now_us);
    commit();
    ck_assert_ptr_null(boarding());
    ck_assert(over);
}

static void begin_pass(enum weir_operation operation)
{
    plan.operation = operation;
    plan.tainted_through = 0;
    weir_executor_next_pass(&executor, &plan, rig.now_us);
    over = false;
    rows_made = 0;
    batches_made = batches_returned = 0;
    memset(fates, 0, sizeof(fates));
}

START_TEST(a_pass_begins_anew_and_the_counts_of_the_run_go_on)
{
    setup(2, 4);
    start_warm();
    give(5);
    reply(flight(), OK_);
    struct weir_load *load;
    give(1);
    load = flight();
    reply(load, SILENT);
    load = flight_later(SECONDS(2));
    reply(load, OK_);
    end_pass();
    uint64_t requests = executor.result.requests;
    ck_assert_uint_eq(requests, 3);
    begin_pass(WEIR_OPERATION_UPDATE);
    ck_assert_uint_eq(executor.result.read, 0);
    ck_assert_uint_eq(weir_result_ended(&executor.result), 0);
    ck_assert_uint_eq(executor.result.requests_unknown, 1); /* it may still be executed */
    give(3);
    give(3);
    load = flight();
    ck_assert_ptr_null(boarding()); /* another message: the first one goes alone */
    reply(load, OK_);
    reply(flight(), OK_);
    ck_assert_uint_eq(executor.result.requests, requests + 2);
    finish(0);
}
END_TEST

START_TEST(a_connection_that_is_throttled_stays_so_in_the_next_pass)
{
    setup(1, 4);
    start_warm();
    give(1);
    struct weir_load *load = flight();
    give(1);
    struct weir_load *other = flight();
    reply(load, OK_);
    reply(other, THROTTLED);
    load = flight_later(MINUTES(5));
    reply(load, OK_);
    end_pass();
    int64_t reopening_us = weir_core_reopening_us(&rig.core, 0);
    begin_pass(WEIR_OPERATION_UPDATE);
    ck_assert_int_eq(weir_core_reopening_us(&rig.core, 0), reopening_us);
    give(1);
    reply(flight(), OK_);
    finish(0);
}
END_TEST

/* Of the rows, not of the passes: the share must not become smaller with each. */
START_TEST(rejected_rows_of_all_passes_count_against_what_is_wanted)
{
    bool share = _i == 1;
    setup(1, 4);
    plan.operation = WEIR_OPERATION_UPDATE;
    plan.bulk = false;
    plan.singles_max = 200;
    plan.errors_max = share ? UINT64_MAX : 2;
    plan.errors_share_max = share ? 0.02 : 0;
    start();
    for (int pass = 0; pass < 2; pass++) {
        give(150);
        struct weir_load *load = flight();
        struct weir_report report = each(load);
        weir_executor_end_of_input(&executor, rig.now_us);
        say(&report, 0, BAD, WEIR_FAULT_VALIDATION);
        say(&report, 1, BAD, WEIR_FAULT_VALIDATION);
        answer(load, report);
        if (pass == 0) {
            end_pass();
            ck_assert_uint_eq(executor.result.ends, 0);
            begin_pass(WEIR_OPERATION_UPDATE);
        }
    }
    ck_assert_uint_eq(executor.result.ends, WEIR_END_ERRORS);
    finish(3);
}
END_TEST

/* Two of the first fifty are no one in a hundred of a file that goes on. */
START_TEST(a_share_is_one_of_a_thousand_rows_until_the_input_has_ended)
{
    bool ends = _i == 1;
    setup(1, 4);
    plan.operation = WEIR_OPERATION_UPDATE;
    plan.bulk = false;
    plan.singles_max = 200;
    plan.errors_max = UINT64_MAX;
    plan.errors_share_max = 0.01;
    start();
    give(150);
    struct weir_load *load = flight();
    struct weir_report report = each(load);
    for (uint32_t i = 0; i < 10; i++)
        say(&report, i, BAD, WEIR_FAULT_VALIDATION);
    answer(load, report);
    ck_assert_uint_eq(executor.result.ends, 0);
    give(150);
    load = flight();
    report = each(load);
    if (ends)
        weir_executor_end_of_input(&executor, rig.now_us);
    else
        say(&report, 0, BAD, WEIR_FAULT_VALIDATION);
    answer(load, report);
    ck_assert_uint_eq(executor.result.ends, WEIR_END_ERRORS);
    finish(3);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("executor_passes");
    suite_add(&s, a_row_with_nothing_to_do_is_done_without_a_request);
    suite_add_loop(&s, "a_row_with_nothing_to_do_waits_for_its_turn",
                   a_row_with_nothing_to_do_waits_for_its_turn, 2);
    suite_add(&s, a_row_with_nothing_to_do_is_never_tainted);
    suite_add(&s, a_row_with_nothing_to_do_is_not_sent_if_the_journal_fails);
    suite_add(&s, a_pass_begins_anew_and_the_counts_of_the_run_go_on);
    suite_add(&s, a_connection_that_is_throttled_stays_so_in_the_next_pass);
    suite_add_loop(&s, "rejected_rows_of_all_passes_count_against_what_is_wanted",
                   rejected_rows_of_all_passes_count_against_what_is_wanted, 2);
    suite_add_loop(&s, "a_share_is_one_of_a_thousand_rows_until_the_input_has_ended",
                   a_share_is_one_of_a_thousand_rows_until_the_input_has_ended, 2);
    return suite_run(&s);
}

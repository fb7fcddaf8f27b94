/* SPDX-License-Identifier: MIT */
/*
 * Decisions of the executor that ordinary trouble seldom asks for: answers to a read-back, an end
 * while something is out, words that come together in a strange way.
 */
#include "bulk/sizes.h"
#include "support/executor_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- answers to a read-back ------------------------------------------------------------------- */

/* A create of so many rows whose ids are looked for: in flight. */
static struct weir_load *read_back_of(uint32_t rows)
{
    give(rows);
    reply(flight(), SILENT);
    reply_fault(flight_later(MINUTES(1)), BAD, WEIR_FAULT_DUPLICATE);
    struct weir_load *load = flight_later(MINUTES(1));
    ck_assert_int_eq(load->mode, WEIR_LOAD_READ_BACK);
    ck_assert_uint_eq(load->row_count, rows);
    return load;
}

enum then {
    AGAIN,  /* it is asked again, as it is */
    HALVES, /* … in two parts */
    UNKNOWN,
};

START_TEST(a_read_back_that_fails_as_a_whole_never_decides_a_row)
{
    static const struct {
        uint32_t connections;
        uint32_t rows;
        struct {
            enum weir_class class_;
            enum weir_outcome outcome;
            int status;
        } said;
        enum weir_fault_kind fault;
        bool timed_out;
        enum then then;
    } cases[] = {
        { 1, 2, { WEIR_CLASS_THROTTLE, WEIR_OUTCOME_NOT_EXECUTED, 429 }, 0, false, AGAIN },
        { 1, 2, { WEIR_CLASS_UNSENT, WEIR_OUTCOME_NOT_EXECUTED, 0 }, 0, false, AGAIN },
        { 2, 2, { WEIR_CLASS_BAD_CREDENTIALS, WEIR_OUTCOME_NOT_EXECUTED, 401 }, 0, false, AGAIN },
        { 1, 2, { WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, 0 }, 0, false, AGAIN },
        { 1, 2, { WEIR_CLASS_RACE, WEIR_OUTCOME_NOT_EXECUTED, 400 }, 0, false, AGAIN },
        { 1, 4, { WEIR_CLASS_TRANSIENT, WEIR_OUTCOME_UNKNOWN, 0 }, 0, true, HALVES },
        { 1, 4, { WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED, 400 }, 0, false, HALVES },
        { 1, 4, { WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_NOT_EXECUTED, 413 }, 0, false, HALVES },
        { 1, 1, { WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED, 400 }, 0, false, AGAIN },
        { 1,
          1,
          { WEIR_CLASS_OTHER, WEIR_OUTCOME_NOT_EXECUTED, 400 },
          WEIR_FAULT_VALIDATION,
          false,
          UNKNOWN },
        { 1,
          1,
          { WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED, 400 },
          WEIR_FAULT_VALIDATION,
          false,
          UNKNOWN },
        { 1, 3, { WEIR_CLASS_PRIVILEGE, WEIR_OUTCOME_NOT_EXECUTED, 403 }, 0, false, UNKNOWN },
        { 2, 3, { WEIR_CLASS_PRIVILEGE, WEIR_OUTCOME_NOT_EXECUTED, 403 }, 0, false, AGAIN },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        setup(cases[i].connections, 4);
        start_warm();
        struct weir_load *load = read_back_of(cases[i].rows);
        struct weir_report report =
            whole(verdict(cases[i].said.class_, cases[i].said.outcome, cases[i].said.status),
                  cases[i].fault);
        report.timed_out = cases[i].timed_out;
        answer(load, report);
        if (cases[i].then == UNKNOWN) {
            ck_assert_ptr_null(boarding());
            ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), cases[i].rows);
            finish(8);
            continue;
        }
        uint32_t parts = cases[i].then == HALVES ? 2 : 1;
        for (uint32_t part = 0; part < parts; part++) {
            load = flight_later(MINUTES(2));
            ck_assert_msg(load->row_count == cases[i].rows / parts, "case %zu: %u rows", i,
                          load->row_count);
            reply_presence(load, WEIR_PRESENCE_PRESENT, SECONDS(2000000100));
        }
        ck_assert_ptr_null(boarding());
        finish(0);
    }
}
END_TEST

START_TEST(who_forbids_a_read_back_twice_leaves_its_rows_unknown)
{
    setup(2, 4);
    start_warm();
    struct weir_load *load = read_back_of(2);
    uint32_t first = load->lease.connection;
    reply(load, FORBIDDEN);
    load = flight_later(MINUTES(1));
    ck_assert_uint_ne(load->lease.connection, first);
    reply(load, FORBIDDEN);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 2);
    finish(8);
}
END_TEST

START_TEST(a_row_that_the_only_connection_may_not_see_is_unknown_at_once)
{
    setup(1, 4);
    start_warm();
    reply_presence(read_back_of(1), WEIR_PRESENCE_FORBIDDEN, INT64_MIN);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 1);
    finish(8);
}
END_TEST

START_TEST(a_row_that_two_connections_may_not_see_is_unknown)
{
    setup(3, 4);
    start_warm();
    struct weir_load *load = read_back_of(1);
    uint32_t first = load->lease.connection;
    reply_presence(load, WEIR_PRESENCE_FORBIDDEN, INT64_MIN);
    load = flight_later(MINUTES(1));
    ck_assert_uint_ne(load->lease.connection, first);
    reply_presence(load, WEIR_PRESENCE_FORBIDDEN, INT64_MIN);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 1);
    finish(8);
}
END_TEST

/* Part by part: what was not said of a row is asked again, unless it cannot be asked. */
START_TEST(a_part_of_a_read_back_that_says_nothing_is_asked_again)
{
    setup(1, 4);
    start_warm();
    struct weir_load *load = read_back_of(5);
    struct weir_report report = each(load);
    say(&report, 0, THROTTLED, WEIR_FAULT_NONE);
    say(&report, 1, BUSY, WEIR_FAULT_NONE);
    say(&report, 2, BAD, WEIR_FAULT_VALIDATION);
    say(&report, 3, OTHER, WEIR_FAULT_NONE);
    report.items[4].presence = WEIR_PRESENCE_PRESENT;
    answer(load, report);
    uint32_t asked = 0;
    while (asked < 2) {
        load = flight_later(MINUTES(2));
        ck_assert_int_eq(load->mode, WEIR_LOAD_READ_BACK);
        asked += load->row_count;
        reply_presence(load, WEIR_PRESENCE_PRESENT, SECONDS(2000000100));
    }
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 2);
    finish(8);
}
END_TEST

START_TEST(a_read_back_is_not_sized)
{
    setup(1, 4);
    plan.adaptive = true;
    start_warm();
    give(1);
    reply(flight(), SILENT);
    reply_fault(flight_later(MINUTES(1)), BAD, WEIR_FAULT_DUPLICATE);
    uint64_t sent = executor.sizes.of[plan.operation][WEIR_LOAD_BULK].sent +
                    executor.sizes.of[plan.operation][WEIR_LOAD_SINGLES].sent;
    struct weir_load *load = flight_later(MINUTES(1));
    ck_assert_int_eq(load->mode, WEIR_LOAD_READ_BACK);
    ck_assert_uint_eq(executor.sizes.of[plan.operation][WEIR_LOAD_BULK].sent +
                          executor.sizes.of[plan.operation][WEIR_LOAD_SINGLES].sent,
                      sent);
    reply_presence(load, WEIR_PRESENCE_PRESENT, SECONDS(2000000100));
    finish(0);
}
END_TEST

START_TEST(a_read_back_that_is_cancelled_can_execute_nothing_late)
{
    setup(1, 4);
    start_warm();
    struct weir_load *load = read_back_of(1);
    uint64_t unknown = executor.result.requests_unknown;
    weir_executor_stop(&executor, WEIR_END_LIMIT, rig.now_us);
    ck_assert_ptr_null(boarding());
    rig.now_us += SECONDS(30);
    ck_assert_ptr_null(boarding());
    ck_assert(cancelled == load);
    ck_assert_uint_eq(executor.result.requests_unknown, unknown);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 1); /* because of the create before it */
    finish(8);
}
END_TEST

/* --- rows ------------------------------------------------------------------------------------- */

START_TEST(a_tainted_update_that_everybody_forbids_is_unknown)
{
    setup(1, 1);
    plan.operation = WEIR_OPERATION_UPDATE;
    start_warm();
    give(1);
    reply(flight(), OK_);
    give(1);
    reply(flight(), SILENT);
    reply(flight_later(MINUTES(1)), FORBIDDEN);
    struct weir_load *load = flight_later(MINUTES(1));
    ck_assert_int_eq(load->mode, WEIR_LOAD_SINGLES);
    reply_each(load, FORBIDDEN, WEIR_FAULT_NONE);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 1);
    finish(8);
}
END_TEST

START_TEST(a_tainted_update_that_is_too_big_by_itself_is_rejected)
{
    setup(1, 1);
    plan.operation = WEIR_OPERATION_UPDATE;
    start_warm();
    give(1);
    reply(flight(), SILENT);
    reply(flight_later(MINUTES(1)), TOO_BIG);
    commit();
    ck_assert_int_eq(fates[1], WEIR_FATE_REJECTED);
    finish(1);
}
END_TEST

START_TEST(one_row_that_was_too_big_and_perhaps_executed_is_not_rejected)
{
    setup(1, 1);
    plan.operation = WEIR_OPERATION_UPDATE;
    start_warm();
    give(1);
    reply(flight(), verdict(WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_UNKNOWN, 413));
    struct weir_load *load = flight_later(MINUTES(1));
    ck_assert(weir_load_state(load, 0)->tainted);
    reply(load, OK_);
    commit();
    ck_assert_int_eq(fates[1], WEIR_FATE_DONE);
    finish(0);
}
END_TEST

START_TEST(what_was_too_big_and_perhaps_executed_is_halved_and_waits)
{
    setup(1, 4);
    plan.operation = WEIR_OPERATION_UPDATE;
    start_warm();
    give(4);
    reply(flight(), verdict(WEIR_CLASS_TOO_BIG, WEIR_OUTCOME_UNKNOWN, 413));
    ck_assert_ptr_null(try_flight());
    for (int half = 0; half < 2; half++) {
        struct weir_load *load = flight_later(MINUTES(1));
        ck_assert_uint_eq(load->row_count, 2);
        ck_assert(weir_load_state(load, 0)->tainted);
        reply(load, OK_);
    }
    finish(0);
}
END_TEST

/* In a $batch, of one row: not a word that could be believed. */
START_TEST(a_part_whose_outcome_is_unknown_goes_again_whatever_it_says)
{
    setup(1, 1);
    plan.operation = WEIR_OPERATION_UPDATE;
    plan.bulk = false;
    start_warm();
    give(3);
    struct weir_load *load = flight();
    struct weir_report report = each(load);
    say(&report, 0, verdict(WEIR_CLASS_OTHER, WEIR_OUTCOME_UNKNOWN, 500), WEIR_FAULT_VALIDATION);
    say(&report, 1, REFUSED, WEIR_FAULT_NONE); /* 401 in a part: not the row's fault */
    answer(load, report);
    uint32_t again = 0;
    while (again < 2) {
        load = flight_later(MINUTES(1));
        again += load->row_count;
        reply_each(load, OK_, WEIR_FAULT_NONE);
    }
    commit();
    ck_assert_int_eq(fates[1], WEIR_FATE_DONE);
    ck_assert_int_eq(fates[2], WEIR_FATE_DONE);
    ck_assert_int_eq(fates[3], WEIR_FATE_DONE);
    ck_assert_uint_eq(executor.result.rows_again, 2);
    finish(0);
}
END_TEST

START_TEST(a_single_request_that_fails_as_a_whole_with_its_outcome_unknown_goes_again)
{
    setup(1, 1);
    plan.operation = WEIR_OPERATION_UPDATE;
    plan.bulk = false;
    start_warm();
    give(1);
    reply_fault(flight(), verdict(WEIR_CLASS_OTHER, WEIR_OUTCOME_UNKNOWN, 500),
                WEIR_FAULT_VALIDATION);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_REJECTED), 0);
    reply_each(flight_later(MINUTES(1)), OK_, WEIR_FAULT_NONE);
    finish(0);
}
END_TEST

START_TEST(an_error_names_the_request_of_its_own_part_if_there_is_one)
{
    static char own[] = "of the part";
    static char outer[] = "of the whole";
    setup(1, 1);
    plan.bulk = false;
    start_warm();
    give(2);
    struct weir_load *load = flight();
    const struct weir_row_state *states = load->batch->states;
    struct weir_report report = each(load);
    report.request_id = outer;
    say(&report, 0, BAD, WEIR_FAULT_VALIDATION);
    say(&report, 1, BAD, WEIR_FAULT_VALIDATION);
    report.items[0].request_id = own;
    answer(load, report);
    ck_assert_str_eq(states[0].error->request_id, own);
    ck_assert_str_eq(states[1].error->request_id, outer);
    finish(1);
}
END_TEST

START_TEST(rows_of_two_files_are_in_two_receipts)
{
    setup(1, 1);
    start_warm();
    give(4);
    struct weir_load *load = flight();
    load->batch->rows[2].file = 1;
    load->batch->rows[3].file = 1;
    reply(load, OK_);
    struct weir_action action;
    uint32_t receipts = 0;
    for (weir_executor_next(&executor, rig.now_us, &action); action.kind == WEIR_ACTION_RECORD;
         weir_executor_next(&executor, rig.now_us, &action)) {
        ck_assert_uint_eq(action.receipt->row_count, 2);
        keep_record(action.receipt);
        receipts++;
    }
    ck_assert_uint_eq(receipts, 2);
    finish(0);
}
END_TEST

START_TEST(a_load_that_is_tried_without_end_counts_no_further_than_it_can)
{
    setup(1, 1);
    start_warm();
    give(1);
    for (uint32_t i = 0; i < UINT16_MAX + 3; i++) {
        struct weir_load *load = flight_later(MINUTES(1));
        must(weir_load_state(load, 0)->attempts == (i < UINT16_MAX ? i + 1 : UINT16_MAX));
        reply(load, THROTTLED);
    }
    reply(flight_later(MINUTES(1)), OK_);
    finish(0);
}
END_TEST

/* --- the service ------------------------------------------------------------------------------ */

START_TEST(whether_the_service_fails_is_told_by_what_is_its_own_affair)
{
    setup(1, 1);
    plan.bulk = false;
    plan.operation = WEIR_OPERATION_UPDATE;
    start_warm();
    give(2);
    reply_each(flight(), RACE, WEIR_FAULT_NONE);
    ck_assert(executor.failing.since_us == rig.now_us); /* all parts failed */
    int64_t since_us = executor.failing.since_us;
    reply(flight_later(MINUTES(1)), verdict(WEIR_CLASS_UNSENT, WEIR_OUTCOME_NOT_EXECUTED, 0));
    ck_assert(executor.failing.since_us == since_us); /* what was not sent tells nothing */
    struct weir_load *load = flight_later(MINUTES(1));
    struct weir_report report = each(load);
    say(&report, 0, OTHER, WEIR_FAULT_NONE); /* it says no of a row: it is there */
    answer(load, report);
    ck_assert(executor.failing.since_us == WEIR_FOREVER);
    finish(1);
}
END_TEST

START_TEST(without_tracking_what_was_not_throttled_goes_again_at_once)
{
    setup(1, 1);
    start_warm();
    rig.core.resilience.enable_throttle_tracking = false;
    give(1);
    reply(flight(), verdict(WEIR_CLASS_UNSENT, WEIR_OUTCOME_NOT_EXECUTED, 0));
    reply(flight(), OK_);
    finish(0);
}
END_TEST

START_TEST(a_pool_that_is_shut_down_interrupts_the_job)
{
    setup(1, 1);
    start_warm();
    give(2);
    weir_core_shutdown(&rig.core, rig.now_us);
    ck_assert_ptr_null(boarding());
    ck_assert(executor.result.ends & WEIR_END_INTERRUPT);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 2);
    finish(5);
}
END_TEST

START_TEST(a_rate_near_nothing_waits_a_year_and_not_for_ever)
{
    setup(1, 4);
    plan.rows_per_second_max = 1e-12;
    start_warm();
    give(1);
    reply(flight(), OK_);
    give(1);
    ck_assert_ptr_null(boarding());
    ck_assert(weir_executor_next_us(&executor) == rig.now_us + 365 * WEIR_US_PER_DAY);
    rig.now_us += 365 * WEIR_US_PER_DAY;
    reply(flight(), OK_);
    finish(0);
}
END_TEST

/* --- ends ------------------------------------------------------------------------------------- */

START_TEST(what_had_no_token_as_the_job_stops_is_not_sent)
{
    setup(1, 1);
    start_warm();
    give(2);
    struct weir_load *load = boarding();
    ck_assert_ptr_nonnull(load);
    weir_executor_stop(&executor, WEIR_END_INTERRUPT, rig.now_us);
    weir_executor_unsent(&executor, load, WEIR_UNSENT_TRANSIENT, rig.now_us);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 2);
    finish(5);
}
END_TEST

/* What comes home after the journal has failed: a later run will not know of it. */
START_TEST(after_the_journal_failed_only_what_cannot_have_been_done_is_not_sent)
{
    setup(1, 4);
    plan.operation = WEIR_OPERATION_UPDATE;
    plan.bulk = false;
    start_warm();
    give(1); /* will be tainted */
    reply(flight(), SILENT);
    struct weir_load *tainted = flight_later(MINUTES(1));
    give(2);
    struct weir_load *fresh = flight();
    weir_executor_journal_failed(&executor, rig.now_us);
    reply_each(tainted, BAD, WEIR_FAULT_VALIDATION);
    struct weir_report report = each(fresh);
    say(&report, 1, BAD, WEIR_FAULT_VALIDATION);
    answer(fresh, report);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 2); /* the tainted one, the done one */
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 1);
    finish(7);
}
END_TEST

/* It was not sent, and will be looked at again by a run with a journal. */
START_TEST(a_row_with_nothing_to_do_that_comes_after_the_journal_failed_is_not_sent)
{
    setup(1, 1);
    start_warm();
    weir_executor_journal_failed(&executor, rig.now_us);
    struct weir_batch *batch = weir_calloc(1, sizeof(*batch));
    batch->serial = ++batches_made;
    batch->rows = weir_calloc(1, sizeof(*batch->rows));
    batch->row_count = 1;
    batch->rows[0].number = ++rows_made;
    batch->rows[0].idle = true;
    weir_executor_offer(&executor, batch, rig.now_us);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 1);
    finish(7);
}
END_TEST

/* What is said of rejected rows goes with the states; the batches themselves stay the reader's. */
START_TEST(an_executor_that_ends_half_way_lets_go_of_batches_it_did_not_hand_back)
{
    struct weir_batch *batches[2];
    setup(1, 2);
    start_warm();
    for (int i = 0; i < 2; i++) {
        give(1);
        struct weir_load *load = flight();
        batches[i] = load->batch;
        reply_fault(load, BAD, WEIR_FAULT_VALIDATION);
        reply_each(flight(), BAD, WEIR_FAULT_VALIDATION); /* by itself */
    }
    commit();
    ck_assert_uint_eq(batches_returned, 0);
    ck_assert_ptr_eq(executor.returns, batches[1]);
    for (int i = 0; i < 2; i++)
        ck_assert(batches[i]->blamed && batches[i]->states[0].error);
    weir_executor_release(&executor);
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_null(batches[i]->states);
        ck_assert_uint_eq(batches[i]->rows[0].number, 1 + i);
        take_back(batches[i]);
    }
    rig_release(&rig);
}
END_TEST

/* --- sizes ------------------------------------------------------------------------------------ */

START_TEST(what_tells_nothing_of_sizes_teaches_nothing)
{
    const struct weir_sizing_bounds bounds = { .rows_max = 1000,
                                               .shortest_us = 100000,
                                               .longest_us = WEIR_SIZING_LONGEST_US };
    char text[WEIR_SIZING_TEXT_MAX];
    struct weir_sizing sizing = { 0 };
    struct weir_sizing untouched = { 0 };
    weir_sizing_answer(&sizing, 0, 1000, &bounds);
    weir_sizing_answer(&sizing, 10, 0, &bounds);
    weir_sizing_answer(&sizing, 10, -5, &bounds);
    weir_sizing_too_big(&sizing, 1); /* one row cannot be made fewer */
    ck_assert(memcmp(&sizing, &untouched, sizeof(sizing)) == 0);
    weir_sizing_too_big(&sizing, 50);
    weir_sizing_too_big(&sizing, 80);
    ck_assert_uint_eq(sizing.too_many, 50);
    weir_sizing_too_big(&sizing, 20);
    ck_assert_uint_eq(sizing.too_many, 20);
    ck_assert(!weir_sizing_print(&sizing, text));
}
END_TEST

START_TEST(sizes_of_an_earlier_run_need_no_last_line_end)
{
    const struct weir_sizing_bounds bounds = { .rows_max = 1000,
                                               .shortest_us = 100000,
                                               .longest_us = WEIR_SIZING_LONGEST_US };
    struct weir_sizes sizes = { 0 };
    struct weir_sizes again = { 0 };
    struct weir_sizing *sizing = &sizes.of[WEIR_OPERATION_CREATE][WEIR_LOAD_BULK];
    for (uint32_t i = 0; i < 100; i++)
        weir_sizing_answer(sizing, 50 + i, 100000 + 1000 * (50 + i), &bounds);
    char text[WEIR_SIZES_TEXT_MAX];
    weir_sizes_print(&sizes, text);
    ck_assert(text[0] != '\0');
    for (size_t len = strlen(text); len && text[len - 1] == '\n'; len--)
        text[len - 1] = '\0';
    weir_sizes_parse(&again, text);
    ck_assert_uint_eq(again.of[WEIR_OPERATION_CREATE][WEIR_LOAD_BULK].most_rows, sizing->most_rows);
    ck_assert_uint_gt(sizing->most_rows, 0);
    weir_sizes_parse(&again, NULL);
}
END_TEST

/* An answer without the time of its first byte is measured by its end. */
START_TEST(without_a_first_byte_the_whole_time_counts)
{
    setup(1, 1);
    plan.adaptive = true;
    start_warm();
    give(1);
    struct weir_report report = whole(OK_, WEIR_FAULT_NONE);
    report.answer.duration_us = SECONDS(2);
    answer(flight(), report);
    const struct weir_sizing *sizing = &executor.sizes.of[plan.operation][WEIR_LOAD_BULK];
    ck_assert_uint_eq(sizing->answers, 1);
    ck_assert(sizing->typical_us > 1.9e6 && sizing->typical_us < 2.1e6);
    finish(0);
}
END_TEST

START_TEST(budgets_that_make_no_sense_leave_the_crossover_as_it_is)
{
    static const struct {
        bool requests_known;
        bool execution_known;
        int64_t requests;
        int64_t execution_us;
        bool heard;
    } cases[] = {
        { false, true, 6000, SECONDS(1200), false }, { true, false, 6000, SECONDS(1200), false },
        { true, true, 0, SECONDS(1200), false },     { true, true, 6000, 6000, false },
        { true, true, 2, SECONDS(1200), false },     { true, true, 6000, SECONDS(600), true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        setup(1, 1);
        plan.adaptive = true;
        start_warm();
        int64_t before_us = executor.crossover_us;
        give(1);
        struct weir_load *load = flight();
        rig.core.connections[0].requests_budget.known = cases[i].requests_known;
        rig.core.connections[0].requests_budget.most = cases[i].requests;
        rig.core.connections[0].execution_budget.known = cases[i].execution_known;
        rig.core.connections[0].execution_budget.most = cases[i].execution_us;
        reply(load, OK_);
        ck_assert_int_eq(executor.crossover_us, cases[i].heard ? SECONDS(0.1) : before_us);
        finish(0);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("executor_edges");
    suite_add(&s, a_read_back_that_fails_as_a_whole_never_decides_a_row);
    suite_add(&s, who_forbids_a_read_back_twice_leaves_its_rows_unknown);
    suite_add(&s, a_row_that_the_only_connection_may_not_see_is_unknown_at_once);
    suite_add(&s, a_row_that_two_connections_may_not_see_is_unknown);
    suite_add(&s, a_part_of_a_read_back_that_says_nothing_is_asked_again);
    suite_add(&s, a_read_back_is_not_sized);
    suite_add(&s, a_read_back_that_is_cancelled_can_execute_nothing_late);
    suite_add(&s, a_tainted_update_that_everybody_forbids_is_unknown);
    suite_add(&s, a_tainted_update_that_is_too_big_by_itself_is_rejected);
    suite_add(&s, one_row_that_was_too_big_and_perhaps_executed_is_not_rejected);
    suite_add(&s, what_was_too_big_and_perhaps_executed_is_halved_and_waits);
    suite_add(&s, a_part_whose_outcome_is_unknown_goes_again_whatever_it_says);
    suite_add(&s, a_single_request_that_fails_as_a_whole_with_its_outcome_unknown_goes_again);
    suite_add(&s, an_error_names_the_request_of_its_own_part_if_there_is_one);
    suite_add(&s, rows_of_two_files_are_in_two_receipts);
    suite_add(&s, a_load_that_is_tried_without_end_counts_no_further_than_it_can);
    suite_add(&s, whether_the_service_fails_is_told_by_what_is_its_own_affair);
    suite_add(&s, without_tracking_what_was_not_throttled_goes_again_at_once);
    suite_add(&s, a_pool_that_is_shut_down_interrupts_the_job);
    suite_add(&s, a_rate_near_nothing_waits_a_year_and_not_for_ever);
    suite_add(&s, what_had_no_token_as_the_job_stops_is_not_sent);
    suite_add(&s, after_the_journal_failed_only_what_cannot_have_been_done_is_not_sent);
    suite_add(&s, a_row_with_nothing_to_do_that_comes_after_the_journal_failed_is_not_sent);
    suite_add(&s, an_executor_that_ends_half_way_lets_go_of_batches_it_did_not_hand_back);
    suite_add(&s, what_tells_nothing_of_sizes_teaches_nothing);
    suite_add(&s, sizes_of_an_earlier_run_need_no_last_line_end);
    suite_add(&s, without_a_first_byte_the_whole_time_counts);
    suite_add(&s, budgets_that_make_no_sense_leave_the_crossover_as_it_is);
    return suite_run(&s);
}

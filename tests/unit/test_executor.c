/* SPDX-License-Identifier: MIT */
/* What becomes of rows: each kind of answer, each operation, tainted and not. */
#include "support/executor_rig.h"

/* A create whose first attempt ended in silence, answered by an error of the whole, or its own. */
static struct weir_load *tainted_create(enum weir_ids ids)
{
    setup(1, 4);
    plan.ids = ids;
    start_warm();
    give(1);
    reply(flight(), SILENT);
    reply_fault(flight_later(SECONDS(2)), BAD, WEIR_FAULT_DUPLICATE);
    return flight_later(SECONDS(11));
}

START_TEST(a_success_is_done_once_it_is_committed)
{
    setup(1, 1);
    start();
    give(10);
    reply_each(flight(), OK_, WEIR_FAULT_NONE);
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[10], WEIR_FATE_DONE);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_DONE), 0);
    weir_executor_committed(&executor, last_record, rig.now_us);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_DONE), 10);
    finish(0);
}
END_TEST

START_TEST(a_throttled_load_goes_again_elsewhere_at_once_however_often)
{
    setup(2, 4);
    start_warm();
    give(10);
    for (int i = 0; i < 500; i++) {
        struct weir_load *load = flight_later(SECONDS(20));
        ck_assert_uint_eq(load->row_count, 10);
        ck_assert_int_eq(load->mode, WEIR_LOAD_BULK);
        reply(load, THROTTLED);
    }
    reply(flight_later(SECONDS(20)), OK_);
    ck_assert_uint_eq(executor.result.connections[0].throttles, 250);
    finish(0);
}
END_TEST

START_TEST(a_throttle_leaves_the_other_connection_at_work)
{
    setup(2, 1);
    start_warm();
    give(1);
    give(1);
    struct weir_load *first = flight();
    reply(first, THROTTLED);
    struct weir_load *again = flight(); /* on the other one, at the same moment */
    ck_assert_uint_eq(again->batch->serial, 1);
    reply(again, OK_);
    reply(flight(), OK_);
    finish(0);
}
END_TEST

START_TEST(a_failure_that_passes_waits_longer_each_time_and_is_given_up_as_not_sent)
{
    setup(1, 1);
    start_warm();
    give(3);
    int64_t begun_us = rig.now_us;
    int64_t last_us = 0;
    int requests = 0;
    struct weir_load *load;
    while (rig.now_us - begun_us < MINUTES(10)) {
        int64_t from_us = rig.now_us;
        load = flight_later(SECONDS(31));
        int64_t waited_us = rig.now_us - from_us;
        ck_assert(requests == 0 || waited_us >= MS(500));
        ck_assert(waited_us <= SECONDS(30));
        ck_assert(waited_us * 4 >= last_us || waited_us >= SECONDS(15));
        last_us = waited_us;
        requests++;
        reply(load, BUSY);
    }
    ck_assert_int_lt(requests, 50);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 3);
    finish(6);
}
END_TEST

START_TEST(rows_whose_outcome_is_unknown_are_unknown_when_they_are_given_up)
{
    setup(1, 1);
    start_warm();
    give(3);
    int64_t begun_us = rig.now_us;
    reply(flight(), SILENT);
    while (rig.now_us - begun_us < MINUTES(10))
        reply(flight_later(SECONDS(31)), BUSY);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 3);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_REJECTED), 0);
    finish(8);
}
END_TEST

START_TEST(a_race_waits_two_seconds_at_most)
{
    setup(1, 1);
    start_warm();
    give(3);
    for (int i = 0; i < 50; i++) {
        int64_t from_us = rig.now_us;
        reply(flight_later(SECONDS(2)), RACE);
        ck_assert(i == 0 || rig.now_us - from_us >= MS(250));
    }
    reply(flight_later(SECONDS(2)), OK_);
    finish(0);
}
END_TEST

/* Counted apart: it neither ends the row of failures nor is it one. */
START_TEST(a_throttle_in_between_does_not_start_the_time_for_giving_up_anew)
{
    setup(1, 1);
    start_warm();
    give(1);
    int64_t begun_us = rig.now_us, throttled_us = 0;
    for (int i = 0; i < 1000 && rows_that_are(WEIR_FATE_NOT_SENT) == 0; i++) {
        int64_t before_us = rig.now_us;
        struct weir_load *load = flight_later(MINUTES(1));
        throttled_us += i % 10 == 1 ? rig.now_us - before_us : 0; /* for what was just throttled */
        reply(load, i % 10 ? BUSY : THROTTLED);
    }
    int64_t failing_us = rig.now_us - begun_us - throttled_us;
    ck_assert(failing_us >= MINUTES(10) && failing_us < MINUTES(11));
    finish(6);
}
END_TEST

START_TEST(an_id_is_read_back_ten_seconds_after_the_last_unknown_attempt)
{
    setup(1, 4);
    start_warm();
    give(1);
    struct weir_load *load = flight();
    rig.now_us += SECONDS(3);
    reply(load, SILENT);
    int64_t unknown_us = rig.now_us;
    reply_fault(flight_later(SECONDS(2)), BAD, WEIR_FAULT_DUPLICATE);
    load = flight_later(SECONDS(11));
    ck_assert_int_eq(load->mode, WEIR_LOAD_READ_BACK);
    ck_assert(rig.now_us >= unknown_us + SECONDS(10));
    reply_presence(load, WEIR_PRESENCE_PRESENT, 0);
    finish(0);
}
END_TEST

static const enum weir_fault_kind any_errors[] = {
    WEIR_FAULT_DUPLICATE, WEIR_FAULT_PLUGIN, WEIR_FAULT_VALIDATION, WEIR_FAULT_NONE, WEIR_FAULT_SQL,
};

START_TEST(no_error_rejects_a_tainted_create_before_its_id_was_read_back)
{
    enum weir_fault_kind fault = any_errors[_i];
    setup(1, 4);
    start_warm();
    give(2);
    reply(flight(), SILENT);
    struct weir_load *load = flight_later(SECONDS(2));
    if (fault == WEIR_FAULT_NONE)
        reply(load, TOO_BIG); /* halves; each is too big by itself */
    else
        reply_fault(load, BAD, fault);
    while ((load = flight_later(SECONDS(15)))->mode != WEIR_LOAD_READ_BACK)
        reply(load, TOO_BIG);
    ck_assert_uint_eq(executor.rejected, 0);
    reply_presence(load, WEIR_PRESENCE_PRESENT, 0);
    if (executor.live_count && executor.live[0]->open_rows)
        reply_presence(flight_later(SECONDS(15)), WEIR_PRESENCE_PRESENT, 0);
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[1], WEIR_FATE_DONE);
    ck_assert_int_eq(fates[2], WEIR_FATE_DONE);
    finish(0);
}
END_TEST

START_TEST(absent_after_an_error_of_the_whole_goes_on_by_itself)
{
    struct weir_load *load = tainted_create(WEIR_IDS_MADE);
    reply_presence(load, WEIR_PRESENCE_ABSENT, 0);
    load = flight();
    ck_assert_int_eq(load->mode, WEIR_LOAD_SINGLES);
    reply_each(load, OK_, WEIR_FAULT_NONE);
    finish(0);
}
END_TEST

START_TEST(absent_after_an_error_of_its_own_is_rejected_with_it)
{
    struct weir_load *load = tainted_create(WEIR_IDS_MADE);
    reply_presence(load, WEIR_PRESENCE_ABSENT, 0);
    load = flight();
    reply_each(load, BAD, WEIR_FAULT_DUPLICATE); /* no longer tainted: believed */
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[1], WEIR_FATE_REJECTED);
    ck_assert_str_eq(messages[1], "exists already: its own words");
    finish(1);
}
END_TEST

START_TEST(an_own_error_on_a_tainted_create_stands_if_the_row_is_absent)
{
    setup(1, 4);
    plan.bulk = false;
    start();
    give(2);
    struct weir_load *load = flight();
    reply(load, SILENT);
    load = flight_later(SECONDS(2));
    struct weir_report report = each(load);
    say(&report, 1, BAD, WEIR_FAULT_VALIDATION);
    answer(load, report);
    load = flight_later(SECONDS(11));
    ck_assert_uint_eq(load->row_count, 1);
    reply_presence(load, WEIR_PRESENCE_ABSENT, 0);
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[1], WEIR_FATE_DONE);
    ck_assert_int_eq(fates[2], WEIR_FATE_REJECTED);
    ck_assert_str_eq(messages[2], "its own words");
    finish(1);
}
END_TEST

START_TEST(forbidden_is_not_absent)
{
    struct weir_load *load = tainted_create(WEIR_IDS_MADE);
    reply_presence(load, WEIR_PRESENCE_FORBIDDEN, 0);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 1);
    finish(8);
}
END_TEST

START_TEST(a_given_id_is_ours_only_if_it_was_created_since_the_job_began)
{
    struct weir_load *load = tainted_create(WEIR_IDS_GIVEN);
    bool ours = _i == 1;
    reply_presence(load, WEIR_PRESENCE_PRESENT, plan.job_begun_wall_us - (ours ? 0 : SECONDS(1)));
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[1], ours ? WEIR_FATE_DONE : WEIR_FATE_REJECTED);
    if (!ours)
        ck_assert_str_eq(messages[1], "exists already");
    finish(ours ? 0 : 1);
}
END_TEST

START_TEST(a_derived_id_that_is_older_is_skipped)
{
    bool tainted = _i == 1;
    struct weir_load *load;
    if (tainted) {
        load = tainted_create(WEIR_IDS_DERIVED);
    } else {
        setup(1, 4);
        plan.ids = WEIR_IDS_DERIVED;
        start_warm();
        give(1);
        reply_fault(flight(), BAD, WEIR_FAULT_DUPLICATE);
        load = flight(); /* nothing to wait for */
    }
    reply_presence(load, WEIR_PRESENCE_PRESENT, plan.job_begun_wall_us - SECONDS(1000));
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[1], WEIR_FATE_SKIPPED);
    finish(0);
}
END_TEST

/* The row is there from the second in which the job began; `created_us` into it. */
static void find_as_it_began(uint32_t rows, int64_t created_us)
{
    reply_fault(flight(), BAD, WEIR_FAULT_DUPLICATE);
    for (uint32_t i = 0; i < rows; i++)
        reply_presence(flight(), WEIR_PRESENCE_PRESENT, plan.job_begun_wall_us + created_us);
}

START_TEST(a_derived_id_of_the_second_in_which_the_job_began_is_skipped)
{
    setup(1, 4);
    plan.ids = WEIR_IDS_DERIVED;
    plan.job_begun_wall_us += SECONDS(1) / 2;
    start_warm();
    rig.now_us += _i * SECONDS(1); /* the row may leave while it lasts, or later */
    give_key(1, 77);
    find_as_it_began(1, -SECONDS(1) / 2);
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[1], WEIR_FATE_SKIPPED);
    finish(0);
}
END_TEST

START_TEST(a_derived_id_that_a_row_further_up_has_is_no_earlier_jobs)
{
    setup(1, 4);
    plan.ids = WEIR_IDS_DERIVED;
    start_warm();
    uint64_t first = give_key(1, 77);
    reply(flight(), OK_);
    rig.now_us += _i * SECONDS(1);
    give_key_after(1, 77, first);
    find_as_it_began(1, 0);
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[1], WEIR_FATE_DONE);
    ck_assert_int_eq(fates[2], WEIR_FATE_REJECTED);
    ck_assert_str_eq(messages[2], "exists already");
    finish(1);
}
END_TEST

START_TEST(of_two_rows_that_an_earlier_job_has_both_are_skipped)
{
    setup(1, 4);
    plan.ids = WEIR_IDS_DERIVED;
    start_warm();
    uint64_t first = give_key(1, 77);
    find_as_it_began(1, 0);
    ck_assert_ptr_null(boarding());
    rig.now_us += SECONDS(5);
    give_key_after(1, 77, first);
    find_as_it_began(1, 0);
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[1], WEIR_FATE_SKIPPED);
    ck_assert_int_eq(fates[2], WEIR_FATE_SKIPPED);
    finish(0);
}
END_TEST

START_TEST(a_derived_id_of_a_later_second_exists_already)
{
    setup(1, 4);
    plan.ids = WEIR_IDS_DERIVED;
    start_warm();
    give_key(1, 77);
    find_as_it_began(1, SECONDS(1));
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[1], WEIR_FATE_REJECTED);
    finish(1);
}
END_TEST

START_TEST(more_first_rows_than_are_remembered_exist_already)
{
    setup(1, 4);
    plan.ids = WEIR_IDS_DERIVED;
    start_warm();
    for (uint64_t i = 0; i < WEIR_FIRST_ROWS_MAX - (uint64_t)_i; i++)
        weir_table64_set(&executor.first_rows, 1000 + i, 1000 + i);
    give_key(1, 77);
    find_as_it_began(1, 0);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(executor.first_rows.count, WEIR_FIRST_ROWS_MAX);
    ck_assert_int_eq(fates[1], WEIR_FATE_REJECTED);
    finish(1);
}
END_TEST

START_TEST(in_a_resumed_run_every_row_is_tainted)
{
    setup(1, 4);
    plan.tainted_through = 2;
    start_warm();
    give(2);
    reply_fault(flight(), BAD, WEIR_FAULT_DUPLICATE);
    ck_assert_ptr_null(try_flight());
    struct weir_load *load = flight_later(SECONDS(10));
    reply_presence(load, WEIR_PRESENCE_PRESENT, 0);
    finish(0);
}
END_TEST

START_TEST(a_tainted_update_is_rejected_only_for_what_would_have_been_so_before)
{
    static const struct {
        enum weir_fault_kind fault;
        bool rejected;
    } cases[] = { { WEIR_FAULT_VALIDATION, true },
                  { WEIR_FAULT_NOT_FOUND, true },
                  { WEIR_FAULT_PLUGIN, false },
                  { WEIR_FAULT_DUPLICATE, false } };
    setup(1, 4);
    plan.operation = _i % 2 ? WEIR_OPERATION_UPDATE : WEIR_OPERATION_UPSERT;
    plan.bulk = false;
    start();
    give(1);
    reply(flight(), SILENT);
    reply_each(flight_later(SECONDS(2)), BAD, cases[_i / 2].fault);
    if (cases[_i / 2].rejected) {
        ck_assert_ptr_null(boarding());
        ck_assert_int_eq(fates[1], WEIR_FATE_REJECTED);
        finish(1);
    } else {
        reply_each(flight_later(MINUTES(5)), OK_, WEIR_FAULT_NONE);
        finish(0);
    }
}
END_TEST

/* Neither sooner nor later, and however little time there is for failures that pass. */
START_TEST(a_refusal_of_a_tainted_row_stands_once_nothing_can_be_under_way)
{
    static const enum weir_operation operations[] = { WEIR_OPERATION_UPDATE, WEIR_OPERATION_UPSERT,
                                                      WEIR_OPERATION_DELETE };
    setup(1, 4);
    plan.operation = operations[_i / 2];
    plan.bulk = false;
    plan.max_retry_time_us = MINUTES(1);
    plan.tainted_through = _i % 2; /* by a run before this one, or by this one */
    start();
    int64_t unknown_us = rig.now_us;
    give(2);
    if (!plan.tainted_through)
        reply(flight(), SILENT);
    reply_each(flight_later(SECONDS(2)), BAD, WEIR_FAULT_PLUGIN);
    ck_assert_uint_eq(executor.rejected, plan.tainted_through ? 1 : 0); /* what is not tainted */
    struct weir_load *load = flight_later(MINUTES(5));
    ck_assert(rig.now_us == unknown_us + plan.late_us);
    rig.now_us += SECONDS(1);
    reply_each(load, BAD, WEIR_FAULT_PLUGIN);
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[1], WEIR_FATE_REJECTED);
    ck_assert_int_eq(fates[2], WEIR_FATE_REJECTED);
    ck_assert_str_eq(messages[1], "its own words");
    finish(1);
}
END_TEST

START_TEST(what_was_sent_before_it_was_clear_is_not_believed)
{
    setup(1, 4);
    plan.operation = WEIR_OPERATION_UPDATE;
    plan.bulk = false;
    start();
    give(1);
    reply(flight(), SILENT);
    struct weir_load *load = flight_later(SECONDS(2));
    rig.now_us += MINUTES(6); /* a slow one */
    reply_each(load, BAD, WEIR_FAULT_PLUGIN);
    ck_assert_uint_eq(executor.rejected, 0);
    reply_each(flight(), OK_, WEIR_FAULT_NONE); /* at once, as the time is over */
    finish(0);
}
END_TEST

/* An empty 404 of a gateway: no row is absent, none is bad. */
START_TEST(a_whole_answer_that_blames_nobody_neither_ends_nor_rejects_a_row)
{
    setup(1, 4);
    plan.operation = _i ? WEIR_OPERATION_DELETE : WEIR_OPERATION_UPDATE;
    plan.bulk = false;
    start();
    give(3);
    int64_t begun_us = rig.now_us;
    while (executor.live_count && rig.now_us - begun_us < MINUTES(30)) {
        struct weir_load *load = try_flight();
        if (load)
            reply(load, OTHER);
        else if (executor.live_count)
            rig.now_us = weir_executor_next_us(&executor);
    }
    ck_assert(rig.now_us - begun_us >= plan.max_retry_time_us);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 3);
    finish(10);
}
END_TEST

START_TEST(a_read_back_whose_whole_answer_blames_nobody_is_asked_again)
{
    struct weir_load *load = tainted_create(WEIR_IDS_MADE);
    reply(load, OTHER);
    reply_presence(flight_later(SECONDS(2)), WEIR_PRESENCE_PRESENT, 0);
    finish(0);
}
END_TEST

START_TEST(a_delete_that_finds_nothing_is_done_and_counted_apart)
{
    setup(1, 4);
    plan.operation = WEIR_OPERATION_DELETE;
    plan.bulk = false;
    start();
    give(2);
    struct weir_load *load = flight();
    struct weir_report report = each(load);
    say(&report, 0, verdict(WEIR_CLASS_BAD_ROWS, WEIR_OUTCOME_NOT_EXECUTED, 404),
        WEIR_FAULT_NOT_FOUND);
    answer(load, report);
    commit();
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_ABSENT), 1);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_DONE), 1);
    finish(0);
}
END_TEST

START_TEST(a_bulk_message_with_a_bad_row_goes_once_as_single_requests)
{
    setup(1, 4);
    start_warm();
    give(100);
    reply_fault(flight(), BAD, WEIR_FAULT_VALIDATION);
    struct weir_load *load = flight();
    ck_assert_int_eq(load->mode, WEIR_LOAD_SINGLES);
    ck_assert_uint_eq(load->row_count, 100);
    struct weir_report report = each(load);
    say(&report, 41, BAD, WEIR_FAULT_VALIDATION);
    answer(load, report);
    commit();
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_DONE), 99);
    ck_assert_int_eq(fates[42], WEIR_FATE_REJECTED);
    ck_assert_str_eq(messages[42], "its own words");
    ck_assert_uint_eq(executor.result.requests, 2);
    finish(1);
}
END_TEST

START_TEST(a_single_row_in_a_bulk_message_is_not_blamed_for_the_message)
{
    setup(1, 4);
    start_warm();
    give(1);
    reply(flight(), BAD);
    struct weir_load *load = flight();
    ck_assert_int_eq(load->mode, WEIR_LOAD_SINGLES);
    reply_each(load, OK_, WEIR_FAULT_NONE);
    finish(0);
}
END_TEST

START_TEST(when_more_than_one_in_twenty_is_bad_rows_go_straight_as_single_requests)
{
    setup(1, 1);
    start_warm();
    int bulk = 0;
    for (int i = 0; i < 200; i++) {
        give(5);
        struct weir_load *load = flight();
        bool bad = i < 60; /* then the input gets better */
        if (load->mode == WEIR_LOAD_BULK) {
            bulk += bad;
            if (!bad) {
                reply(load, OK_);
                continue;
            }
            reply_fault(load, BAD, WEIR_FAULT_VALIDATION);
            load = flight();
        }
        struct weir_report report = each(load);
        if (bad)
            say(&report, 2, BAD, WEIR_FAULT_VALIDATION);
        answer(load, report);
    }
    ck_assert_int_eq(bulk, 2);
    give(5);
    struct weir_load *load = flight();
    ck_assert_int_eq(load->mode, WEIR_LOAD_BULK);
    reply(load, OK_);
    finish(1);
}
END_TEST

START_TEST(what_is_too_big_is_halved_and_one_row_is_rejected)
{
    setup(1, 1);
    start_warm();
    give(8);
    int requests = 0;
    struct weir_load *load;
    while ((load = try_flight())) { /* row 3 alone is too big */
        bool has = weir_load_row(load, 0)->number <= 3 &&
                   weir_load_row(load, load->row_count - 1)->number >= 3;
        reply(load, has ? TOO_BIG : OK_);
        requests++;
    }
    ck_assert_int_eq(requests, 7);
    ck_assert_int_eq(fates[3], WEIR_FATE_REJECTED);
    commit();
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_DONE), 7);
    finish(1);
}
END_TEST

START_TEST(what_timed_out_is_halved_and_one_row_waits)
{
    setup(1, 4);
    start_warm();
    give(2);
    struct weir_report timed_out = whole(SILENT, WEIR_FAULT_NONE);
    timed_out.timed_out = true;
    answer(flight(), timed_out);
    ck_assert_ptr_null(try_flight());
    struct weir_load *first = flight_later(SECONDS(2));
    ck_assert_uint_eq(first->row_count, 1);
    answer(first, timed_out);
    reply(flight_later(SECONDS(2)), OK_);
    ck_assert_ptr_null(try_flight());
    reply(flight_later(SECONDS(3)), OK_);
    finish(0);
}
END_TEST

START_TEST(a_table_without_the_message_is_served_by_single_requests_from_then_on)
{
    setup(1, 4);
    plan.singles_max = 7;
    start();
    give(20);
    reply_fault(flight(), OTHER, _i ? WEIR_FAULT_UNSUPPORTED : WEIR_FAULT_BULK_DISABLED);
    give(20);
    uint32_t rows = 0;
    struct weir_load *load;
    while ((load = try_flight())) {
        ck_assert_int_eq(load->mode, WEIR_LOAD_SINGLES);
        ck_assert_uint_le(load->row_count, 7);
        rows += load->row_count;
        reply_each(load, OK_, WEIR_FAULT_NONE);
    }
    ck_assert_uint_eq(rows, 40);
    finish(0);
}
END_TEST

START_TEST(single_requests_that_take_half_a_minute_become_fewer)
{
    setup(1, 4);
    plan.bulk = false;
    start();
    give(20);
    struct weir_load *load = flight();
    struct weir_report report = each(load);
    report.answer.duration_us = SECONDS(31);
    answer(load, report);
    give(20);
    load = flight();
    ck_assert_uint_eq(load->row_count, 10);
    reply_each(load, OK_, WEIR_FAULT_NONE);
    reply_each(flight(), OK_, WEIR_FAULT_NONE);
    finish(0);
}
END_TEST

START_TEST(rows_that_a_batch_answer_leaves_out_are_tainted_and_go_again)
{
    setup(1, 4);
    plan.bulk = false;
    start();
    give(3);
    struct weir_load *load = flight();
    struct weir_report report = each(load);
    say(&report, 2, SILENT, WEIR_FAULT_NONE);
    answer(load, report);
    load = flight_later(SECONDS(2));
    ck_assert_uint_eq(load->row_count, 1);
    ck_assert(weir_load_state(load, 0)->tainted);
    reply_each(load, OK_, WEIR_FAULT_NONE);
    finish(0);
}
END_TEST

START_TEST(of_an_elastic_table_only_the_rows_that_failed_go_on)
{
    setup(1, 4);
    plan.elastic = true;
    start_warm();
    give(4);
    struct weir_load *load = flight();
    struct weir_report report = each(load);
    say(&report, 0, THROTTLED, WEIR_FAULT_THROTTLE);
    say(&report, 1, BAD, WEIR_FAULT_NONE);
    report.items[1].message = NULL;
    report.answer.verdict = THROTTLED;
    answer(load, report);
    struct weir_load *again = flight_later(SECONDS(10));
    ck_assert_int_eq(again->mode, WEIR_LOAD_BULK);
    ck_assert_uint_eq(again->row_count, 1);
    reply(again, OK_);
    struct weir_load *alone = flight(); /* no word on why: asked by itself */
    ck_assert_int_eq(alone->mode, WEIR_LOAD_SINGLES);
    reply_each(alone, BAD, WEIR_FAULT_VALIDATION);
    ck_assert_ptr_null(boarding());
    ck_assert_str_eq(messages[2], "its own words");
    finish(1);
}
END_TEST

START_TEST(what_fails_as_a_whole_on_an_elastic_table_may_have_begun)
{
    setup(1, 4);
    plan.elastic = true;
    start_warm();
    give(2);
    reply_fault(flight(), BAD, WEIR_FAULT_VALIDATION);
    ck_assert_ptr_null(try_flight());
    reply_presence(flight_later(SECONDS(10)), WEIR_PRESENCE_PRESENT, 0);
    finish(0);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("executor");
    suite_add(&s, a_success_is_done_once_it_is_committed);
    suite_add(&s, a_throttled_load_goes_again_elsewhere_at_once_however_often);
    suite_add(&s, a_throttle_leaves_the_other_connection_at_work);
    suite_add(&s, a_failure_that_passes_waits_longer_each_time_and_is_given_up_as_not_sent);
    suite_add(&s, rows_whose_outcome_is_unknown_are_unknown_when_they_are_given_up);
    suite_add(&s, a_race_waits_two_seconds_at_most);
    suite_add(&s, a_throttle_in_between_does_not_start_the_time_for_giving_up_anew);
    suite_add(&s, an_id_is_read_back_ten_seconds_after_the_last_unknown_attempt);
    suite_add_loop(&s, "no_error_rejects_a_tainted_create_before_its_id_was_read_back",
                   no_error_rejects_a_tainted_create_before_its_id_was_read_back, 5);
    suite_add(&s, absent_after_an_error_of_the_whole_goes_on_by_itself);
    suite_add(&s, absent_after_an_error_of_its_own_is_rejected_with_it);
    suite_add(&s, an_own_error_on_a_tainted_create_stands_if_the_row_is_absent);
    suite_add(&s, forbidden_is_not_absent);
    suite_add_loop(&s, "a_given_id_is_ours_only_if_it_was_created_since_the_job_began",
                   a_given_id_is_ours_only_if_it_was_created_since_the_job_began, 2);
    suite_add_loop(&s, "a_derived_id_that_is_older_is_skipped",
                   a_derived_id_that_is_older_is_skipped, 2);
    suite_add_loop(&s, "a_derived_id_of_the_second_in_which_the_job_began_is_skipped",
                   a_derived_id_of_the_second_in_which_the_job_began_is_skipped, 4);
    suite_add_loop(&s, "a_derived_id_that_a_row_further_up_has_is_no_earlier_jobs",
                   a_derived_id_that_a_row_further_up_has_is_no_earlier_jobs, 4);
    suite_add(&s, of_two_rows_that_an_earlier_job_has_both_are_skipped);
    suite_add(&s, a_derived_id_of_a_later_second_exists_already);
    suite_add_loop(&s, "more_first_rows_than_are_remembered_exist_already",
                   more_first_rows_than_are_remembered_exist_already, 2);
    suite_add(&s, in_a_resumed_run_every_row_is_tainted);
    suite_add_loop(&s, "a_tainted_update_is_rejected_only_for_what_would_have_been_so_before",
                   a_tainted_update_is_rejected_only_for_what_would_have_been_so_before, 8);
    suite_add_loop(&s, "a_refusal_of_a_tainted_row_stands_once_nothing_can_be_under_way",
                   a_refusal_of_a_tainted_row_stands_once_nothing_can_be_under_way, 6);
    suite_add(&s, what_was_sent_before_it_was_clear_is_not_believed);
    suite_add_loop(&s, "a_whole_answer_that_blames_nobody_neither_ends_nor_rejects_a_row",
                   a_whole_answer_that_blames_nobody_neither_ends_nor_rejects_a_row, 2);
    suite_add(&s, a_read_back_whose_whole_answer_blames_nobody_is_asked_again);
    suite_add(&s, a_delete_that_finds_nothing_is_done_and_counted_apart);
    suite_add(&s, a_bulk_message_with_a_bad_row_goes_once_as_single_requests);
    suite_add(&s, a_single_row_in_a_bulk_message_is_not_blamed_for_the_message);
    suite_add(&s, when_more_than_one_in_twenty_is_bad_rows_go_straight_as_single_requests);
    suite_add(&s, what_is_too_big_is_halved_and_one_row_is_rejected);
    suite_add(&s, what_timed_out_is_halved_and_one_row_waits);
    suite_add_loop(&s, "a_table_without_the_message_is_served_by_single_requests_from_then_on",
                   a_table_without_the_message_is_served_by_single_requests_from_then_on, 2);
    suite_add(&s, single_requests_that_take_half_a_minute_become_fewer);
    suite_add(&s, rows_that_a_batch_answer_leaves_out_are_tainted_and_go_again);
    suite_add(&s, of_an_elastic_table_only_the_rows_that_failed_go_on);
    suite_add(&s, what_fails_as_a_whole_on_an_elastic_table_may_have_begun);
    return suite_run(&s);
}

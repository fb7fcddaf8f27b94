/* SPDX-License-Identifier: MIT */
/* Which load goes when and where, what bounds it, and how a run comes to its end. */
#include "support/executor_rig.h"

/* As many as want to leave now. */
static uint32_t flights(struct weir_load **loads)
{
    uint32_t count = 0;
    while ((loads[count] = try_flight()))
        count++;
    return count;
}

START_TEST(until_a_bulk_message_has_succeeded_one_is_in_flight)
{
    struct weir_load *loads[16];
    setup(2, 4);
    start();
    for (int i = 0; i < 6; i++)
        give(1);
    ck_assert_uint_eq(flights(loads), 1);
    reply(loads[0], RACE);
    rig.now_us += SECONDS(2);
    ck_assert_uint_eq(flights(loads), 1);
    reply(loads[0], OK_);
    ck_assert_uint_eq(flights(loads), 5);
    for (int i = 0; i < 5; i++)
        reply(loads[i], OK_);
    finish(0);
}
END_TEST

/* What waits in line, for its turn or for a token is not on its way. */
START_TEST(rows_in_flight_are_those_that_were_sent_and_not_answered)
{
    struct weir_load *loads[16];
    setup(2, 2);
    start_warm();
    for (int i = 0; i < 6; i++)
        give(3);
    ck_assert_uint_eq(weir_loads_flying_rows(&executor.loads), 0);
    ck_assert_uint_eq(flights(loads), 4);
    ck_assert_uint_eq(weir_loads_flying_rows(&executor.loads), 12);
    reply(loads[1], TOO_BIG);
    ck_assert_uint_eq(weir_loads_flying_rows(&executor.loads), 9);
    loads[1] = flight();
    ck_assert_uint_eq(weir_loads_flying_rows(&executor.loads), 9 + loads[1]->row_count);
    for (int i = 0; i < 4; i++)
        reply(loads[i], OK_);
    ck_assert_uint_eq(weir_loads_flying_rows(&executor.loads), 0);
    for (struct weir_load *load; (load = try_flight());)
        reply(load, OK_);
    finish(0);
}
END_TEST

/* A policy may hurry with a job that is nearly done. */
START_TEST(the_pool_knows_how_much_is_left_when_the_input_has_ended)
{
    struct weir_load *loads[16];
    setup(2, 2);
    start_warm();
    for (int i = 0; i < 9; i++)
        give(3);
    ck_assert_uint_eq(flights(loads), 4);
    ck_assert_uint_eq(rig.core.left, 0);
    weir_executor_end_of_input(&executor, rig.now_us);
    reply(loads[0], OK_);
    loads[0] = flight();
    ck_assert_uint_eq(rig.core.left, 5); /* when it was asked for, the one that went included */
    for (int i = 0; i < 4; i++)
        reply(loads[i], OK_);
    for (struct weir_load *load; (load = try_flight());)
        reply(load, OK_);
    finish(0);
}
END_TEST

/* Without a bulk message each load is several requests. */
START_TEST(what_is_left_is_counted_in_requests)
{
    struct weir_load *loads[16];
    setup(1, 1);
    plan.bulk = false;
    start_warm();
    for (int i = 0; i < 3; i++)
        give(60); /* three times twenty */
    weir_executor_end_of_input(&executor, rig.now_us);
    ck_assert_uint_eq(flights(loads), 1);
    ck_assert_uint_eq(loads[0]->row_count, 20);
    ck_assert_uint_eq(rig.core.left, 9);
    reply(loads[0], OK_);
    for (struct weir_load *load; (load = try_flight());)
        reply(load, OK_);
    finish(0);
}
END_TEST

START_TEST(retries_and_splits_go_before_new_batches_and_those_in_their_order)
{
    setup(1, 1);
    start_warm();
    give(4);
    give(4);
    give(4);
    reply(flight(), TOO_BIG);
    struct weir_load *load = flight();
    ck_assert_uint_eq(load->batch->serial, 1);
    ck_assert_uint_eq(weir_load_row(load, 0)->number, 1);
    reply(load, OK_);
    load = flight();
    ck_assert_uint_eq(weir_load_row(load, 0)->number, 3);
    reply(load, OK_);
    load = flight();
    ck_assert_uint_eq(load->batch->serial, 2);
    reply(load, OK_);
    reply(flight(), OK_);
    finish(0);
}
END_TEST

START_TEST(retries_of_failures_are_at_most_one_flight_in_five)
{
    struct weir_load *loads[64];
    setup(4, 5);
    start_warm();
    for (int i = 0; i < 36; i++)
        give(1);
    uint32_t count = flights(loads);
    ck_assert_uint_eq(count, 20);
    for (uint32_t i = 0; i < count; i++)
        reply(loads[i], BUSY);
    rig.now_us += SECONDS(2); /* all have waited long enough */
    count = flights(loads);
    ck_assert_uint_ge(count, 16); /* the new ones do not stand behind them */
    uint32_t retries = 0;
    for (uint32_t i = 0; i < count; i++)
        retries += weir_load_is_retry(loads[i]);
    ck_assert_uint_ge(retries, 1);
    ck_assert_uint_le(retries, 4);
    for (uint32_t i = 0; i < count; i++)
        reply(loads[i], OK_);
    while ((count = flights(loads))) { /* alone: one at a time */
        ck_assert_uint_eq(count, 1);
        reply(loads[0], OK_);
    }
    finish(0);
}
END_TEST

START_TEST(a_lease_that_went_stale_puts_the_load_back_in_line)
{
    setup(2, 2);
    start_warm();
    give(1);
    give(1);
    struct weir_load *first = flight();
    struct weir_load *other = boarding();
    uint32_t connection = other->lease.connection;
    ck_assert_uint_ne(connection, first->lease.connection);
    weir_core_set_aside(&rig.core, connection, rig.now_us);
    ck_assert_int_eq(weir_executor_begin(&executor, other, rig.now_us), WEIR_E_STALE_LEASE);
    other = flight();
    ck_assert_uint_eq(other->batch->serial, 2);
    ck_assert_uint_eq(other->lease.connection, first->lease.connection);
    reply(first, OK_);
    reply(other, OK_);
    finish(0);
}
END_TEST

/* --- repeats --- */

START_TEST(without_tracking_only_the_load_that_was_throttled_waits)
{
    setup(2, 4);
    rig.core.resilience.enable_throttle_tracking = false;
    rig.core.resilience.retry_after_buffer_us = SECONDS(1);
    start_warm();
    give(10);
    reply(flight(), THROTTLED);
    ck_assert_ptr_null(try_flight());
    give(3);
    reply(flight(), OK_); /* whichever connection it was */
    rig.now_us += SECONDS(6) - 1;
    ck_assert_ptr_null(try_flight());
    rig.now_us += 1;
    struct weir_load *load = flight();
    struct weir_report report = each(load);
    say(&report, 4, THROTTLED, WEIR_FAULT_NONE);
    report.items[4].verdict.retry_after_us = -1;
    answer(load, report);
    ck_assert_int_eq(weir_executor_next_us(&executor),
                     rig.now_us + rig.core.resilience.fallback_retry_after_us + SECONDS(1));
    reply(flight_later(MINUTES(1)), OK_);
    finish(0);
}
END_TEST

START_TEST(a_repeated_key_waits_for_its_predecessor)
{
    setup(1, 4);
    start_warm();
    uint64_t first = give(1);
    give_after(1, first);
    struct weir_load *load = flight();
    ck_assert_ptr_null(try_flight());
    reply(load, OK_);
    load = flight();
    ck_assert_uint_eq(load->batch->serial, 2);
    reply(load, OK_);
    finish(0);
}
END_TEST

START_TEST(a_repeated_key_waits_until_nothing_can_arrive_late)
{
    setup(1, 4);
    plan.operation = WEIR_OPERATION_UPDATE;
    start_warm();
    uint64_t first = give(1);
    reply(flight(), SILENT);
    int64_t unknown_us = rig.now_us;
    reply(flight_later(SECONDS(2)), OK_);
    commit(); /* the first batch is gone; what it left behind is not */
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(batches_returned, 1);
    give_after(1, first);
    struct weir_load *load = flight_later(MINUTES(6));
    ck_assert(rig.now_us == unknown_us + SECONDS(300));
    reply(load, OK_);
    finish(0);
}
END_TEST

START_TEST(what_comes_after_a_row_that_was_given_up_is_given_up)
{
    setup(1, 4);
    start_warm();
    uint64_t first = give(1);
    uint64_t second = give_after(1, first);
    give_after(1, second);
    int64_t begun_us = rig.now_us;
    while (rig.now_us - begun_us < MINUTES(10))
        reply(flight_later(SECONDS(31)), BUSY);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 3);
    give_after(1, first); /* long gone, and yet */
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 4);
    finish(6);
}
END_TEST

/* Whatever has to be done, without looking at it; false: nothing is left for now. */
static bool step_blindly(void)
{
    struct weir_action action;
    weir_executor_next(&executor, rig.now_us, &action);
    if (action.kind == WEIR_ACTION_SEND) {
        must(weir_executor_begin(&executor, action.flight, rig.now_us) == WEIR_OK);
        reply(action.flight, OK_);
    } else if (action.kind == WEIR_ACTION_RECORD) {
        weir_executor_committed(&executor, action.receipt->serial, rig.now_us);
    } else if (action.kind == WEIR_ACTION_RETURN) {
        must(action.batch->serial == batches_returned + 1); /* in their order */
        take_back(action.batch);
    } else {
        return false;
    }
    return true;
}

/* Quadratic would be hundreds of millions of steps, cubic would not end. */
START_TEST(a_key_that_is_repeated_twenty_thousand_times_costs_no_more_than_as_many_keys)
{
    setup(1, 4);
    start_warm();
    uint64_t last = 0;
    for (int i = 0; i < 20000; i++)
        last = give_after(1, last);
    must(executor.loads.counts[WEIR_LOAD_BLOCKED] == 19999);
    while (step_blindly())
        ;
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_DONE), 20000);
    ck_assert_uint_eq(executor.turns.by_serial.count, 0); /* nobody will ask for them */
    finish(0);
}
END_TEST

START_TEST(twenty_thousand_that_wait_for_one_that_is_given_up_are_given_up)
{
    setup(1, 4);
    start_warm();
    uint64_t last = 0;
    for (int i = 0; i < 20000; i++)
        last = give_after(1, last);
    struct weir_load *load = flight();
    weir_executor_stop(&executor, WEIR_END_INTERRUPT, rig.now_us);
    reply(load, THROTTLED);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 20000);
    finish(5);
}
END_TEST

START_TEST(who_waits_for_two_waits_for_both)
{
    setup(1, 4);
    start_warm();
    uint64_t first = give(1);
    uint64_t second = give(1);
    struct weir_load *loads[] = { flight(), flight() };
    give_key_after_two(1, 0, first, second);
    reply(loads[1], OK_);
    ck_assert_ptr_null(try_flight());
    reply(loads[0], OK_);
    reply(flight(), OK_);
    finish(0);
}
END_TEST

START_TEST(who_waits_for_two_is_given_up_with_the_first_that_is)
{
    setup(1, 4);
    start_warm();
    uint64_t first = give(1);
    uint64_t second = give(1);
    struct weir_load *load = flight();
    struct weir_load *other = flight(); /* out all the time */
    give_key_after_two(1, 0, first, second);
    int64_t begun_us = rig.now_us;
    reply(load, BUSY);
    while (rig.now_us - begun_us < MINUTES(10)) {
        reply(flight_later(SECONDS(31)), BUSY);
        give(1);
        reply(flight(), OK_); /* the service works */
        commit();
    }
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 2); /* and the one that waited for it */
    reply(other, OK_);
    finish(6);
}
END_TEST

/* --- credentials --- */

START_TEST(a_connection_whose_credentials_are_of_no_use_is_set_aside_until_none_is_left)
{
    setup(2, 1);
    start_warm();
    give(3);
    struct weir_report broken = whole(REFUSED, WEIR_FAULT_AUTH);
    reply_fault(flight(), REFUSED, WEIR_FAULT_AUTH); /* once: a new token helps */
    broken.broken = true;
    answer(flight(), broken);
    struct weir_load *load = flight_later(SECONDS(5));
    weir_executor_unsent(&executor, load, WEIR_UNSENT_CREDENTIALS, rig.now_us);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 3);
    ck_assert_int_eq(executor.refusal.status, WEIR_E_NO_CONNECTION);
    ck_assert_str_ne(executor.refusal.message, "");
    finish(4);
}
END_TEST

/* --- bounds --- */

START_TEST(batches_are_taken_as_long_as_there_is_memory)
{
    setup(1, 1);
    plan.memory_bytes_max = 2500;
    start_warm();
    for (int i = 0; i < 3; i++) {
        ck_assert(weir_executor_wants(&executor));
        give(1);
    }
    ck_assert(!weir_executor_wants(&executor));
    reply(flight(), OK_);
    struct weir_load *load = flight(); /* its record is handed out on the way */
    ck_assert(!weir_executor_wants(&executor));
    weir_executor_committed(&executor, last_record, rig.now_us);
    ck_assert(weir_executor_wants(&executor));
    reply(load, OK_);
    reply(flight(), OK_);
    weir_executor_end_of_input(&executor, rig.now_us);
    ck_assert(!weir_executor_wants(&executor));
    finish(0);
}
END_TEST

START_TEST(rows_are_sent_no_faster_than_asked_for)
{
    setup(1, 8);
    plan.rows_per_second_max = 10;
    start_warm();
    int64_t begun_us = rig.now_us;
    for (int i = 0; i < 20; i++)
        give(5);
    for (int i = 0; i < 20; i++) {
        struct weir_load *load = flight_later(MS(600));
        ck_assert(rig.now_us - begun_us >= i * MS(500));
        reply(load, OK_);
    }
    finish(0);
}
END_TEST

/* What is read back heeds no rate, and yet may find nobody who has room. */
START_TEST(what_nobody_can_take_is_asked_for_again_sooner_than_a_rate_allows)
{
    setup(2, 1);
    plan.rows_per_second_max = 0.01;
    start_warm();
    give(1);
    give(1);
    struct weir_load *busy = flight();
    reply(flight_later(SECONDS(101)), SILENT);
    reply_fault(flight_later(SECONDS(101)), BAD, WEIR_FAULT_DUPLICATE);
    reply_presence(flight_later(SECONDS(11)), WEIR_PRESENCE_FORBIDDEN, 0);
    ck_assert_ptr_null(try_flight()); /* the other one has no room */
    ck_assert(weir_executor_next_us(&executor) == rig.now_us + SECONDS(1));
    uint32_t other = busy->lease.connection;
    reply(busy, OK_);
    struct weir_load *read_back = flight();
    ck_assert_uint_eq(read_back->lease.connection, other);
    reply_presence(read_back, WEIR_PRESENCE_PRESENT, 0);
    finish(0);
}
END_TEST

START_TEST(nothing_is_asked_for_while_too_many_results_await_their_commit)
{
    setup(1, 1);
    plan.commit_wait_max = 2;
    start_warm();
    for (int i = 0; i < 3; i++)
        give(1);
    reply(flight(), OK_);
    reply(flight(), OK_);
    ck_assert_ptr_null(boarding());
    ck_assert_ptr_null(boarding());
    weir_executor_committed(&executor, last_record, rig.now_us);
    reply(flight(), OK_);
    finish(0);
}
END_TEST

START_TEST(more_rejected_rows_than_wanted_end_the_run)
{
    setup(1, 1);
    plan.bulk = false;
    plan.errors_max = 2;
    start();
    for (int i = 0; i < 5; i++)
        give(1);
    for (int i = 0; i < 3; i++)
        reply_each(flight(), BAD, WEIR_FAULT_VALIDATION);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 2);
    finish(3);
}
END_TEST

/* --- the end --- */

START_TEST(without_a_journal_nothing_is_sent_and_nothing_counts_as_done)
{
    setup(1, 2);
    start_warm();
    for (int i = 0; i < 5; i++)
        give(1);
    struct weir_load *first = flight();
    struct weir_load *second = flight();
    reply(first, OK_);
    struct weir_load *third = boarding();
    weir_executor_journal_failed(&executor, rig.now_us);
    ck_assert_int_eq(weir_executor_begin(&executor, third, rig.now_us), WEIR_E_CANCELLED);
    ck_assert_ptr_null(boarding());
    reply(second, OK_); /* may come home */
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_DONE), 0);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 2);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 3);
    finish(7);
}
END_TEST

START_TEST(after_a_stop_flights_come_home)
{
    setup(1, 2);
    start_warm();
    for (int i = 0; i < 4; i++)
        give(1);
    struct weir_load *first = flight();
    struct weir_load *second = flight();
    weir_executor_stop(&executor, WEIR_END_INTERRUPT, rig.now_us);
    ck_assert(!weir_executor_wants(&executor));
    ck_assert_ptr_null(try_flight());
    reply(first, OK_);
    rig.now_us += SECONDS(29);
    reply(second, THROTTLED); /* would go again; now it was not sent */
    ck_assert_ptr_null(try_flight());
    commit();
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_DONE), 1);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 3);
    finish(5);
}
END_TEST

START_TEST(what_is_not_home_after_29_seconds_is_cancelled_and_unknown)
{
    setup(1, 2);
    start_warm();
    give(2);
    give(2);
    struct weir_load *load = flight();
    struct weir_load *not_begun = boarding();
    ck_assert_ptr_nonnull(not_begun);
    weir_executor_stop(&executor, WEIR_END_LIMIT, rig.now_us);
    ck_assert_ptr_null(boarding());
    ck_assert(cancelled == not_begun); /* at once: it is not on the wire */
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 2);
    ck_assert_uint_eq(executor.result.requests_unknown, 0);
    ck_assert(weir_executor_next_us(&executor) == rig.now_us + SECONDS(29));
    rig.now_us += SECONDS(29);
    ck_assert_ptr_null(boarding());
    ck_assert(cancelled == load);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_UNKNOWN), 2);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 2);
    ck_assert_uint_eq(executor.result.requests_unknown, 1);
    ck_assert(executor.result.clear_us == rig.now_us + SECONDS(300));
    finish(8);
}
END_TEST

START_TEST(a_batch_that_comes_after_a_stop_is_counted_and_handed_back)
{
    setup(1, 2);
    start();
    weir_executor_stop(&executor, WEIR_END_INTERRUPT, rig.now_us);
    give(3);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 3);
    finish(5);
}
END_TEST

START_TEST(of_several_exit_codes_the_gravest_is_taken)
{
    static const int order[] = { 7, 4, 10, 8, 3, 6, 5, 1, 0 };
    struct weir_result result = { .read = 3 };
    result.fates[WEIR_FATE_REJECTED] = 1;
    result.fates[WEIR_FATE_UNKNOWN] = 1;
    result.fates[WEIR_FATE_DONE] = 1;
    result.ends = WEIR_END_JOURNAL | WEIR_END_CREDENTIALS | WEIR_END_UNREACHABLE | WEIR_END_ERRORS |
                  WEIR_END_LIMIT | WEIR_END_INTERRUPT;
    for (int i = 0; i < 9; i++) {
        ck_assert_int_eq(weir_result_exit_code(&result), order[i]);
        if (i < 3)
            result.ends &= ~(1u << i);
        else if (i == 3)
            result.fates[WEIR_FATE_UNKNOWN]--, result.fates[WEIR_FATE_DONE]++;
        else if (i < 7)
            result.ends &= ~(1u << (i - 1));
        else if (i == 7)
            result.fates[WEIR_FATE_REJECTED]--, result.fates[WEIR_FATE_SKIPPED]++;
    }
    result.read++;
    ck_assert_int_eq(weir_result_exit_code(&result), 70);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("executor_flow");
    suite_add(&s, until_a_bulk_message_has_succeeded_one_is_in_flight);
    suite_add(&s, rows_in_flight_are_those_that_were_sent_and_not_answered);
    suite_add(&s, the_pool_knows_how_much_is_left_when_the_input_has_ended);
    suite_add(&s, what_is_left_is_counted_in_requests);
    suite_add(&s, retries_and_splits_go_before_new_batches_and_those_in_their_order);
    suite_add(&s, retries_of_failures_are_at_most_one_flight_in_five);
    suite_add(&s, a_lease_that_went_stale_puts_the_load_back_in_line);
    suite_add(&s, without_tracking_only_the_load_that_was_throttled_waits);
    suite_add(&s, a_repeated_key_waits_for_its_predecessor);
    suite_add(&s, a_repeated_key_waits_until_nothing_can_arrive_late);
    suite_add(&s, what_comes_after_a_row_that_was_given_up_is_given_up);
    suite_add(&s, a_key_that_is_repeated_twenty_thousand_times_costs_no_more_than_as_many_keys);
    suite_add(&s, twenty_thousand_that_wait_for_one_that_is_given_up_are_given_up);
    suite_add(&s, who_waits_for_two_waits_for_both);
    suite_add(&s, who_waits_for_two_is_given_up_with_the_first_that_is);
    suite_add(&s, a_connection_whose_credentials_are_of_no_use_is_set_aside_until_none_is_left);
    suite_add(&s, batches_are_taken_as_long_as_there_is_memory);
    suite_add(&s, rows_are_sent_no_faster_than_asked_for);
    suite_add(&s, what_nobody_can_take_is_asked_for_again_sooner_than_a_rate_allows);
    suite_add(&s, nothing_is_asked_for_while_too_many_results_await_their_commit);
    suite_add(&s, more_rejected_rows_than_wanted_end_the_run);
    suite_add(&s, without_a_journal_nothing_is_sent_and_nothing_counts_as_done);
    suite_add(&s, after_a_stop_flights_come_home);
    suite_add(&s, what_is_not_home_after_29_seconds_is_cancelled_and_unknown);
    suite_add(&s, a_batch_that_comes_after_a_stop_is_counted_and_handed_back);
    suite_add(&s, of_several_exit_codes_the_gravest_is_taken);
    return suite_run(&s);
}

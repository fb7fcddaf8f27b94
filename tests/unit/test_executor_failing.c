/* SPDX-License-Identifier: MIT */
/* A service that is away, that only fails, or that leaves requests without an answer. */
#include "support/executor_rig.h"

/* --- reaching the service --- */

START_TEST(if_nobody_answers_for_fifteen_seconds_at_first_it_is_over)
{
    setup(2, 2);
    start();
    give(3);
    int64_t begun_us = rig.now_us;
    while (!over) {
        struct weir_load *load = try_flight();
        if (load)
            reply(load, DEAF);
        else if (!over)
            rig.now_us = weir_executor_next_us(&executor);
    }
    ck_assert(rig.now_us - begun_us >= SECONDS(15) && rig.now_us - begun_us < SECONDS(20));
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 3);
    finish(10);
}
END_TEST

START_TEST(a_slow_first_answer_is_waited_for)
{
    setup(2, 2);
    start_warm();
    give(1);
    give(1);
    struct weir_load *slow = flight();
    struct weir_load *load = flight();
    ck_assert_uint_ne(slow->lease.connection, load->lease.connection);
    reply(load, DEAF);
    rig.now_us += SECONDS(60);
    load = flight();
    ck_assert_uint_eq(executor.result.ends, 0);
    reply(slow, OK_);
    reply(load, OK_);
    finish(0);
}
END_TEST

START_TEST(later_the_service_may_be_away_for_five_minutes)
{
    setup(1, 1);
    start();
    give(1);
    reply(flight(), OK_);
    give(1);
    int64_t begun_us = rig.now_us;
    while (!over) {
        struct weir_load *load = try_flight();
        if (load)
            reply(load, DEAF);
        else if (!over) {
            weir_executor_committed(&executor, last_record, rig.now_us);
            rig.now_us = weir_executor_next_us(&executor);
        }
    }
    ck_assert(rig.now_us - begun_us >= MINUTES(5) && rig.now_us - begun_us < MINUTES(6));
    finish(10);
}
END_TEST

static void pass_time(int64_t until_us)
{
    int64_t next_us = weir_executor_next_us(&executor);
    rig.now_us = next_us < until_us ? next_us : until_us;
}

/* Every request fails, until nothing is left or `until_us` comes. How many there were. */
static uint32_t fail_all(struct weir_verdict said, int64_t until_us)
{
    uint32_t count = 0;
    while (!over && rig.now_us < until_us) {
        struct weir_load *load = try_flight();
        if (load && load->mode == WEIR_LOAD_SINGLES && said.class_ != WEIR_CLASS_OTHER)
            reply_each(load, said, WEIR_FAULT_NONE);
        else if (load)
            reply(load, said);
        else
            pass_time(until_us);
        count += load != NULL;
    }
    return count;
}

static void use_breakers(void)
{
    rig.core.resilience.circuit_breaker = (struct weir_circuit_breaker_options){
        .enabled = true, .failures = 10, .open_for_us = SECONDS(30), .open_max_us = MINUTES(10)
    };
}

START_TEST(a_service_that_is_back_is_found_before_the_job_gives_up)
{
    setup(2, 4);
    use_breakers();
    start_warm();
    give(1);
    reply(flight(), OK_);
    commit();
    for (int i = 0; i < 12; i++)
        give(1);
    int64_t back_us = rig.now_us + MINUTES(4);
    fail_all(DEAF, back_us);
    struct weir_load *load = flight_later(SECONDS(58)); /* in time, by the five minutes */
    reply(load, OK_);
    while (executor.live_count) {
        struct weir_load *next = try_flight();
        if (next)
            reply(next, OK_);
        else
            pass_time(rig.now_us + SECONDS(1));
        weir_executor_committed(&executor, last_record, rig.now_us);
    }
    finish(0);
}
END_TEST

/* As bulk messages, one at a time, and as parts of a $batch, each of which fails. */
START_TEST(a_service_that_only_fails_ends_the_job_after_the_time_for_one_load)
{
    for (int bulk = 0; bulk < 2; bulk++) {
        setup(2, 4);
        use_breakers();
        plan.bulk = bulk;
        start();
        for (int i = 0; i < 40; i++)
            give(2);
        int64_t begun_us = rig.now_us;
        fail_all(BUSY, begun_us + MINUTES(60));
        ck_assert(over);
        ck_assert(rig.now_us - begun_us >= MINUTES(10) && rig.now_us - begun_us < MINUTES(22));
        ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 80);
        finish(10);
    }
}
END_TEST

/* Of a $batch each part is, and with them the connection. */
static void fail_or_throttle(struct weir_load *load, struct weir_verdict said)
{
    struct weir_report report = each(load);
    for (uint32_t i = 0; i < load->row_count; i++)
        say(&report, i, said, WEIR_FAULT_NONE);
    if (said.class_ == WEIR_CLASS_THROTTLE)
        report.answer.verdict = said;
    answer(load, load->mode == WEIR_LOAD_SINGLES ? report : whole(said, WEIR_FAULT_NONE));
}

START_TEST(throttles_between_failures_do_not_keep_a_job_alive)
{
    for (int bulk = 0; bulk < 2; bulk++) {
        setup(2, 4);
        plan.bulk = bulk;
        start();
        for (int i = 0; i < 40; i++)
            give(2);
        int64_t begun_us = rig.now_us;
        while (!over && rig.now_us - begun_us < MINUTES(60)) {
            struct weir_load *load = try_flight();
            if (load) /* by turns */
                fail_or_throttle(load, weir_load_state(load, 0)->attempts % 2 ? BUSY : THROTTLED);
            else
                pass_time(begun_us + MINUTES(60));
        }
        ck_assert(over);
        ck_assert(rig.now_us - begun_us >= MINUTES(10) && rig.now_us - begun_us < MINUTES(30));
        ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 80);
        finish(10);
    }
}
END_TEST

/* An hour in all, of which a few seconds were waited for failures. */
START_TEST(to_wait_for_a_throttle_is_no_time_of_failing)
{
    struct weir_verdict long_ = THROTTLED;
    long_.retry_after_us = MINUTES(6);
    for (int bulk = 0; bulk < 2; bulk++) {
        setup(1, 1);
        plan.bulk = bulk;
        start_warm();
        give(1);
        for (int i = 0; i < 5; i++) {
            reply(flight_later(MINUTES(7)), BUSY);
            reply(flight_later(MINUTES(1)), long_);
            reply(flight_later(MINUTES(7)), long_);
        }
        ck_assert_uint_eq(executor.result.ends, 0);
        reply(flight_later(MINUTES(7)), OK_);
        finish(0);
    }
}
END_TEST

/* Twelve minutes, in which nothing could be sent. */
START_TEST(to_wait_for_a_throttle_of_another_load_is_no_time_of_failing)
{
    struct weir_verdict long_ = THROTTLED;
    long_.retry_after_us = MINUTES(12);
    setup(1, 1);
    start_warm();
    give(1);
    give(1);
    reply(flight(), BUSY);
    reply(flight(), long_);
    struct weir_load *load = flight_later(MINUTES(13));
    ck_assert_int_eq(load->transients, 1); /* the one that failed goes first */
    reply(load, BUSY);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 0);
    reply(flight_later(MINUTES(1)), OK_);
    reply(flight_later(MINUTES(1)), OK_);
    finish(0);
}
END_TEST

START_TEST(time_without_input_is_no_time_of_failing)
{
    setup(1, 1);
    plan.max_retry_time_us = SECONDS(10);
    start_warm();
    give(1);
    fail_all(BUSY, rig.now_us + SECONDS(60) - 1);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 1);
    rig.now_us += MINUTES(60);
    give(1);
    give(1);
    reply(flight(), BUSY);
    reply(flight(), OK_);
    reply(flight_later(SECONDS(2)), OK_);
    finish(6);
}
END_TEST

START_TEST(no_token_is_as_if_nobody_answered)
{
    setup(1, 1);
    start();
    give(1);
    int64_t begun_us = rig.now_us;
    while (!over) {
        struct weir_load *load = boarding();
        if (load)
            weir_executor_unsent(&executor, load, WEIR_UNSENT_TRANSIENT, rig.now_us);
        else if (!over)
            rig.now_us = weir_executor_next_us(&executor);
    }
    ck_assert(rig.now_us - begun_us < SECONDS(20));
    ck_assert_uint_eq(executor.result.requests, 0);
    finish(10);
}
END_TEST

/* --- loads that fail --- */

START_TEST(what_had_no_token_is_no_retry)
{
    setup(1, 8);
    start_warm();
    for (int i = 0; i < 8; i++)
        give(1);
    for (int i = 0; i < 8; i++)
        weir_executor_unsent(&executor, boarding(), WEIR_UNSENT_TRANSIENT, rig.now_us);
    rig.now_us += SECONDS(2);
    struct weir_load *loads[8];
    for (int i = 0; i < 8; i++)
        loads[i] = flight(); /* all at once, as before */
    for (int i = 0; i < 8; i++)
        reply(loads[i], OK_);
    finish(0);
}
END_TEST

START_TEST(halves_of_what_is_refused_for_no_reason_wait_and_are_given_up)
{
    setup(1, 8);
    plan.bulk = false;
    plan.singles_max = 100;
    start();
    give(100);
    reply(flight(), OTHER);
    ck_assert_ptr_null(try_flight());
    struct weir_load *load = flight_later(SECONDS(1));
    ck_assert_uint_eq(load->row_count, 50);
    ck_assert(weir_load_is_retry(load));
    reply(load, OTHER);
    ck_assert_uint_le(fail_all(OTHER, rig.now_us + SECONDS(10)), 40); /* not all at once */
    fail_all(OTHER, rig.now_us + MINUTES(60));
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 100);
    ck_assert_uint_eq(executor.rejected, 0);
    weir_executor_end_of_input(&executor, rig.now_us);
    finish(10);
}
END_TEST

START_TEST(halves_of_what_timed_out_wait_but_go_on_for_as_long_as_they_get_smaller)
{
    setup(1, 1);
    start_warm();
    give(8);
    struct weir_report timed_out = whole(SILENT, WEIR_FAULT_NONE);
    timed_out.timed_out = true;
    uint32_t singles = 0;
    while (singles < 8) {
        struct weir_load *load = flight_later(SECONDS(8));
        if (load->row_count == 1) {
            singles++;
            reply(load, OK_);
            continue;
        }
        rig.now_us += MINUTES(4);
        answer(load, timed_out);
        ck_assert_uint_ge(executor.loads.counts[WEIR_LOAD_RESTING], 2);
    }
    finish(0);
}
END_TEST

/* --- what may still be executed --- */

START_TEST(requests_that_may_still_be_executed_count_until_they_no_longer_may)
{
    setup(1, 4);
    plan.operation = WEIR_OPERATION_UPDATE;
    start_warm();
    give(1);
    reply(flight(), SILENT);
    int64_t first_us = rig.now_us;
    struct weir_load *load = flight_later(SECONDS(2));
    rig.now_us += SECONDS(20);
    reply(load, SILENT);
    int64_t second_us = rig.now_us;
    reply(flight_later(SECONDS(4)), OK_); /* done, and yet both may arrive */
    ck_assert_uint_eq(executor.result.requests_unknown, 2);
    ck_assert(executor.result.clear_us == second_us + SECONDS(300));
    rig.now_us = first_us + SECONDS(300);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(executor.result.requests_unknown, 1);
    rig.now_us = second_us + SECONDS(300);
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(executor.result.requests_unknown, 0);
    ck_assert(executor.result.clear_us == 0);
    finish(0);
}
END_TEST

START_TEST(many_requests_of_unknown_outcome_take_little_memory)
{
    struct weir_result result = { 0 };
    for (int64_t i = 0; i < 100000; i++) {
        weir_result_forget_late(&result, MS(10) * i);
        weir_result_note_late(&result, MS(10) * i + SECONDS(300));
        must(result.late_count <= 302);
    }
    ck_assert_uint_ge(result.requests_unknown, 30000);
    ck_assert_uint_le(result.requests_unknown, 30100); /* to the second */
    weir_result_forget_late(&result, result.clear_us);
    ck_assert_uint_eq(result.requests_unknown, 0);
    free(result.late);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("executor_failing");
    suite_add(&s, if_nobody_answers_for_fifteen_seconds_at_first_it_is_over);
    suite_add(&s, a_slow_first_answer_is_waited_for);
    suite_add(&s, later_the_service_may_be_away_for_five_minutes);
    suite_add(&s, a_service_that_is_back_is_found_before_the_job_gives_up);
    suite_add(&s, a_service_that_only_fails_ends_the_job_after_the_time_for_one_load);
    suite_add(&s, throttles_between_failures_do_not_keep_a_job_alive);
    suite_add(&s, to_wait_for_a_throttle_is_no_time_of_failing);
    suite_add(&s, to_wait_for_a_throttle_of_another_load_is_no_time_of_failing);
    suite_add(&s, time_without_input_is_no_time_of_failing);
    suite_add(&s, no_token_is_as_if_nobody_answered);
    suite_add(&s, what_had_no_token_is_no_retry);
    suite_add(&s, halves_of_what_is_refused_for_no_reason_wait_and_are_given_up);
    suite_add(&s, halves_of_what_timed_out_wait_but_go_on_for_as_long_as_they_get_smaller);
    suite_add(&s, requests_that_may_still_be_executed_count_until_they_no_longer_may);
    suite_add(&s, many_requests_of_unknown_outcome_take_little_memory);
    return suite_run(&s);
}

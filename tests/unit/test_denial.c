/* SPDX-License-Identifier: MIT */
/* Who may do it: loads and rows that some connections forbid, or all of them. */
#include "support/executor_rig.h"

#define CONNECTIONS_MAX 200

static bool may[CONNECTIONS_MAX]; /* by connection: it may write */

static void allow(uint32_t first, uint32_t end, bool may_write)
{
    for (uint32_t i = first; i < end; i++)
        may[i] = may_write;
}

static void forbid(struct weir_load *load)
{
    if (load->mode == WEIR_LOAD_BULK)
        reply_fault(load, FORBIDDEN, WEIR_FAULT_PRIVILEGE);
    else
        reply_each(load, FORBIDDEN, WEIR_FAULT_PRIVILEGE);
}

/* Answer whatever leaves, by what its connection may. Returns how many requests were forbidden. */
static int serve(void)
{
    struct weir_load *load;
    int denials = 0;
    while ((load = try_flight())) {
        if (may[load->lease.connection]) {
            reply_each(load, OK_, WEIR_FAULT_NONE);
            continue;
        }
        forbid(load);
        ck_assert_int_lt(++denials, 10000);
    }
    return denials;
}

static uint32_t set_aside_count(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rig.core.count; i++)
        count += rig.core.connections[i].set_aside;
    return count;
}

START_TEST(a_load_that_one_connection_forbids_goes_to_another_and_sets_the_first_aside)
{
    setup(2, 4);
    start_warm();
    give(5);
    struct weir_load *load = flight();
    uint32_t first = load->lease.connection;
    forbid(load);
    load = flight();
    ck_assert_uint_ne(load->lease.connection, first);
    ck_assert(!rig.core.connections[first].set_aside);
    reply(load, OK_);
    ck_assert(rig.core.connections[first].set_aside);
    finish(0);
}
END_TEST

/* The more so if it is one among more than fit into a word. */
static void one_who_may_not_of_three(const struct weir_strategy *strategy)
{
    setup(3, 4);
    rig.core.strategy = strategy;
    start_warm();
    allow(0, 3, true);
    may[0] = false;
    for (int i = 0; i < 20; i++)
        give(5);
    serve();
    finish(0);
}

START_TEST(under_every_strategy_a_load_finds_one_who_may)
{
    static const char *const names[] = { "ThrottleAware", "RoundRobin", "LeastConnections" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        one_who_may_not_of_three(weir_strategy_find(names[i]));
}
END_TEST

START_TEST(one_who_may_is_enough_and_all_others_are_set_aside)
{
    static const uint32_t counts[] = { 2, 3, 4, 8, 64, 65, 130 };
    uint32_t count = counts[_i / 2];
    setup(count, 4);
    plan.bulk = _i % 2;
    start_warm();
    allow(0, count, false);
    may[count - 1] = true;
    give(5);
    int denials = serve();
    ck_assert_int_lt(denials, (int)count);
    ck_assert_uint_eq(set_aside_count(), denials);
    give(5);
    serve();
    commit();
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_DONE), 10);
    finish(0);
}
END_TEST

START_TEST(if_nobody_may_the_job_is_over_and_no_row_is_rejected)
{
    uint32_t count = 1 + (uint32_t)_i / 4;
    uint32_t rows = _i / 2 % 2 ? 1 : 5;
    setup(count, 4);
    plan.bulk = _i % 2;
    start_warm();
    allow(0, count, false);
    for (int i = 0; i < 5; i++)
        give(rows);
    serve();
    ck_assert_uint_eq(executor.rejected, 0);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 5 * rows);
    finish(4);
}
END_TEST

START_TEST(if_nobody_may_any_more_the_job_is_over_and_no_row_is_rejected)
{
    setup(3, 4);
    plan.bulk = _i % 2;
    start_warm();
    if (_i / 2) { /* a first one was in doubt before, and has been set aside */
        allow(0, 3, true);
        may[0] = false;
    } else {
        allow(0, 3, true);
    }
    for (int i = 0; i < 5; i++)
        give(4);
    serve();
    commit();
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_DONE), 20);
    allow(0, 3, false);
    for (int i = 0; i < 5; i++)
        give(4);
    serve();
    ck_assert_uint_eq(executor.rejected, 0);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 20);
    finish(4);
}
END_TEST

START_TEST(a_row_is_rejected_only_if_everybody_forbids_it)
{
    bool all = _i == 1;
    setup(4, 4);
    start_warm();
    give(5);
    for (int i = 0; i < 4; i++) { /* the message, for the sake of one row */
        struct weir_load *load = flight();
        ck_assert_int_eq(load->mode, WEIR_LOAD_BULK);
        forbid(load);
    }
    struct weir_load *load = flight();
    ck_assert_int_eq(load->mode, WEIR_LOAD_SINGLES);
    struct weir_report report = each(load);
    say(&report, 3, FORBIDDEN, WEIR_FAULT_PRIVILEGE);
    answer(load, report);
    for (int i = 0; i < 2; i++)
        forbid(flight());
    ck_assert_uint_eq(executor.rejected, 0);
    reply_each(flight(), all ? FORBIDDEN : OK_, WEIR_FAULT_PRIVILEGE);
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[4], all ? WEIR_FATE_REJECTED : WEIR_FATE_DONE);
    ck_assert_int_eq(fates[5], WEIR_FATE_DONE);
    ck_assert_uint_eq(set_aside_count(), 0); /* it was the row */
    finish(all ? 1 : 0);
}
END_TEST

START_TEST(rows_that_are_forbidden_beside_others_that_are_done_do_not_end_the_job)
{
    setup(3, 4);
    plan.bulk = false;
    start();
    give(6);
    struct weir_load *load = flight();
    struct weir_report report = each(load);
    for (uint32_t i = 0; i < 3; i++)
        say(&report, i, FORBIDDEN, WEIR_FAULT_PRIVILEGE);
    answer(load, report);
    forbid(flight());
    forbid(flight());
    ck_assert_uint_eq(executor.rejected, 3);
    ck_assert_uint_eq(set_aside_count(), 0);
    finish(1);
}
END_TEST

/* Some rows of each $batch that is out were done just before. */
START_TEST(rows_that_are_left_over_when_nobody_may_any_more_are_not_to_blame)
{
    struct weir_load *loads[4];
    setup(2, 4);
    plan.bulk = false;
    start();
    for (int i = 0; i < 8; i++)
        give(6);
    for (int i = 0; i < 4; i++)
        loads[i] = flight();
    for (int i = 0; i < 4; i++) {
        struct weir_report report = each(loads[i]);
        for (uint32_t row = 3; row < 6; row++)
            say(&report, row, FORBIDDEN, WEIR_FAULT_PRIVILEGE);
        answer(loads[i], report);
    }
    allow(0, 2, false);
    serve();
    ck_assert_uint_eq(executor.rejected, 0);
    finish(4);
}
END_TEST

START_TEST(a_row_that_everybody_forbids_is_rejected_when_another_was_done_meanwhile)
{
    setup(2, 1);
    plan.bulk = false;
    start();
    give(2);
    give(2);
    struct weir_load *load = flight();
    struct weir_load *other = flight();
    give(2);
    struct weir_report report = each(load);
    say(&report, 1, FORBIDDEN, WEIR_FAULT_PRIVILEGE);
    answer(load, report);
    rig.now_us += MS(10);
    reply_each(other, OK_, WEIR_FAULT_NONE);            /* had left before */
    struct weir_load *loads[] = { flight(), flight() }; /* the row, and the third batch */
    bool is_row_first = loads[0]->row_count == 1;
    forbid(loads[!is_row_first]);
    ck_assert_uint_eq(executor.rejected, 0);
    reply_each(loads[is_row_first], OK_, WEIR_FAULT_NONE);
    load = flight_later(SECONDS(2));
    give(2); /* which might show it too, but need not any more */
    forbid(load);
    ck_assert_uint_eq(executor.rejected, 1);
    allow(0, 2, true);
    serve();
    finish(1);
}
END_TEST

/* One forbade all of it, the next did most of it, and the last did what was left. */
START_TEST(only_who_forbids_all_of_it_is_set_aside)
{
    setup(3, 4);
    plan.bulk = false;
    start();
    give(5);
    struct weir_load *load = flight();
    uint32_t first = load->lease.connection;
    forbid(load);
    load = flight();
    struct weir_report report = each(load);
    say(&report, 0, FORBIDDEN, WEIR_FAULT_PRIVILEGE);
    say(&report, 4, FORBIDDEN, WEIR_FAULT_PRIVILEGE);
    answer(load, report);
    load = flight();
    ck_assert_uint_eq(load->row_count, 2);
    reply_each(load, OK_, WEIR_FAULT_NONE);
    ck_assert_uint_eq(set_aside_count(), 1);
    ck_assert(rig.core.connections[first].set_aside);
    finish(0);
}
END_TEST

START_TEST(who_has_forbidden_it_is_not_asked_again_while_another_is_busy)
{
    struct weir_load *loads[3];
    setup(3, 1);
    plan.bulk = false;
    start();
    for (int i = 0; i < 3; i++)
        give(2);
    for (int i = 0; i < 3; i++)
        loads[i] = flight();
    uint32_t last = loads[2]->lease.connection;
    forbid(loads[0]);
    ck_assert_ptr_null(try_flight());
    reply_each(loads[1], OK_, WEIR_FAULT_NONE);
    forbid(flight());
    ck_assert_ptr_null(try_flight()); /* two are idle */
    reply_each(loads[2], OK_, WEIR_FAULT_NONE);
    struct weir_load *load = flight();
    ck_assert_uint_eq(load->lease.connection, last);
    reply_each(load, OK_, WEIR_FAULT_NONE);
    finish(0);
}
END_TEST

START_TEST(who_forbids_a_message_has_said_nothing_of_a_row_of_it)
{
    setup(2, 4);
    start_warm();
    give(5);
    struct weir_load *load = flight();
    uint32_t first = load->lease.connection;
    forbid(load);
    reply_fault(flight(), BAD, WEIR_FAULT_VALIDATION);
    load = flight();
    ck_assert_int_eq(load->mode, WEIR_LOAD_SINGLES);
    struct weir_report report = each(load);
    for (uint32_t i = 0; i < 5; i++)
        say(&report, i, i ? BAD : FORBIDDEN, i ? WEIR_FAULT_VALIDATION : WEIR_FAULT_PRIVILEGE);
    answer(load, report);
    load = flight();
    ck_assert_uint_eq(load->lease.connection, first);
    reply_each(load, OK_, WEIR_FAULT_NONE);
    ck_assert_uint_eq(executor.rejected, 4);
    finish(1);
}
END_TEST

START_TEST(a_row_by_itself_shows_nothing_of_a_connection_that_has_done_others)
{
    setup(2, 1);
    plan.bulk = false;
    start();
    allow(0, 2, true);
    for (int i = 0; i < 4; i++)
        give(1);
    serve();
    give(1);
    forbid(flight());
    reply_each(flight(), OK_, WEIR_FAULT_NONE);
    ck_assert_uint_eq(set_aside_count(), 0);
    give(1);
    forbid(flight());
    forbid(flight());
    ck_assert_uint_eq(executor.rejected, 1);
    finish(1);
}
END_TEST

START_TEST(who_forbids_all_is_set_aside_even_if_some_rows_are_bad_for_others)
{
    setup(2, 4);
    plan.bulk = _i;
    start_warm();
    give(5);
    struct weir_load *load = flight();
    uint32_t first = load->lease.connection;
    forbid(load);
    load = flight();
    if (load->mode == WEIR_LOAD_BULK) {
        reply_fault(load, BAD, WEIR_FAULT_VALIDATION);
        load = flight();
    }
    ck_assert_uint_ne(load->lease.connection, first);
    struct weir_report report = each(load);
    say(&report, 0, BAD, WEIR_FAULT_VALIDATION);
    answer(load, report);
    ck_assert(rig.core.connections[first].set_aside);
    ck_assert_uint_eq(set_aside_count(), 1);
    finish(1);
}
END_TEST

/* A throttle or a failure that passes says nothing of who may. */
START_TEST(rows_that_are_forbidden_beside_others_that_have_to_wait_are_not_to_blame)
{
    setup(2, 4);
    plan.bulk = false;
    start();
    give(6);
    allow(0, 2, false);
    struct weir_load *load = flight();
    struct weir_report report = each(load);
    for (uint32_t i = 0; i < 6; i++)
        say(&report, i, i % 2 ? BUSY : FORBIDDEN, WEIR_FAULT_NONE);
    answer(load, report);
    serve();
    ck_assert_uint_eq(executor.rejected, 0);
    finish(4);
}
END_TEST

START_TEST(a_connection_that_forbids_a_row_twice_is_not_two_connections)
{
    setup(2, 4);
    plan.bulk = false;
    start();
    give(3);
    struct weir_load *load = flight();
    uint32_t first = load->lease.connection;
    struct weir_report report = each(load);
    say(&report, 1, FORBIDDEN, WEIR_FAULT_PRIVILEGE);
    answer(load, report);
    weir_core_set_aside(&rig.core, 1 - first, rig.now_us); /* only the first is left … */
    load = flight();
    ck_assert_uint_eq(load->lease.connection, first);
    weir_core_restore(&rig.core, 1 - first, rig.now_us); /* … for a moment */
    forbid(load);
    load = flight();
    ck_assert_uint_ne(load->lease.connection, first);
    reply_each(load, OK_, WEIR_FAULT_NONE);
    finish(0);
}
END_TEST

START_TEST(no_row_is_rejected_that_left_beside_the_first_load_and_is_forbidden_too)
{
    setup(2, 4);
    plan.bulk = false;
    start();
    give(5);
    give(5);
    struct weir_load *first = flight();
    struct weir_load *second = flight();
    forbid(first);
    forbid(second);
    struct weir_load *loads[] = { flight(), flight() };
    forbid(loads[_i]);
    forbid(loads[!_i]);
    ck_assert_uint_eq(executor.rejected, 0);
    ck_assert_uint_eq(rows_that_are(WEIR_FATE_NOT_SENT), 10);
    finish(4);
}
END_TEST

/* --- what others may still show --------------------------------------------------------------- */

/* A first row is done, so that one that is forbidden by itself is to blame. */
static void start_with_one_done(uint32_t connections)
{
    setup(connections, 4);
    plan.bulk = false;
    start_warm();
    give(1);
    reply_each(flight(), OK_, WEIR_FAULT_NONE);
    commit();
}

START_TEST(a_row_does_not_wait_for_what_a_read_back_will_show)
{
    start_with_one_done(1);
    give(1);
    reply(flight(), SILENT);
    reply_each(flight_later(SECONDS(2)), BAD, WEIR_FAULT_DUPLICATE);
    struct weir_load *read_back = flight_later(SECONDS(11));
    ck_assert_int_eq(read_back->mode, WEIR_LOAD_READ_BACK);
    give(1);
    forbid(flight());
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[3], WEIR_FATE_REJECTED);
    reply_presence(read_back, WEIR_PRESENCE_PRESENT, 0);
    finish(1);
}
END_TEST

START_TEST(two_rows_that_everybody_forbids_do_not_wait_for_each_other)
{
    start_with_one_done(1);
    give(1);
    give(1);
    struct weir_load *first = flight();
    struct weir_load *second = flight();
    forbid(first); /* the other one may be done yet */
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[2], WEIR_FATE_OPEN);
    first = flight_later(SECONDS(2));
    forbid(second); /* what is out is forbidden by all */
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[3], WEIR_FATE_REJECTED);
    forbid(first);
    ck_assert_ptr_null(boarding());
    ck_assert_int_eq(fates[2], WEIR_FATE_REJECTED);
    finish(1);
}
END_TEST

START_TEST(a_tainted_create_that_everybody_forbids_is_read_back)
{
    start_with_one_done(1);
    give(1);
    reply(flight(), SILENT);
    forbid(flight_later(SECONDS(2)));
    ck_assert_ptr_null(boarding());
    ck_assert_uint_eq(executor.rejected, 0);
    reply_presence(flight_later(SECONDS(11)), WEIR_PRESENCE_PRESENT, 0);
    finish(0);
}
END_TEST

START_TEST(who_forbade_two_loads_is_set_aside_once)
{
    setup(2, 4);
    start_warm();
    struct weir_load *loads[2];
    for (int i = 0; i < 2; i++) {
        give(5);
        loads[i] = flight();
        ck_assert_uint_eq(loads[i]->lease.connection, 0); /* leased least recently */
        forbid(loads[i]);
        loads[i] = flight();
        ck_assert_uint_eq(loads[i]->lease.connection, 1);
    }
    reply(loads[0], OK_);
    ck_assert(rig.core.connections[0].set_aside);
    reply(loads[1], OK_);
    ck_assert_uint_eq(set_aside_count(), 1);
    finish(0);
}
END_TEST

/* Its credentials went while the answer was on its way. */
START_TEST(who_would_be_the_last_is_not_set_aside)
{
    setup(2, 4);
    start_warm();
    give(5);
    struct weir_load *load = flight();
    forbid(load);
    load = flight();
    ck_assert_uint_eq(load->lease.connection, 1);
    weir_core_set_aside(&rig.core, 1, rig.now_us);
    reply(load, OK_);
    ck_assert(!rig.core.connections[0].set_aside);
    finish(0);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("denial");
    suite_add(&s, a_load_that_one_connection_forbids_goes_to_another_and_sets_the_first_aside);
    suite_add(&s, under_every_strategy_a_load_finds_one_who_may);
    suite_add_loop(&s, "one_who_may_is_enough_and_all_others_are_set_aside",
                   one_who_may_is_enough_and_all_others_are_set_aside, 14);
    suite_add_loop(&s, "if_nobody_may_the_job_is_over_and_no_row_is_rejected",
                   if_nobody_may_the_job_is_over_and_no_row_is_rejected, 32);
    suite_add_loop(&s, "if_nobody_may_any_more_the_job_is_over_and_no_row_is_rejected",
                   if_nobody_may_any_more_the_job_is_over_and_no_row_is_rejected, 4);
    suite_add_loop(&s, "a_row_is_rejected_only_if_everybody_forbids_it",
                   a_row_is_rejected_only_if_everybody_forbids_it, 2);
    suite_add(&s, rows_that_are_forbidden_beside_others_that_are_done_do_not_end_the_job);
    suite_add(&s, rows_that_are_left_over_when_nobody_may_any_more_are_not_to_blame);
    suite_add(&s, a_row_that_everybody_forbids_is_rejected_when_another_was_done_meanwhile);
    suite_add(&s, only_who_forbids_all_of_it_is_set_aside);
    suite_add(&s, who_has_forbidden_it_is_not_asked_again_while_another_is_busy);
    suite_add(&s, who_forbids_a_message_has_said_nothing_of_a_row_of_it);
    suite_add(&s, a_row_by_itself_shows_nothing_of_a_connection_that_has_done_others);
    suite_add_loop(&s, "who_forbids_all_is_set_aside_even_if_some_rows_are_bad_for_others",
                   who_forbids_all_is_set_aside_even_if_some_rows_are_bad_for_others, 2);
    suite_add(&s, rows_that_are_forbidden_beside_others_that_have_to_wait_are_not_to_blame);
    suite_add(&s, a_connection_that_forbids_a_row_twice_is_not_two_connections);
    suite_add_loop(&s, "no_row_is_rejected_that_left_beside_the_first_load_and_is_forbidden_too",
                   no_row_is_rejected_that_left_beside_the_first_load_and_is_forbidden_too, 2);
    suite_add(&s, a_row_does_not_wait_for_what_a_read_back_will_show);
    suite_add(&s, two_rows_that_everybody_forbids_do_not_wait_for_each_other);
    suite_add(&s, a_tainted_create_that_everybody_forbids_is_read_back);
    suite_add(&s, who_forbade_two_loads_is_set_aside_once);
    suite_add(&s, who_would_be_the_last_is_not_set_aside);
    return suite_run(&s);
}

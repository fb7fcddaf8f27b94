/* SPDX-License-Identifier: MIT */
/* Bulk jobs that were interrupted and go on, against a running weir-sim. */
#include "support/job_rig.h"

START_TEST(a_job_that_was_stopped_goes_on_where_it_stood)
{
    job_rig_start(2, WEIR_OPERATION_CREATE, "account");
    job_begin();
    job_add_accounts(0, 1500);
    weir_job_stop(job_rig.job);
    int rows = 1500;
    while (job_add("{\"name\":\"account %d\",\"accountnumber\":\"A%d\"}", rows, rows) == WEIR_OK)
        rows++;
    ck_assert_int_eq(job_rig.err.status, WEIR_E_CANCELLED);
    job_finish(5);
    ck_assert_uint_eq(job_rig.result.read, rows);
    ck_assert_uint_eq(job_rig.result.unknown, 0);
    ck_assert_uint_gt(job_rig.result.not_sent, 0);
    job_leave();
    job_begin_again();
    job_add_accounts(0, rows + 1000);
    job_finish(0);
    ck_assert_uint_eq(job_rig.result.done, rows + 1000);
    ck_assert_int_eq(job_ledger("account", "rows"), rows + 1000);
    ck_assert_int_eq(job_ledger("account", "max_writes_per_row"), 1);
    job_rig_end();
}
END_TEST

START_TEST(other_rows_than_before_are_refused)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_begin();
    job_add_accounts(0, 100);
    job_finish(0);
    job_leave();
    job_begin_again();
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(job_add("{\"name\":\"another %d\",\"accountnumber\":\"A%d\"}", i, i),
                         i < 99 ? WEIR_OK : WEIR_E_INVALID);
    ck_assert_int_eq(job_add("{}"), WEIR_E_INVALID);
    weir_job_finish(job_rig.job, &job_rig.result, &job_rig.err);
    ck_assert_int_eq(job_rig.result.exit_code, 2);
    ck_assert(job_rig.result.ends & WEIR_END_INPUT);
    ck_assert_int_eq(job_ledger("account", "rows"), 100);
    job_rig_end();
}
END_TEST

/* Stopped, with much of two blocks not sent. */
static int stop_half_way(void)
{
    static char padding[400];
    memset(padding, 'x', sizeof(padding) - 1);
    int rows = 0;
    job_rig.options.rows_per_second_max = 1000;
    job_begin();
    for (; rows < 12000; rows++) {
        if (rows == 11000)
            weir_job_stop(job_rig.job);
        if (job_add("{\"name\":\"%d\",\"description\":\"%s\"}", rows, padding) != WEIR_OK)
            break;
    }
    job_finish(5);
    ck_assert_uint_gt(job_rig.result.not_sent, 0);
    job_leave();
    job_rig.options.rows_per_second_max = 0;
    return rows;
}

/* One row of the first block, or of the second, is another one: nothing of that block is sent. */
START_TEST(nothing_of_a_block_is_sent_before_it_is_compared)
{
    static char padding[400];
    memset(padding, 'x', sizeof(padding) - 1);
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    int rows = stop_half_way();
    int other = _i == 0 ? 5000 : rows - 1;
    enum weir_status status = WEIR_OK;
    job_begin_again();
    for (int i = 0; i < rows + 100 && status == WEIR_OK; i++)
        status = job_add("{\"name\":\"%d\",\"description\":\"%.399s\"}", i == other ? i + 1 : i,
                         padding);
    ck_assert_int_eq(status, WEIR_E_INVALID);
    weir_job_finish(job_rig.job, &job_rig.result, &job_rig.err);
    ck_assert_int_eq(job_rig.result.exit_code, 2);
    if (_i == 0)
        ck_assert_int_lt(job_ledger("account", "rows"), other);
    job_leave();
    job_begin_again(); /* and the right ones are taken, as if nothing had been */
    for (int i = 0; i < rows + 100; i++)
        must(job_add("{\"name\":\"%d\",\"description\":\"%s\"}", i, padding) == WEIR_OK);
    job_finish(0);
    ck_assert_uint_eq(job_rig.result.done, (unsigned)rows + 100);
    ck_assert_int_eq(job_ledger("account", "rows"), rows + 100);
    ck_assert_int_eq(job_ledger("account", "max_writes_per_row"), 1);
    job_rig_end();
}
END_TEST

START_TEST(fewer_rows_than_before_are_refused)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_begin();
    job_add_accounts(0, 100);
    job_finish(0);
    job_leave();
    job_begin_again();
    job_add_accounts(0, 99);
    weir_job_finish(job_rig.job, &job_rig.result, &job_rig.err);
    ck_assert_int_eq(job_rig.result.exit_code, 2);
    ck_assert_int_eq(job_ledger("account", "rows"), 100);
    job_rig_end();
}
END_TEST

START_TEST(a_limit_of_rows_ends_a_run_and_the_next_one_goes_on)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_rig.options.rows_max = 300;
    job_begin();
    job_add_accounts(0, 300);
    ck_assert_int_eq(job_add("{\"name\":\"one more\"}"), WEIR_E_CANCELLED);
    job_finish(6);
    ck_assert_uint_eq(job_rig.result.done, 300);
    job_leave();
    job_begin_again();
    job_add_accounts(0, 600);
    ck_assert_int_eq(job_add("{\"name\":\"one more\"}"), WEIR_E_CANCELLED);
    job_finish(6);
    ck_assert_uint_eq(job_rig.result.done, 600);
    ck_assert_int_eq(job_ledger("account", "rows"), 600);
    job_rig_end();
}
END_TEST

START_TEST(a_deadline_ends_a_run)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_rig.options.deadline_us = 300 * WEIR_US_PER_MS;
    job_rig.options.rows_per_second_max = 200;
    job_begin();
    enum weir_status status = WEIR_OK;
    for (int i = 0; i < 1000000 && status == WEIR_OK; i++)
        status = job_add("{\"name\":\"account %d\"}", i);
    ck_assert_int_eq(status, WEIR_E_CANCELLED);
    job_finish(6);
    ck_assert(job_rig.result.ends & WEIR_END_LIMIT);
    job_rig_end();
}
END_TEST

START_TEST(a_job_that_is_there_already_is_refused)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_begin();
    struct weir_job *other = NULL;
    ck_assert_int_eq(weir_job_new(rig.client, &job_rig.options, &other, &job_rig.err),
                     WEIR_E_INVALID);
    ck_assert_int_eq(weir_job_resume(rig.client, &job_rig.options, &other, &job_rig.err),
                     WEIR_E_INVALID);
    job_add_accounts(0, 10);
    job_finish(0);
    job_rig_end();
}
END_TEST

START_TEST(no_job_is_not_found)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    ck_assert_int_eq(weir_job_resume(rig.client, &job_rig.options, &job_rig.job, &job_rig.err),
                     WEIR_E_NOT_FOUND);
    job_rig_end();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("job_again");
    suite_add(&s, a_job_that_was_stopped_goes_on_where_it_stood);
    suite_add(&s, other_rows_than_before_are_refused);
    suite_add_loop(&s, "nothing_of_a_block_is_sent_before_it_is_compared",
                   nothing_of_a_block_is_sent_before_it_is_compared, 2);
    suite_add(&s, fewer_rows_than_before_are_refused);
    suite_add(&s, a_limit_of_rows_ends_a_run_and_the_next_one_goes_on);
    suite_add(&s, a_deadline_ends_a_run);
    suite_add(&s, a_job_that_is_there_already_is_refused);
    suite_add(&s, no_job_is_not_found);
    return suite_run(&s);
}

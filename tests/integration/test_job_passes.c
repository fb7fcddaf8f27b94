/* SPDX-License-Identifier: MIT */
/*
 * Jobs in several passes, over real sockets: rows that refer to each other, in any order, and have
 * states; killed, interrupted and resumed in every pass.
 */
#include "support/file_job_rig.h"
#include "support/flaky_vfs.h"

#define ROWS  60
#define BATCH 10

/* A graph: every account has a parent somewhere, one in seven has none, one in three is inactive.
 */
static int parent_of(int i)
{
    return i % 7 == 0 ? -1 : (i * 31 + 11) % ROWS;
}

static bool is_inactive(int i)
{
    return i % 3 == 0;
}

static char *make_input(void)
{
    struct weir_buf text;
    weir_buf_init(&text, (size_t)1024 * 1024);
    weir_buf_add_text(&text,
                      "accountnumber,name,parentaccountid:account(#accountnumber),statecode\n");
    for (int i = 0; i < ROWS; i++) {
        weir_buf_printf(&text, "N%d,name %d,", i, i);
        if (parent_of(i) >= 0)
            weir_buf_printf(&text, "N%d", parent_of(i));
        weir_buf_printf(&text, ",%s\n", is_inactive(i) ? "1" : i % 3 == 1 ? "0" : "");
    }
    return weir_buf_take(&text);
}

static void write_input(void)
{
    char *text = make_input();
    file_job_write("accounts.csv", text);
    free(text);
    job_rig.options.id_from = "accountnumber";
    job_rig.options.batch_size = BATCH;
}

static void start_rig(void)
{
    job_rig_start(2, WEIR_OPERATION_CREATE, "account");
    write_input();
}

/* --- the graph -------------------------------------------------------------------------------- */

struct account {
    bool there;
    char id[40];
    char parent[40];
    int state;
};

static void read_accounts(struct account accounts[ROWS])
{
    struct weir_json *json =
        file_job_rows("accounts?$select=accountid,accountnumber,_parentaccountid_value,statecode");
    const struct weir_json_node *list = weir_json_find(weir_json_root(json), "value");
    memset(accounts, 0, ROWS * sizeof(*accounts));
    for (const struct weir_json_node *row = list->first; row; row = row->next) {
        int i = atoi(file_job_value(row, "accountnumber").ptr + 1);
        ck_assert_int_lt(i, ROWS);
        ck_assert(!accounts[i].there);
        accounts[i].there = true;
        accounts[i].state = atoi(file_job_value(row, "statecode").ptr);
        snprintf(accounts[i].id, sizeof(accounts[i].id), "%s",
                 file_job_value(row, "accountid").ptr);
        struct weir_str parent = file_job_value(row, "_parentaccountid_value");
        snprintf(accounts[i].parent, sizeof(accounts[i].parent), "%.*s", (int)parent.len,
                 parent.ptr);
    }
    weir_json_free(json);
}

static void check_graph(void)
{
    struct account accounts[ROWS];
    read_accounts(accounts);
    for (int i = 0; i < ROWS; i++) {
        int parent = parent_of(i);
        ck_assert_msg(accounts[i].there, "N%d is missing", i);
        ck_assert_str_eq(accounts[i].parent, parent < 0 ? "" : accounts[parent].id);
        ck_assert_int_eq(accounts[i].state, is_inactive(i));
    }
}

/* --- undisturbed ------------------------------------------------------------------------------ */

START_TEST(rows_that_refer_to_each_other_and_have_states_take_three_passes)
{
    start_rig();
    file_job_run(0);
    ck_assert_uint_eq(job_rig.result.read, ROWS);
    ck_assert_uint_eq(job_rig.result.done, ROWS);
    check_graph();
    struct weir_job_progress progress;
    weir_job_progress(job_rig.job, &progress);
    ck_assert_uint_eq(progress.pass, 3);
    ck_assert_uint_eq(progress.passes, 3);
    ck_assert_uint_eq(progress.done, ROWS);
    ck_assert_uint_eq(progress.pass_ended, ROWS);
    ck_assert(progress.over);
    /* Six batches in each pass; in the second and third those with nothing to do are left out. */
    ck_assert_uint_le(job_rig.result.requests, 18);
    char *ids = file_job_file("ids.csv");
    int lines = 0;
    for (const char *at = ids; *at; at++)
        lines += *at == '\n';
    ck_assert_int_eq(lines, ROWS + 1);
    free(ids);
    job_rig_end();
}
END_TEST

START_TEST(a_pass_that_no_row_needs_is_not_made)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("accounts.csv", "accountnumber,name\nA1,one\nA2,two\n");
    file_job_run(0);
    struct weir_job_progress progress;
    weir_job_progress(job_rig.job, &progress);
    ck_assert_uint_eq(progress.passes, 1);
    ck_assert_uint_eq(job_rig.result.requests, 1);
    job_rig_end();
}
END_TEST

/* Two of three rows have nothing to do: they cost no request and are done. */
START_TEST(rows_with_nothing_to_do_in_a_pass_cost_no_request)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("accounts.csv", "accountnumber,name,statecode\nA1,one,\nA2,two,1\nA3,three,\n");
    file_job_run(0);
    ck_assert_uint_eq(job_rig.result.done, 3);
    ck_assert_uint_eq(job_rig.result.requests, 2);
    ck_assert_int_eq(job_ledger("account", "writes"), 4);
    job_rig_end();
}
END_TEST

/* Ten of a hundred have something to do: ten a request, they fill one. */
START_TEST(rows_with_nothing_to_do_do_not_thin_out_the_others)
{
    struct weir_buf text;
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_rig.options.batch_size = 10;
    weir_buf_init(&text, 100000);
    weir_buf_add_text(&text, "accountnumber,statecode\n");
    for (int i = 0; i < 100; i++)
        weir_buf_printf(&text, "A%d,%s\n", i, i % 10 == 3 ? "1" : "");
    file_job_write("accounts.csv", weir_buf_text(&text));
    weir_buf_release(&text);
    file_job_run(0);
    ck_assert_uint_eq(job_rig.result.done, 100);
    ck_assert_uint_eq(job_rig.result.requests, 10 + 1);
    job_rig_end();
}
END_TEST

/* --- killed ----------------------------------------------------------------------------------- */

static void check_balance(void)
{
    const struct weir_job_result *it = &job_rig.result;
    ck_assert_uint_eq(it->read, it->done + it->rejected + it->skipped + it->unknown + it->not_sent);
    ck_assert_uint_eq(it->rejected + it->skipped, 0);
    ck_assert_int_eq(it->exit_code, it->unknown ? 8 : it->not_sent ? 5 : it->exit_code);
}

/* Goes on and is stopped at once: what the one before may have sent and nobody has seen is unknown,
 * in whichever pass. Or it is over by then. A job that died has not left its files. */
static void go_on_for_a_moment(bool died)
{
    file_job_prepare_again(NULL);
    ck_assert(!died || !weir_job_is_finished(job_rig.job));
    if (!weir_job_is_finished(job_rig.job)) {
        file_job_begin();
        weir_job_stop(job_rig.job);
        ck_assert_int_eq(weir_job_finish(job_rig.job, &job_rig.result, &job_rig.err), WEIR_OK);
        check_balance();
    }
    job_leave();
}

/* At the nth commit, whichever pass that is in; again and again until it was too late for that. */
START_TEST(a_job_that_is_killed_at_any_commit_of_any_pass_ends_with_the_whole_graph)
{
    static const enum weir_point points[] = { WEIR_POINT_BEFORE_COMMIT, WEIR_POINT_AFTER_COMMIT };
    for (unsigned nth = 1;; nth++) {
        job_rig = (struct job_rig){ .directory = "/tmp/weir-job-XXXXXX" };
        ck_assert_ptr_nonnull(mkdtemp(job_rig.directory));
        start("--users", "2", "--no-limits", NULL);
        rig_users(2);
        rig.options.resilience.late_commit_time_us = WEIR_US_PER_S;
        rig.options.resilience.read_back_delay_us = 10 * WEIR_US_PER_MS;
        weir_job_options_defaults(&job_rig.options);
        job_rig.options.table = "account";
        job_rig.options.owner = "caller";
        write_input();
        bool died = file_job_run_and_die(false, points[_i], nth, 0);
        bool died_again = died && file_job_run_and_die(true, points[_i], nth / 2 + 1, 0);
        rig_open();
        if (died) {
            go_on_for_a_moment(died_again);
            file_job_prepare_again(NULL);
            bool finished = weir_job_is_finished(job_rig.job);
            if (!finished) {
                file_job_begin();
                job_finish(0);
                ck_assert_uint_eq(job_rig.result.done, ROWS);
            }
        }
        check_graph();
        ck_assert_int_eq(job_ledger("account", "duplicates"), 0);
        job_rig_end();
        if (!died) {
            ck_assert_uint_gt(nth, 5); /* it was killed in all three */
            return;
        }
    }
}
END_TEST

/* --- a service that fails --------------------------------------------------------------------- */

START_TEST(a_service_that_fails_in_every_pass_changes_nothing)
{
    start_rig();
    job_faults("{\"kind\":\"commit_then_silence\",\"probability\":0.2},"
               "{\"kind\":\"reset_before\",\"probability\":0.1},"
               "{\"kind\":\"server_error\",\"status\":503,\"probability\":0.1}");
    file_job_run(0);
    job_faults("");
    ck_assert_uint_eq(job_rig.result.done, ROWS);
    check_graph();
    job_rig_end();
}
END_TEST

/* --- interrupted ------------------------------------------------------------------------------ */

/* The job, once it has begun: hooks are called before that, too. */
static struct weir_job *begun_job(void)
{
    return __atomic_load_n(&file_job.begun, __ATOMIC_ACQUIRE) ? job_rig.job : NULL;
}

/* Stops the job when the journal works in that pass. */
struct stopper {
    unsigned pass;
    unsigned commits; /* of that pass, before it does */
};

static void stop_in_pass(void *ctx, enum weir_point point)
{
    struct stopper *it = ctx;
    struct weir_job_progress progress;
    struct weir_job *job = begun_job();
    if (point != WEIR_POINT_AFTER_COMMIT || !job)
        return;
    weir_job_progress(job, &progress);
    if (progress.pass == it->pass && it->commits-- == 0)
        weir_job_stop(job);
}

START_TEST(a_job_that_is_interrupted_in_any_pass_is_in_balance_and_goes_on_there)
{
    struct stopper stopper = { (unsigned)_i / 3 + 1, (unsigned)_i % 3 };
    struct weir_journal_hooks hooks = { .at = stop_in_pass, .ctx = &stopper };
    start_rig();
    job_rig.options.rows_per_second_max = 200; /* so that there is something to interrupt */
    file_job_prepare(&hooks);
    file_job_begin();
    weir_job_finish(job_rig.job, &job_rig.result, &job_rig.err);
    const struct weir_job_result *it = &job_rig.result;
    ck_assert_uint_eq(it->read, it->done + it->rejected + it->skipped + it->unknown + it->not_sent);
    ck_assert_uint_eq(it->rejected + it->skipped + it->unknown, 0);
    ck_assert(it->exit_code == 5 || (it->exit_code == 0 && it->not_sent == 0));
    if (stopper.pass < 3) /* no row is done before its last pass */
        ck_assert_uint_eq(it->done, 0);
    long writes = job_ledger("account", "writes");
    job_rig.options.rows_per_second_max = 0;
    file_job_run_again(0);
    ck_assert_uint_eq(it->done, ROWS);
    check_graph();
    ck_assert_int_ge(job_ledger("account", "writes"), writes);
    int needed = 0;
    for (int i = 0; i < ROWS; i++)
        needed += 1 + (parent_of(i) >= 0) + (i % 3 != 2);
    ck_assert_int_eq(job_ledger("account", "writes"), needed); /* nothing was done twice */
    job_rig_end();
}
END_TEST

/* --- rejected --------------------------------------------------------------------------------- */

/* The parent of one row is nowhere: the row itself is there, without it. */
START_TEST(a_row_that_is_rejected_in_a_later_pass_says_that_it_was_created)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_rig.options.id_from = "accountnumber";
    file_job_write("accounts.csv",
                   "accountnumber,name,parentaccountid:account(#accountnumber),statecode\n"
                   "A1,one,,1\nA2,two,NOBODY,1\nA3,three,A1,\n");
    file_job_run(1);
    ck_assert_uint_eq(job_rig.result.done, 2);
    ck_assert_uint_eq(job_rig.result.rejected, 1);
    ck_assert_int_eq(job_ledger("account", "rows"), 3);
    char *errors = file_job_file("errors.jsonl");
    ck_assert_msg(strstr(errors, "\"message\":\"created, but its lookups could not be set: "), "%s",
                  errors);
    ck_assert_ptr_nonnull(strstr(errors, "\"row\":2"));
    free(errors);
    char *rejects = file_job_file("rejects.csv");
    ck_assert_str_eq(rejects,
                     "accountnumber,name,parentaccountid:account(#accountnumber),statecode\n"
                     "A2,two,NOBODY,1\n");
    free(rejects);
    /* A rejected row has no further passes: its state was left alone. */
    struct weir_json *json = file_job_rows("accounts?$select=statecode&$filter=name%20eq%20'two'");
    const struct weir_json_node *row = weir_json_find(weir_json_root(json), "value")->first;
    ck_assert_int_eq(atoi(file_job_value(row, "statecode").ptr), 0);
    weir_json_free(json);
    job_leave();
    file_job_prepare_again(NULL);
    ck_assert(weir_job_is_finished(job_rig.job));
    job_rig_end();
}
END_TEST

/* Under an id that nobody can know, feeding it in again would create it again. */
START_TEST(a_row_that_is_there_is_not_for_the_rejects)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("accounts.csv", "name,parentaccountid:account(accountnumber),numberofemployees\n"
                                   "one,NOBODY,1\ntwo,,x\n");
    file_job_run(1);
    ck_assert_uint_eq(job_rig.result.rejected, 2);
    ck_assert_int_eq(job_ledger("account", "rows"), 1);
    char *errors = file_job_file("errors.jsonl");
    ck_assert_ptr_nonnull(strstr(errors, "created, but its lookups could not be set: "));
    /* The service does not say who is not there. */
    ck_assert_msg(strstr(errors, "refers to are parentaccountid: accounts(accountnumber='NOBODY')"),
                  "%s", errors);
    free(errors);
    char *rejects = file_job_file("rejects.csv");
    ck_assert_str_eq(rejects, "name,parentaccountid:account(accountnumber),numberofemployees\n"
                              "two,,x\n");
    free(rejects);
    job_rig_end();
}
END_TEST

/* Of objects each may bring an id or not, and that is what counts. */
START_TEST(an_object_that_is_there_is_for_the_rejects_only_if_it_brought_its_id)
{
    static const char with_id[] =
        "{\"accountid\":\"00000000-0000-4000-8000-00000000000a\",\"name\":\"a\","
        "\"parentaccountid:account(accountnumber)\":\"NOBODY\"}\n";
    char text[512];
    snprintf(text, sizeof(text), "%s%s", with_id,
             "{\"name\":\"b\",\"parentaccountid:account(accountnumber)\":\"NOBODY\"}\n");
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("accounts.jsonl", text);
    file_job_run(1);
    ck_assert_uint_eq(job_rig.result.rejected, 2);
    ck_assert_int_eq(job_ledger("account", "rows"), 2);
    char *rejects = file_job_file("rejects.jsonl");
    ck_assert_str_eq(rejects, with_id);
    free(rejects);
    job_rig_end();
}
END_TEST

/* --- skipped ---------------------------------------------------------------------------------- */

static void expect_account(const char *number, const char *name, int state)
{
    char path[128];
    snprintf(path, sizeof(path),
             "accounts?$select=name,statecode&$filter=accountnumber%%20eq%%20'%s'", number);
    struct weir_json *json = file_job_rows(path);
    const struct weir_json_node *row = weir_json_find(weir_json_root(json), "value")->first;
    ck_assert_ptr_nonnull(row);
    ck_assert(weir_str_equal(file_job_value(row, "name"), weir_str_from(name)));
    ck_assert_int_eq(atoi(file_job_value(row, "statecode").ptr), state);
    weir_json_free(json);
}

/* An earlier job's row is left alone as a whole: neither its name nor its state are the file's. */
START_TEST(a_row_that_is_skipped_is_skipped_in_all_passes)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_rig.options.id_from = "accountnumber";
    file_job_write("old.csv", "accountnumber,name\nA1,old\n");
    file_job_run(0);
    job_leave();
    file_job_write("new.csv",
                   "accountnumber,name,parentaccountid:account(#accountnumber),statecode\n"
                   "A1,new,A1,1\nA2,two,A1,1\n");
    snprintf(file_job.job_directory, sizeof(file_job.job_directory), "%s/again", job_rig.directory);
    file_job_run(0);
    ck_assert_uint_eq(job_rig.result.done, 1);
    ck_assert_uint_eq(job_rig.result.skipped, 1);
    expect_account("A1", "old", 0);
    expect_account("A2", "two", 1);
    job_rig_end();
}
END_TEST

START_TEST(too_many_rejected_rows_end_a_job_in_a_later_pass)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_rig.options.id_from = "accountnumber";
    job_rig.options.rejected_max = 1;
    file_job_write("accounts.csv",
                   "accountnumber,name,parentaccountid:account(#accountnumber),statecode\n"
                   "A1,one,NOBODY,1\nA2,two,NOBODY,1\nA3,three,A1,\n");
    file_job_run(3);
    ck_assert_uint_eq(job_rig.result.rejected, 2);
    ck_assert_uint_eq(job_rig.result.not_sent, 1); /* its state was not set */
    job_rig.options.rejected_max = 100;
    file_job_run_again(1);
    ck_assert_uint_eq(job_rig.result.done, 1);
    ck_assert_uint_eq(job_rig.result.rejected, 2);
    job_rig_end();
}
END_TEST

/* --- input ------------------------------------------------------------------------------------ */

/* What changes between two passes is noticed like what changes between two runs. */
static void spoil_input(void *ctx, enum weir_point point)
{
    struct weir_job_progress progress;
    struct weir_job *job = begun_job();
    (void)ctx;
    if (point != WEIR_POINT_AFTER_COMMIT || !job)
        return;
    weir_job_progress(job, &progress);
    if (progress.pass == 1 && progress.read == ROWS)
        file_job_write("accounts.csv", "accountnumber,name\nN0,another\n");
}

START_TEST(an_input_that_changes_between_passes_ends_the_job)
{
    struct weir_journal_hooks hooks = { .at = spoil_input };
    start_rig();
    file_job_prepare(&hooks);
    file_job_begin();
    job_finish(2);
    ck_assert(job_rig.result.ends & WEIR_END_INPUT);
    ck_assert_uint_eq(job_rig.result.not_sent, ROWS);
    job_leave();
    hooks.at = NULL;
    write_input();
    file_job_prepare_again(NULL);
    file_job_begin();
    job_finish(0);
    ck_assert_uint_eq(job_rig.result.done, ROWS);
    check_graph();
    job_rig_end();
}
END_TEST

/* --- a journal that cannot be read ------------------------------------------------------------ */

/* Runs a job of two passes; the nth file that is opened for its journal meanwhile cannot be. False:
 * there were not so many. */
static bool run_without_nth_file(uint64_t nth)
{
    static const struct weir_journal_hooks hooks = { .vfs = FLAKY_VFS };
    snprintf(file_job.job_directory, sizeof(file_job.job_directory), "%s/job%u", job_rig.directory,
             (unsigned)nth);
    file_job_prepare(&hooks);
    file_job_begin();
    flaky_fail(FLAKY_OPEN, FLAKY_ERROR, nth);
    ck_assert(weir_job_wait(job_rig.job, WEIR_FOREVER));
    bool failed = flaky_has_failed();
    flaky_fail(FLAKY_OPEN, FLAKY_ERROR, 0);
    job_finish(failed ? 7 : 0);
    return failed;
}

START_TEST(a_journal_that_cannot_be_opened_for_the_next_pass_is_the_reason_that_is_told)
{
    uint64_t nth = 1;
    flaky_register();
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("accounts.csv", "name,statecode\none,1\n");
    while (run_without_nth_file(nth)) {
        const char *why = weir_job_trouble(job_rig.job);
        ck_assert_msg(strstr(why, "the journal cannot be read"), "file %u: \"%s\"", (unsigned)nth,
                      why);
        ck_assert_uint_eq(job_rig.result.ends, WEIR_END_INPUT);
        ck_assert_uint_eq(job_rig.result.not_sent, 1);
        job_leave();
        nth++;
    }
    ck_assert_uint_gt(nth, 10); /* both what enters the files and what reads them */
    job_rig_end();
}
END_TEST

/* When it comes to adding up, there may be nothing to add: that is the disk's fault, not weir's. */
START_TEST(a_journal_that_cannot_be_opened_at_the_end_is_exit_7_with_its_reason)
{
    static const struct weir_journal_hooks hooks = { .vfs = FLAKY_VFS };
    unsigned failures = 0;
    bool failed = true;
    flaky_register();
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("accounts.csv", "name,statecode\none,1\n");
    for (uint64_t nth = 1; failed; nth++) {
        snprintf(file_job.job_directory, sizeof(file_job.job_directory), "%s/job%u",
                 job_rig.directory, (unsigned)nth);
        file_job_prepare(&hooks);
        file_job_begin();
        ck_assert(weir_job_wait(job_rig.job, WEIR_FOREVER));
        flaky_fail(FLAKY_OPEN, FLAKY_ERROR, nth);
        weir_job_finish(job_rig.job, &job_rig.result, &job_rig.err);
        failed = flaky_has_failed();
        flaky_fail(FLAKY_OPEN, FLAKY_ERROR, 0);
        ck_assert_int_eq(job_rig.result.exit_code, failed ? 7 : 0);
        ck_assert(!failed || weir_job_trouble(job_rig.job)[0]);
        failures += failed;
        job_leave();
    }
    ck_assert_uint_gt(failures, 2);
    job_rig_end();
}
END_TEST

/* Its driver runs by then, and has to be ended. The files that are opened first have what
 * the policy has learned: it can do without. */
START_TEST(a_job_that_cannot_be_read_again_says_so_and_can_be_begun_once_more)
{
    static const struct weir_journal_hooks hooks = { .vfs = FLAKY_VFS };
    enum weir_status status = WEIR_OK;
    unsigned failures = 0;
    unsigned lessons = 0;
    flaky_register();
    start_rig();
    job_rig.options.rows_max = 1;
    file_job_run(6);
    for (uint64_t nth = 1; failures == 0 || status; nth++) {
        job_leave();
        file_job_prepare_again(&hooks);
        flaky_fail(FLAKY_OPEN, FLAKY_ERROR, nth);
        status = weir_job_begin(job_rig.job, &job_rig.err);
        ck_assert(flaky_has_failed() || failures);
        lessons += !failures && !status;
        flaky_fail(FLAKY_OPEN, FLAKY_ERROR, 0);
        ck_assert(status == WEIR_OK || status == WEIR_E_IO);
        ck_assert(!status || strstr(job_rig.err.message, "the journal cannot be read"));
        failures += status != WEIR_OK;
        if (!status)
            job_finish(6);
    }
    ck_assert_uint_gt(failures, 2);
    ck_assert_uint_ge(lessons, 2); /* of two users */
    job_rig.options.rows_max = 0;
    file_job_run_again(0);
    ck_assert_uint_eq(job_rig.result.done, ROWS);
    check_graph();
    job_rig_end();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("job_passes");
    suite_add(&s, a_journal_that_cannot_be_opened_at_the_end_is_exit_7_with_its_reason);
    suite_add(&s, rows_that_refer_to_each_other_and_have_states_take_three_passes);
    suite_add(&s, a_pass_that_no_row_needs_is_not_made);
    suite_add(&s, rows_with_nothing_to_do_in_a_pass_cost_no_request);
    suite_add(&s, rows_with_nothing_to_do_do_not_thin_out_the_others);
    suite_add_loop(&s, "a_job_that_is_killed_at_any_commit_of_any_pass_ends_with_the_whole_graph",
                   a_job_that_is_killed_at_any_commit_of_any_pass_ends_with_the_whole_graph, 2);
    suite_add(&s, a_service_that_fails_in_every_pass_changes_nothing);
    suite_add_loop(&s, "a_job_that_is_interrupted_in_any_pass_is_in_balance_and_goes_on_there",
                   a_job_that_is_interrupted_in_any_pass_is_in_balance_and_goes_on_there, 9);
    suite_add(&s, a_row_that_is_rejected_in_a_later_pass_says_that_it_was_created);
    suite_add(&s, a_row_that_is_there_is_not_for_the_rejects);
    suite_add(&s, an_object_that_is_there_is_for_the_rejects_only_if_it_brought_its_id);
    suite_add(&s, a_row_that_is_skipped_is_skipped_in_all_passes);
    suite_add(&s, too_many_rejected_rows_end_a_job_in_a_later_pass);
    suite_add(&s, an_input_that_changes_between_passes_ends_the_job);
    suite_add(&s, a_journal_that_cannot_be_opened_for_the_next_pass_is_the_reason_that_is_told);
    suite_add(&s, a_job_that_cannot_be_read_again_says_so_and_can_be_begun_once_more);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* Bulk jobs of the library, with rows from memory, against a running weir-sim. */
#include "bulk/job.h"
#include "support/job_rig.h"

START_TEST(rows_from_memory_are_created_and_their_ids_are_in_the_order_of_the_rows)
{
    job_rig_start(2, WEIR_OPERATION_CREATE, "account");
    job_begin();
    job_add_accounts(0, 1234);
    job_finish(0);
    ck_assert_uint_eq(job_rig.result.done, 1234);
    ck_assert_int_eq(job_ledger("account", "rows"), 1234);
    char *ids = job_file("ids.csv");
    char *line = strtok(ids, "\n");
    ck_assert_str_eq(line, "row,id");
    for (int i = 1; i <= 1234; i++) {
        int row, last;
        char id[37];
        line = strtok(NULL, "\n");
        ck_assert_int_eq(sscanf(line, "%d,%36s", &row, id), 2);
        ck_assert_int_eq(row, i);
        ck_assert_int_eq(sscanf(id + 32, "%4x", (unsigned *)&last), 1);
        ck_assert_int_eq(last, i); /* the row can be read off */
    }
    ck_assert_ptr_null(strtok(NULL, "\n"));
    free(ids);
    job_rig_end();
}
END_TEST

START_TEST(every_operation_does_what_it_says)
{
    static const char *const tables[] = { "account", "sensorreading" };
    const char *table = tables[_i];
    job_rig_start(2, WEIR_OPERATION_CREATE, table);
    static const long rows[] = { 250, 250, 250, 0 }; /* that are there after each operation */
    char directory[96];
    for (size_t step = 0; step < 4; step++) {
        snprintf(directory, sizeof(directory), "%s/%zu", job_rig.directory, step);
        job_rig.options.directory = directory;
        job_rig.options.operation = (enum weir_operation)step;
        job_begin();
        for (int i = 0; i < 250; i++) {
            char row[128];
            snprintf(row, sizeof(row), "{\"%sid\":\"00000000-0000-4000-8000-%012x\"}", table, i);
            ck_assert_int_eq(weir_job_add(job_rig.job, row, strlen(row), &job_rig.err), WEIR_OK);
        }
        job_finish(0);
        ck_assert_uint_eq(job_rig.result.done, 250);
        ck_assert_int_eq(job_ledger(table, "rows"), rows[step]);
        job_leave();
    }
    job_rig_end();
}
END_TEST

START_TEST(a_row_that_is_no_object_is_rejected_and_the_others_go_on)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_begin();
    job_add_accounts(0, 10);
    ck_assert_int_eq(job_add("[1,2]"), WEIR_OK);
    job_add_accounts(10, 20);
    job_finish(1);
    ck_assert_uint_eq(job_rig.result.done, 20);
    ck_assert_uint_eq(job_rig.result.rejected, 1);
    char *rejects = job_file("rejects.jsonl");
    ck_assert_str_eq(rejects, "[1,2]\n");
    free(rejects);
    char *errors = job_file("errors.jsonl");
    ck_assert_ptr_nonnull(strstr(errors, "\"row\":11"));
    ck_assert_ptr_nonnull(strstr(errors, "\"class\":\"input\""));
    free(errors);
    job_rig_end();
}
END_TEST

START_TEST(a_row_that_the_service_refuses_is_rejected_with_its_own_words)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_begin();
    job_add_accounts(0, 50);
    ck_assert_int_eq(job_add("{\"name\":\"x\",\"nosuchcolumn\":\"y\"}"), WEIR_OK);
    job_add_accounts(50, 99);
    job_finish(1);
    ck_assert_uint_eq(job_rig.result.done, 99);
    ck_assert_uint_eq(job_rig.result.requests, 2); /* the bulk message, and one $batch */
    char *errors = job_file("errors.jsonl");
    ck_assert_ptr_nonnull(strstr(errors, "nosuchcolumn"));
    ck_assert_ptr_nonnull(strstr(errors, "\"row\":51"));
    free(errors);
    job_rig_end();
}
END_TEST

struct seen_rejects {
    int count;
    uint64_t rows[2];
    char texts[2][1024];
};

static void see_reject(void *ctx, const struct weir_job_reject *reject)
{
    struct seen_rejects *seen = ctx;
    ck_assert_int_lt(seen->count, 2);
    ck_assert_uint_eq(reject->json_bytes, strlen(reject->json));
    seen->rows[seen->count] = reject->row;
    snprintf(seen->texts[seen->count++], sizeof(seen->texts[0]), "%s|%s|%d|%s|%s", reject->json,
             reject->class_name, reject->http_status, reject->connection, reject->message);
}

START_TEST(a_program_is_told_which_rows_were_rejected_and_why)
{
    struct seen_rejects seen = { 0 };
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_begin();
    ck_assert_int_eq(job_add("[1]"), WEIR_OK);
    job_add_accounts(0, 5);
    ck_assert_int_eq(job_add("{\"nosuchcolumn\":\"y\"}"), WEIR_OK);
    job_finish(WEIR_EXIT_REJECTED_ROWS);
    ck_assert_int_eq(weir_job_each_reject(job_rig.job, see_reject, &seen, &job_rig.err), WEIR_OK);
    ck_assert_int_eq(seen.count, 2);
    ck_assert_uint_eq(seen.rows[0], 1);
    ck_assert_uint_eq(seen.rows[1], 7);
    ck_assert_str_eq(seen.texts[0], "[1]|input|0||the row is no JSON object");
    static const char refused[] = "{\"nosuchcolumn\":\"y\"}|bad rows|400|app1|";
    ck_assert_msg(strncmp(seen.texts[1], refused, strlen(refused)) == 0, "%s", seen.texts[1]);
    ck_assert_ptr_nonnull(strstr(seen.texts[1] + strlen(refused), "nosuchcolumn"));
    ck_assert_str_eq(weir_job_trouble(job_rig.job), "");
    ck_assert(!weir_job_result_can_resume(&job_rig.result));
    job_rig_end();
}
END_TEST

START_TEST(a_connection_that_is_none_has_no_statistics)
{
    struct weir_adaptive_rate_stats stats, none = { 0 };
    job_rig_start(2, WEIR_OPERATION_CREATE, "account");
    job_begin();
    weir_job_rate_stats(job_rig.job, 1, &stats);
    ck_assert_int_ne(memcmp(&stats, &none, sizeof(stats)), 0);
    weir_job_rate_stats(job_rig.job, 2, &stats);
    ck_assert_int_eq(memcmp(&stats, &none, sizeof(stats)), 0);
    job_finish(0);
    job_rig_end();
}
END_TEST

START_TEST(too_many_rejected_rows_end_the_job)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_rig.options.rejected_max = 5;
    job_begin();
    enum weir_status status = WEIR_OK;
    for (int i = 0; i < 100000 && status == WEIR_OK; i++)
        status = job_add("{\"nosuchcolumn\":\"%d\"}", i);
    ck_assert_int_eq(status, WEIR_E_CANCELLED);
    job_finish(WEIR_EXIT_TOO_MANY);
    ck_assert_uint_gt(job_rig.result.rejected, 5);
    ck_assert(weir_job_result_can_resume(&job_rig.result));
    ck_assert_ptr_nonnull(strstr(weir_job_trouble(job_rig.job), "rejected"));
    job_rig_end();
}
END_TEST

START_TEST(rows_with_the_same_key_are_applied_in_their_order)
{
    job_rig_start(3, WEIR_OPERATION_UPSERT, "account");
    job_rig.options.key = "accountnumber";
    job_begin();
    job_faults("{\"kind\":\"server_error\",\"status\":503,\"probability\":0.2}");
    for (int i = 0; i < 2000; i++)
        ck_assert_int_eq(job_add("{\"accountnumber\":\"K%d\",\"name\":\"%d\"}", i * 7 % 50, i),
                         WEIR_OK);
    job_finish(0);
    job_faults("");
    ck_assert_int_eq(job_ledger("account", "rows"), 50);
    struct weir_response response;
    enum weir_status status =
        rig_try("GET", "accounts?$select=accountnumber,name", NULL, true, &response);
    ck_assert_msg(status == WEIR_OK, "%s", rig.err.message);
    for (int i = 1950; i < 2000; i++) { /* the last 50 have each key once */
        char name[64];
        snprintf(name, sizeof(name), "\"name\":\"%d\"", i);
        ck_assert_msg(strstr(response.body, name), "%s is not there", name);
    }
    weir_response_release(&response);
    job_rig_end();
}
END_TEST

static void *watch(void *ctx)
{
    bool *stop = ctx;
    while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE)) {
        struct weir_job_progress progress;
        struct weir_adaptive_rate_stats stats;
        weir_job_progress(job_rig.job, &progress);
        weir_job_rate_stats(job_rig.job, 0, &stats);
        must(progress.done + progress.rejected + progress.skipped <= progress.read + 1000);
    }
    return NULL;
}

START_TEST(progress_can_be_looked_at_from_another_thread_and_single_requests_work_meanwhile)
{
    job_rig_start(2, WEIR_OPERATION_CREATE, "account");
    bool stop_watching = false;
    pthread_t thread;
    job_begin();
    ck_assert_int_eq(pthread_create(&thread, NULL, watch, &stop_watching), 0);
    for (int i = 0; i < 10; i++) {
        struct weir_response response;
        job_add_accounts(i * 200, i * 200 + 200);
        rig_who(&response);
        weir_response_release(&response);
    }
    job_finish(0);
    struct weir_job_progress progress;
    weir_job_progress(job_rig.job, &progress);
    ck_assert(progress.over);
    ck_assert_uint_eq(progress.done, 2000);
    __atomic_store_n(&stop_watching, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    job_rig_end();
}
END_TEST

START_TEST(a_job_that_is_freed_before_its_end_leaves_one_that_can_be_resumed)
{
    job_rig_start(2, WEIR_OPERATION_CREATE, "account");
    job_begin();
    job_add_accounts(0, 1000);
    job_leave();
    job_begin_again();
    job_add_accounts(0, 1000);
    job_finish(0);
    ck_assert_uint_eq(job_rig.result.done, 1000);
    ck_assert_int_eq(job_ledger("account", "rows"), 1000);
    ck_assert_int_eq(job_ledger("account", "duplicates"), 0);
    job_rig_end();
}
END_TEST

START_TEST(what_cannot_be_is_said_before_anything_is_sent)
{
    static const struct {
        const char *table;
        const char *key;
        const char *owner;
        const char *message;
    } cases[] = {
        { "acount", NULL, "caller", "acount" },  { "accounts", NULL, "caller", "account" },
        { "account", "name", "caller", "name" }, { "account", NULL, NULL, "owner" },
        { "account", NULL, "nobody", "nobody" },
    };
    job_rig_start(2, WEIR_OPERATION_UPSERT, cases[_i].table);
    job_rig.options.key = cases[_i].key;
    job_rig.options.owner = cases[_i].owner;
    ck_assert_int_ne(weir_job_new(rig.client, &job_rig.options, &job_rig.job, &job_rig.err),
                     WEIR_OK);
    ck_assert_msg(strstr(job_rig.err.message, cases[_i].message), "%s", job_rig.err.message);
    job_rig_end();
}
END_TEST

/* Of ten minutes that nobody waits for: app2 does it all. */
static void throttle_the_next(void)
{
    job_faults("{\"kind\":\"throttle\",\"code\":\"0x80072322\",\"count\":1,\"retry_after\":600}");
}

static void load_without_app1(uint64_t throttles)
{
    struct weir_job_connection app1;
    struct weir_job_experience experience;
    job_begin();
    long before = rig_count("requests");
    job_add_accounts(0, 200);
    job_finish(0);
    weir_job_connection(job_rig.job, 0, &app1);
    weir_job_experience(job_rig.job, 0, &experience);
    ck_assert_uint_eq(app1.requests, 0);
    ck_assert_uint_eq(app1.throttles, throttles);
    ck_assert_uint_eq(job_rig.result.throttles, throttles);
    ck_assert_uint_eq(experience.throttles_by_kind[WEIR_THROTTLE_REQUESTS], throttles);
    ck_assert(app1.throttled_for_s > 0);
    ck_assert_int_eq(rig_count("requests"), before + (long)job_rig.result.requests);
    ck_assert_int_eq(job_ledger("account", "rows"), 200);
}

/* One in the preparations of the job is one of the job. */
START_TEST(a_throttle_is_heeded_by_the_job_that_it_came_before)
{
    job_rig_start(2, WEIR_OPERATION_CREATE, "account");
    throttle_the_next();
    struct weir_response response;
    if (_i == 1) {
        rig_who(&response);
        weir_response_release(&response);
    }
    load_without_app1(_i == 1 ? 0 : 1);
    job_rig_end();
}
END_TEST

/* What is of no use to the preparations is not tried again by the job. */
START_TEST(a_connection_that_was_set_aside_before_the_job_stays_so)
{
    job_rig_start(2, WEIR_OPERATION_CREATE, "account");
    weir_pool_set_aside(weir_client_pool(rig.client), "app1");
    struct weir_job_connection app1;
    job_begin();
    job_add_accounts(0, 200);
    job_finish(0);
    weir_job_connection(job_rig.job, 0, &app1);
    ck_assert(app1.set_aside);
    ck_assert_uint_eq(app1.requests, 0);
    job_rig_end();
}
END_TEST

static uint64_t looks;

static void look_at_the_job(void)
{
    struct weir_job_progress progress;
    struct weir_job_connection connection;
    if (!job_rig.job)
        return;
    weir_job_progress(job_rig.job, &progress);
    weir_job_connection(job_rig.job, 0, &connection);
    __atomic_add_fetch(&looks, progress.pass, __ATOMIC_SEQ_CST);
}

/* It is called outside all locks: whoever is told of a throttle may ask how things stand. */
START_TEST(a_sink_may_look_at_the_job_that_it_hears_of)
{
    job_rig_start(2, WEIR_OPERATION_CREATE, "account");
    job_begin();
    looks = 0;
    rig.heard = look_at_the_job;
    job_faults("{\"kind\":\"throttle\",\"code\":\"0x80072322\",\"count\":1,\"retry_after\":1}");
    job_add_accounts(0, 200);
    job_finish(0);
    rig.heard = NULL;
    ck_assert_uint_gt(looks, 0);
    ck_assert_int_eq(job_ledger("account", "rows"), 200);
    job_rig_end();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("job");
    suite_add(&s, a_sink_may_look_at_the_job_that_it_hears_of);
    suite_add(&s, rows_from_memory_are_created_and_their_ids_are_in_the_order_of_the_rows);
    suite_add_loop(&s, "every_operation_does_what_it_says", every_operation_does_what_it_says, 2);
    suite_add(&s, a_row_that_is_no_object_is_rejected_and_the_others_go_on);
    suite_add(&s, a_row_that_the_service_refuses_is_rejected_with_its_own_words);
    suite_add(&s, a_program_is_told_which_rows_were_rejected_and_why);
    suite_add(&s, a_connection_that_is_none_has_no_statistics);
    suite_add(&s, too_many_rejected_rows_end_the_job);
    suite_add(&s, rows_with_the_same_key_are_applied_in_their_order);
    suite_add(&s, progress_can_be_looked_at_from_another_thread_and_single_requests_work_meanwhile);
    suite_add(&s, a_job_that_is_freed_before_its_end_leaves_one_that_can_be_resumed);
    suite_add_loop(&s, "what_cannot_be_is_said_before_anything_is_sent",
                   what_cannot_be_is_said_before_anything_is_sent, 5);
    suite_add_loop(&s, "a_throttle_is_heeded_by_the_job_that_it_came_before",
                   a_throttle_is_heeded_by_the_job_that_it_came_before, 2);
    suite_add(&s, a_connection_that_was_set_aside_before_the_job_stays_so);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/*
 * What a job is told before its first row and how it understands its files, against a running
 * weir-sim: metadata, derived ids, mapping files, JSON Lines, references, and the dry run.
 */
#include "base/limits.h"
#include "bulk/job_check.h"
#include "support/file_job_rig.h"

/* --- metadata --------------------------------------------------------------------------------- */

/* Requests that prepare a job; tokens are no requests. */
static long preparing(bool again)
{
    long before = rig_count("requests");
    if (again)
        file_job_prepare_again(NULL);
    else
        file_job_prepare(NULL);
    return rig_count("requests") - before;
}

START_TEST(a_new_job_asks_once_for_each_table_and_a_later_run_for_none)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "contact");
    job_rig.options.rows_max = 1;
    file_job_write("contacts.csv", "lastname,parentcustomerid:account(accountnumber)\n"
                                   "one,\ntwo,\nthree,\n");
    ck_assert_int_eq(preparing(false), 2); /* contact and account */
    file_job_begin();
    job_finish(6);
    job_leave();
    ck_assert_int_eq(preparing(true), 0);
    job_rig.options.rows_max = 0;
    file_job_begin();
    job_finish(6);
    job_leave();
    job_rig.options.rows_max = 0;
    ck_assert_int_eq(preparing(true), 0);
    file_job_begin();
    job_finish(0);
    ck_assert_uint_eq(job_rig.result.done, 3);
    job_rig_end();
}
END_TEST

START_TEST(a_job_without_lookups_asks_for_one_table)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("accounts.csv", "name\none\n");
    ck_assert_int_eq(preparing(false), 1);
    job_rig_end();
}
END_TEST

START_TEST(a_finished_job_asks_nobody)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("accounts.csv", "name\none\n");
    file_job_run(0);
    job_leave();
    ck_assert_int_eq(preparing(true), 0);
    ck_assert(weir_job_is_finished(job_rig.job));
    job_rig_end();
}
END_TEST

/* Spaces around the table that a lookup goes to count for nothing, but stand in the header. */
START_TEST(a_header_that_the_journal_cannot_hold_is_refused_before_anything_is_written)
{
    char *spaces = weir_calloc(1, WEIR_JOURNAL_FACT_MAX / 2 + 1);
    struct weir_buf text;
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    memset(spaces, ' ', WEIR_JOURNAL_FACT_MAX / 2);
    weir_buf_init(&text, 2 * WEIR_JOURNAL_FACT_MAX);
    weir_buf_add_text(&text, "name,parentaccountid:");
    weir_buf_add_text(&text, spaces);
    weir_buf_add_text(&text, "account(accountnumber),primarycontactid:");
    weir_buf_add_text(&text, spaces);
    weir_buf_add_text(&text, "contact\none,,\n");
    file_job_write("accounts.csv", weir_buf_text(&text));
    weir_buf_release(&text);
    free(spaces);
    file_job_prepare(NULL);
    ck_assert_int_eq(weir_job_begin(job_rig.job, &job_rig.err), WEIR_E_TOO_BIG);
    ck_assert_ptr_nonnull(strstr(job_rig.err.message, "header"));
    ck_assert_int_eq(access(file_job.job_directory, F_OK), -1);
    job_rig_end();
}
END_TEST

/* --- derived ids ------------------------------------------------------------------------------ */

static void use_directory(const char *name)
{
    snprintf(file_job.job_directory, sizeof(file_job.job_directory), "%s/%s", job_rig.directory,
             name);
}

START_TEST(a_repeated_job_with_derived_ids_skips_the_rows_of_the_first)
{
    bool passes = _i == 1;
    const char *text = passes ? "accountnumber,name,statecode\nA1,one,1\nA2,two,\nA3,three,1\n"
                              : "accountnumber,name\nA1,one\nA2,two\nA3,three\n";
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_rig.options.id_from = "accountnumber";
    file_job_write("accounts.csv", text);
    file_job_run(0);
    ck_assert_uint_eq(job_rig.result.done, 3);
    job_leave();
    /* createdon has no fractions: a row of the second in which a job begins may be its own; and
     * the clock by which the simulator dates its answers is a few milliseconds late. */
    int64_t until_us = weir_clock_wall_us() / WEIR_US_PER_S * WEIR_US_PER_S + 1100 * WEIR_US_PER_MS;
    while (weir_clock_wall_us() < until_us)
        rig_count("requests");
    use_directory("again");
    file_job_run(0);
    ck_assert_uint_eq(job_rig.result.read, 3);
    ck_assert_uint_eq(job_rig.result.skipped, 3);
    ck_assert_uint_eq(job_rig.result.done, 0);
    ck_assert_int_eq(job_ledger("account", "rows"), 3);
    job_rig_end();
}
END_TEST

START_TEST(a_row_that_is_there_already_is_rejected_and_says_so_first)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    const char *text = "accountid,name\n00000000-0000-4000-8000-000000000001,one\n";
    file_job_write("accounts.csv", text);
    file_job_run(0);
    job_leave();
    use_directory("again");
    file_job_run(1);
    ck_assert_uint_eq(job_rig.result.rejected, 1);
    char *errors = job_file("again/errors.jsonl");
    ck_assert_msg(strstr(errors, "\"message\":\"exists already: "), "%s", errors);
    free(errors);
    job_rig_end();
}
END_TEST

/* --- rows ------------------------------------------------------------------------------------- */

START_TEST(a_mapping_file_and_its_options_say_what_columns_are_for)
{
    static const char *const with[] = { "description=loaded" };
    char mapping[128];
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("map.jsonc", "{ \"table\": \"account\", // comment\n"
                                "  \"columns\": { \"Firma\": \"name\", \"Notiz\": null } }\n");
    snprintf(mapping, sizeof(mapping), "%s", file_job.path);
    file_job_write("accounts.csv", "Firma,Notiz,Nr,unused\nContoso,x,A1,y\nFabrikam,x,A2,y\n");
    job_rig.options.mapping = mapping;
    job_rig.options.with = with;
    job_rig.options.with_count = 1;
    job_rig.options.ignore_columns = "unused,Nr";
    job_rig.options.rows_max = 1;
    file_job_run(6);
    ck_assert_int_eq(remove(mapping), 0); /* its text is the job's */
    job_rig.options.mapping = NULL;
    job_rig.options.with_count = 0;
    job_rig.options.ignore_columns = NULL;
    job_rig.options.rows_max = 0;
    file_job_run_again(0);
    struct weir_json *json = file_job_rows("accounts?$select=name,description");
    const struct weir_json_node *row = weir_json_find(weir_json_root(json), "value")->first;
    for (int i = 0; i < 2; i++, row = row->next) {
        ck_assert_ptr_nonnull(row);
        ck_assert_str_eq(file_job_value(row, "description").ptr, "loaded");
    }
    weir_json_free(json);
    job_rig_end();
}
END_TEST

START_TEST(a_mapping_for_another_table_is_refused)
{
    char mapping[128];
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("map.json", "{ \"table\": \"contact\" }");
    snprintf(mapping, sizeof(mapping), "%s", file_job.path);
    file_job_write("accounts.csv", "name\none\n");
    job_rig.options.mapping = mapping;
    ck_assert_int_eq(file_job_try(NULL), WEIR_E_INVALID);
    ck_assert_msg(strstr(job_rig.err.message, "\"contact\""), "%s", job_rig.err.message);
    job_rig.options.mapping = "/nowhere/at/all";
    ck_assert_int_eq(file_job_try(NULL), WEIR_E_NOT_FOUND);
    job_rig_end();
}
END_TEST

/* Flat objects have their passes; what they are is told by the name of the file. */
START_TEST(objects_of_a_file_are_rows_and_rejects_are_objects)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("accounts.jsonl", "{\"name\":\"one\",\"statecode\":1}\n"
                                     "{\"name\":\"two\",\"nosuch\":1}\n"
                                     "{\"name\":\"three\",\"numberofemployees\":5}\n");
    file_job_run(1);
    ck_assert_uint_eq(job_rig.result.done, 2);
    char *rejects = file_job_file("rejects.jsonl");
    ck_assert_str_eq(rejects, "{\"name\":\"two\",\"nosuch\":1}\n");
    free(rejects);
    struct weir_json *json = file_job_rows("accounts?$select=statecode&$filter=name%20eq%20'one'");
    const struct weir_json_node *row = weir_json_find(weir_json_root(json), "value")->first;
    ck_assert_int_eq(atoi(file_job_value(row, "statecode").ptr), 1);
    weir_json_free(json);
    job_rig_end();
}
END_TEST

START_TEST(raw_objects_go_as_they_are)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    job_rig.options.raw = true;
    file_job_write("accounts.jsonl", "{\"name\":\"one\",\"revenue\":5}\n");
    file_job_run(0);
    ck_assert_uint_eq(job_rig.result.done, 1);
    job_leave();
    file_job_write("accounts.csv", "name\none\n");
    use_directory("again");
    ck_assert_int_eq(file_job_try(NULL), WEIR_E_INVALID);
    ck_assert_msg(strstr(job_rig.err.message, "jsonl"), "%s", job_rig.err.message);
    job_rig_end();
}
END_TEST

/* --- streams ---------------------------------------------------------------------------------- */

static int stream_of(const char *text)
{
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(write(fds[1], text, strlen(text)), (ssize_t)strlen(text));
    close(fds[1]);
    return fds[0];
}

static void read_stream(const char *text, const char *format)
{
    static const char *const paths[] = { "-" };
    file_job_write("unused", "");
    file_job.files = (struct weir_job_files){ paths, 1, stream_of(text) };
    job_rig.options.format = format;
}

START_TEST(standard_input_may_be_objects_if_the_options_say_so)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    read_stream("{\"name\":\"one\"}\n{\"name\":\"two\"}\n{\"name\":\"three\",\"statecode\":1}\n",
                "jsonl");
    file_job_run(1);
    ck_assert_uint_eq(job_rig.result.done, 2);
    ck_assert_uint_eq(job_rig.result.rejected, 1); /* it cannot be read a second time */
    char *errors = file_job_file("errors.jsonl");
    ck_assert_ptr_nonnull(strstr(errors, "from a file, not from a stream"));
    free(errors);
    job_rig_end();
}
END_TEST

START_TEST(a_stream_with_columns_for_other_passes_is_refused)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    read_stream("name,statecode\none,1\n", NULL);
    ck_assert_int_eq(file_job_try(NULL), WEIR_E_INVALID);
    ck_assert_msg(strstr(job_rig.err.message, "not a stream"), "%s", job_rig.err.message);
    job_rig_end();
}
END_TEST

/* --- references ------------------------------------------------------------------------------- */

/* Accounts by a column that is no key of theirs: read before the first row, at every start. */
START_TEST(lookups_by_any_column_go_through_a_list_that_is_read_before)
{
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    file_job_write("accounts.csv", "name\nContoso\nFabrikam\nTwin\nTwin\n");
    file_job_run(0);
    job_leave();
    use_directory("contacts");
    job_rig.options.table = "contact";
    file_job_write("contacts.csv", "lastname,parentcustomerid:account(name)\n"
                                   "one,contoso\ntwo,Twin\nthree,Nobody\nfour,FABRIKAM\n");
    use_directory("contacts");
    file_job_run(1);
    ck_assert_uint_eq(job_rig.result.done, 2);
    ck_assert_uint_eq(job_rig.result.rejected, 2);
    char *rejects = job_file("contacts/rejects.csv");
    ck_assert_ptr_nonnull(strstr(rejects, "two,Twin\nthree,Nobody\n"));
    free(rejects);
    job_rig_end();
}
END_TEST

/* --- a dry run -------------------------------------------------------------------------------- */

START_TEST(a_dry_run_says_what_would_be_and_sends_nothing)
{
    struct weir_job_check_options how = { .refusals_max = 1 };
    struct weir_job_check check;
    job_rig_start(1, WEIR_OPERATION_UPSERT, "account");
    job_rig.options.key = "accountnumber";
    job_rig.options.batch_size = 2;
    file_job_write("accounts.csv", "accountnumber,numberofemployees,statecode\n"
                                   "A1,1,\nA2,many,1\nA3,3,1\na1 ,4,\nA4,none,\n");
    job_rig.options.directory = NULL;
    file_job_prepare(NULL);
    long before = rig_count("requests");
    enum weir_status status = weir_job_check(job_rig.job, &how, &check, &job_rig.err);
    ck_assert_msg(status == WEIR_OK, "%s", job_rig.err.message);
    ck_assert_int_eq(rig_count("requests"), before);
    ck_assert_uint_eq(check.rows, 5);
    ck_assert_uint_eq(check.refused, 2);
    ck_assert_uint_eq(check.refusal_count, 1);
    ck_assert_uint_eq(check.refusals[0].row, 2);
    ck_assert_uint_eq(check.refusals[0].line, 3);
    ck_assert_str_eq(check.refusals[0].column, "numberofemployees");
    ck_assert_msg(strstr(check.refusals[0].message, "many"), "%s", check.refusals[0].message);
    ck_assert_ptr_nonnull(strstr(check.refusals[0].path, "accounts.csv"));
    ck_assert_uint_eq(check.repeated, 1);
    ck_assert_uint_eq(check.repeated_row, 4);
    ck_assert_uint_eq(check.repeated_first, 1);
    ck_assert_uint_eq(check.passes[WEIR_PASS_ROWS].rows, 3);
    ck_assert_str_eq(check.passes[WEIR_PASS_ROWS].message, "UpsertMultiple");
    ck_assert_uint_eq(check.passes[WEIR_PASS_ROWS].requests, 2);
    ck_assert(!check.passes[WEIR_PASS_LOOKUPS].made);
    ck_assert_uint_eq(check.passes[WEIR_PASS_STATE].rows, 1);
    ck_assert_uint_eq(check.passes[WEIR_PASS_STATE].idle, 2);
    ck_assert_str_eq(check.passes[WEIR_PASS_STATE].message, "$batch");
    ck_assert_uint_eq(check.passes[WEIR_PASS_STATE].requests, 1);
    weir_job_check_release(&check);
    ck_assert_int_eq(job_ledger("account", "rows"), 0);
    job_rig_end();
}
END_TEST

static bool stop_at_once(void *ctx, uint64_t rows)
{
    (void)ctx;
    (void)rows;
    return false;
}

START_TEST(a_dry_run_can_be_bounded_and_stopped)
{
    struct weir_job_check_options how = { .rows_max = 3 };
    struct weir_job_check check;
    struct weir_buf text;
    job_rig_start(1, WEIR_OPERATION_CREATE, "account");
    weir_buf_init(&text, (size_t)1024 * 1024);
    weir_buf_add_text(&text, "name\n");
    for (int i = 0; i < 10000; i++)
        weir_buf_printf(&text, "account %d\n", i);
    file_job_write("accounts.csv", weir_buf_text(&text));
    weir_buf_release(&text);
    file_job_prepare(NULL);
    ck_assert_int_eq(weir_job_check(job_rig.job, &how, &check, &job_rig.err), WEIR_OK);
    ck_assert_uint_eq(check.rows, 3);
    ck_assert(check.limited);
    weir_job_check_release(&check);
    job_leave();
    how = (struct weir_job_check_options){ .go_on = stop_at_once };
    file_job_prepare(NULL);
    ck_assert_int_eq(weir_job_check(job_rig.job, &how, &check, &job_rig.err), WEIR_E_CANCELLED);
    job_leave();
    how.go_on = NULL;
    file_job_prepare(NULL);
    ck_assert_int_eq(weir_job_check(job_rig.job, &how, &check, &job_rig.err), WEIR_OK);
    ck_assert_uint_eq(check.rows, 10000);
    ck_assert_uint_eq(check.passes[WEIR_PASS_ROWS].requests, 100);
    weir_job_check_release(&check);
    job_rig_end();
}
END_TEST

/* One more key than is remembered: the last row repeats it and is not seen, a repeat of an early
 * one is. */
START_TEST(a_dry_run_remembers_so_many_keys)
{
    struct weir_job_check_options how = { 0 };
    struct weir_job_check check;
    job_rig_start(1, WEIR_OPERATION_UPSERT, "account");
    job_rig.options.key = "accountnumber";
    file_job_write("accounts.csv", "");
    FILE *file = fopen(file_job.path, "we");
    ck_assert_ptr_nonnull(file);
    fputs("accountnumber,name\n", file);
    for (int i = 0; i <= WEIR_CHECK_KEYS_MAX; i++)
        fprintf(file, "K%d,n\n", i);
    fprintf(file, "K7,n\nK%d,n\n", WEIR_CHECK_KEYS_MAX);
    ck_assert_int_eq(fclose(file), 0);
    file_job_prepare(NULL);
    ck_assert_int_eq(weir_job_check(job_rig.job, &how, &check, &job_rig.err), WEIR_OK);
    ck_assert_uint_eq(check.rows, WEIR_CHECK_KEYS_MAX + 3);
    ck_assert_uint_eq(check.repeated, 1);
    ck_assert_uint_eq(check.repeated_first, 8);
    ck_assert(check.keys_forgotten);
    weir_job_check_release(&check);
    job_rig_end();
}
END_TEST

int main(void)
{
    struct suite s = suite_new("job_input");
    suite_add(&s, a_new_job_asks_once_for_each_table_and_a_later_run_for_none);
    suite_add(&s, a_job_without_lookups_asks_for_one_table);
    suite_add(&s, a_finished_job_asks_nobody);
    suite_add(&s, a_header_that_the_journal_cannot_hold_is_refused_before_anything_is_written);
    suite_add_loop(&s, "a_repeated_job_with_derived_ids_skips_the_rows_of_the_first",
                   a_repeated_job_with_derived_ids_skips_the_rows_of_the_first, 2);
    suite_add(&s, a_row_that_is_there_already_is_rejected_and_says_so_first);
    suite_add(&s, a_mapping_file_and_its_options_say_what_columns_are_for);
    suite_add(&s, a_mapping_for_another_table_is_refused);
    suite_add(&s, objects_of_a_file_are_rows_and_rejects_are_objects);
    suite_add(&s, raw_objects_go_as_they_are);
    suite_add(&s, standard_input_may_be_objects_if_the_options_say_so);
    suite_add(&s, a_stream_with_columns_for_other_passes_is_refused);
    suite_add(&s, lookups_by_any_column_go_through_a_list_that_is_read_before);
    suite_add(&s, a_dry_run_says_what_would_be_and_sends_nothing);
    suite_add(&s, a_dry_run_can_be_bounded_and_stopped);
    suite_add(&s, a_dry_run_remembers_so_many_keys);
    return suite_run(&s);
}

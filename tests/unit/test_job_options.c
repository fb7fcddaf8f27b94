/* SPDX-License-Identifier: MIT */
/* The options of a job: what they cannot be, what goes with every request, and what a later run
 * finds of them. */
#include "base/mem.h"
#include "bulk/job_parts.h"
#include "support/suite.h"

static struct weir_job_options good(void)
{
    struct weir_job_options options;
    weir_job_options_defaults(&options);
    options.table = "account";
    options.directory = "/somewhere";
    return options;
}

START_TEST(the_defaults_are_fine)
{
    struct weir_job_options options = good();
    ck_assert_int_eq(weir_job_check_options(&options, NULL), WEIR_OK);
}
END_TEST

START_TEST(every_operation_has_a_name_and_nothing_else_has)
{
    ck_assert_str_eq(weir_operation_name(WEIR_OPERATION_CREATE), "create");
    ck_assert_str_eq(weir_operation_name(WEIR_OPERATION_DELETE), "delete");
    ck_assert_str_eq(weir_operation_name((enum weir_operation)4), "unknown operation");
    ck_assert_str_eq(weir_operation_name((enum weir_operation) - 1), "unknown operation");
}
END_TEST

START_TEST(what_cannot_be_is_named)
{
    static char long_tag[WEIR_REQUEST_TEXT_MAX + 2];
    struct weir_job_options options = good();
    struct weir_error err;
    const char *named = "";
    memset(long_tag, 't', sizeof(long_tag) - 1);
    switch (_i) {
    case 0:
        options.table = NULL;
        named = "table";
        break;
    case 1:
        options.format = "xml";
        named = "\"xml\"";
        break;
    case 2:
        options.bypass_logic = "everything";
        named = "\"everything\"";
        break;
    case 3:
        options.as = "somebody";
        named = "\"somebody\"";
        break;
    case 4:
        options.tag = long_tag;
        named = "tag";
        break;
    case 5:
        options.empty = (enum weir_empty)7;
        named = "7";
        break;
    case 6:
        options.batch_size = WEIR_TARGETS_MAX + 1;
        named = "1001 rows";
        break;
    case 7:
        options.with_count = WEIR_SPEC_WITH_MAX + 1;
        named = "constants";
        break;
    case 8:
        options.operation = (enum weir_operation)4;
        named = "4 is no operation";
        break;
    case 9:
        options.rows_per_second_max = -1;
        named = "must not be negative";
        break;
    case 10:
        options.memory_bytes_max = WEIR_JOB_MEMORY_MIN - 1;
        named = "at least";
        break;
    }
    ck_assert_int_ne(weir_job_check_options(&options, &err), WEIR_OK);
    ck_assert_msg(strstr(err.message, named), "%s", err.message);
}
END_TEST

/* --- requests --------------------------------------------------------------------------------- */

START_TEST(what_is_asked_for_goes_with_every_request_and_every_part_of_a_batch)
{
    struct weir_job_options options = good();
    struct weir_request_options it;
    struct weir_buf part;
    options.as = "11111111-2222-3333-4444-555555555555";
    options.bypass_logic = "async";
    options.bypass_flows = true;
    options.detect_duplicates = true;
    options.tag = "load 7";
    ck_assert_int_eq(weir_job_request_options(&options, &it, NULL), WEIR_OK);
    ck_assert_str_eq(it.tag, "load 7");
    ck_assert(!it.continue_on_error);
    weir_buf_init(&part, 4096);
    weir_request_add_part_headers(&part, &it, WEIR_REQUEST_UPDATE);
    const char *headers = weir_buf_text(&part);
    ck_assert_ptr_nonnull(strstr(headers, "CallerObjectId: 11111111-2222-3333-4444-555555555555"));
    ck_assert_ptr_nonnull(strstr(headers, "MSCRM.BypassBusinessLogicExecution: CustomAsync\r\n"));
    ck_assert_ptr_nonnull(strstr(headers, "MSCRM.SuppressCallbackRegistrationExpanderJob: true"));
    ck_assert_ptr_nonnull(strstr(headers, "MSCRM.SuppressDuplicateDetection: false"));
    weir_buf_release(&part);
}
END_TEST

START_TEST(logic_is_bypassed_as_the_word_says)
{
    static const struct {
        const char *word;
        enum weir_bypass bypass;
    } cases[] = {
        { NULL, WEIR_BYPASS_NONE },
        { "sync", WEIR_BYPASS_SYNC },
        { "async", WEIR_BYPASS_ASYNC },
        { "all", WEIR_BYPASS_ALL },
    };
    struct weir_job_options options = good();
    struct weir_request_options it;
    options.bypass_logic = cases[_i].word;
    ck_assert_int_eq(weir_job_request_options(&options, &it, NULL), WEIR_OK);
    ck_assert_int_eq(it.bypass_logic, cases[_i].bypass);
}
END_TEST

/* --- what a later run finds ------------------------------------------------------------------- */

static struct weir_job *new_job(const struct weir_job_options *options)
{
    struct weir_job *job = weir_calloc(1, sizeof(*job));
    job->texts = weir_arena_new((size_t)16 * 1024 * 1024);
    weir_job_keep_options(job, options);
    return job;
}

static void free_job(struct weir_job *job)
{
    weir_arena_unref(job->texts);
    free(job->paths);
    free(job);
}

/* As they are journaled and read by a run whose own options are the defaults. */
static struct weir_job *come_back(struct weir_job *job)
{
    struct weir_job_options options = good();
    struct weir_job *later = new_job(&options);
    struct weir_error err;
    char *text;
    ck_assert_int_eq(weir_job_facts_print(job, &text, NULL), WEIR_OK);
    struct weir_job_facts facts = {
        .job = "name",
        .operation = weir_operation_name(job->options.operation),
        .table = job->options.table,
        .organisation = "org",
        .options = text,
        .suffix = "tsv",
    };
    enum weir_status status = weir_job_facts_parse(later, &facts, &err);
    ck_assert_msg(status == WEIR_OK, "%s", err.message);
    free(text);
    return later;
}

static void expect_text(const char *a, const char *b)
{
    ck_assert_str_eq(a ? a : "(none)", b ? b : "(none)");
}

/* The text of what is no string ends with the document. */
START_TEST(constants_of_a_journal_that_are_no_strings_are_refused)
{
    static const char *const wrong[] = { "[1]", "[null]", "[[],\"a=b\"]", "{}", "\"a=b\"" };
    struct weir_job_options options = good();
    struct weir_job *job = new_job(&options);
    char text[256];
    snprintf(text, sizeof(text), "{\"batch_size\":100,\"service_began_us\":0,\"with\":%s}",
             wrong[_i]);
    struct weir_job_facts facts = { .job = "name",
                                    .operation = "create",
                                    .table = "account",
                                    .organisation = "org",
                                    .options = text,
                                    .suffix = "csv" };
    struct weir_error err;
    ck_assert_int_eq(weir_job_facts_parse(job, &facts, &err), WEIR_E_INVALID);
    ck_assert_str_eq(err.message, "the job's options are not as weir writes them");
    free_job(job);
}
END_TEST

START_TEST(every_option_that_shapes_the_work_comes_back)
{
    static const char *const with[] = { "donotemail=true", "description=\"quoted\", \xc3\xa4" };
    struct weir_job_options options = good();
    options.operation = WEIR_OPERATION_UPSERT;
    if (_i == 1) {
        options.key = "a,b";
        options.id_from = "c,d";
        options.owner = "team:11111111-2222-3333-4444-555555555555";
        options.ignore_columns = "x, y";
        options.timezone = "Europe/Berlin";
        options.as = "11111111-2222-3333-4444-555555555555";
        options.bypass_logic = "all";
        options.tag = "t\\g\"";
        options.raw = options.bypass_flows = options.detect_duplicates = true;
        options.empty = WEIR_EMPTY_REJECT;
        options.with = with;
        options.with_count = 2;
        options.batch_size = 77;
    }
    if (_i == 2)
        options.batch_size = WEIR_BATCH_SIZE_AUTO;
    struct weir_job *job = new_job(&options);
    job->service_began_us = 123456789;
    job->mapping_text = _i == 1 ? "{ \"columns\": {} } // as it stands\n" : NULL;
    struct weir_job *later = come_back(job);
    const struct weir_job_options *it = &later->options;
    ck_assert_int_eq(it->operation, WEIR_OPERATION_UPSERT);
    expect_text(it->key, options.key);
    expect_text(it->id_from, options.id_from);
    expect_text(it->owner, options.owner);
    expect_text(it->ignore_columns, options.ignore_columns);
    expect_text(it->timezone, options.timezone);
    expect_text(it->as, options.as);
    expect_text(it->bypass_logic, options.bypass_logic);
    expect_text(it->tag, options.tag);
    expect_text(it->format, "tsv");
    expect_text(later->mapping_text, job->mapping_text);
    expect_text(later->organisation, "org");
    ck_assert_int_eq(it->raw, options.raw);
    ck_assert_int_eq(it->bypass_flows, options.bypass_flows);
    ck_assert_int_eq(it->detect_duplicates, options.detect_duplicates);
    ck_assert_int_eq(it->empty, options.empty);
    ck_assert_uint_eq(it->batch_size, options.batch_size);
    ck_assert_uint_eq(it->with_count, options.with_count);
    for (size_t i = 0; i < options.with_count; i++)
        ck_assert_str_eq(it->with[i], options.with[i]);
    ck_assert_int_eq(later->service_began_us, 123456789);
    free_job(later);
    free_job(job);
}
END_TEST

START_TEST(a_mapping_that_is_too_long_to_be_journaled_is_refused)
{
    struct weir_job_options options = good();
    struct weir_job *job = new_job(&options);
    struct weir_error err;
    char *text = weir_calloc(WEIR_JOURNAL_FACT_MAX + 1, 1);
    char *printed;
    memset(text, 'x', WEIR_JOURNAL_FACT_MAX);
    job->mapping_text = text;
    ck_assert_int_eq(weir_job_facts_print(job, &printed, &err), WEIR_E_TOO_BIG);
    ck_assert_ptr_nonnull(strstr(err.message, "mapping"));
    free(text);
    free_job(job);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("job_options");
    suite_add(&s, the_defaults_are_fine);
    suite_add(&s, every_operation_has_a_name_and_nothing_else_has);
    suite_add_loop(&s, "what_cannot_be_is_named", what_cannot_be_is_named, 11);
    suite_add(&s, what_is_asked_for_goes_with_every_request_and_every_part_of_a_batch);
    suite_add_loop(&s, "logic_is_bypassed_as_the_word_says", logic_is_bypassed_as_the_word_says, 4);
    suite_add_loop(&s, "constants_of_a_journal_that_are_no_strings_are_refused",
                   constants_of_a_journal_that_are_no_strings_are_refused, 5);
    suite_add_loop(&s, "every_option_that_shapes_the_work_comes_back",
                   every_option_that_shapes_the_work_comes_back, 3);
    suite_add(&s, a_mapping_that_is_too_long_to_be_journaled_is_refused);
    return suite_run(&s);
}

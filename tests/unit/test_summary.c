/* SPDX-License-Identifier: MIT */
/* summary.json: read back key by key, with names that try to break it. */
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "bulk/summary.h"
#include "records/utf8.h"
#include "support/suite.h"

static const struct weir_summary_connection connections[] = {
    { "AppUser1", 101, 102, 103, 104.5, 52, WEIR_BOUND_AIMD },
    { "AppUser2", 0, 0, 0, 0, 0, WEIR_BOUND_POOL },
};

static struct weir_summary sample(void)
{
    return (struct weir_summary){ .job = "k7f3q2",
                                  .operation = "create",
                                  .table = "account",
                                  .read = 1,
                                  .done = 2,
                                  .rejected = 3,
                                  .skipped = 4,
                                  .unknown = 5,
                                  .not_sent = UINT64_MAX,
                                  .read_to_end = true,
                                  .elapsed_s = 7.25,
                                  .cpu_user_s = 0.0004,
                                  .cpu_system_s = 1234567.8996,
                                  .peak_rss_kib = 8,
                                  .requests = 9,
                                  .bytes_sent = 10,
                                  .throttles = 11,
                                  .throttle_wait_s = 12,
                                  .batch_rows = 240,
                                  .exit_code = 70,
                                  .connections = connections,
                                  .connection_count = 2 };
}

static struct weir_json *parse(const struct weir_summary *summary, struct weir_buf *text)
{
    struct weir_json *json = NULL;
    struct weir_error err = { 0 };
    weir_buf_init(text, WEIR_SUMMARY_BYTES_MAX);
    weir_summary_write(summary, text);
    ck_assert(!text->overflow && text->ptr[text->len - 1] == '\n');
    ck_assert_msg(weir_json_parse(weir_str(text->ptr, text->len), &json, &err) == WEIR_OK, "%s\n%s",
                  err.message, text->ptr);
    return json;
}

struct pair {
    const char *key;
    const char *value; /* as it is written, without quotes */
};

/* Exactly these, in this order, each on a line of its own. */
static void check_members(const struct weir_json_node *object, const struct pair *pairs,
                          size_t count, uint32_t *line)
{
    const struct weir_json_node *node = object->first;
    ck_assert_uint_eq(object->count, count);
    for (size_t i = 0; i < count; i++, node = node->next) {
        ck_assert(weir_str_equal(node->key, weir_str_from(pairs[i].key)));
        ck_assert_msg(node->line == ++*line, "%s is on line %u", pairs[i].key, node->line);
        if (pairs[i].value)
            ck_assert_msg(weir_str_equal(node->text, weir_str_from(pairs[i].value)), "%s is %.*s",
                          pairs[i].key, (int)node->text.len, node->text.ptr);
    }
}

static const struct pair members[] = {
    { "job", "k7f3q2" },
    { "operation", "create" },
    { "table", "account" },
    { "read", "1" },
    { "done", "2" },
    { "rejected", "3" },
    { "skipped", "4" },
    { "unknown", "5" },
    { "not_sent", "18446744073709551615" },
    { "read_to_end", "true" },
    { "elapsed_s", "7.250" },
    { "cpu_user_s", "0.000" },
    { "cpu_system_s", "1234567.900" },
    { "peak_rss_kib", "8" },
    { "requests", "9" },
    { "bytes_sent", "10" },
    { "throttles", "11" },
    { "throttle_wait_s", "12.000" },
    { "batch_rows", "240" },
    { "exit_code", "70" },
    { "connections", NULL },
};

static const struct pair first_members[] = {
    { "name", "AppUser1" },
    { "requests", "101" },
    { "done_rows", "102" },
    { "throttles", "103" },
    { "throttle_wait_s", "104.500" },
    { "level", "52" },
    { "bound_by", NULL },
};

#define COUNT(array) (sizeof(array) / sizeof(array[0]))

START_TEST(every_key_is_there_once_and_on_a_line_of_its_own)
{
    struct weir_summary summary = sample();
    struct weir_buf text;
    uint32_t line = 1;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed: a decimal comma would show */
    struct weir_json *json = parse(&summary, &text);
    const struct weir_json_node *root = weir_json_root(json);
    check_members(root, members, COUNT(members), &line);
    const struct weir_json_node *list = weir_json_find(root, "connections");
    ck_assert_int_eq(list->type, WEIR_JSON_ARRAY);
    ck_assert_uint_eq(list->count, 2);
    line++;
    check_members(list->first, first_members, COUNT(first_members), &line);
    ck_assert(weir_str_equal(weir_json_find(list->first, "bound_by")->text,
                             weir_str_from(weir_bound_name(WEIR_BOUND_AIMD))));
    ck_assert(weir_str_equal(weir_json_find(list->first->next, "bound_by")->text,
                             weir_str_from(weir_bound_name(WEIR_BOUND_POOL))));
    ck_assert(
        weir_str_equal(weir_json_find(list->first->next, "name")->text, weir_str_from("AppUser2")));
    weir_json_free(json);
    weir_buf_release(&text);
}
END_TEST

START_TEST(what_is_missing_or_no_number_is_written_as_json_all_the_same)
{
    static const double odd[] = { NAN, INFINITY, -INFINITY, -1, 1e300, -0.0 };
    for (size_t i = 0; i < COUNT(odd); i++) {
        struct weir_summary summary = { .elapsed_s = odd[i], .exit_code = -1 };
        struct weir_buf text;
        struct weir_json *json = parse(&summary, &text);
        const struct weir_json_node *root = weir_json_root(json);
        ck_assert_int_eq(weir_json_find(root, "job")->type, WEIR_JSON_NULL);
        ck_assert_int_eq(weir_json_find(root, "elapsed_s")->type, WEIR_JSON_NUMBER);
        ck_assert_uint_eq(weir_json_find(root, "connections")->count, 0);
        weir_json_free(json);
        weir_buf_release(&text);
    }
}
END_TEST

START_TEST(the_exit_code_can_be_read_back_and_from_nothing_else)
{
    static const char *const others[] = {
        "", "7", "{}", "{\"exit_code\":\"7\"}", "{\"exit_code\":256}", "{\"exit_code\":7"
    };
    struct weir_summary summary = sample();
    struct weir_buf text;
    int code = -1;
    weir_buf_init(&text, WEIR_SUMMARY_BYTES_MAX);
    weir_summary_write(&summary, &text);
    ck_assert(weir_summary_read_exit_code(weir_str(text.ptr, text.len), &code));
    ck_assert_int_eq(code, 70);
    for (size_t i = 0; i < COUNT(others); i++)
        ck_assert(!weir_summary_read_exit_code(weir_str_from(others[i]), &code));
    weir_buf_release(&text);
}
END_TEST

/* Any bytes but 0, mostly those that mean something to JSON or to UTF-8. */
static void make_name(struct weir_rng *rng, char *name, size_t len)
{
    static const char telling[] =
        "\"\\\n\t\x01\x1f\x7f\x80\xbf\xc0\xc3\xed\xa0\xf0\x9f\xf4\xff/{}[],:";
    for (size_t i = 0; i < len; i++)
        name[i] = weir_rng_below(rng, 2) ? telling[weir_rng_below(rng, sizeof(telling) - 1)]
                                         : (char)(1 + weir_rng_below(rng, 255));
    name[len] = '\0';
}

/* Bytes of the character that `text` begins with, as the reader of records sees it; 0: none. */
static size_t character(const char *text)
{
    for (size_t len = 1; len <= 4 && text[len - 1]; len++)
        if (weir_utf8_check(weir_str(text, len)) == len)
            return len;
    return 0;
}

/* All that is UTF-8 in the name is there, in order; the rest is U+FFFD, one for each byte. */
static void check_name(const char *name, struct weir_str written)
{
    while (*name) {
        size_t len = character(name);
        struct weir_str should = len ? weir_str(name, len) : weir_str_from("\xef\xbf\xbd");
        must(should.len <= written.len && memcmp(written.ptr, should.ptr, should.len) == 0);
        written = weir_str(written.ptr + should.len, written.len - should.len);
        name += len ? len : 1;
    }
    must(written.len == 0);
}

START_TEST(hostile_names_stay_names)
{
    struct weir_rng rng;
    weir_rng_init(&rng, 1, 0);
    for (int i = 0; i < 3000; i++) {
        char job[40], name[40];
        make_name(&rng, job, weir_rng_below(&rng, sizeof(job) - 1));
        make_name(&rng, name, weir_rng_below(&rng, sizeof(name) - 1));
        struct weir_summary_connection connection = { .name = name };
        struct weir_summary summary = {
            .job = job, .table = name, .connections = &connection, .connection_count = 1
        };
        struct weir_buf text;
        struct weir_json *json = NULL;
        weir_buf_init(&text, WEIR_SUMMARY_BYTES_MAX);
        weir_summary_write(&summary, &text);
        must(weir_json_parse(weir_str(text.ptr, text.len), &json, NULL) == WEIR_OK);
        const struct weir_json_node *root = weir_json_root(json);
        must(root->count == COUNT(members));
        check_name(job, weir_json_find(root, "job")->text);
        check_name(name, weir_json_find(root, "table")->text);
        check_name(name, weir_json_find(weir_json_find(root, "connections")->first, "name")->text);
        weir_json_free(json);
        weir_buf_release(&text);
    }
}
END_TEST

START_TEST(the_largest_job_fits)
{
    struct weir_summary summary = sample();
    struct weir_buf text;
    char name[WEIR_CONNECTION_NAME_MAX + 1];
    memset(name, '\x01', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    struct weir_summary_connection *many = weir_calloc(WEIR_CONNECTIONS_MAX, sizeof(*many));
    for (int i = 0; i < WEIR_CONNECTIONS_MAX; i++)
        many[i] = (struct weir_summary_connection){
            name, UINT64_MAX, UINT64_MAX, UINT64_MAX, 1e12, UINT32_MAX, WEIR_BOUND_THROTTLE_CEILING
        };
    char *job = weir_calloc(WEIR_JOURNAL_FACT_MAX + 1, 1);
    memset(job, '\x01', WEIR_JOURNAL_FACT_MAX);
    summary.job = summary.table = job;
    summary.connections = many;
    summary.connection_count = WEIR_CONNECTIONS_MAX;
    weir_json_free(parse(&summary, &text));
    weir_buf_release(&text);
    free(job);
    free(many);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("summary");
    suite_add(&s, every_key_is_there_once_and_on_a_line_of_its_own);
    suite_add(&s, the_exit_code_can_be_read_back_and_from_nothing_else);
    suite_add(&s, what_is_missing_or_no_number_is_written_as_json_all_the_same);
    suite_add(&s, hostile_names_stay_names);
    suite_add(&s, the_largest_job_fits);
    return suite_run(&s);
}

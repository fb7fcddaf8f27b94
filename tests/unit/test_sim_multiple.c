/* SPDX-License-Identifier: MIT */
/* The bulk messages: order of ids, all or nothing, repeated keys, partial success, what was
 * counted. */
#include "base/mem.h"
#include "base/rng.h"
#include "support/web_api.h"

#define A1                 "11111111-0000-0000-0000-000000000001"
#define A2                 "11111111-0000-0000-0000-000000000002"
#define A3                 "11111111-0000-0000-0000-000000000003"
#define TYPE               "\"@odata.type\":\"Microsoft.Dynamics.CRM.account\""
#define READING            "\"@odata.type\":\"Microsoft.Dynamics.CRM.sensorreading\""
#define NOTE               "\"@odata.type\":\"Microsoft.Dynamics.CRM.annotation\""
#define COUNT(a)           (sizeof(a) / sizeof((a)[0]))
#define CALL(message, set) "POST " set "/Microsoft.Dynamics.CRM." message
#define DETAILS            "Prefer: odata.include-annotations=\"Microsoft.PowerApps.CDS.ErrorDetails.*\""

START_TEST(ids_come_back_in_the_order_of_the_rows)
{
    struct web web = web_new(NULL);
    ck_assert_int_eq(web_send(&web, CALL("CreateMultiple", "accounts"), NULL,
                              "{\"Targets\":[{" TYPE ",\"accountid\":\"" A3 "\"},"
                              "{" TYPE ",\"accountid\":\"" A1 "\"},"
                              "{\"accountid\":\"" A2 "\"," TYPE "}]}"),
                     200);
    ck_assert_str_eq(web_body(&web),
                     "{\"@odata.context\":\"http://sim/api/data/v9.2/$metadata#"
                     "Microsoft.Dynamics.CRM.CreateMultipleResponse\",\"Ids\":[\"" A3 "\",\"" A1
                     "\",\"" A2 "\"]}");
    web_free(&web);
}
END_TEST

START_TEST(each_message_answers_as_the_service_does)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { CALL("CreateMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"accountid\":\"" A1 "\",\"accountnumber\":\"1\"}]}", 200,
          "\"Ids\":[\"" A1 "\"]" },
        { CALL("UpdateMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"accountid\":\"" A1 "\",\"name\":\"n\"}]}", 204, "" },
        { CALL("UpsertMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"accountid\":\"" A2 "\",\"name\":\"m\"},{" TYPE
          ",\"accountid\":\"" A1 "\",\"telephone1\":\"2\"}]}",
          204, "" },
        { "GET accounts(" A1 ")?$select=name,telephone1", NULL, NULL, 200,
          "\"name\":\"n\",\"telephone1\":\"2\"" },
        { CALL("UpdateMultiple", "accounts"), NULL, "{\"Targets\":[{" TYPE ",\"name\":\"n\"}]}",
          400, "primary key 'accountid' is missing" },
        { CALL("UpdateMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"accountid\":\"" A3 "\"}]}", 404, "0x80040217" },
        { CALL("UpsertMultiple", "accounts"), NULL, "{\"Targets\":[{" TYPE "}]}", 400,
          "0x80040203" },
        { CALL("DeleteMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"accountid\":\"" A1 "\"}]}", 501,
          "DeleteMultiple has not yet been implemented." },
        { CALL("CreateMultiple", "annotations"), NULL, "{\"Targets\":[{" NOTE "}]}", 400,
          "The 'CreateMultiple' method does not support entities of type 'annotation'." },
        { CALL("CreateMultiple", "accounts"), NULL, "{\"Targets\":[{\"name\":\"x\"}]}", 400,
          "0x80048d19" },
        { CALL("CreateMultiple", "accounts"), NULL, "{\"Targets\":[{" NOTE "}]}", 400,
          "0x80048d19" },
        { CALL("CreateMultiple", "accounts"), NULL, "{\"Targets\":[]}", 400, "0x80040203" },
        { CALL("CreateMultiple", "accounts"), NULL, "{\"Targets\":{}}", 400, "Targets" },
        { CALL("CreateMultiple", "accounts"), NULL, "{\"Targets\":[1]}", 400, "0x80048d19" },
        { CALL("CreateMultiple", "accounts"), NULL, "{}", 400, "Targets" },
        { CALL("CreateMultiple", "accounts"), NULL, "[]", 400, "Targets" },
        { CALL("CreateMultiple", "accounts"), NULL, "", 400, "Invalid JSON" },
        { CALL("CreateMultiple", "accounts"), NULL, "{\"Targets\":[{" TYPE "}]} x", 400,
          "Invalid JSON" },
        { CALL("CreateMultiple", "accounts"), NULL, "{\"Targets\":[{" TYPE "}],}", 400,
          "Invalid JSON" },
        { CALL("CreateMultiple", "accounts"), NULL, "{\"Targets\":[{" TYPE "}", 400,
          "Invalid JSON" },
        { CALL("CreateMultiple", "nosuch"), NULL, "{\"Targets\":[]}", 404, "0x8006088a" },
        { CALL("NoSuchMultiple", "accounts"), NULL, "{}", 404, "0x8006088a" },
        { "GET accounts/Microsoft.Dynamics.CRM.CreateMultiple", NULL, NULL, 405, "" },
    };
    web_try(&web, cases, COUNT(cases) - 1);
    ck_assert_int_eq(web_send(&web, cases[COUNT(cases) - 1].request, NULL, NULL), 405);
    ck_assert_uint_eq(web_store(&web, "account")->row_count, 2);
    web_free(&web);
}
END_TEST

START_TEST(an_update_that_comes_twice_is_applied_once)
{
    struct web web = web_new(NULL);
    web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\"}");
    static const struct web_case cases[] = {
        { CALL("UpdateMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"accountid\":\"" A1 "\",\"name\":\"first\"},{" TYPE
          ",\"accountid\":\"" A1 "\",\"name\":\"second\",\"telephone1\":\"2\"}]}",
          204, "" },
        { "GET accounts(" A1 ")?$select=name,telephone1", NULL, NULL, 200,
          "\"name\":\"first\",\"telephone1\":null" },
    };
    web_try(&web, cases, COUNT(cases));
    ck_assert_uint_eq(web_ledger(&web, "account")->events[SIM_EVENT_UPDATE], 1);
    web_free(&web);
}
END_TEST

START_TEST(an_upsert_that_comes_twice_is_an_error)
{
    struct web web = web_new(NULL);
    web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\",\"accountnumber\":\"one\"}");
    static const char *const targets[] = {
        "{" TYPE ",\"accountid\":\"" A2 "\"},{" TYPE ",\"accountid\":\"" A2 "\"}",
        "{" TYPE ",\"accountid\":\"" A1 "\"},{" TYPE ",\"accountid\":\"" A1 "\"}",
        "{" TYPE ",\"@odata.id\":\"accounts(accountnumber='x')\"},"
        "{" TYPE ",\"@odata.id\":\"accounts(accountnumber='X ')\"}",
        "{" TYPE ",\"@odata.id\":\"accounts(accountnumber='one')\"},"
        "{" TYPE ",\"accountid\":\"" A1 "\"}",
    };
    for (size_t i = 0; i < COUNT(targets); i++) {
        char body[1024];
        snprintf(body, sizeof(body), "{\"Targets\":[%s]}", targets[i]);
        web_send(&web, CALL("UpsertMultiple", "accounts"), NULL, body);
        ck_assert_msg(web.answer.status == 400 && web_says(&web, "the same key"), "%zu: %d %s", i,
                      web.answer.status, web_body(&web));
    }
    ck_assert_uint_eq(web_store(&web, "account")->row_count, 1);
    ck_assert_uint_eq(web_ledger(&web, "account")->writes, 1);
    web_free(&web);
}
END_TEST

START_TEST(a_key_repeated_in_the_body_fails_only_when_it_creates)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { CALL("UpsertMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"@odata.id\":\"accounts(accountnumber='k')\","
          "\"accountnumber\":\"k\"}]}",
          400,
          "{\"error\":{\"code\":\"0x80040216\",\"message\":\"An unexpected error occurred.\"}}" },
        { CALL("UpsertMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"@odata.id\":\"accounts(accountnumber='k')\","
          "\"name\":\"made\"}]}",
          204, "" },
        { CALL("UpsertMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"@odata.id\":\"/accounts(accountnumber='K')\","
          "\"accountnumber\":\"k\",\"telephone1\":\"5\"}]}",
          204, "" },
        { "GET accounts(accountnumber='k')?$select=name,accountnumber,telephone1", NULL, NULL, 200,
          "\"name\":\"made\",\"accountnumber\":\"k\",\"telephone1\":\"5\"" },
        { CALL("UpsertMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"@odata.id\":\"contacts(" A1 ")\"}]}", 400, "odata.id" },
        { CALL("UpsertMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"@odata.id\":\"accounts(" A1 ")\",\"name\":\"by id\"}]}", 204,
          "" },
        { "GET accounts(" A1 ")?$select=name", NULL, NULL, 200, "by id" },
    };
    web_try(&web, cases, COUNT(cases));
    web_free(&web);
}
END_TEST

/* `count` accounts from number `first` on; the one with number `bad` has the member `member`. */
static char *accounts(uint32_t first, uint32_t count, uint32_t bad, const char *member)
{
    struct weir_buf buf;
    weir_buf_init(&buf, (size_t)1024 * 1024);
    weir_buf_add_text(&buf, "{\"Targets\":[");
    for (uint32_t i = first; i < first + count; i++)
        weir_buf_printf(&buf,
                        "%s{" TYPE ",\"accountid\":\"%08x-0000-0000-0000-000000000000\","
                        "\"name\":\"row %u\"%s%s}",
                        i > first ? "," : "", i + 1, i, i == bad ? "," : "",
                        i == bad ? member : "");
    weir_buf_add_text(&buf, "]}");
    return weir_buf_take(&buf);
}

/* What must not change when a call fails. */
struct mark {
    uint32_t rows;
    uint32_t places;
    uint64_t writes;
    uint32_t entries;
    uint64_t events[SIM_EVENTS];
};

static struct mark mark_of(const struct web *web)
{
    const struct sim_store *store = web_store(web, "account");
    const struct sim_ledger *ledger = web_ledger(web, "account");
    struct mark mark = { store->row_count, store->place_count, ledger->writes, 0, { 0 } };
    memcpy(mark.events, ledger->events, sizeof(mark.events));
    return mark;
}

START_TEST(one_bad_row_in_the_middle_takes_all_back)
{
    static const struct {
        const char *member;
        int status;
        uint32_t plugins; /* runs that the call causes although nothing stays */
    } cases[] = {
        { "\"nosuch\":1", 400, 0 },
        { "\"name2@odata.bind\":1", 400, 0 },
        { "\"revenue\":-1", 400, 57 },
        { "\"statuscode\":2", 400, 57 },
        { "\"parentaccountid@odata.bind\":\"/accounts(" A1 ")\"", 404, 57 },
        { "\"accountnumber\":\"TAKEN\"", 412, 58 },
        { "\"telephone1\":\"bad\"", 400, 58 },
    };
    struct web web = web_new(NULL);
    sim_api_set_bad_row(web.api, "telephone1", "bad");
    web_send(&web, "POST accounts", NULL, "{\"accountnumber\":\"taken\"}");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mark before = mark_of(&web);
        uint64_t runs = web_ledger(&web, "account")->plugin_runs;
        char *body = accounts(0, 100, 57, cases[i].member);
        web_send(&web, CALL("CreateMultiple", "accounts"), NULL, body);
        free(body);
        ck_assert_msg(web.answer.status == cases[i].status, "%s: %d %s", cases[i].member,
                      web.answer.status, web_body(&web));
        struct mark after = mark_of(&web);
        ck_assert_mem_eq(&before, &after, sizeof(before));
        ck_assert_msg(web_ledger(&web, "account")->plugin_runs - runs == cases[i].plugins, "%s: %u",
                      cases[i].member, (unsigned)(web_ledger(&web, "account")->plugin_runs - runs));
    }
    char *body = accounts(0, 100, 1000, "");
    ck_assert_int_eq(web_send(&web, CALL("CreateMultiple", "accounts"), NULL, body), 200);
    free(body);
    ck_assert_uint_eq(web_store(&web, "account")->row_count, 101);
    ck_assert_uint_eq(web_ledger(&web, "account")->writes_max, 1);
    web_free(&web);
}
END_TEST

START_TEST(a_failed_update_gives_the_old_values_back)
{
    struct web web = web_new(NULL);
    char *body = accounts(0, 3, 1000, "");
    web_send(&web, CALL("CreateMultiple", "accounts"), NULL, body);
    free(body);
    static const struct web_case cases[] = {
        { CALL("UpdateMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"accountid\":\"00000001-0000-0000-0000-000000000000\","
          "\"name\":\"new\",\"accountnumber\":\"new\"},{" TYPE
          ",\"accountid\":\"00000002-0000-0000-0000-000000000000\",\"accountnumber\":\"NEW\"}]}",
          412, "0x80060892" },
        { "GET accounts(00000001-0000-0000-0000-000000000000)?$select=name,accountnumber", NULL,
          NULL, 200, "\"name\":\"row 0\",\"accountnumber\":null" },
        { "GET accounts(accountnumber='new')", NULL, NULL, 404, "0x80060891" },
        { CALL("UpsertMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"@odata.id\":\"accounts(accountnumber='u')\"},{" TYPE
          ",\"accountid\":\"00000001-0000-0000-0000-000000000000\",\"accountnumber\":\"U\"}]}",
          412, "0x80060892" },
        { "GET accounts(accountnumber='u')", NULL, NULL, 404, "0x80060891" },
    };
    web_try(&web, cases, COUNT(cases));
    ck_assert_uint_eq(web_ledger(&web, "account")->writes, 3);
    web_free(&web);
}
END_TEST

START_TEST(elastic_rows_fail_one_by_one)
{
    static const char body[] =
        "{\"Targets\":[{" READING ",\"sensorreadingid\":\"" A1 "\",\"name\":\"a\"},"
        "{" READING ",\"sensorreadingid\":\"" A2 "\",\"value\":1e99},"
        "{" READING ",\"sensorreadingid\":\"" A3 "\",\"name\":\"c\"}]}";
    struct web web = web_new(NULL);
    ck_assert_int_eq(web_send(&web, CALL("CreateMultiple", "sensorreadings"), DETAILS, body), 400);
    ck_assert(web_says(&web, "\"code\":\"0x80044330\""));
    ck_assert(web_says(&web, "\"@Microsoft.PowerApps.CDS.ErrorDetails.Plugin.BulkApiErrorDetails\":"
                             "\"[{\\\"RequestIndex\\\":1,\\\"Id\\\":\\\"" A2
                             "\\\",\\\"StatusCode\\\":400}]\"}}"));
    ck_assert_uint_eq(web_store(&web, "sensorreading")->row_count, 2);
    ck_assert_uint_eq(web_ledger(&web, "sensorreading")->writes, 2);
    ck_assert_int_eq(web_send(&web, CALL("CreateMultiple", "sensorreadings"), NULL, body), 400);
    ck_assert(!web_says(&web, "BulkApiErrorDetails"));
    /* the same ids again were no error, but they were writes */
    ck_assert_uint_eq(web_store(&web, "sensorreading")->row_count, 2);
    ck_assert_uint_eq(web_ledger(&web, "sensorreading")->writes_max, 2);
    /* what cannot be read at all executes nothing */
    ck_assert_int_eq(web_send(&web, CALL("CreateMultiple", "sensorreadings"), DETAILS,
                              "{\"Targets\":[{" READING "},{" READING ",\"nosuch\":1}]}"),
                     400);
    ck_assert_uint_eq(web_store(&web, "sensorreading")->row_count, 2);
    web_free(&web);
}
END_TEST

START_TEST(elastic_messages_have_their_own_rules)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { CALL("UpsertMultiple", "sensorreadings"), NULL,
          "{\"Targets\":[{" READING ",\"sensorreadingid\":\"" A1
          "\",\"partitionid\":\"p\",\"name\":\"a\",\"deviceid\":\"d\"}]}",
          204, "" },
        { CALL("UpsertMultiple", "sensorreadings"), NULL,
          "{\"Targets\":[{" READING ",\"@odata.id\":\"sensorreadings(sensorreadingid=" A1
          ",partitionid='p')\",\"partitionid\":\"p\",\"name\":\"b\"}]}",
          204, "" },
        { "GET sensorreadings(" A1 ")?$select=name,deviceid&partitionId=p", NULL, NULL, 200,
          "\"name\":\"b\",\"deviceid\":null" },
        { CALL("UpdateMultiple", "sensorreadings"), DETAILS,
          "{\"Targets\":[{" READING ",\"sensorreadingid\":\"" A1
          "\",\"partitionid\":\"p\",\"deviceid\":\"e\"},{" READING ",\"sensorreadingid\":\"" A2
          "\"}]}",
          404, "\\\"RequestIndex\\\":1" },
        { "GET sensorreadings(" A1 ")?$select=name,deviceid&partitionId=p", NULL, NULL, 200,
          "\"name\":\"b\",\"deviceid\":\"e\"" },
        { CALL("DeleteMultiple", "sensorreadings"), DETAILS,
          "{\"Targets\":[{" READING ",\"sensorreadingid\":\"" A1 "\"},{" READING
          ",\"sensorreadingid\":\"" A1 "\",\"partitionid\":\"p\"}]}",
          404, "\\\"RequestIndex\\\":0" },
        { CALL("DeleteMultiple", "sensorreadings"), NULL,
          "{\"Targets\":[{" READING ",\"sensorreadingid\":\"" A1 "\",\"partitionid\":\"p\"}]}", 404,
          "0x80040217" },
    };
    web_try(&web, cases, COUNT(cases));
    const struct sim_ledger *ledger = web_ledger(&web, "sensorreading");
    ck_assert_uint_eq(ledger->events[SIM_EVENT_CREATE], 0);
    ck_assert_uint_eq(ledger->events[SIM_EVENT_UPSERT], 2);
    ck_assert_uint_eq(ledger->events[SIM_EVENT_UPDATE], 1);
    ck_assert_uint_eq(ledger->events[SIM_EVENT_DELETE], 1);
    web_free(&web);
}
END_TEST

START_TEST(rows_may_refer_to_rows_before_them)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { CALL("CreateMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"accountid\":\"" A1 "\",\"accountnumber\":\"p\"},{" TYPE
          ",\"accountid\":\"" A2 "\",\"parentaccountid@odata.bind\":\"/accounts(" A1 ")\"},{" TYPE
          ",\"parentaccountid@odata.bind\":\"/accounts(accountnumber='p')\"}]}",
          200, "Ids" },
        { CALL("CreateMultiple", "accounts"), NULL,
          "{\"Targets\":[{" TYPE ",\"parentaccountid@odata.bind\":\"/accounts(" A3 ")\"},{" TYPE
          ",\"accountid\":\"" A3 "\"}]}",
          404, "0x80040217" },
    };
    web_try(&web, cases, COUNT(cases));
    ck_assert_uint_eq(web_store(&web, "account")->row_count, 3);
    web_free(&web);
}
END_TEST

START_TEST(the_rows_of_a_call_are_measured)
{
    static const struct {
        const char *method;
        const char *target;
        const char *body;
        const char *operation;
        uint32_t rows;
    } cases[] = {
        { "POST", "/api/data/v9.2/accounts/Microsoft.Dynamics.CRM.CreateMultiple",
          "{\"x\":[1,{\"Targets\":[]}],\"Targets\":[{},{\"a\":[{}]},{}]}", "CreateMultiple", 3 },
        { "POST", "/api/data/v9.2/accounts/Microsoft.Dynamics.CRM.UpdateMultiple", "{\"Targets\"",
          "UpdateMultiple", 1 },
        { "POST", "/api/data/v9.2/accounts", "{}", "POST", 1 },
        { "GET", "/api/data/v9.2/WhoAmI", "", "GET", 1 },
        { "PATCH", "/api/data/v9.2/accounts(" A1 ")", "{}", "PATCH", 1 },
        { "POST", "/api/data/v9.2/$batch", "", "$batch", 1 },
        { "GET", "%zz", "", "GET", 1 },
    };
    struct web web = web_new(NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sim_call call = { .method = weir_str_from(cases[i].method),
                                 .target = weir_str_from(cases[i].target),
                                 .body = weir_str_from(cases[i].body) };
        struct sim_measure measure = sim_api_measure(web.api, &call);
        ck_assert_str_eq(measure.operation, cases[i].operation);
        ck_assert_uint_eq(measure.rows, cases[i].rows);
    }
    web_free(&web);
}
END_TEST

/* Random bulk calls with random bad rows: what was answered with success is there, and nothing
 * else. */
START_TEST(what_was_confirmed_is_there_and_nothing_else)
{
    struct web web = web_new(NULL);
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 9);
    uint32_t confirmed = 0;
    uint32_t next = 0;
    for (int step = 0; step < 100; step++) {
        uint32_t count = 1 + (uint32_t)weir_rng_below(&rng, 40);
        bool spoil = weir_rng_below(&rng, 2);
        uint32_t bad = spoil ? next + (uint32_t)weir_rng_below(&rng, count) : UINT32_MAX;
        char *body = accounts(next, count, bad, "\"numberofemployees\":-5");
        int status = web_send(&web, CALL("CreateMultiple", "accounts"), NULL, body);
        must(status == (spoil ? 400 : 200));
        confirmed += spoil ? 0 : count;
        /* the same rows again: every one is a duplicate, or none is there */
        must(web_send(&web, CALL("CreateMultiple", "accounts"), NULL, body) == (spoil ? 400 : 412));
        free(body);
        next += count;
        must(web_store(&web, "account")->row_count == confirmed);
        must(web_ledger(&web, "account")->writes == confirmed);
    }
    must(web_ledger(&web, "account")->writes_max == 1);
    must(sim_store_distinct(web_store(&web, "account"), 1) == confirmed);
    web_free(&web);
}
END_TEST

START_TEST(damaged_bodies_execute_nothing)
{
    struct web web = web_new(NULL);
    struct weir_rng rng;
    weir_rng_init(&rng, 5, 5);
    char *body = accounts(0, 4, 2, "\"description\":\"\\u00e4\\ud83d\\ude00\"");
    size_t len = strlen(body);
    for (size_t cut = 0; cut < len; cut++) {
        char *copy = weir_strndup(body, cut);
        must(web_send_bytes(&web, CALL("CreateMultiple", "accounts"), NULL, weir_str(copy, cut)) ==
             400);
        free(copy);
    }
    must(web_ledger(&web, "account")->plugin_runs == 0);
    for (int i = 0; i < 20000; i++) {
        char *copy = weir_strndup(body, len);
        copy[weir_rng_below(&rng, len)] = (char)weir_rng_below(&rng, 256);
        web_send_bytes(&web, CALL("UpsertMultiple", "accounts"), NULL, weir_str(copy, len));
        free(copy);
    }
    free(body);
    web_free(&web);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_multiple");
    suite_add(&s, ids_come_back_in_the_order_of_the_rows);
    suite_add(&s, each_message_answers_as_the_service_does);
    suite_add(&s, an_update_that_comes_twice_is_applied_once);
    suite_add(&s, an_upsert_that_comes_twice_is_an_error);
    suite_add(&s, a_key_repeated_in_the_body_fails_only_when_it_creates);
    suite_add(&s, one_bad_row_in_the_middle_takes_all_back);
    suite_add(&s, a_failed_update_gives_the_old_values_back);
    suite_add(&s, elastic_rows_fail_one_by_one);
    suite_add(&s, elastic_messages_have_their_own_rules);
    suite_add(&s, rows_may_refer_to_rows_before_them);
    suite_add(&s, the_rows_of_a_call_are_measured);
    suite_add_loop(&s, "what_was_confirmed_is_there_and_nothing_else",
                   what_was_confirmed_is_there_and_nothing_else, 5);
    suite_add(&s, damaged_bodies_execute_nothing);
    return suite_run(&s);
}

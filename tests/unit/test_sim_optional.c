/* SPDX-License-Identifier: MIT */
/* What is asked for along with a request: acting for others, bypasses, duplicates, tags. */
#include "base/mem.h"
#include "support/web_api.h"

#define A1       "11111111-0000-0000-0000-000000000001"
#define A2       "11111111-0000-0000-0000-000000000002"
#define A3       "11111111-0000-0000-0000-000000000003"
#define NOBODY   "99999999-0000-0000-0000-000000000009"
#define DETECT   "MSCRM.SuppressDuplicateDetection: false"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* "Name: " and the id of the nth person, or of its Entra object. */
static const char *acting(const char *header, const char *kind, uint32_t number)
{
    static char line[100];
    char id[SIM_GUID_TEXT];
    snprintf(line, sizeof(line), "%s: %s", header, sim_guid_print(sim_guid_of(kind, number), id));
    return line;
}

static const char *object_of(uint32_t person)
{
    return acting("CallerObjectId", "person's object", person);
}

/* A member of a row whose value is an id. */
static void has_id(struct web *web, const char *row, const char *column, struct sim_guid expected)
{
    char request[100];
    char says[100];
    char id[SIM_GUID_TEXT];
    snprintf(request, sizeof(request), "GET %s?$select=%s", row, column);
    snprintf(says, sizeof(says), "\"%s\":\"%s\"", column, sim_guid_print(expected, id));
    ck_assert_int_eq(web_send(web, request, NULL, NULL), 200);
    ck_assert_msg(web_says(web, says), "%s: %s", says, web_body(web));
}

static void headers_are(const struct web *web, const char *expected)
{
    struct weir_buf json;
    weir_buf_init(&json, 1000);
    sim_api_headers_json(web->api, &json);
    ck_assert_str_eq(weir_buf_text(&json), expected);
    weir_buf_release(&json);
}

START_TEST(a_row_made_for_somebody_else_is_theirs)
{
    struct web web = web_new(NULL);
    struct sim_guid ada = sim_guid_of("person", 0);
    struct sim_guid bruno = sim_guid_of("person", 1);
    struct sim_guid app = web.api->users[0].id;
    ck_assert_int_eq(web_send(&web, "POST accounts", object_of(0), "{\"accountid\":\"" A1 "\"}"),
                     204);
    has_id(&web, "accounts(" A1 ")", "_createdby_value", ada);
    has_id(&web, "accounts(" A1 ")", "_ownerid_value", ada);
    has_id(&web, "accounts(" A1 ")", "_createdonbehalfby_value", app);
    ck_assert_int_eq(web_send(&web, "PATCH accounts(" A1 ")", acting("MSCRMCallerID", "person", 1),
                              "{\"name\":\"b\"}"),
                     204);
    has_id(&web, "accounts(" A1 ")", "_createdby_value", ada);
    has_id(&web, "accounts(" A1 ")", "_modifiedby_value", bruno);
    ck_assert_int_eq(web_send(&web, "PATCH accounts(" A1 ")", NULL, "{\"name\":\"c\"}"), 204);
    has_id(&web, "accounts(" A1 ")", "_modifiedby_value", app);
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A2 "\"}"), 204);
    has_id(&web, "accounts(" A2 ")", "_createdby_value", app);
    ck_assert_int_eq(
        web_send(&web, "GET accounts(" A2 ")?$select=_createdonbehalfby_value", NULL, NULL), 200);
    ck_assert(web_says(&web, "\"_createdonbehalfby_value\":null"));
    web_free(&web);
}
END_TEST

START_TEST(bulk_messages_are_carried_out_for_somebody_else_too)
{
    struct web web = web_new(NULL);
    static const char create[] =
        "{\"Targets\":[{\"@odata.type\":\"Microsoft.Dynamics.CRM.account\",\"accountid\":\"" A1
        "\"},{\"@odata.type\":\"Microsoft.Dynamics.CRM.account\",\"accountid\":\"" A2 "\"}]}";
    ck_assert_int_eq(
        web_send(&web, "POST accounts/Microsoft.Dynamics.CRM.CreateMultiple", object_of(1), create),
        200);
    has_id(&web, "accounts(" A1 ")", "_createdby_value", sim_guid_of("person", 1));
    has_id(&web, "accounts(" A2 ")", "_ownerid_value", sim_guid_of("person", 1));
    ck_assert_int_eq(web_send(&web, "GET WhoAmI", object_of(1), NULL), 200);
    char id[SIM_GUID_TEXT];
    ck_assert(web_says(&web, sim_guid_print(sim_guid_of("person", 1), id)));
    headers_are(&web, "{\"bypass_sync\":0,\"bypass_async\":0,\"bypass_flows\":0,"
                      "\"detect_duplicates\":0,\"tag\":0,\"caller\":2}");
    web_free(&web);
}
END_TEST

START_TEST(who_cannot_be_acted_for_is_refused)
{
    struct web web = web_new("{\"users\": [{\"name\": \"app2\", \"impersonate\": false}]}");
    static const char body[] = "{\"name\":\"x\"}";
    web_send(&web, "POST accounts", "CallerObjectId: " NOBODY, body);
    ck_assert_int_eq(web.answer.status, 403);
    ck_assert(web_says(&web, "0x80072560"));
    web_send(&web, "POST accounts", "MSCRMCallerID: " NOBODY, body);
    ck_assert_int_eq(web.answer.status, 403);
    ck_assert(web_says(&web, "0x80040217") && web_says(&web, NOBODY));
    web_send(&web, "POST accounts", "CallerObjectId: Ada", body);
    ck_assert_int_eq(web.answer.status, 400);
    web_send(&web, "POST accounts", object_of(4), body); /* Dora is disabled */
    ck_assert_int_eq(web.answer.status, 403);
    ck_assert(web_says(&web, "0x80040225"));
    /* An id of the one kind is none of the other. */
    web_send(&web, "POST accounts", acting("CallerObjectId", "person", 0), body);
    ck_assert_int_eq(web.answer.status, 403);
    web.user = 1;
    web_send(&web, "POST accounts", object_of(0), body);
    ck_assert_int_eq(web.answer.status, 403);
    ck_assert(web_says(&web, "prvActOnBehalfOfAnotherUser"));
    ck_assert_uint_eq(web_store(&web, "account")->row_count, 0);
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, body), 204);
    web_free(&web);
}
END_TEST

/* What both may do can be done, no more. */
START_TEST(acting_for_somebody_needs_the_privileges_of_both)
{
    struct web web = web_new("{\"users\": [{\"name\": \"app2\", "
                             "\"privileges\": {\"account\": \"read\"}, \"read\": \"own\"}]}");
    char line[100];
    snprintf(line, sizeof(line), "MSCRMCallerID: %s", web.api->users[1].id_text);
    ck_assert_int_eq(web_send(&web, "POST accounts", line, "{}"), 403);
    ck_assert(web_says(&web, web.api->users[1].id_text));
    web.user = 1;
    ck_assert_int_eq(web_send(&web, "POST accounts", object_of(0), "{}"), 403);
    web.user = 0;
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\"}"), 204);
    ck_assert_int_eq(web_send(&web, "GET accounts(" A1 ")", line, NULL), 403);
    ck_assert_int_eq(web_send(&web, "GET accounts/$count", line, NULL), 200);
    ck_assert_str_eq(web_body(&web), "0");
    ck_assert_int_eq(web_send(&web, "GET accounts/$count", NULL, NULL), 200);
    ck_assert_str_eq(web_body(&web), "1");
    web_free(&web);
}
END_TEST

/* Parts of a $batch: the first with all of it, the second with nothing. */
START_TEST(a_part_of_a_batch_has_only_its_own)
{
    struct web web = web_new(NULL);
    static char body[2000];
    snprintf(body, sizeof(body),
             "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
             "POST /api/data/v9.2/accounts?tag=job HTTP/1.1\r\nContent-Type: application/json\r\n"
             "%s\r\nMSCRM.BypassBusinessLogicExecution: CustomSync,CustomAsync\r\n"
             "MSCRM.SuppressCallbackRegistrationExpanderJob: true\r\n" DETECT "\r\n\r\n"
             "{\"accountid\":\"" A1 "\"}\r\n"
             "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
             "POST /api/data/v9.2/accounts HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"
             "{\"accountid\":\"" A2 "\"}\r\n--b--\r\n",
             object_of(0));
    char headers[300];
    snprintf(headers, sizeof(headers),
             "Content-Type: multipart/mixed;boundary=b\n%s\n"
             "MSCRM.BypassBusinessLogicExecution: CustomSync",
             object_of(1));
    ck_assert_int_eq(web_send(&web, "POST $batch", headers, body), 200);
    has_id(&web, "accounts(" A1 ")", "_createdby_value", sim_guid_of("person", 0));
    has_id(&web, "accounts(" A2 ")", "_createdby_value", web.api->users[0].id);
    headers_are(&web, "{\"bypass_sync\":1,\"bypass_async\":1,\"bypass_flows\":1,"
                      "\"detect_duplicates\":1,\"tag\":1,\"caller\":1}");
    ck_assert_uint_eq(web_ledger(&web, "account")->plugin_runs, 1);
    sim_api_reset(web.api);
    headers_are(&web, "{\"bypass_sync\":0,\"bypass_async\":0,\"bypass_flows\":0,"
                      "\"detect_duplicates\":0,\"tag\":0,\"caller\":0}");
    web_free(&web);
}
END_TEST

START_TEST(a_bypass_of_synchronous_logic_runs_no_plugins)
{
    struct web web = web_new(NULL);
    static const struct {
        const char *header;
        uint64_t runs; /* all together */
    } cases[] = {
        { NULL, 3 },
        { "MSCRM.BypassBusinessLogicExecution: CustomAsync", 6 },
        { "MSCRM.BypassBusinessLogicExecution: CustomSync", 6 },
        { "MSCRM.BypassBusinessLogicExecution: CustomAsync, CustomSync", 6 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        web_send(&web, "POST accounts", cases[i].header, "{\"accountid\":\"" A1 "\"}");
        web_send(&web, "PATCH accounts(" A1 ")", cases[i].header, "{\"name\":\"x\"}");
        web_send(&web, "DELETE accounts(" A1 ")", cases[i].header, NULL);
        ck_assert_int_eq(web.answer.status, 204);
        ck_assert_uint_eq(web_ledger(&web, "account")->plugin_runs, cases[i].runs);
    }
    web_free(&web);
}
END_TEST

START_TEST(a_header_with_a_value_that_it_cannot_have_is_refused)
{
    static const char *const lines[] = {
        "MSCRM.BypassBusinessLogicExecution: Custom",
        "MSCRM.BypassBusinessLogicExecution: CustomSync;CustomAsync",
        "MSCRM.SuppressCallbackRegistrationExpanderJob: yes",
        "MSCRM.SuppressDuplicateDetection: 0",
    };
    struct web web = web_new(NULL);
    for (size_t i = 0; i < COUNT(lines); i++) {
        web_send(&web, "POST accounts", lines[i], "{}");
        ck_assert_msg(web.answer.status == 400 && web_says(&web, "0x80040203"), "%s: %s", lines[i],
                      web_body(&web));
    }
    ck_assert_uint_eq(web_store(&web, "account")->row_count, 0);
    web_free(&web);
}
END_TEST

START_TEST(duplicates_are_detected_only_if_asked_for)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { "POST accounts", DETECT,
          "{\"accountid\":\"" A1 "\",\"name\":\"Ann\",\"telephone1\":\"1\"}", 204, "" },
        { "POST accounts", DETECT, "{\"name\":\"ANN \",\"telephone1\":\"1\"}", 412, "0x80040333" },
        { "POST accounts", DETECT, "{\"name\":\"Ann\",\"telephone1\":\"2\"}", 204, "" },
        { "POST accounts", DETECT, "{\"name\":\"Ann\"}", 204, "" },
        { "POST accounts", DETECT, "{\"name\":\"Ann\"}", 204, "" },
        { "POST accounts", NULL, "{\"accountid\":\"" A2 "\",\"name\":\"Ann\",\"telephone1\":\"1\"}",
          204, "" },
        { "POST accounts", "MSCRM.SuppressDuplicateDetection: true",
          "{\"accountid\":\"" A3 "\",\"name\":\"Ann\",\"telephone1\":\"1\"}", 204, "" },
        { "PATCH accounts(" A3 ")", NULL, "{\"telephone1\":\"3\"}", 204, "" },
        { "PATCH accounts(" A3 ")", DETECT, "{\"description\":\"alone\"}", 204, "" },
        { "PATCH accounts(" A3 ")", DETECT, "{\"telephone1\":\"1\"}", 412, "0x80040333" },
        { "DELETE accounts(" A1 ")", NULL, NULL, 204, "" },
        { "DELETE accounts(" A2 ")", NULL, NULL, 204, "" },
        { "PATCH accounts(" A3 ")", DETECT, "{\"telephone1\":\"1\"}", 204, "" },
        { "PATCH accounts(" A3 ")", DETECT, "{\"name\":\"Ann\"}", 204, "" },
    };
    web_try(&web, cases, COUNT(cases));
    web_free(&web);
    web = web_new_with(NULL, (struct sim_switches){ .duplicate_status = 500 });
    web_send(&web, "POST accounts", DETECT, "{\"name\":\"a\",\"telephone1\":\"1\"}");
    ck_assert_int_eq(
        web_send(&web, "POST accounts", DETECT, "{\"name\":\"a\",\"telephone1\":\"1\"}"), 500);
    web_free(&web);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_optional");
    suite_add(&s, a_row_made_for_somebody_else_is_theirs);
    suite_add(&s, bulk_messages_are_carried_out_for_somebody_else_too);
    suite_add(&s, who_cannot_be_acted_for_is_refused);
    suite_add(&s, acting_for_somebody_needs_the_privileges_of_both);
    suite_add(&s, a_part_of_a_batch_has_only_its_own);
    suite_add(&s, a_bypass_of_synchronous_logic_runs_no_plugins);
    suite_add(&s, a_header_with_a_value_that_it_cannot_have_is_refused);
    suite_add(&s, duplicates_are_detected_only_if_asked_for);
    return suite_run(&s);
}

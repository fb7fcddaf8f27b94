/* SPDX-License-Identifier: MIT */
/* What a row may hold, what the service decides itself, and what it refuses with which code. */
#include "base/mem.h"
#include "support/web_api.h"

#define A1       "11111111-0000-0000-0000-000000000001"
#define A2       "11111111-0000-0000-0000-000000000002"
#define NOBODY   "99999999-0000-0000-0000-000000000009"
#define TWENTY   "12345678901234567890"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Create account A1 with these members, read `select` back and see what it says. */
static void stores(const char *members, const char *select, const char *says)
{
    struct web web = web_new(NULL);
    char body[1024];
    char request[256];
    snprintf(body, sizeof(body), "{\"accountid\":\"" A1 "\"%s%s}", *members ? "," : "", members);
    if (web_send(&web, "POST accounts", NULL, body) != 204)
        ck_abort_msg("%s: %s", members, web_body(&web));
    snprintf(request, sizeof(request), "GET accounts(" A1 ")?$select=%s", select);
    ck_assert_int_eq(web_send(&web, request, NULL, NULL), 200);
    if (!web_says(&web, says))
        ck_abort_msg("%s: expected %s, got %s", members, says, web_body(&web));
    web_free(&web);
}

START_TEST(values_are_stored_as_their_columns_have_them)
{
    static const char *const cases[][3] = {
        { "\"name\":\"A \\u00e4\\n\\\"\"", "name", "\"name\":\"A \xc3\xa4\\u000a\\\"\"" },
        { "\"name\":null", "name", "\"name\":null" },
        { "\"name\":\"\"", "name", "\"name\":null" }, /* an empty text is null */
        { "\"numberofemployees\":0", "numberofemployees", "\"numberofemployees\":0" },
        { "\"revenue\":1.0100", "revenue", "\"revenue\":1.01" },
        { "\"revenue\":1e3", "revenue", "\"revenue\":1000.00" },
        { "\"creditlimit\":1234e-4", "creditlimit", "\"creditlimit\":0.1234" },
        { "\"weir_amount\":-9999999999999999999999999999.9999999999", "weir_amount",
          "\"weir_amount\":-9999999999999999999999999999.9999999999" },
        { "\"weir_amount\":1234567890123456789012345678.9", "weir_amount",
          "\"weir_amount\":1234567890123456789012345678.9000000000" },
        { "\"weir_score\":-99999999999.9999", "weir_score", "-99999999999.9999" },
        { "\"weir_sequence\":-9223372036854775808", "weir_sequence", "-9223372036854775808" },
        { "\"address1_latitude\":52.51704", "address1_latitude", ":52.51704" },
        { "\"weir_measure\":-0.0", "weir_measure", "\"weir_measure\":-0.0" },
        { "\"weir_measure\":0.1234567890123456", "weir_measure", ":0.1234567890123456" },
        { "\"industrycode\":7", "industrycode", "\"industrycode\":7" },
        { "\"weir_channels\":\"100000000,100000003\"", "weir_channels", "100000000,100000003" },
        { "\"weir_channels\":\"\"", "weir_channels", "\"weir_channels\":null" },
        { "\"donotemail\":true", "donotemail", "\"donotemail\":true" },
        { "", "donotemail", "\"donotemail\":false" },
        { "\"weir_founded\":\"1999-12-31\"", "weir_founded", "\"1999-12-31\"" },
        { "\"lastonholdtime\":\"2024-01-01T01:00:00+02:00\"", "lastonholdtime",
          "\"2023-12-31T23:00:00Z\"" },
        { "\"weir_opening\":\"2024-01-01T08:00:00Z\"", "weir_opening", "\"2024-01-01T08:00:00Z\"" },
        { "", "createdon", "\"createdon\":\"2024-06-01T12:00:00Z\"" },
        { "\"overriddencreatedon\":\"2001-01-01T00:00:00Z\"", "createdon", "2001-01-01T00:00:00Z" },
        { "\"overriddencreatedon\":\"2001-01-01T00:00:00Z\"", "overriddencreatedon",
          "2024-06-01T12:00:00Z" },
        { "\"statecode\":1", "statecode", "\"statecode\":0" },
        { "\"statuscode\":1", "statuscode", "\"statuscode\":1" },
        { "", "statuscode", "\"statuscode\":1" },
        { "\"@odata.type\":\"Microsoft.Dynamics.CRM.account\"", "name", "\"name\":null" },
        { "\"@odata.etag\":\"x\",\"name@some.annotation\":{\"a\":[1]}", "name", "\"name\":null" },
        { "\"na\\u006de\":\"escaped\"", "name", "\"name\":\"escaped\"" },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        stores(cases[i][0], cases[i][1], cases[i][2]);
}
END_TEST

START_TEST(what_does_not_fit_is_refused_with_the_code_of_the_service)
{
    struct web web = web_new(NULL);
    static const struct {
        const char *members;
        int status;
        const char *code;
    } cases[] = {
        { "\"Name\":\"x\"", 400, "\"0x0\"" },
        { "\"nosuch\":1", 400, "\"0x0\"" },
        { "\"parentaccountidname\":\"x\"", 400, "\"0x0\"" },
        { "\"parentcustomerid\":null", 400, "\"0x0\"" },
        { "\"nosuch@odata.bind\":\"/accounts(" A1 ")\"", 400, "\"0x80048d19\"" },
        { "\"ParentAccountId@odata.bind\":\"/accounts(" A1 ")\"", 400, "\"0x80048d19\"" },
        { "\"name@odata.bind\":\"/accounts(" A1 ")\"", 400, "\"0x80048d19\"" },
        { "\"parentaccountid\":\"" A1 "\"", 400, "\"0x80048d19\"" },
        { "\"_parentaccountid_value\":\"" A1 "\"", 400, "\"0x80048d19\"" },
        { "\"_parentaccountid_value\":null", 400, "\"0x80048d19\"" },
        { "\"weir_unitid@odata.bind\":null", 400, "\"0x80048d19\"" }, /* it is weir_UnitId */
        { "\"entityimage\":\"aGk=\"", 400, "\"0x80048d19\"" },
        { "\"weir_contract\":\"" A1 "\"", 400, "\"0x80040203\"" },
        { "\"parentaccountid@odata.bind\":\"/contacts(" A1 ")\"", 400, "\"0x80048d19\"" },
        { "\"parentaccountid@odata.bind\":\"nonsense\"", 400, "\"0x80048d19\"" },
        { "\"parentaccountid@odata.bind\":5", 400, "\"0x80048d19\"" },
        { "\"parentaccountid@odata.bind\":\"/accounts(" NOBODY ")\"", 404, "\"0x80040217\"" },
        { "\"parentaccountid@odata.bind\":\"/accounts(accountnumber='no')\"", 404,
          "\"0x80060891\"" },
        { "\"parentaccountid@odata.bind\":\"/accounts(name='no')\"", 400, "\"0x80060888\"" },
        { "\"ownerid@odata.bind\":\"/systemusers(" NOBODY ")\"", 404, "\"0x80040217\"" },
        { "\"accountnumber\":\"" TWENTY "1\"", 400, "\"0x80044331\"" },
        { "\"name\":5", 400, "\"0x80048d19\"" },
        { "\"name\":{}", 400, "\"0x80048d19\"" },
        { "\"name\":[1]", 400, "\"0x80048d19\"" },
        { "\"numberofemployees\":\"5\"", 400, "\"0x80048d19\"" },
        { "\"numberofemployees\":1.5", 400, "\"0x80048d19\"" },
        { "\"numberofemployees\":99999999999", 400, "\"0x80048d19\"" },
        { "\"numberofemployees\":-1", 400, "\"0x80044330\"" },
        { "\"numberofemployees\":1000000001", 400, "\"0x80044330\"" },
        { "\"revenue\":-1", 400, "\"0x80044330\"" },
        { "\"revenue\":1e300", 400, "\"0x80044330\"" },
        { "\"revenue\":\"1\"", 400, "\"0x80048d19\"" },
        { "\"weir_score\":100000000000.0001", 400, "\"0x80044330\"" },
        { "\"weir_amount\":10000000000000000000000000000.0000000001", 400, "\"0x80044330\"" },
        { "\"weir_amount\":99999999999999999999999999999999999999999", 400, "\"0x80044330\"" },
        { "\"address1_latitude\":90.5", 400, "\"0x80044330\"" },
        { "\"address1_latitude\":1e999", 400, "\"0x80048d19\"" },
        { "\"industrycode\":999", 400, "\"0x8004431a\"" },
        { "\"industrycode\":\"Consulting\"", 400, "\"0x80048d19\"" },
        { "\"weir_channels\":\"100000000,5\"", 400, "\"0x8004431a\"" },
        { "\"weir_channels\":\"a\"", 400, "\"0x80048d19\"" },
        { "\"donotemail\":1", 400, "\"0x80048d19\"" },
        { "\"weir_founded\":\"2024-02-30\"", 400, "\"0x80048d19\"" },
        { "\"weir_founded\":\"1752-12-31\"", 400, "\"0x80040239\"" },
        { "\"lastonholdtime\":\"2024-01-01\"", 400, "\"0x80048d19\"" },
        { "\"accountid\":\"nonsense\"", 400, "\"0x80048d19\"" },
        { "\"statuscode\":2", 400, "\"0x80048408\"" },
        { "\"statuscode\":77", 400, "\"0x8004431a\"" },
        { "\"name\":\"a\",\"name\":\"b\"", 400, "\"0x80048d19\"" },
        { "\"@odata.type\":\"Microsoft.Dynamics.CRM.contact\"", 400, "\"0x80048d19\"" },
        { "\"name\":\"a\"} {", 400, "\"0x80048d19\"" },
        { "\"name\":\"\xff\"", 400, "\"0x80048d19\"" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char body[512];
        snprintf(body, sizeof(body), "{%s}", cases[i].members);
        web_send(&web, "POST accounts", NULL, body);
        if (web.answer.status != cases[i].status || !web_says(&web, cases[i].code))
            ck_abort_msg("%s: expected %d %s, got %d %s", body, cases[i].status, cases[i].code,
                         web.answer.status, web_body(&web));
    }
    ck_assert_uint_eq(web_store(&web, "account")->row_count, 0);
    ck_assert_uint_eq(web_ledger(&web, "account")->writes, 0);
    web_free(&web);
}
END_TEST

START_TEST(messages_are_those_of_the_service)
{
    struct web web = web_new(NULL);
    web_send(&web, "POST accounts", NULL, "{\"Name\":1}");
    ck_assert_str_eq(
        web_body(&web),
        "{\"error\":{\"code\":\"0x0\",\"message\":\"An error occurred while validating input "
        "parameters: Microsoft.Crm.CrmException: Invalid property 'Name' was found in entity "
        "'Microsoft.Dynamics.CRM.account'. ---> Microsoft.OData.ODataException: Does not support "
        "untyped value in non-open type.\"}}");
    web_send(&web, "POST accounts", NULL, "{\"accountnumber\":\"" TWENTY "1\"}");
    ck_assert_str_eq(web_body(&web),
                     "{\"error\":{\"code\":\"0x80044331\",\"message\":\"A validation error "
                     "occurred.  The length of the 'accountnumber' attribute of the 'account' "
                     "entity exceeded the maximum allowed length of '20'.\"}}");
    web_send(&web, "POST accounts", NULL, "{\"industrycode\":9}");
    ck_assert_str_eq(web_body(&web),
                     "{\"error\":{\"code\":\"0x8004431a\",\"message\":\"A validation error "
                     "occurred. The value 9 of 'industrycode' on record of type 'account' is "
                     "outside the valid range. Accepted Values: 1,2,3,4,5,6,7\"}}");
    web_send(&web, "GET accounts(" NOBODY ")", NULL, NULL);
    ck_assert_str_eq(web_body(&web), "{\"error\":{\"code\":\"0x80040217\",\"message\":\"account "
                                     "With Id = " NOBODY " Does Not Exist\"}}");
    web_free(&web);
}
END_TEST

START_TEST(lengths_are_utf16_units_not_bytes)
{
    struct web web = web_new(NULL);
    char body[256] = "{\"accountnumber\":\"";
    for (int i = 0; i < 10; i++)
        strncat(body, "\xf0\x9f\x98\x80", 5);
    strncat(body, "\"}", 3);
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, body), 204);
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL,
                              "{\"accountnumber\":\"\\ud83d\\ude00\\ud83d\\ude00\\ud83d\\ude00"
                              "\\ud83d\\ude00\\ud83d\\ude00\\ud83d\\ude00\\ud83d\\ude00"
                              "\\ud83d\\ude00\\ud83d\\ude00\\ud83d\\ude00x\"}"),
                     400);
    ck_assert(web_says(&web, "0x80044331"));
    web_free(&web);
}
END_TEST

START_TEST(lookups_are_bound_by_id_or_key_and_cleared_by_null)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { "POST accounts", NULL, "{\"accountid\":\"" A1 "\",\"accountnumber\":\"P 1\"}", 204, "" },
        { "POST accounts", NULL,
          "{\"accountid\":\"" A2 "\",\"parentaccountid@odata.bind\":\"/accounts(" A1 ")\"}", 204,
          "" },
        { "GET accounts(" A2 ")?$select=_parentaccountid_value", NULL, NULL, 200,
          "\"_parentaccountid_value\":\"" A1 "\"" },
        { "PATCH accounts(" A2 ")", NULL, "{\"parentaccountid@odata.bind\":null}", 204, "" },
        { "GET accounts(" A2 ")?$select=_parentaccountid_value", NULL, NULL, 200,
          "\"_parentaccountid_value\":null" },
        { "PATCH accounts(" A2 ")", NULL,
          "{\"parentaccountid@odata.bind\":\"accounts(accountnumber='p 1 ')\"}", 204, "" },
        { "GET accounts(" A2 ")?$select=_parentaccountid_value", NULL, NULL, 200,
          "\"_parentaccountid_value\":\"" A1 "\"" },
        { "PATCH accounts(" A2 ")", NULL, "{\"parentaccountid\":null}", 204, "" },
        { "PATCH accounts(" A2 ")", NULL,
          "{\"parentaccountid@odata.bind\":\"http://sim/api/data/v9.2/accounts(" A1 ")\"}", 204,
          "" },
        { "GET accounts(" A2 ")?$select=_parentaccountid_value",
          "Prefer: odata.include-annotations=\"*\"", NULL, 200,
          "\"_parentaccountid_value@Microsoft.Dynamics.CRM.lookuplogicalname\":\"account\"" },
        { "POST contacts", NULL,
          "{\"contactid\":\"" A1 "\",\"firstname\":\"Ada\",\"lastname\":\"Byron\","
          "\"parentcustomerid_account@odata.bind\":\"/accounts(" A1 ")\"}",
          204, "" },
        { "POST contacts", NULL, "{\"parentcustomerid@odata.bind\":\"/accounts(" A1 ")\"}", 400,
          "An undeclared property 'parentcustomerid' which only has property annotations" },
        { "POST contacts", NULL, "{\"parentcustomerid_account@odata.bind\":\"/contacts(" A1 ")\"}",
          400, "0x80048d19" },
        { "POST contacts", NULL, "{\"parentcustomerid_contact@odata.bind\":\"/contacts(" A1 ")\"}",
          204, "" },
        { "GET contacts(" A1 ")?$select=fullname,_parentcustomerid_value", NULL, NULL, 200,
          "\"fullname\":\"Ada Byron\"" },
    };
    web_try(&web, cases, COUNT(cases));
    web_free(&web);
}
END_TEST

START_TEST(the_owner_is_the_caller_unless_given)
{
    struct web web = web_new(NULL);
    char body[256];
    char request[256];
    web.user = 1;
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\"}"), 204);
    web_send(&web, "GET accounts(" A1 ")?$select=_ownerid_value", NULL, NULL);
    ck_assert(web_says(&web, sim_api_user_id(web.api, 1)));
    snprintf(body, sizeof(body),
             "{\"accountid\":\"" A2 "\",\"ownerid@odata.bind\":\"/systemusers(%s)\"}",
             sim_api_user_id(web.api, 2));
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, body), 204);
    web_send(&web, "GET accounts(" A2 ")?$select=_ownerid_value", NULL, NULL);
    ck_assert(web_says(&web, sim_api_user_id(web.api, 2)));
    web_send(&web, "GET teams?$select=teamid", NULL, NULL);
    char *id = strstr(web_body(&web), "\"teamid\":\"");
    ck_assert_ptr_nonnull(id);
    snprintf(body, sizeof(body), "{\"ownerid@odata.bind\":\"/teams(%.36s)\"}", id + 10);
    snprintf(request, sizeof(request), "PATCH accounts(" A2 ")");
    ck_assert_int_eq(web_send(&web, request, NULL, body), 204);
    ck_assert_int_eq(web_send(&web, request, NULL, "{\"ownerid\":null}"), 400);
    web_free(&web);
}
END_TEST

START_TEST(state_and_status_go_together)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { "POST accounts", NULL, "{\"accountid\":\"" A1 "\",\"statecode\":1}", 204, "" },
        { "GET accounts(" A1 ")", NULL, NULL, 200, "\"statecode\":0,\"statuscode\":1" },
        { "PATCH accounts(" A1 ")", NULL, "{\"statuscode\":2}", 400, "0x80048408" },
        { "PATCH accounts(" A1 ")", NULL, "{\"statecode\":1,\"statuscode\":1}", 400,
          "1 is not a valid status code for state code AccountState.Inactive on account with "
          "Id " A1 },
        { "PATCH accounts(" A1 ")", NULL, "{\"statecode\":1}", 204, "" },
        { "GET accounts(" A1 ")", NULL, NULL, 200, "\"statecode\":1,\"statuscode\":2" },
        { "PATCH accounts(" A1 ")", NULL, "{\"name\":\"still\"}", 204, "" },
        { "GET accounts(" A1 ")", NULL, NULL, 200, "\"statecode\":1,\"statuscode\":2" },
        { "PATCH accounts(" A1 ")", NULL, "{\"statecode\":0,\"statuscode\":1}", 204, "" },
        { "GET accounts(" A1 ")", NULL, NULL, 200, "\"statecode\":0,\"statuscode\":1" },
    };
    web_try(&web, cases, COUNT(cases));
    web_free(&web);
}
END_TEST

/* One row that violates both keys, by all settings of the switches. */
START_TEST(duplicates_are_reported_as_the_switches_say)
{
    for (int way = 0; way < 4; way++) {
        bool alternate = way & 1;
        int status = way & 2 ? 500 : 412;
        struct web web =
            web_new_with(NULL, (struct sim_switches){ .duplicate_first =
                                                          alternate ? SIM_DUPLICATE_ALTERNATE_FIRST
                                                                    : SIM_DUPLICATE_PRIMARY_FIRST,
                                                      .duplicate_status = status });
        struct web_case cases[] = {
            { "POST accounts", NULL, "{\"accountid\":\"" A1 "\",\"accountnumber\":\"Key\"}", 204,
              "" },
            { "POST accounts", NULL, "{\"accountid\":\"" A1 "\",\"accountnumber\":\"kEY \"}",
              status, alternate ? "0x80060892" : "0x80040237" },
            { "POST accounts", NULL, "{\"accountid\":\"" A1 "\"}", status,
              "{\"error\":{\"code\":\"0x80040237\",\"message\":\"A record with matching key values "
              "already exists.\"}}" },
            { "POST accounts", "Prefer: odata.include-annotations=\"*\"",
              "{\"accountnumber\":\"KEY\"}", status,
              "\"@Microsoft.PowerApps.CDS.ErrorDetails.DuplicateAttributes\":\"<"
              "DuplicateAttributes>"
              "<accountnumber>KEY</accountnumber></DuplicateAttributes>\"" },
            { "POST accounts", NULL, "{\"accountnumber\":\" key\"}", 204, "" },
            { "POST accounts", NULL, "{\"accountnumber\":null}", 204, "" },
            { "POST accounts", NULL, "{\"accountnumber\":null}", 204, "" },
            { "PATCH accounts(" A1 ")", NULL, "{\"accountnumber\":\" KEY\"}", status,
              "Entity Key accountnumber_key violated. A record with the same value for "
              "accountnumber already exists." },
            { "PATCH accounts(" A1 ")", NULL, "{\"accountnumber\":\"KEY\"}", 204, "" },
        };
        web_try(&web, cases, COUNT(cases));
        ck_assert_uint_eq(web_store(&web, "account")->row_count, 4);
        web_free(&web);
    }
}
END_TEST

START_TEST(a_row_that_meets_a_duplicate_has_run_its_plugins)
{
    struct web web = web_new(NULL);
    web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\"}");
    web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\"}");
    ck_assert_int_eq(web.answer.status, 412);
    web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\",\"revenue\":-1}");
    const struct sim_ledger *ledger = web_ledger(&web, "account");
    ck_assert_uint_eq(ledger->writes, 1);
    ck_assert_uint_eq(ledger->plugin_runs, 2);
    ck_assert_uint_eq(ledger->plugin_runs_max, 2);
    web_free(&web);
}
END_TEST

START_TEST(a_row_can_be_made_bad_on_purpose)
{
    struct web web = web_new(NULL);
    sim_api_set_bad_row(web.api, "name", "bad");
    static const struct web_case cases[] = {
        { "POST accounts", NULL, "{\"accountid\":\"" A1 "\",\"name\":\"good\"}", 204, "" },
        { "POST accounts", NULL, "{\"name\":\"bad\"}", 400, "0x80040265" },
        { "PATCH accounts(" A1 ")", NULL, "{\"name\":\"bad\"}", 400, "0x80040265" },
        { "PATCH accounts(" A1 ")", NULL, "{\"telephone1\":\"bad\"}", 204, "" },
        { "POST annotations", NULL, "{\"subject\":\"bad\"}", 204, "" },
    };
    web_try(&web, cases, COUNT(cases));
    sim_api_set_bad_row(web.api, "numberofemployees", "13");
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, "{\"numberofemployees\":13}"), 400);
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, "{\"name\":\"bad\"}"), 204);
    sim_api_set_bad_row(web.api, "weir_founded", "2024-01-02");
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, "{\"weir_founded\":\"2024-01-02\"}"),
                     400);
    sim_api_set_bad_row(web.api, NULL, NULL);
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, "{\"weir_founded\":\"2024-01-02\"}"),
                     204);
    web_free(&web);
}
END_TEST

/* A body of `count` times the same text between two others. */
static char *repeat(const char *before, const char *text, uint32_t count, const char *after)
{
    struct weir_buf buf;
    weir_buf_init(&buf, (size_t)64 * 1024 * 1024);
    weir_buf_add_text(&buf, before);
    for (uint32_t i = 0; i < count; i++)
        weir_buf_add_text(&buf, text);
    weir_buf_add_text(&buf, after);
    return weir_buf_take(&buf);
}

START_TEST(messages_stay_utf8_wherever_they_are_cut)
{
    struct web web = web_new(NULL);
    static const char *const frames[][2] = {
        { "{\"", "\":1}" },
        { "{\"", "@odata.bind\":1}" },
        { "{\"parentaccountid@odata.bind\":\"", "\"}" },
        { "{\"revenue\":\"", "\"}" },
        { "{\"lastonholdtime\":\"", "\"}" },
        { "{\"@odata.type\":\"", "\"}" },
    };
    for (size_t i = 0; i < COUNT(frames); i++) {
        for (int shift = 0; shift < 3; shift++) {
            char before[128];
            struct weir_json *json;
            snprintf(before, sizeof(before), "%s%.*s", frames[i][0], shift, "xxx");
            char *body = repeat(before, "\xe2\x82\xac", 1000, frames[i][1]);
            ck_assert_int_eq(web_send(&web, "POST accounts", NULL, body), 400);
            ck_assert_msg(weir_json_parse(weir_str(web_body(&web), web.answer.body.len), &json,
                                          NULL) == WEIR_OK,
                          "%zu: %s", i, web_body(&web));
            weir_json_free(json);
            free(body);
        }
    }
    web_free(&web);
}
END_TEST

START_TEST(hostile_bodies_are_refused_and_survived)
{
    struct web web = web_new(NULL);
    char *bodies[] = {
        repeat("", "[", 100000, ""),
        repeat("{\"name\":", "{\"a\":", 100000, ""),
        repeat("{\"name@x\":", "[", 100000, ""),
        repeat("{\"revenue\":1", "0", 1000000, "}"),
        repeat("{\"numberofemployees\":-", "9", 100000, "}"),
        repeat("{\"address1_latitude\":1.", "3", 100000, "}"),
        repeat("{\"name\":\"", "\\u00e4", 200000, "\"}"),
        repeat("{\"name\":\"", "x", 2000000, "\"}"),
        repeat("{\"weir_channels\":\"1", ",1", 100000, "\"}"),
        repeat("{\"a\":1", ",\"b\":2", 10000, "}"),
        repeat("{\"name\":\"a\"", ",\"name\":\"b\"", 10000, "}"),
        repeat("{\"", "k", 1000000, "\":1}"),
        repeat("{\"parentaccountid@odata.bind\":\"", "/", 100000, "\"}"),
        repeat("{\"parentaccountid@odata.bind\":\"accounts(", "a='b',", 10000, "c='d')\"}"),
        repeat("{\"name\":\"\xed\xa0\x80", "x", 10, "\"}"),
        repeat("", " ", 1000000, ""),
        repeat("", "", 0, ""),
        repeat("{\"name\":", "", 0, ""),
        repeat("\"text\"", "", 0, ""),
        repeat("{\"@odata.type\":\"", "x", 100000, "\"}"),
        repeat("{\"lastonholdtime\":\"2024-01-01T00:00:00.", "1", 100000, "\"}"),
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        int status = web_send(&web, "POST accounts", NULL, bodies[i]);
        ck_assert_msg(status == 400, "body %zu: %d %.200s", i, status, web_body(&web));
        ck_assert_msg(web.answer.body.len < 5000, "body %zu", i);
        free(bodies[i]);
    }
    ck_assert_uint_eq(web_store(&web, "account")->row_count, 0);
    char *harmless = repeat("{\"name\":\"n\"", ",\"x@y\":1", 10000, "}");
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, harmless), 204);
    free(harmless);
    web_free(&web);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_record");
    suite_add(&s, values_are_stored_as_their_columns_have_them);
    suite_add(&s, what_does_not_fit_is_refused_with_the_code_of_the_service);
    suite_add(&s, messages_are_those_of_the_service);
    suite_add(&s, lengths_are_utf16_units_not_bytes);
    suite_add(&s, lookups_are_bound_by_id_or_key_and_cleared_by_null);
    suite_add(&s, the_owner_is_the_caller_unless_given);
    suite_add(&s, state_and_status_go_together);
    suite_add(&s, duplicates_are_reported_as_the_switches_say);
    suite_add(&s, a_row_that_meets_a_duplicate_has_run_its_plugins);
    suite_add(&s, a_row_can_be_made_bad_on_purpose);
    suite_add(&s, messages_stay_utf8_wherever_they_are_cut);
    suite_add(&s, hostile_bodies_are_refused_and_survived);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* One row a request: statuses, headers and bodies, conditions, keys, rights. */
#include "support/web_api.h"

#define A1       "11111111-0000-0000-0000-000000000001"
#define A2       "11111111-0000-0000-0000-000000000002"
#define A3       "11111111-0000-0000-0000-000000000003"
#define ROOT     "http://sim/api/data/v9.2/"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(a_create_answers_with_the_address_of_the_row)
{
    struct web web = web_new(NULL);
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\"}"), 204);
    ck_assert_uint_eq(web.answer.body.len, 0);
    ck_assert(web_has(&web, "OData-Version: 4.0\r\n"));
    ck_assert(web_has(&web, "OData-EntityId: " ROOT "accounts(" A1 ")\r\n"));
    ck_assert(web_has(&web, "Location: " ROOT "accounts(" A1 ")\r\n"));
    web_free(&web);
}
END_TEST

START_TEST(a_create_without_id_gets_one_and_each_another)
{
    struct web web = web_new(NULL);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(web_send(&web, "POST accounts", NULL, "{}"), 204);
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL,
                              "{\"accountid\":\"00000000-0000-0000-0000-000000000000\"}"),
                     204);
    ck_assert_uint_eq(web_store(&web, "account")->row_count, 101);
    ck_assert_uint_eq(web_ledger(&web, "account")->writes_max, 1);
    web_free(&web);
}
END_TEST

START_TEST(a_representation_tells_created_from_updated)
{
    struct web web = web_new(NULL);
    static const char prefer[] = "Prefer: return=representation";
    ck_assert_int_eq(
        web_send(&web, "PATCH accounts(" A1 ")?$select=name", prefer, "{\"name\":\"a\"}"), 201);
    ck_assert_ptr_nonnull(strstr(web_body(&web),
                                 "{\"@odata.context\":\"" ROOT "$metadata#accounts(name)/$entity\","
                                 "\"@odata.etag\":\"W/\\\""));
    ck_assert(web_says(&web, "\"accountid\":\"" A1 "\",\"name\":\"a\"}"));
    ck_assert(web_has(&web, "Preference-Applied: return=representation\r\n"));
    ck_assert(web_has(&web, "Content-Type: application/json; odata.metadata=minimal\r\n"));
    ck_assert_int_eq(web_send(&web, "PATCH accounts(" A1 ")", prefer, "{\"name\":\"b\"}"), 200);
    ck_assert_int_eq(web_send(&web, "POST accounts", prefer, "{\"name\":\"c\"}"), 201);
    ck_assert(web_says(&web, "\"name\":\"c\""));
    web_free(&web);
}
END_TEST

START_TEST(rows_are_read_updated_upserted_and_deleted)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { "PATCH accounts(" A1 ")", "If-Match: *", "{\"name\":\"x\"}", 404, "0x80040217" },
        { "DELETE accounts(" A1 ")", NULL, NULL, 404, "0x80040217" },
        { "GET accounts(" A1 ")", NULL, NULL, 404, "0x80040217" },
        { "PATCH accounts(" A1 ")", NULL, "{\"name\":\"x\",\"telephone1\":\"1\"}", 204, "" },
        { "PATCH accounts(" A1 ")", "If-None-Match: *", "{}", 412,
          "A record with matching key values already exists." },
        { "PATCH accounts(" A2 ")", "If-None-Match: *", "{\"accountnumber\":\"N\"}", 204, "" },
        { "PATCH accounts(" A1 ")", "If-Match: *\nIf-None-Match: null", "{\"name\":\"y\"}", 204,
          "" },
        { "GET accounts(" A1 ")?$select=name,telephone1", "If-None-Match: null", NULL, 200,
          "\"name\":\"y\",\"telephone1\":\"1\"" },
        { "PATCH accounts(accountnumber='n')", NULL, "{\"name\":\"by key\"}", 204, "" },
        { "GET accounts(accountnumber='N ')?$select=name", NULL, NULL, 200,
          "\"accountid\":\"" A2 "\",\"name\":\"by key\"" },
        { "PATCH accounts(accountnumber='new''s')", NULL, "{\"name\":\"made\"}", 204, "" },
        { "GET accounts(accountnumber='NEW''S')?$select=accountnumber", NULL, NULL, 200,
          "\"accountnumber\":\"new's\"" },
        { "PATCH accounts(accountnumber='zz')", "If-Match: *", "{}", 404, "0x80060891" },
        { "GET accounts(accountnumber='zz')", NULL, NULL, 404,
          "A record with the specified key values does not exist in account entity" },
        { "PATCH accounts(accountnumber='n')", "If-None-Match: *", "{}", 412, "0x80060892" },
        { "PATCH accounts(accountnumber=null)", NULL, "{}", 400, "0x80060888" },
        { "DELETE accounts(accountnumber='N')", NULL, NULL, 204, "" },
        { "GET accounts(" A2 ")", NULL, NULL, 404, "0x80040217" },
        { "GET accounts(accountid=" A1 ")?$select=name", NULL, NULL, 200, "\"name\":\"y\"" },
        { "GET accounts(name='y')", NULL, NULL, 400, "The key in the request URI is not valid" },
        { "GET accounts('" A1 "')", NULL, NULL, 400, "0x80060888" },
        { "GET accounts(12)", NULL, NULL, 400, "0x80060888" },
        { "GET accounts(accountnumber=12)", NULL, NULL, 400, "0x80060888" },
        { "GET accounts(accountnumber='a',accountnumber='b')", NULL, NULL, 400, "0x80060888" },
        { "GET accounts(" A1 ")?$select=Name", NULL, NULL, 400,
          "{\"error\":{\"code\":\"0x0\",\"message\":\"Could not find a property named 'Name' on "
          "type 'Microsoft.Dynamics.CRM.account'.\"}}" },
        { "GET accounts(" A1 ")?$expand=primarycontactid", NULL, NULL, 400, "$expand" },
        { "GET nosuch(" A1 ")", NULL, NULL, 404, "0x8006088a" },
        { "PUT accounts(" A1 ")", NULL, "{}", 405, "PUT" },
        { "POST accounts(" A1 ")", NULL, "{}", 405, "POST" },
        { "DELETE accounts", NULL, NULL, 405, "DELETE" },
        { "PATCH systemusers(" A1 ")", NULL, "{}", 400, "0x80040800" },
        { "POST businessunits", NULL, "{}", 400, "0x80040800" },
        { "GET accounts(" A1 ")/name", NULL, NULL, 200, "\"value\":\"y\"}" },
        { "GET accounts(" A1 ")/name/$value", NULL, NULL, 200, "y" },
        { "GET accounts(" A1 ")/description", NULL, NULL, 204, "" },
        { "GET accounts(" A1 ")/nosuch", NULL, NULL, 404, "0x8006088a" },
        { "DELETE accounts(" A1 ")", "If-Match: *", NULL, 204, "" },
        { "DELETE accounts(" A1 ")", NULL, NULL, 404, "0x80040217" },
    };
    web_try(&web, cases, COUNT(cases));
    web_free(&web);
}
END_TEST

/* The ETag that the last answer had, as a header line `name: …`. */
static const char *etag_as(const struct web *web, const char *name)
{
    static char line[100];
    const char *etag = strstr(weir_buf_text(&web->answer.headers), "ETag: ");
    ck_assert_ptr_nonnull(etag);
    snprintf(line, sizeof(line), "%s: %.*s", name, (int)strcspn(etag + 6, "\r"), etag + 6);
    return line;
}

START_TEST(an_etag_guards_a_row_against_lost_updates)
{
    struct web web = web_new(NULL);
    char old[100];
    web_send(&web, "POST accounts", "Prefer: return=representation", "{\"accountid\":\"" A1 "\"}");
    snprintf(old, sizeof(old), "%s", etag_as(&web, "If-Match"));
    ck_assert_int_eq(web_send(&web, "PATCH accounts(" A1 ")", old, "{\"name\":\"1\"}"), 204);
    ck_assert_int_eq(web_send(&web, "PATCH accounts(" A1 ")", old, "{\"name\":\"2\"}"), 412);
    ck_assert(web_says(&web, "0x80060882"));
    ck_assert_int_eq(web_send(&web, "DELETE accounts(" A1 ")", old, NULL), 412);
    ck_assert_int_eq(web_send(&web, "PATCH accounts(" A1 ")", "If-Match: W/\"x\"", "{}"), 412);
    ck_assert_int_eq(web_send(&web, "PATCH accounts(" A2 ")", old, "{}"), 404);
    ck_assert_int_eq(web_send(&web, "GET accounts(" A1 ")", NULL, NULL), 200);
    const char *same = etag_as(&web, "If-None-Match");
    ck_assert_int_eq(web_send(&web, "GET accounts(" A1 ")", same, NULL), 304);
    ck_assert_uint_eq(web.answer.body.len, 0);
    web_send(&web, "PATCH accounts(" A1 ")", NULL, "{}");
    ck_assert_int_eq(web_send(&web, "GET accounts(" A1 ")", same, NULL), 200);
    web_free(&web);
}
END_TEST

START_TEST(elastic_rows_live_in_partitions)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { "POST sensorreadings", NULL, "{\"sensorreadingid\":\"" A1 "\",\"name\":\"none\"}", 204,
          "" },
        { "POST sensorreadings", NULL,
          "{\"sensorreadingid\":\"" A1 "\",\"partitionid\":\"p\",\"name\":\"in p\"}", 204, "" },
        { "GET sensorreadings(" A1 ")?$select=name", NULL, NULL, 200, "\"name\":\"none\"" },
        { "GET sensorreadings(" A1 ")?$select=name&partitionId=p", NULL, NULL, 200,
          "\"name\":\"in p\"" },
        { "GET sensorreadings(sensorreadingid=" A1 ",partitionid='p')?$select=name", NULL, NULL,
          200, "\"name\":\"in p\"" },
        { "GET sensorreadings(" A1 ")?partitionId=q", NULL, NULL, 404, "0x80040217" },
        /* the same id again is no error */
        { "POST sensorreadings", NULL, "{\"sensorreadingid\":\"" A1 "\",\"deviceid\":\"d\"}", 204,
          "" },
        { "GET sensorreadings(" A1 ")?$select=name,deviceid", NULL, NULL, 200,
          "\"name\":null,\"deviceid\":\"d\"" },
        /* an update keeps the rest, an upsert replaces the row */
        { "PATCH sensorreadings(" A1 ")", "If-Match: *", "{\"name\":\"n\"}", 204, "" },
        { "GET sensorreadings(" A1 ")?$select=name,deviceid", NULL, NULL, 200,
          "\"name\":\"n\",\"deviceid\":\"d\"" },
        { "PATCH sensorreadings(" A1 ")", NULL, "{\"name\":\"m\"}", 204, "" },
        { "GET sensorreadings(" A1 ")?$select=name,deviceid", NULL, NULL, 200,
          "\"name\":\"m\",\"deviceid\":null" },
        { "PATCH sensorreadings(" A2 ")?partitionId=p", NULL, "{\"name\":\"made\"}", 204, "" },
        { "GET sensorreadings(" A2 ")?$select=partitionid&partitionId=p", NULL, NULL, 200,
          "\"partitionid\":\"p\"" },
        { "DELETE sensorreadings(" A2 ")", NULL, NULL, 404, "0x80040217" },
        { "DELETE sensorreadings(" A2 ")?partitionId=p", NULL, NULL, 204, "" },
    };
    web_try(&web, cases, COUNT(cases));
    const struct sim_ledger *ledger = web_ledger(&web, "sensorreading");
    ck_assert_uint_eq(ledger->events[SIM_EVENT_CREATE], 3);
    ck_assert_uint_eq(ledger->events[SIM_EVENT_UPDATE], 1);
    ck_assert_uint_eq(ledger->events[SIM_EVENT_UPSERT], 2);
    ck_assert_uint_eq(ledger->events[SIM_EVENT_DELETE], 1);
    web_send(&web, "POST sensorreadings", NULL, "{}");
    ck_assert(web_has(&web, "x-ms-session-token: "));
    web_free(&web);
}
END_TEST

START_TEST(connections_differ_in_privileges_and_read_depth)
{
    struct web web = web_new("{\"users\": ["
                             "{\"name\": \"app2\", \"privileges\": {\"account\": \"read\","
                             " \"contact\": \"none\", \"annotation\": \"write\"}},"
                             "{\"name\": \"app3\", \"read\": \"own\"}]}");
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\"}"), 204);
    web.user = 1;
    static const struct web_case second[] = {
        { "GET accounts(" A1 ")", NULL, NULL, 200, A1 },
        { "POST accounts", NULL, "{}", 403, "is missing prvCreateAccount privilege" },
        { "PATCH accounts(" A1 ")", NULL, "{}", 403, "prvWriteAccount" },
        { "DELETE accounts(" A1 ")", NULL, NULL, 403, "prvDeleteAccount" },
        { "GET contacts(" A1 ")", NULL, NULL, 403, "\"0x80040220\"" },
        { "GET contacts", NULL, NULL, 403, "prvReadContact" },
        { "POST annotations", NULL, "{\"annotationid\":\"" A1 "\"}", 204, "" },
        { "DELETE annotations(" A1 ")", NULL, NULL, 403, "prvDeleteNote" },
        { "POST accounts/Microsoft.Dynamics.CRM.CreateMultiple", NULL, "{\"Targets\":[]}", 403,
          "prvCreateAccount" },
    };
    web_try(&web, second, COUNT(second));
    web.user = 2;
    static const struct web_case third[] = {
        { "GET accounts(" A1 ")", NULL, NULL, 403, "0x80040220" },
        { "PATCH accounts(" A1 ")", NULL, "{}", 403, "0x80040220" },
        { "DELETE accounts(" A1 ")", NULL, NULL, 403, "0x80040220" },
        { "GET accounts?$select=name", NULL, NULL, 200, "\"value\":[]" },
        { "POST accounts", NULL, "{\"accountid\":\"" A2 "\"}", 204, "" },
        { "GET accounts(" A2 ")", NULL, NULL, 200, A2 },
        { "GET accounts(" A3 ")", NULL, NULL, 404, "0x80040217" },
        { "POST accounts/Microsoft.Dynamics.CRM.UpdateMultiple", NULL,
          "{\"Targets\":[{\"@odata.type\":\"Microsoft.Dynamics.CRM.account\",\"accountid\":\"" A1
          "\"}]}",
          403, "0x80040220" },
    };
    web_try(&web, third, COUNT(third));
    web_free(&web);
}
END_TEST

START_TEST(formatted_values_come_when_asked_for)
{
    struct web web = web_new(NULL);
    web_send(&web, "POST accounts", NULL,
             "{\"accountid\":\"" A1
             "\",\"industrycode\":7,\"weir_channels\":\"100000000,100000002\","
             "\"donotemail\":true}");
    web_send(&web, "GET accounts(" A1 ")?$select=industrycode,weir_channels,donotemail",
             "Prefer: odata.include-annotations=\"OData.Community.Display.V1.FormattedValue\"",
             NULL);
    ck_assert(web_says(
        &web, "\"industrycode@OData.Community.Display.V1.FormattedValue\":\"Consulting\""));
    ck_assert(web_says(
        &web, "\"weir_channels@OData.Community.Display.V1.FormattedValue\":\"Mail; Web\""));
    ck_assert(web_says(
        &web, "\"donotemail@OData.Community.Display.V1.FormattedValue\":\"Do Not Allow\""));
    web_send(&web, "GET accounts(" A1 ")", NULL, NULL);
    ck_assert(!web_says(&web, "FormattedValue"));
    web_free(&web);
}
END_TEST

START_TEST(malformed_annotations_get_the_other_error_shape)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { "POST accounts", "Prefer: odata.include-annotations", "{}", 400, "{\"Message\":\"" },
        { "POST accounts", "Prefer: odata.include-annotations=", "{}", 400,
          "\"ErrorCode\":\"0x80097303\"}" },
        { "POST accounts", "Prefer: odata.include-annotations=\"*", "{}", 400, "0x80097303" },
        { "POST accounts", "Prefer: return=representation,odata.include-annotations=\"*\"", "{}",
          201, "" },
    };
    web_try(&web, cases, COUNT(cases) - 1);
    ck_assert_int_eq(web_send(&web, cases[3].request, cases[3].headers, cases[3].body), 201);
    web_free(&web);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_single");
    suite_add(&s, a_create_answers_with_the_address_of_the_row);
    suite_add(&s, a_create_without_id_gets_one_and_each_another);
    suite_add(&s, a_representation_tells_created_from_updated);
    suite_add(&s, rows_are_read_updated_upserted_and_deleted);
    suite_add(&s, an_etag_guards_a_row_against_lost_updates);
    suite_add(&s, elastic_rows_live_in_partitions);
    suite_add(&s, connections_differ_in_privileges_and_read_depth);
    suite_add(&s, formatted_values_come_when_asked_for);
    suite_add(&s, malformed_annotations_get_the_other_error_shape);
    return suite_run(&s);
}

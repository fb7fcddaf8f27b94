/* SPDX-License-Identifier: MIT */
/* States, lookups and read-only columns: what the service insists on, row by row. */
#include "support/web_api.h"

#define A1       "11111111-0000-0000-0000-000000000001"
#define A2       "11111111-0000-0000-0000-000000000002"
#define NOBODY   "99999999-0000-0000-0000-000000000009"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(a_statuscode_alone_must_fit_the_state_that_the_row_has)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { "POST opportunities", NULL, "{\"opportunityid\":\"" A1 "\",\"statuscode\":2}", 204, "" },
        { "GET opportunities(" A1 ")", NULL, NULL, 200, "\"statecode\":0,\"statuscode\":2" },
        { "PATCH opportunities(" A1 ")", NULL, "{\"statuscode\":1}", 204, "" },
        { "PATCH opportunities(" A1 ")", NULL, "{\"statecode\":0}", 204, "" },
        { "GET opportunities(" A1 ")", NULL, NULL, 200, "\"statecode\":0,\"statuscode\":1" },
        { "POST opportunities", NULL, "{\"statuscode\":4}", 400,
          "4 is not a valid status code for state code OpportunityState.Open on opportunity" },
        { "POST opportunities", NULL, "{\"statecode\":2,\"statuscode\":4}", 400, "0x80048408" },
        { "PATCH opportunities(" A1 ")", NULL, "{\"statuscode\":3}", 400, "0x80048408" },
        { "PATCH opportunities(" A1 ")", NULL, "{\"statecode\":null}", 400, "0x80040203" },
        { "PATCH opportunities(" A2 ")", NULL, "{\"statecode\":1}", 204, "" }, /* a create */
        { "GET opportunities(" A2 ")", NULL, NULL, 200, "\"statecode\":0,\"statuscode\":1" },
    };
    web_try(&web, cases, COUNT(cases));
    web_free(&web);
}
END_TEST

START_TEST(an_opportunity_is_not_closed_by_writing_its_state)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { "POST opportunities", NULL, "{\"opportunityid\":\"" A1 "\"}", 204, "" },
        { "PATCH opportunities(" A1 ")", NULL, "{\"statecode\":1}", 400,
          "In order to set state of opportunity to Won, use the WinOpportunity message instead." },
        { "PATCH opportunities(" A1 ")", NULL, "{\"statecode\":2,\"statuscode\":5}", 400,
          "use the LoseOpportunity message" },
        { "GET opportunities(" A1 ")", NULL, NULL, 200, "\"statecode\":0,\"statuscode\":1" },
    };
    web_try(&web, cases, COUNT(cases));
    web_free(&web);
}
END_TEST

/* What can be written by neither create nor update, and digits that the column has not. */
START_TEST(a_careless_client_is_refused_unless_the_switch_says_otherwise)
{
    static const struct {
        const char *members;
        const char *code;
        const char *select;
        const char *says; /* when it is accepted */
    } cases[] = {
        { "\"createdon\":\"2001-01-01T00:00:00Z\"", "0x80040203", "createdon",
          "2024-06-01T12:00:00Z" },
        { "\"modifiedon\":null", "0x80040203", "modifiedon", "2024-06-01T12:00:00Z" },
        { "\"exchangerate\":5", "0x80040203", "exchangerate", "\"exchangerate\":null" },
        { "\"createdby@odata.bind\":\"/systemusers(" NOBODY ")\"", "0x80040203", "name",
          "\"name\":null" },
        { "\"revenue\":1.005", "0x80044330", "revenue", "\"revenue\":1.01" },
        { "\"weir_score\":0.00001", "0x80044330", "weir_score", "\"weir_score\":0.0000" },
        { "\"weir_amount\":0.12345678901", "0x80044330", "weir_amount", ":0.1234567890" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct web strict = web_new(NULL);
        struct web lax =
            web_new_with(NULL, (struct sim_switches){ .careless = SIM_CARELESS_ACCEPT });
        char body[200];
        char request[100];
        snprintf(body, sizeof(body), "{\"accountid\":\"" A1 "\",%s}", cases[i].members);
        snprintf(request, sizeof(request), "GET accounts(" A1 ")?$select=%s", cases[i].select);
        ck_assert_int_eq(web_send(&strict, "POST accounts", NULL, body), 400);
        ck_assert_msg(web_says(&strict, cases[i].code), "%s: %s", body, web_body(&strict));
        ck_assert_int_eq(web_send(&strict, "PATCH accounts(" A1 ")", NULL, body), 400);
        ck_assert_uint_eq(web_store(&strict, "account")->row_count, 0);
        ck_assert_msg(web_send(&lax, "POST accounts", NULL, body) == 204, "%s", web_body(&lax));
        ck_assert_int_eq(web_send(&lax, request, NULL, NULL), 200);
        ck_assert_msg(web_says(&lax, cases[i].says), "%s: %s", body, web_body(&lax));
        web_free(&strict);
        web_free(&lax);
    }
}
END_TEST

/* What one of the two operations can write is passed over in the other, as the service does it. */
START_TEST(what_only_a_create_can_write_is_ignored_by_an_update)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { "PATCH accounts(" A1 ")", NULL, "{\"overriddencreatedon\":\"2001-01-01T00:00:00Z\"}", 204,
          "" },
        { "PATCH accounts(" A1 ")", NULL, "{\"overriddencreatedon\":\"2002-01-01T00:00:00Z\"}", 204,
          "" },
        { "GET accounts(" A1 ")?$select=createdon", NULL, NULL, 200,
          "\"createdon\":\"2001-01-01T00:00:00Z\"" },
        { "PATCH accounts(" A1 ")", NULL, "{\"accountid\":\"" A1 "\",\"name\":\"x\"}", 204, "" },
    };
    web_try(&web, cases, COUNT(cases));
    web_free(&web);
}
END_TEST

START_TEST(lookups_to_several_tables_remember_which)
{
    struct web web = web_new(NULL);
    static const char all[] = "Prefer: odata.include-annotations=\"*\"";
    static const struct web_case cases[] = {
        { "POST accounts", NULL, "{\"accountid\":\"" A1 "\",\"name\":\"A \\\"1\\\"\"}", 204, "" },
        { "POST contacts", NULL,
          "{\"contactid\":\"" A1 "\",\"parentcustomerid_account@odata.bind\":\"/accounts(" A1
          ")\"}",
          204, "" },
        { "GET contacts(" A1 ")?$select=_parentcustomerid_value", all, NULL, 200,
          "\"_parentcustomerid_value\":\"" A1 "\","
          "\"_parentcustomerid_value@OData.Community.Display.V1.FormattedValue\":\"A \\\"1\\\"\","
          "\"_parentcustomerid_value@Microsoft.Dynamics.CRM.associatednavigationproperty\":"
          "\"parentcustomerid_account\","
          "\"_parentcustomerid_value@Microsoft.Dynamics.CRM.lookuplogicalname\":\"account\"" },
        { "PATCH contacts(" A1 ")", NULL,
          "{\"parentcustomerid_contact@odata.bind\":\"/contacts(" A1 ")\"}", 204, "" },
        { "GET contacts(" A1 ")?$select=_parentcustomerid_value", all, NULL, 200,
          "lookuplogicalname\":\"contact\"" },
        { "GET contacts?$select=contactid&$filter=_parentcustomerid_value eq " A1, NULL, NULL, 200,
          "\"contactid\":\"" A1 "\"" },
        { "PATCH contacts(" A1 ")", NULL, "{\"parentcustomerid_account@odata.bind\":null}", 204,
          "" },
        { "GET contacts(" A1 ")?$select=_parentcustomerid_value", all, NULL, 200,
          "\"_parentcustomerid_value\":null}" },
        { "PATCH contacts(" A1 ")", NULL, "{\"weir_ReportsTo@odata.bind\":\"/contacts(" A1 ")\"}",
          204, "" },
        { "PATCH contacts(" A1 ")", NULL, "{\"weir_reportsto@odata.bind\":\"/contacts(" A1 ")\"}",
          400, "An undeclared property 'weir_reportsto'" },
        { "GET contacts(" A1 ")?$select=_weir_reportsto_value", NULL, NULL, 200,
          "\"_weir_reportsto_value\":\"" A1 "\"" },
        { "PATCH contacts(" A1 ")", NULL,
          "{\"parentcustomerid_contact@odata.bind\":\"/contacts(" A1 ")\","
          "\"parentcustomerid_account@odata.bind\":\"/accounts(" A1 ")\"}",
          400, "bound more than once" },
        { "PATCH contacts(" A1 ")", NULL,
          "{\"parentcustomerid_contact@odata.bind\":\"/contacts(" A1 ")\","
          "\"parentcustomerid_account@odata.bind\":null}",
          204, "" },
        { "GET contacts(" A1 ")?$select=_parentcustomerid_value", all, NULL, 200,
          "\"_parentcustomerid_value\":\"" A1 "\"" },
        { "PATCH contacts(" A1 ")", NULL,
          "{\"parentcustomerid_contact@odata.bind\":\"/contacts(" NOBODY ")\"}", 404,
          "contact With Id = " NOBODY " Does Not Exist" },
        { "PATCH contacts(" A1 ")", NULL, "{\"ownerid@odata.bind\":\"/teams(" NOBODY ")\"}", 404,
          "team With Id = " NOBODY " Does Not Exist" },
    };
    web_try(&web, cases, COUNT(cases));
    web_free(&web);
}
END_TEST

START_TEST(a_key_that_is_not_active_binds_nothing)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { "POST contacts", NULL, "{\"externaluseridentifier\":\"E1\"}", 204, "" },
        { "POST contacts", NULL, "{\"externaluseridentifier\":\"E1\"}", 204, "" },
        { "POST contacts", NULL,
          "{\"weir_ReportsTo@odata.bind\":\"/contacts(externaluseridentifier='E1')\"}", 400,
          "0x80060893" },
        { "PATCH contacts(externaluseridentifier='E1')", NULL, "{}", 400, "is not active" },
    };
    web_try(&web, cases, COUNT(cases));
    web_free(&web);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_record_rules");
    suite_add(&s, a_statuscode_alone_must_fit_the_state_that_the_row_has);
    suite_add(&s, an_opportunity_is_not_closed_by_writing_its_state);
    suite_add(&s, a_careless_client_is_refused_unless_the_switch_says_otherwise);
    suite_add(&s, what_only_a_create_can_write_is_ignored_by_an_update);
    suite_add(&s, lookups_to_several_tables_remember_which);
    suite_add(&s, a_key_that_is_not_active_binds_nothing);
    return suite_run(&s);
}

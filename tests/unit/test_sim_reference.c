/* SPDX-License-Identifier: MIT */
/* The rows that are there before the first request: reference tables, and rows of a scenario. */
#include "base/mem.h"
#include "support/web_api.h"

#define A1       "11111111-0000-0000-0000-000000000001"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint32_t occurrences(const char *text, const char *word)
{
    uint32_t count = 0;
    for (; (text = strstr(text, word)); text++)
        count++;
    return count;
}

START_TEST(users_teams_units_and_currencies_are_found_by_any_column)
{
    static const struct {
        const char *request;
        uint32_t rows;
        const char *says;
    } cases[] = {
        { "GET systemusers?$filter=domainname eq 'ADA@contoso.example'", 1, "\"Ada Arnold\"" },
        { "GET systemusers?$filter=fullname eq 'Chris Cole'", 2, "ccole@contoso.example" },
        { "GET systemusers?$filter=isdisabled eq true", 1, "Dora Dahl" },
        { "GET systemusers", 3 + 5, "app2@contoso.example" },
        { "GET teams?$filter=name eq 'sales'", 2, "Sales" },
        { "GET teams?$filter=name eq 'Service'", 1, "teamid" },
        { "GET businessunits?$filter=name eq 'contoso north'", 1, "_parentbusinessunitid_value" },
        { "GET businessunits?$filter=_parentbusinessunitid_value eq null", 1, "\"contoso\"" },
        { "GET transactioncurrencies?$filter=isocurrencycode eq 'EUR'", 1,
          "\"exchangerate\":0.9200000000" },
        { "GET transactioncurrencies?$filter=exchangerate gt 100", 1, "JPY" },
        { "GET transactioncurrencies?$orderby=exchangerate desc&$top=1", 1, "JPY" },
    };
    struct web web = web_new(NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        ck_assert_int_eq(web_send(&web, cases[i].request, NULL, NULL), 200);
        ck_assert_msg(occurrences(web_body(&web), "\"@odata.etag\"") == cases[i].rows &&
                          web_says(&web, cases[i].says),
                      "%s: %s", cases[i].request, web_body(&web));
    }
    web_free(&web);
}
END_TEST

/* One row a page, in the order of a decimal: the next link must know where it was. */
START_TEST(reference_tables_are_read_page_by_page)
{
    static const char *const codes[] = { "GBP", "EUR", "USD", "JPY" };
    static const char *const first = "GET transactioncurrencies?$select=isocurrencycode&$orderby="
                                     "exchangerate";
    struct web web = web_new(NULL);
    char *request = weir_strdup(first);
    for (size_t i = 0; i < COUNT(codes); i++) {
        ck_assert_int_eq(web_send(&web, request, "Prefer: odata.maxpagesize=1", NULL), 200);
        ck_assert_msg(web_says(&web, codes[i]), "%s", web_body(&web));
        ck_assert_uint_eq(occurrences(web_body(&web), "\"@odata.etag\""), 1);
        free(request);
        static const char member[] = "\"@odata.nextLink\":\"http://sim/api/data/v9.2/";
        const char *link = strstr(web_body(&web), member);
        ck_assert((link != NULL) == (i + 1 < COUNT(codes)));
        request = weir_calloc(3000, 1);
        if (link)
            snprintf(request, 3000, "GET %.*s", (int)strcspn(link + sizeof(member) - 1, "\""),
                     link + sizeof(member) - 1);
    }
    free(request);
    web_free(&web);
}
END_TEST

START_TEST(a_user_is_found_by_the_object_that_logs_in)
{
    struct web web = web_new(NULL);
    char id[SIM_GUID_TEXT];
    char request[100];
    sim_guid_print(sim_guid_of("person's object", 1), id);
    snprintf(request, sizeof(request), "GET systemusers(azureactivedirectoryobjectid=%s)", id);
    ck_assert_int_eq(web_send(&web, request, NULL, NULL), 200);
    ck_assert(web_says(&web, "Bruno Berg"));
    web_free(&web);
}
END_TEST

static const char rows[] =
    "{\"rows\": {\n"
    "  // people first, the others refer to them\n"
    "  \"systemuser\": [{\"systemuserid\": \"" A1 "\", \"fullname\": \"Eva \\\"E\\\" Ek\",\n"
    "                  \"domainname\": \"eva@contoso.example\"},],\n"
    "  \"account\": [{\"accountnumber\": \"A1\", \"weir_amount\": 12345678901234567890.5,\n"
    "                \"donotemail\": true, \"description\": null,\n"
    "                \"ownerid@odata.bind\": \"/systemusers(" A1 ")\"}],\n"
    "  \"contact\": [{\"lastname\": \"Ek\",\n"
    "               \"parentcustomerid_account@odata.bind\": \"/accounts(accountnumber='A1')\"}]\n"
    "}}";

static void check_rows(struct web *web)
{
    static const struct web_case cases[] = {
        { "GET systemusers(" A1 ")", NULL, NULL, 200, "\"fullname\":\"Eva \\\"E\\\" Ek\"" },
        { "GET accounts(accountnumber='A1')", NULL, NULL, 200,
          "\"weir_amount\":12345678901234567890.5000000000" },
        { "GET accounts(accountnumber='A1')", NULL, NULL, 200, "\"_ownerid_value\":\"" A1 "\"" },
        { "GET contacts?$filter=parentcustomerid_account/accountnumber eq 'A1'", NULL, NULL, 200,
          "\"lastname\":\"Ek\"" },
    };
    web_try(web, cases, COUNT(cases));
    ck_assert_uint_eq(web_ledger(web, "account")->writes, 0);
    ck_assert_uint_eq(web_ledger(web, "account")->plugin_runs, 0);
}

START_TEST(rows_of_a_scenario_are_there_from_the_start_and_after_a_reset)
{
    struct web web = web_new(rows);
    check_rows(&web);
    ck_assert_int_eq(web_send(&web, "DELETE accounts(accountnumber='A1')", NULL, NULL), 204);
    sim_api_reset(web.api);
    check_rows(&web);
    web_free(&web);
}
END_TEST

static enum weir_status world_of(const char *scenario, struct weir_error *err)
{
    struct weir_json *json;
    struct sim_api *api = NULL;
    ck_assert_int_eq(weir_json_parse(weir_str_from(scenario), &json, NULL), WEIR_OK);
    struct sim_api_options options = { .users = 1,
                                       .scenario = json,
                                       .scenario_file = "world.json" };
    enum weir_status status = sim_api_new(&options, &api, err);
    sim_api_free(api);
    weir_json_free(json);
    return status;
}

START_TEST(a_wrong_row_of_a_scenario_is_named)
{
    static const char *const cases[][2] = {
        { "{\"rows\": []}", "world.json: rows is an array, allowed is an object" },
        { "{\"rows\": {\"nosuch\": []}}", "rows has \"nosuch\", allowed is the name of a table" },
        { "{\"rows\": {\"account\": {}}}", "rows has \"account\"" },
        { "{\"rows\": {\"account\": [{}, 5]}}", "rows.account[1] is wrong" },
        { "{\"rows\": {\"account\": [{\"name\": [1]}]}}", "rows.account[0] is wrong" },
        { "{\"rows\": {\"account\": [{\"nosuch\": 1}]}}", "Invalid property 'nosuch'" },
        { "{\"rows\": {\"account\": [{\"industrycode\": 77}]}}", "rows.account[0]: A validation" },
        { "{\"rows\": {\"account\": [{\"accountnumber\": \"1\"}, {\"accountnumber\": \"1\"}]}}",
          "rows.account[1]: Entity Key accountnumber_key violated" },
        { "{\"rows\": {\"contact\": [{\"weir_ReportsTo@odata.bind\": \"/contacts(" A1 ")\"}]}}",
          "rows.contact[0]: contact With Id = " A1 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct weir_error err;
        ck_assert_int_eq(world_of(cases[i][0], &err), WEIR_E_INVALID);
        ck_assert_msg(strstr(err.message, cases[i][1]) != NULL, "%s: %s", cases[i][0], err.message);
    }
}
END_TEST

START_TEST(rows_of_a_scenario_have_their_bounds)
{
    struct weir_buf text;
    struct weir_error err;
    weir_buf_init(&text, (size_t)1 << 20);
    weir_buf_add_text(&text, "{\"rows\": {\"annotation\": [");
    for (int i = 0; i <= SIM_SEEDS_MAX; i++)
        weir_buf_add_text(&text, "{},");
    weir_buf_add_text(&text, "]}}");
    ck_assert_int_eq(world_of(weir_buf_text(&text), &err), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "allowed are 100000"));
    weir_buf_reset(&text);
    weir_buf_add_text(&text, "{\"rows\": {\"annotation\": [{\"notetext\": \"");
    for (int i = 0; i < SIM_SEED_BYTES_MAX; i++)
        weir_buf_add_char(&text, 'x');
    weir_buf_add_text(&text, "\"}]}}");
    ck_assert_int_eq(world_of(weir_buf_text(&text), &err), WEIR_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.message, "at most 65536 bytes"));
    weir_buf_release(&text);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_reference");
    suite_add(&s, users_teams_units_and_currencies_are_found_by_any_column);
    suite_add(&s, reference_tables_are_read_page_by_page);
    suite_add(&s, a_user_is_found_by_the_object_that_logs_in);
    suite_add(&s, rows_of_a_scenario_are_there_from_the_start_and_after_a_reset);
    suite_add(&s, a_wrong_row_of_a_scenario_is_named);
    suite_add(&s, rows_of_a_scenario_have_their_bounds);
    return suite_run(&s);
}

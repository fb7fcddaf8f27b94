/* SPDX-License-Identifier: MIT */
/* The Web API as a whole: who am I, ledger, events, reset, and that a seed decides everything. */
#include "base/mem.h"
#include "support/web_api.h"

#define A1       "11111111-0000-0000-0000-000000000001"
#define TYPE     "\"@odata.type\":\"Microsoft.Dynamics.CRM.account\""
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(who_am_i_knows_the_caller_with_and_without_parentheses)
{
    struct web web = web_new(NULL);
    for (web.user = 0; web.user < 3; web.user++) {
        char wanted[64];
        snprintf(wanted, sizeof(wanted), "\"UserId\":\"%s\"", sim_api_user_id(web.api, web.user));
        const struct web_case cases[] = {
            { "GET WhoAmI", NULL, NULL, 200, wanted },
            { "GET WhoAmI()", NULL, NULL, 200, wanted },
            { "GET WhoAmI", NULL, NULL, 200, "\"BusinessUnitId\":\"" },
            { "GET WhoAmI", NULL, NULL, 200, "\"OrganizationId\":\"" },
            { "POST WhoAmI", NULL, "{}", 404,
              "{\"error\":{\"code\":\"\",\"message\":\"No HTTP resource was found that matches the "
              "request URI 'http://sim/api/data/v9.2/WhoAmI'.\"}}" },
        };
        web_try(&web, cases, COUNT(cases));
        ck_assert(web_has(&web, "OData-Version: 4.0\r\n"));
    }
    ck_assert_str_ne(sim_api_user_id(web.api, 0), sim_api_user_id(web.api, 1));
    ck_assert_str_eq(sim_api_user_id(web.api, 99), "");
    web_free(&web);
}
END_TEST

START_TEST(users_are_rows_that_can_be_read)
{
    struct web web = web_new(NULL);
    char request[128];
    snprintf(request, sizeof(request), "GET systemusers(%s)?$select=fullname,isdisabled",
             sim_api_user_id(web.api, 1));
    ck_assert_int_eq(web_send(&web, request, NULL, NULL), 200);
    ck_assert(web_says(&web, "\"fullname\":\"app2\",\"isdisabled\":false"));
    snprintf(request, sizeof(request), "GET systemusers(ownerid=%s)?$select=fullname",
             sim_api_user_id(web.api, 2));
    ck_assert_int_eq(web_send(&web, request, NULL, NULL), 200);
    ck_assert(web_says(&web, "\"fullname\":\"app3\""));
    web_free(&web);
}
END_TEST

/* What a user is told of the roles of another one. */
static int ask_roles(struct web *web, const char *id, const char *query)
{
    char request[512];
    snprintf(request, sizeof(request), "GET systemusers(%s)/systemuserroles_association%s", id,
             query);
    return web_send(web, request, NULL, NULL);
}

#define ADMINISTRATOR "\"name\":\"System Administrator\"}]}"

START_TEST(users_have_the_roles_that_the_scenario_gives_them)
{
    struct web web = web_new("{\"users\": [{\"name\": \"app2\", \"roles\": [\"Basic User\", "
                             "\"A \\\"B\\\"\"]}, {\"name\": \"app3\", \"roles\": []}]}");
    static const char select[] = "?$select=name,roleid";
    const char *first = sim_api_user_id(web.api, 0);
    const char *second = sim_api_user_id(web.api, 1);
    for (web.user = 0; web.user < 3; web.user++) {
        ck_assert_int_eq(ask_roles(&web, first, select), 200);
        ck_assert(web_says(&web, ADMINISTRATOR) && web_says(&web, "\"roleid\":\""));
        ck_assert_int_eq(ask_roles(&web, second, select), 200);
        ck_assert(web_says(&web, "\"name\":\"Basic User\"},{"));
        ck_assert(web_says(&web, "\"name\":\"A \\\"B\\\"\"}]}"));
        ck_assert(!web_says(&web, "Administrator"));
        ck_assert_int_eq(ask_roles(&web, sim_api_user_id(web.api, 2), select), 200);
        ck_assert(web_says(&web, "\"value\":[]}"));
    }
    sim_api_reset(web.api);
    web.user = 0;
    ck_assert_int_eq(ask_roles(&web, second, ""), 200);
    ck_assert(web_says(&web, "Basic User"));
    ck_assert_int_eq(ask_roles(&web, second, "?$select=roleid"), 200);
    ck_assert(web_says(&web, "roleid") && !web_says(&web, "Basic User"));
    web_free(&web);
}
END_TEST

START_TEST(roles_have_the_same_id_for_everybody)
{
    struct web web = web_new(NULL);
    char ids[3][64];
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_int_eq(ask_roles(&web, sim_api_user_id(web.api, i), ""), 200);
        const char *id = strstr(web_body(&web), "\"roleid\":");
        snprintf(ids[i], sizeof(ids[i]), "%.49s", id);
        ck_assert_str_eq(ids[i], ids[0]);
    }
    web_free(&web);
}
END_TEST

START_TEST(questions_about_roles_that_make_no_sense_are_refused)
{
    struct web web = web_new("{\"users\": [{\"name\": \"app2\", \"privileges\": "
                             "{\"systemuser\": \"none\"}}]}");
    const char *id = sim_api_user_id(web.api, 0);
    char request[256];
    ck_assert_int_eq(ask_roles(&web, "00000000-0000-0000-0000-000000000001", ""), 404);
    ck_assert(web_says(&web, "0x80040217"));
    ck_assert_int_eq(ask_roles(&web, "7", ""), 400);
    ck_assert_int_eq(ask_roles(&web, "fullname='app1'", ""), 400);
    ck_assert_int_eq(ask_roles(&web, id, "?$select=name,color"), 400);
    ck_assert(web_says(&web, "'color'"));
    ck_assert_int_eq(ask_roles(&web, id, "?$top=1"), 400);
    ck_assert_int_eq(ask_roles(&web, id, "?$nonsense=1"), 400);
    snprintf(request, sizeof(request), "ownerid=%s", id);
    ck_assert_int_eq(ask_roles(&web, request, ""), 200);
    snprintf(request, sizeof(request), "DELETE systemusers(%s)/systemuserroles_association", id);
    ck_assert_int_ge(web_send(&web, request, NULL, NULL), 400);
    snprintf(request, sizeof(request), "GET accounts(%s)/systemuserroles_association", id);
    ck_assert_int_ge(web_send(&web, request, NULL, NULL), 400);
    web.user = 1;
    ck_assert_int_eq(ask_roles(&web, id, ""), 403);
    web_free(&web);
}
END_TEST

START_TEST(unknown_addresses_are_not_found)
{
    struct web web = web_new(NULL);
    static const struct web_case cases[] = {
        { "GET Account", NULL, NULL, 404,
          "{\"error\":{\"code\":\"0x8006088a\",\"message\":\"Resource not found for the segment "
          "'Account'.\"}}" },
        { "POST nosuch", NULL, "{}", 404, "0x8006088a" },
        { "GET NoSuchFunction()", NULL, NULL, 404, "0x8006088a" },
        { "POST accounts/Microsoft.Dynamics.CRM.NoSuch", NULL, "{}", 404, "'NoSuch'" },
        { "GET %zz", NULL, NULL, 400, "error" },
        { "GET ", NULL, NULL, 200, "{\"name\":\"accounts\",\"kind\":\"EntitySet\"" },
        { "POST EntityDefinitions", NULL, "{}", 405, "error" },
    };
    web_try(&web, cases, COUNT(cases));
    web_free(&web);
}
END_TEST

static const char *ledger(struct web *web, const char *table, const char *by)
{
    static struct weir_buf json;
    struct weir_error err;
    weir_buf_release(&json);
    weir_buf_init(&json, 10000);
    if (!sim_api_ledger_json(web->api, weir_str_from(table), weir_str_from(by), &json, &err))
        return NULL;
    return weir_buf_text(&json);
}

static bool begins(const char *text, const char *start)
{
    return text && strncmp(text, start, strlen(start)) == 0;
}

START_TEST(the_ledger_tells_duplicates_from_writes)
{
    struct web web = web_new(NULL);
    ck_assert(begins(ledger(&web, "account", NULL),
                     "{\"table\":\"account\",\"rows\":0,\"distinct\":0,\"duplicates\":0,"
                     "\"writes\":0,\"max_writes_per_row\":0"));
    web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\",\"name\":\"a\"}");
    web_send(&web, "POST accounts", NULL, "{\"name\":\"a\"}");
    web_send(&web, "POST accounts", NULL, "{\"name\":\"A\"}");
    web_send(&web, "POST accounts", NULL, "{}");
    web_send(&web, "POST accounts", NULL, "{}");
    web_send(&web, "PATCH accounts(" A1 ")", NULL, "{\"telephone1\":\"1\"}");
    web_send(&web, "PATCH accounts(" A1 ")", NULL, "{\"telephone1\":\"2\"}");
    web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\"}"); /* refused */
    ck_assert(begins(ledger(&web, "account", NULL),
                     "{\"table\":\"account\",\"rows\":5,\"distinct\":5,\"duplicates\":0,"
                     "\"writes\":7,\"max_writes_per_row\":3"));
    ck_assert(begins(ledger(&web, "account", "name"),
                     "{\"table\":\"account\",\"rows\":5,\"distinct\":4,\"duplicates\":1,"));
    ck_assert_ptr_nonnull(strstr(ledger(&web, "account", NULL), "\"max_plugin_runs_per_row\":4"));
    web_send(&web, "DELETE accounts(" A1 ")", NULL, NULL);
    ck_assert(begins(ledger(&web, "account", "name"),
                     "{\"table\":\"account\",\"rows\":4,\"distinct\":4,\"duplicates\":0,"
                     "\"writes\":8,\"max_writes_per_row\":4"));
    ck_assert(begins(ledger(&web, "account", "_ownerid_value"),
                     "{\"table\":\"account\",\"rows\":4,\"distinct\":1,\"duplicates\":3,"));
    ck_assert_ptr_null(ledger(&web, "nosuch", NULL));
    ck_assert_ptr_null(ledger(&web, "account", "nosuch"));
    ck_assert_ptr_nonnull(ledger(&web, "accounts", NULL));
    web_free(&web);
}
END_TEST

static void check_events(struct web *web, const char *wanted)
{
    struct weir_buf json;
    weir_buf_init(&json, 1000);
    sim_api_events_json(web->api, &json);
    ck_assert_str_eq(weir_buf_text(&json), wanted);
    weir_buf_release(&json);
}

START_TEST(events_are_counted_over_all_tables)
{
    struct web web = web_new(NULL);
    check_events(&web, "{\"create\":0,\"update\":0,\"upsert\":0,\"delete\":0}");
    web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" A1 "\"}");
    web_send(&web, "POST contacts", NULL, "{}");
    web_send(&web, "PATCH accounts(" A1 ")", NULL, "{}");
    web_send(&web, "PATCH contacts(" A1 ")", NULL, "{}");
    web_send(&web, "PATCH sensorreadings(" A1 ")", NULL, "{}");
    web_send(&web, "DELETE accounts(" A1 ")", NULL, NULL);
    web_send(&web, "DELETE accounts(" A1 ")", NULL, NULL);
    check_events(&web, "{\"create\":3,\"update\":1,\"upsert\":1,\"delete\":1}");
    web_free(&web);
}
END_TEST

/* Some traffic; what it leaves behind as one text. */
static char *traffic(struct web *web)
{
    for (int i = 0; i < 20; i++) {
        web_send(web, "POST accounts", NULL, "{\"name\":\"x\"}");
        web_send(web, "POST accounts/Microsoft.Dynamics.CRM.CreateMultiple", NULL,
                 "{\"Targets\":[{" TYPE "},{" TYPE ",\"name\":\"y\"}]}");
    }
    web_send(web, "GET accounts", NULL, NULL);
    return weir_strdup(web_body(web));
}

START_TEST(a_reset_begins_the_same_world_anew)
{
    struct web web = web_new(NULL);
    char *first = traffic(&web);
    sim_api_reset(web.api);
    check_events(&web, "{\"create\":0,\"update\":0,\"upsert\":0,\"delete\":0}");
    ck_assert_uint_eq(web_store(&web, "account")->row_count, 0);
    ck_assert_uint_eq(web_store(&web, "systemuser")->row_count, 3 + 5);
    char *second = traffic(&web);
    ck_assert_str_eq(first, second);
    struct web other = web_new(NULL);
    char *third = traffic(&other);
    ck_assert_str_eq(first, third);
    free(first);
    free(second);
    free(third);
    web_free(&other);
    web_free(&web);
}
END_TEST

START_TEST(a_wrong_scenario_names_what_is_wrong)
{
    static const char *const cases[][2] = {
        { "{\"users\": {}}", "world.json: users is an object" },
        { "{\"users\": [{\"name\": \"app9\"}]}", "users[0].name is \"app9\"" },
        { "{\"users\": [{\"name\": \"app1\", \"read\": \"some\"}]}",
          "users[0].read is \"some\", allowed is one of own all" },
        { "{\"users\": [{\"name\": \"app1\", \"privileges\": {\"nosuch\": \"all\"}}]}",
          "users[0].privileges is \"nosuch\"" },
        { "{\"users\": [{\"name\": \"app1\", \"privileges\": {\"account\": \"most\"}}]}",
          "users[0].account is \"most\", allowed is one of none read write all" },
        { "{\"users\": [{\"name\": \"app1\", \"extra\": 1}]}", "unknown key \"extra\"" },
        { "{\"users\": [{\"name\": \"app1\", \"roles\": \"Basic User\"}]}",
          "users[0].roles is \"...\", allowed is an array of at most 16 names" },
        { "{\"users\": [{\"name\": \"app1\", \"roles\": [\"a\", 7]}]}",
          "users[0].roles is \"7\", allowed is a name of 1 to 100 bytes" },
        { "{\"users\": [{\"name\": \"app1\", \"roles\": [\"\"]}]}", "1 to 100 bytes" },
        { "{\"users\": [{\"name\": \"app1\", \"roles\": "
          "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}]}",
          "at most 16" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct weir_json *json;
        struct weir_error err;
        struct sim_api *api = NULL;
        ck_assert_int_eq(weir_json_parse(weir_str_from(cases[i][0]), &json, &err), WEIR_OK);
        struct sim_api_options options = { .users = 2,
                                           .scenario = json,
                                           .scenario_file = "world.json" };
        ck_assert_int_eq(sim_api_new(&options, &api, &err), WEIR_E_INVALID);
        ck_assert_msg(strstr(err.message, cases[i][1]), "%s", err.message);
        weir_json_free(json);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_api");
    suite_add(&s, who_am_i_knows_the_caller_with_and_without_parentheses);
    suite_add(&s, users_are_rows_that_can_be_read);
    suite_add(&s, users_have_the_roles_that_the_scenario_gives_them);
    suite_add(&s, roles_have_the_same_id_for_everybody);
    suite_add(&s, questions_about_roles_that_make_no_sense_are_refused);
    suite_add(&s, unknown_addresses_are_not_found);
    suite_add(&s, the_ledger_tells_duplicates_from_writes);
    suite_add(&s, events_are_counted_over_all_tables);
    suite_add(&s, a_reset_begins_the_same_world_anew);
    suite_add(&s, a_wrong_scenario_names_what_is_wrong);
    return suite_run(&s);
}

/* SPDX-License-Identifier: MIT */
/* Privileges of users by name: what is refused is not listed, what is listed is not refused. */
#include "sim/service/privileges.h"

#include "support/web_api.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FUNCTION "Microsoft.Dynamics.CRM.RetrieveUserSetOfPrivilegesByNames"
#define ROW      "11111111-0000-0000-0000-000000000001"
#define NEW_ROW  "{\"accountid\":\"22222222-0000-0000-0000-000000000001\"}"
#define ALL_NAMES                                                                                  \
    "[\"prvReadAccount\",\"prvCreateAccount\",\"prvWriteAccount\",\"prvDeleteAccount\"]"

static int ask(struct web *web, uint32_t user, const char *names)
{
    char request[1024];
    snprintf(request, sizeof(request), "GET systemusers(%s)/" FUNCTION "(PrivilegeNames=@p)?@p=%s",
             sim_api_user_id(web->api, user), names);
    return web_send(web, request, NULL, NULL);
}

static bool has(struct web *web, uint32_t user, const char *name)
{
    char names[128], entry[128];
    snprintf(names, sizeof(names), "[\"%s\"]", name);
    snprintf(entry, sizeof(entry), "\"PrivilegeName\":\"%s\"", name);
    ck_assert_int_eq(ask(web, user, names), 200);
    return web_says(web, entry);
}

/* With each right of a scenario, each thing that can be done to a row. */
START_TEST(what_is_refused_is_not_listed_and_what_is_listed_is_not_refused)
{
    static const char *const rights[] = { "none", "read", "write", "all" };
    static const struct {
        const char *privilege, *request, *body;
    } deeds[] = {
        { "prvReadAccount", "GET accounts(" ROW ")", NULL },
        { "prvCreateAccount", "POST accounts", NEW_ROW },
        { "prvWriteAccount", "PATCH accounts(" ROW ")", "{\"name\":\"b\"}" },
        { "prvDeleteAccount", "DELETE accounts(" ROW ")", NULL },
    };
    int allowed = 0;
    for (size_t i = 0; i < COUNT(rights); i++) {
        char scenario[128];
        snprintf(scenario, sizeof(scenario),
                 "{\"users\":[{\"name\":\"app2\",\"privileges\":{\"account\":\"%s\"}}]}",
                 rights[i]);
        struct web web = web_new(scenario);
        ck_assert_int_eq(
            web_send(&web, "POST accounts", NULL, "{\"accountid\":\"" ROW "\",\"name\":\"a\"}"),
            204);
        for (size_t j = 0; j < COUNT(deeds); j++) {
            bool listed = has(&web, 1, deeds[j].privilege);
            web.user = 1;
            int status = web_send(&web, deeds[j].request, NULL, deeds[j].body);
            web.user = 0;
            ck_assert_msg(listed ? status < 300 : status == 403, "%s, %s: %d", rights[i],
                          deeds[j].request, status);
            allowed += listed;
        }
        web_free(&web);
    }
    ck_assert_int_eq(allowed, 0 + 1 + 3 + 4);
}
END_TEST

START_TEST(headers_that_need_a_privilege_are_refused_without_it)
{
    struct web web = web_new("{\"users\":[{\"name\":\"app2\",\"bypass\":false},"
                             "{\"name\":\"app3\",\"impersonate\":false}]}");
    char caller[80];
    snprintf(caller, sizeof(caller), "MSCRMCallerID: %s", sim_api_user_id(web.api, 0));
    for (uint32_t user = 0; user < 3; user++) {
        bool bypass = has(&web, user, "prvBypassCustomBusinessLogic");
        bool act = has(&web, user, "prvActOnBehalfOfAnotherUser");
        ck_assert(has(&web, user, "prvOverrideCreatedOnCreatedBy"));
        ck_assert_int_eq(bypass, user != 1);
        ck_assert_int_eq(act, user != 2);
        web.user = user;
        ck_assert_int_eq(
            web_send(&web, "GET WhoAmI", "MSCRM.BypassBusinessLogicExecution: CustomSync", NULL),
            bypass ? 200 : 403);
        ck_assert(bypass || web_says(&web, "is missing prvBypassCustomBusinessLogic"));
        ck_assert_int_eq(web_send(&web, "GET WhoAmI", caller, NULL), act ? 200 : 403);
        web.user = 0;
    }
    web_free(&web);
}
END_TEST

START_TEST(the_answer_has_the_shape_of_the_service)
{
    struct web web = web_new("{\"users\":[{\"name\":\"app2\",\"read\":\"own\"}]}");
    ck_assert_int_eq(ask(&web, 0, "[\"prvReadAccount\",\"prvReadNothing\",\"prvReadNote\"]"), 200);
    ck_assert(web_says(&web, "$metadata#Microsoft.Dynamics.CRM."
                             "RetrieveUserSetOfPrivilegesByNamesResponse\",\"RolePrivileges\":["
                             "{\"Depth\":\"Global\",\"PrivilegeId\":\""));
    ck_assert(web_says(&web, "\",\"PrivilegeName\":\"prvReadAccount\",\"RecordFilterId\":\""));
    ck_assert(web_says(&web, "\"PrivilegeName\":\"prvReadNote\""));
    ck_assert(!web_says(&web, "Nothing"));
    ck_assert_int_eq(ask(&web, 1, ALL_NAMES), 200);
    ck_assert(web_says(&web, "\"Depth\":\"Basic\"") && !web_says(&web, "Global"));
    ck_assert_int_eq(ask(&web, 1, "[\"prvReadTransactionCurrency\"]"), 200);
    ck_assert(web_says(&web, "\"Depth\":\"Global\"")); /* nobody owns one */
    ck_assert_int_eq(ask(&web, 1, "[]"), 200);
    ck_assert(web_says(&web, "\"RolePrivileges\":[]}"));
    web_free(&web);
}
END_TEST

START_TEST(definitions_name_the_privileges_of_their_table)
{
    struct web web = web_new(NULL);
    const struct web_case cases[] = {
        { "GET EntityDefinitions(LogicalName='account')?$select=Privileges", NULL, NULL, 200,
          "\"Privileges\":[{\"CanBeBasic\":true," },
        { "GET EntityDefinitions(LogicalName='account')?$select=Privileges", NULL, NULL, 200,
          "\"Name\":\"prvAppendToAccount\",\"PrivilegeId\":\"" },
        { "GET EntityDefinitions(LogicalName='account')?$select=Privileges", NULL, NULL, 200,
          "\"PrivilegeType\":\"Assign\"}" },
        { "GET EntityDefinitions(LogicalName='annotation')?$select=Privileges", NULL, NULL, 200,
          "\"Name\":\"prvCreateNote\"" },
    };
    web_try(&web, cases, COUNT(cases));
    web_send(&web, "GET EntityDefinitions(LogicalName='transactioncurrency')?$select=Privileges",
             NULL, NULL);
    ck_assert(web_says(&web, "\"CanBeBasic\":false") && !web_says(&web, "Assign"));
    web_free(&web);
}
END_TEST

START_TEST(questions_that_make_no_sense_are_refused)
{
    static const char *const wrong[] = { "[7]", "'prvReadAccount'", "{}", "", "[\"a\"" };
    struct web web =
        web_new("{\"users\":[{\"name\":\"app2\",\"privileges\":{\"systemuser\":\"none\"}}]}");
    char request[256];
    for (size_t i = 0; i < COUNT(wrong); i++)
        ck_assert_int_eq(ask(&web, 0, wrong[i]), 400);
    const struct web_case cases[] = {
        { "GET systemusers(00000000-0000-0000-0000-000000000001)/" FUNCTION
          "(PrivilegeNames=@p)?@p=[]",
          NULL, NULL, 404, "Does Not Exist" },
        { "GET systemusers/" FUNCTION "(PrivilegeNames=@p)?@p=[]", NULL, NULL, 404, "0x8006088a" },
        { "GET accounts(" ROW ")/" FUNCTION "(PrivilegeNames=@p)?@p=[]", NULL, NULL, 404,
          "0x8006088a" },
    };
    web_try(&web, cases, COUNT(cases));
    snprintf(request, sizeof(request), "GET systemusers(%s)/" FUNCTION "(Names=@p)?@p=[]",
             sim_api_user_id(web.api, 0));
    ck_assert_int_eq(web_send(&web, request, NULL, NULL), 400);
    snprintf(request, sizeof(request), "POST systemusers(%s)/" FUNCTION "(PrivilegeNames=@p)?@p=[]",
             sim_api_user_id(web.api, 0));
    ck_assert_int_eq(web_send(&web, request, NULL, "{}"), 404);
    web.user = 1;
    ck_assert_int_eq(ask(&web, 1, "[]"), 403);
    ck_assert(web_says(&web, "prvReadUser"));
    web_free(&web);
}
END_TEST

START_TEST(a_question_has_a_bound)
{
    static char names[SIM_URL_BYTES_MAX];
    struct web web = web_new(NULL);
    char request[SIM_URL_BYTES_MAX + 256];
    for (int more = 0; more < 2; more++) {
        size_t len = 0;
        names[len++] = '[';
        for (int i = 0; i < SIM_PRIVILEGE_NAMES_MAX + more; i++)
            len += (size_t)snprintf(names + len, sizeof(names) - len, "%s\"p%d\"", i ? "," : "", i);
        snprintf(names + len, sizeof(names) - len, "]");
        snprintf(request, sizeof(request),
                 "GET systemusers(%s)/" FUNCTION "(PrivilegeNames=@p)?@p=%s",
                 sim_api_user_id(web.api, 0), names);
        ck_assert_int_eq(web_send(&web, request, NULL, NULL), more ? 400 : 200);
    }
    web_free(&web);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("sim_privileges");
    suite_add(&s, what_is_refused_is_not_listed_and_what_is_listed_is_not_refused);
    suite_add(&s, headers_that_need_a_privilege_are_refused_without_it);
    suite_add(&s, the_answer_has_the_shape_of_the_service);
    suite_add(&s, definitions_name_the_privileges_of_their_table);
    suite_add(&s, questions_that_make_no_sense_are_refused);
    suite_add(&s, a_question_has_a_bound);
    return suite_run(&s);
}

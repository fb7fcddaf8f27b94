/* SPDX-License-Identifier: MIT */
/* Built-in tables, tables of a scenario, and what is wrong with one. */
#include "support/web_api.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct weir_str s(const char *text)
{
    return weir_str_from(text);
}

START_TEST(the_built_in_tables_are_complete)
{
    static const struct {
        const char *name;
        const char *set;
        const char *id;
        bool elastic;
        bool bulk;
        bool owned;
    } cases[] = {
        { "account", "accounts", "accountid", false, true, true },
        { "contact", "contacts", "contactid", false, true, true },
        { "opportunity", "opportunities", "opportunityid", false, true, true },
        { "sensorreading", "sensorreadings", "sensorreadingid", true, true, true },
        { "annotation", "annotations", "annotationid", false, false, true },
        { "systemuser", "systemusers", "systemuserid", false, false, false },
        { "team", "teams", "teamid", false, false, false },
        { "businessunit", "businessunits", "businessunitid", false, false, false },
        { "transactioncurrency", "transactioncurrencies", "transactioncurrencyid", false, false,
          false },
    };
    struct sim_schema schema;
    ck_assert_int_eq(sim_schema_init(&schema, NULL, NULL, NULL), WEIR_OK);
    ck_assert_uint_eq(schema.table_count, COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct sim_table *table = sim_schema_table(&schema, s(cases[i].name));
        ck_assert_ptr_nonnull(table);
        ck_assert_ptr_eq(sim_schema_set(&schema, s(cases[i].set)), table);
        ck_assert_str_eq(table->columns[table->id].name, cases[i].id);
        ck_assert(table->elastic == cases[i].elastic && table->bulk == cases[i].bulk);
        ck_assert(table->user_owned == cases[i].owned);
        ck_assert((table->owner != SIM_NO_COLUMN) == cases[i].owned);
        ck_assert((table->partition != SIM_NO_COLUMN) == cases[i].elastic);
        ck_assert_uint_eq(schema.tables[table->place]->place, table->place);
    }
    ck_assert_ptr_null(sim_schema_table(&schema, s("Account")));
    sim_schema_release(&schema);
}
END_TEST

START_TEST(properties_stand_for_columns)
{
    struct sim_schema schema;
    ck_assert_int_eq(sim_schema_init(&schema, NULL, NULL, NULL), WEIR_OK);
    const struct sim_table *contact = sim_schema_table(&schema, s("contact"));
    uint32_t customer = sim_table_column(contact, s("parentcustomerid"));
    const struct sim_property *value = sim_table_property(contact, s("_parentcustomerid_value"));
    const struct sim_property *nav = sim_table_property(contact, s("parentcustomerid_contact"));
    ck_assert(value && value->kind == SIM_PROPERTY_LOOKUP_VALUE && value->column == customer);
    ck_assert(nav && nav->kind == SIM_PROPERTY_NAVIGATION && nav->column == customer);
    ck_assert_str_eq(contact->columns[customer].targets[nav->target].table, "contact");
    ck_assert_uint_eq(contact->columns[customer].targets[nav->target].place, contact->place);
    ck_assert_ptr_null(sim_table_property(contact, s("parentcustomerid")));
    ck_assert_ptr_nonnull(sim_table_property(contact, s("lastname")));
    ck_assert_ptr_null(sim_table_property(contact, s("")));
    const struct sim_table *account = sim_schema_table(&schema, s("account"));
    uint32_t number = sim_table_column(account, s("accountnumber"));
    ck_assert_str_eq(sim_table_key(account, &number, 1)->name, "accountnumber_key");
    ck_assert_ptr_null(sim_table_key(account, &customer, 1));
    sim_schema_release(&schema);
}
END_TEST

static const char items[] =
    "{\"tables\": [{\n"
    "  \"name\": \"weir_item\", \"primary_name\": \"weir_name\",\n"
    "  \"columns\": [\n"
    "    {\"name\": \"weir_name\", \"max_length\": 5, \"required\": \"application\"},\n"
    "    {\"name\": \"weir_region\", \"type\": \"string\"},\n"
    "    {\"name\": \"weir_count\", \"type\": \"integer\", \"min\": 1, \"max\": 9},\n"
    "    {\"name\": \"weir_price\", \"type\": \"decimal\", \"precision\": 10},\n"
    "    {\"name\": \"weir_day\", \"type\": \"datetime\", \"behavior\": \"DateOnly\"},\n"
    "    {\"name\": \"weir_kind\", \"type\": \"choice\",\n"
    "     \"choices\": [{\"value\": 1, \"label\": \"One\"}, {\"value\": 2, \"label\": \"Two\"}]},\n"
    "    {\"name\": \"weir_code\", \"required\": \"system\"},\n"
    "    {\"name\": \"weir_fixed\", \"update\": false},\n"
    "    {\"name\": \"weir_secret\", \"read\": false},\n"
    "    {\"name\": \"weir_account\", \"type\": \"lookup\",\n"
    "     \"targets\": [{\"table\": \"account\", \"nav\": \"weir_Account\"}]}],\n"
    "  \"keys\": [{\"name\": \"pair\", \"columns\": [\"weir_region\", \"weir_count\"]},\n"
    "             {\"name\": \"late\", \"columns\": [\"weir_name\"], \"status\": \"Pending\"}]},\n"
    " {\"name\": \"weir_event\", \"set\": \"weir_eventset\", \"type\": \"Elastic\","
    "  \"owned\": false, \"bulk\": false},\n"
    "]}";

START_TEST(tables_of_a_scenario_work_like_the_others)
{
    struct web web = web_new(items);
    static const struct web_case cases[] = {
        { "POST weir_items", NULL,
          "{\"weir_itemid\":\"11111111-0000-0000-0000-000000000001\",\"weir_name\":\"12345\","
          "\"weir_region\":\"North\",\"weir_count\":9,\"weir_price\":0.0000000001,"
          "\"weir_day\":\"2024-01-01\",\"weir_kind\":2,\"weir_code\":\"c\",\"weir_fixed\":\"f\"}",
          204, "" },
        { "POST weir_items", NULL, "{}", 400, "Attribute: weir_code of entity: weir_item" },
        { "POST weir_items", NULL, "{\"weir_code\":\"c\",\"weir_name\":\"123456\"}", 400,
          "0x80044331" },
        { "POST weir_items", NULL, "{\"weir_code\":\"c\",\"weir_count\":10}", 400, "0x80044330" },
        { "POST weir_items", NULL, "{\"weir_code\":\"c\",\"weir_price\":100000000000.0000000001}",
          400, "0x80044330" },
        { "POST weir_items", NULL, "{\"weir_code\":\"c\",\"weir_kind\":3}", 400,
          "Accepted Values: 1,2" },
        { "POST weir_items", NULL,
          "{\"weir_code\":\"c\",\"weir_region\":\"NORTH\",\"weir_count\":9}", 412, "Key pair" },
        { "POST weir_items", NULL,
          "{\"weir_code\":\"c\",\"weir_region\":\"NORTH\",\"weir_count\":8}", 204, "" },
        { "POST weir_items", NULL, "{\"weir_code\":\"c\",\"weir_region\":\"north\"}", 204, "" },
        { "POST weir_items", NULL, "{\"weir_code\":\"c\",\"weir_name\":\"12345\"}", 204, "" },
        { "GET weir_items(weir_count=9,weir_region='north')?$select=weir_price,weir_kind", NULL,
          NULL, 200, "\"weir_price\":0.0000000001,\"weir_kind\":2" },
        { "GET weir_items(weir_name='12345')", NULL, NULL, 400, "0x80060893" },
        { "PATCH weir_items(weir_count=9,weir_region='north')", NULL,
          "{\"weir_fixed\":\"other\",\"weir_secret\":\"s\"}", 204, "" },
        { "GET weir_items(weir_count=9,weir_region='north')", NULL, NULL, 200,
          "\"weir_fixed\":\"f\",\"_weir_account_value\":null" },
        { "POST weir_items", NULL,
          "{\"weir_code\":\"c\",\"weir_Account@odata.bind\":\"/accounts("
          "11111111-0000-0000-0000-000000000001)\"}",
          404, "0x80040217" },
        { "POST weir_items", NULL, "{\"weir_code\":\"c\",\"weir_account@odata.bind\":null}", 400,
          "0x80048d19" },
        { "POST weir_eventset", NULL, "{\"partitionid\":\"p\"}", 204, "" },
        { "POST weir_eventset/Microsoft.Dynamics.CRM.CreateMultiple", NULL, "{\"Targets\":[]}", 400,
          "0x80040800" },
        { "GET weir_items?$select=weir_name", NULL, NULL, 200, "12345" },
    };
    web_try(&web, cases, COUNT(cases));
    ck_assert(!web_says(&web, "weir_secret"));
    web_free(&web);
}
END_TEST

START_TEST(a_scenario_may_replace_a_built_in_table)
{
    struct web web = web_new("{\"tables\": [{\"name\": \"contact\", \"columns\": ["
                             "{\"name\": \"fullname\"}]}]}");
    ck_assert_int_eq(web_send(&web, "POST contacts", NULL, "{\"fullname\":\"x\"}"), 204);
    ck_assert_int_eq(web_send(&web, "POST contacts", NULL, "{\"lastname\":\"x\"}"), 400);
    ck_assert_int_eq(web_send(&web, "POST accounts", NULL, "{\"name\":\"x\"}"), 204);
    web_free(&web);
}
END_TEST

START_TEST(a_wrong_table_is_refused_with_its_place)
{
    static const char *const cases[][2] = {
        { "{\"tables\": {}}", "world.json: tables is an object, allowed is an array" },
        { "{\"tables\": [1]}", "tables[0]" },
        { "{\"tables\": [{}]}", "tables[0].name" },
        { "{\"tables\": [{\"name\": \"a b\"}]}", "tables[0].name is \"a b\", allowed is a name" },
        { "{\"tables\": [{\"name\": \"a\", \"nosuch\": 1}]}",
          "tables[0] has an unknown key \"nosuch\"" },
        { "{\"tables\": [{\"name\": \"a\", \"type\": \"Rubber\"}]}",
          "tables[0].type is \"Rubber\", allowed is one of Standard Elastic" },
        { "{\"tables\": [{\"name\": \"a\", \"bulk\": 1}]}", "tables[0].bulk is \"1\"" },
        { "{\"tables\": [{\"name\": \"a\", \"columns\": 1}]}", "tables[0].columns is \"1\"" },
        { "{\"tables\": [{\"name\": \"a\", \"columns\": [{\"name\": \"b\"}, {\"name\": \"b\"}]}]}",
          "tables[0].columns[1].name" },
        { "{\"tables\": [{\"name\": \"a\", \"columns\": [{\"name\": \"b\", \"type\": \"x\"}]}]}",
          "tables[0].columns[0].type is \"x\", allowed is one of string" },
        { "{\"tables\": [{\"name\": \"a\", \"columns\": [{\"name\": \"b\", \"precision\": 11}]}]}",
          "precision is \"11\", allowed is a whole number from 0 to 10" },
        { "{\"tables\": [{\"name\": \"a\", \"columns\": [{\"name\": \"b\", \"type\": "
          "\"lookup\"}]}]}",
          "targets" },
        { "{\"tables\": [{\"name\": \"a\", \"columns\": [{\"name\": \"b\", \"type\": \"lookup\", "
          "\"targets\": [{\"table\": \"nosuch\"}]}]}]}",
          "points at \"nosuch\"" },
        { "{\"tables\": [{\"name\": \"a\", \"keys\": [{\"columns\": [\"x\"]}]}]}",
          "tables[0].keys[0].columns is \"x\"" },
        { "{\"tables\": [{\"name\": \"a\", \"keys\": [{\"columns\": []}]}]}",
          "a list of 1 to 8 columns" },
        { "{\"tables\": [{\"name\": \"a\", \"primary_name\": \"x\"}]}", "primary_name is \"x\"" },
        { "{\"tables\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}", "two of the name \"a\"" },
        { "{\"tables\": [{\"name\": \"a\", \"set\": \"accounts\"}]}", "two of the name \"a\"" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct weir_json *json;
        struct weir_error err = { 0 };
        struct sim_schema schema;
        ck_assert_int_eq(weir_json_parse(s(cases[i][0]), &json, &err), WEIR_OK);
        ck_assert_msg(sim_schema_init(&schema, json, "world.json", &err) == WEIR_E_INVALID, "%s",
                      cases[i][0]);
        ck_assert_msg(strstr(err.message, cases[i][1]), "%s: %s", cases[i][0], err.message);
        weir_json_free(json);
    }
}
END_TEST

START_TEST(tables_and_columns_have_their_bounds)
{
    struct weir_buf text;
    weir_buf_init(&text, (size_t)1024 * 1024);
    for (int kind = 0; kind < 2; kind++) {
        weir_buf_reset(&text);
        weir_buf_add_text(&text, kind ? "{\"tables\": [{\"name\": \"t\", \"columns\": ["
                                      : "{\"tables\": [");
        for (int i = 0; i < 300; i++)
            weir_buf_printf(&text, "{\"name\": \"n%d\"},", i);
        weir_buf_add_text(&text, kind ? "]}]}" : "]}");
        struct weir_json *json;
        struct weir_error err;
        struct sim_schema schema;
        ck_assert_int_eq(weir_json_parse(weir_str(text.ptr, text.len), &json, &err), WEIR_OK);
        ck_assert_int_eq(sim_schema_init(&schema, json, "f", &err), WEIR_E_INVALID);
        ck_assert_ptr_nonnull(
            strstr(err.message, kind ? "at most 256 columns" : "at most 64 tables"));
        weir_json_free(json);
    }
    weir_buf_release(&text);
}
END_TEST

int main(void)
{
    struct suite suite = suite_new("sim_schema");
    suite_add(&suite, the_built_in_tables_are_complete);
    suite_add(&suite, properties_stand_for_columns);
    suite_add(&suite, tables_of_a_scenario_work_like_the_others);
    suite_add(&suite, a_scenario_may_replace_a_built_in_table);
    suite_add(&suite, a_wrong_table_is_refused_with_its_place);
    suite_add(&suite, tables_and_columns_have_their_bounds);
    return suite_run(&suite);
}

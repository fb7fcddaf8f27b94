/* SPDX-License-Identifier: MIT */
/*
 * The rows of the tables that can only be read, as old as the environment: the application users
 * and some people, business units, teams, currencies. They are made for lookups by name: two people
 * and two teams share theirs, one person is disabled.
 */
#include <stdio.h>

#include "sim/service/api_internal.h"

#define CREATED_US   INT64_C(1704067200000000) /* 2024-01-01 */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct reference {
    struct sim_api *api;
    const struct sim_table *table;
    struct sim_value values[SIM_COLUMNS_MAX];
};

/* False: there is no such table; a scenario may have replaced it. */
static bool begin(struct reference *row, struct sim_api *api, const char *table, struct sim_guid id)
{
    memset(row->values, 0, sizeof(row->values));
    row->api = api;
    row->table = sim_schema_table(&api->schema, weir_str_from(table));
    if (!row->table)
        return false;
    row->values[row->table->id] = (struct sim_value){ .kind = SIM_ID, .id = id };
    return true;
}

static void set(struct reference *row, const char *name, struct sim_value value)
{
    uint32_t column = sim_table_column(row->table, weir_str_from(name));
    if (column != SIM_NO_COLUMN)
        row->values[column] = value;
}

static void set_text(struct reference *row, const char *name, const char *text)
{
    set(row, name, (struct sim_value){ .kind = SIM_TEXT, .text = weir_str_from(text) });
}

static void set_id(struct reference *row, const char *name, struct sim_guid id)
{
    set(row, name, (struct sim_value){ .kind = SIM_ID, .id = id });
}

static void set_number(struct reference *row, const char *name, int64_t number)
{
    set(row, name, (struct sim_value){ .kind = SIM_NUMBER, .number = number });
}

static void finish(struct reference *row)
{
    set_number(row, "createdon", CREATED_US);
    set_number(row, "modifiedon", CREATED_US);
    sim_store_insert(&row->api->stores[row->table->place],
                     sim_row_new(row->table, ++row->api->row_version, row->values));
}

static void add_user(struct sim_api *api, uint32_t number)
{
    struct reference row;
    const struct sim_user *user = &api->users[number];
    char mail[64];
    if (!begin(&row, api, "systemuser", user->id))
        return;
    snprintf(mail, sizeof(mail), "%s@contoso.example", user->name);
    set_text(&row, "fullname", user->name);
    set_text(&row, "domainname", mail);
    set_text(&row, "internalemailaddress", mail);
    set_id(&row, "applicationid", sim_guid_of("applicationid", number));
    set_id(&row, "azureactivedirectoryobjectid", sim_guid_of("objectid", number));
    set_number(&row, "isdisabled", 0);
    set_id(&row, "businessunitid", api->business_unit);
    finish(&row);
}

static void add_people(struct sim_api *api)
{
    static const struct {
        const char *name;
        const char *mail;
        bool disabled;
    } people[] = {
        { "Ada Arnold", "ada@contoso.example", false },
        { "Bruno Berg", "bruno@contoso.example", false },
        { "Chris Cole", "chris.cole@contoso.example", false },
        { "Chris Cole", "ccole@contoso.example", false },
        { "Dora Dahl", "dora@contoso.example", true },
    };
    struct reference row;
    for (uint32_t i = 0; i < COUNT(people); i++) {
        if (!begin(&row, api, "systemuser", sim_guid_of("person", i)))
            return;
        set_text(&row, "fullname", people[i].name);
        set_text(&row, "domainname", people[i].mail);
        set_text(&row, "internalemailaddress", people[i].mail);
        set_id(&row, "azureactivedirectoryobjectid", sim_guid_of("person's object", i));
        set_number(&row, "isdisabled", people[i].disabled);
        set_id(&row, "businessunitid", api->business_unit);
        finish(&row);
    }
}

static void add_units(struct sim_api *api)
{
    static const char *const names[] = { "contoso", "contoso north", "contoso south" };
    struct reference row;
    for (uint32_t i = 0; i < COUNT(names); i++) {
        if (!begin(&row, api, "businessunit", sim_guid_of("businessunit", i)))
            return;
        set_text(&row, "name", names[i]);
        if (i)
            set_id(&row, "parentbusinessunitid", api->business_unit);
        finish(&row);
    }
}

static void add_teams(struct sim_api *api)
{
    static const struct {
        const char *name;
        uint32_t unit;
    } teams[] = { { "contoso", 0 }, { "Sales", 1 }, { "Sales", 2 }, { "Service", 0 } };
    struct reference row;
    for (uint32_t i = 0; i < COUNT(teams); i++) {
        if (!begin(&row, api, "team", sim_guid_of("team", i)))
            return;
        set_text(&row, "name", teams[i].name);
        set_id(&row, "businessunitid", sim_guid_of("businessunit", teams[i].unit));
        finish(&row);
    }
}

static void add_currencies(struct sim_api *api)
{
    static const struct {
        const char *name;
        const char *code;
        const char *symbol;
        int64_t rate; /* times 10^10 */
    } currencies[] = {
        { "US Dollar", "USD", "$", INT64_C(10000000000) },
        { "Euro", "EUR", "\xe2\x82\xac", INT64_C(9200000000) },
        { "Pound Sterling", "GBP", "\xc2\xa3", INT64_C(7900000000) },
        { "Yen", "JPY", "\xc2\xa5", INT64_C(1500000000000) },
    };
    struct reference row;
    for (uint32_t i = 0; i < COUNT(currencies); i++) {
        if (!begin(&row, api, "transactioncurrency", sim_guid_of("transactioncurrency", i)))
            return;
        set_text(&row, "currencyname", currencies[i].name);
        set_text(&row, "isocurrencycode", currencies[i].code);
        set_text(&row, "currencysymbol", currencies[i].symbol);
        set(&row, "exchangerate",
            (struct sim_value){ .kind = SIM_DECIMAL, .decimal = currencies[i].rate });
        finish(&row);
    }
}

void sim_api_add_reference_rows(struct sim_api *api)
{
    add_units(api);
    add_teams(api);
    add_currencies(api);
    for (uint32_t i = 0; i < api->user_count; i++)
        add_user(api, i);
    add_people(api);
}

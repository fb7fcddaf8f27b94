/* SPDX-License-Identifier: MIT */
/*
 * The tables that every simulated environment has. account and contact carry one column of each
 * kind that a loader must know, opportunity has states that only a message of their own can set,
 * sensorreading is elastic, annotation has no bulk messages, and the rest is reference data that
 * can only be read.
 */
#include "base/mem.h"
#include "sim/service/schema.h"

#define COUNT(array)  ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define CHOICES(list) .choices = (list), .choice_count = COUNT(list)

#define INT_MIN_VALUE (-INT64_C(2147483648))
#define INT_MAX_VALUE INT64_C(2147483647)
#define MONEY_MAX     INT64_C(922337203685477)
#define DECIMAL_MAX   INT64_C(100000000000)
#define AMOUNT_MAX    ((sim_wide)INT64_C(1000000000000000000) * INT64_C(10000000000)) /* 10^28 */
#define READ_ONLY     .no_create = true, .no_update = true

static const struct sim_choice states[] = {
    { 0, 0, "Active" },
    { 1, 1, "Inactive" },
};

static const struct sim_choice statuses[] = {
    { 1, 0, "Active" },
    { 2, 1, "Inactive" },
};

static const struct sim_choice opportunity_states[] = {
    { 0, 0, "Open" },
    { 1, 1, "Won" },
    { 2, 2, "Lost" },
};

static const struct sim_choice opportunity_statuses[] = {
    { 1, 0, "In Progress" }, { 2, 0, "On Hold" },  { 3, 1, "Won" },
    { 4, 2, "Canceled" },    { 5, 2, "Out-Sold" },
};

static const struct sim_choice yes_no[] = {
    { 0, 0, "Allow" },
    { 1, 0, "Do Not Allow" },
};

static const struct sim_choice flags[] = {
    { 0, 0, "No" },
    { 1, 0, "Yes" },
};

static const struct sim_choice industries[] = {
    { 1, 0, "Accounting" },
    { 2, 0, "Agriculture and Non-petrol Natural Resource Extraction" },
    { 3, 0, "Broadcasting Printing and Publishing" },
    { 4, 0, "Brokers" },
    { 5, 0, "Building Supply Retail" },
    { 6, 0, "Business Services" },
    { 7, 0, "Consulting" },
};

static const struct sim_choice genders[] = {
    { 1, 0, "Male" },
    { 2, 0, "Female" },
};

static const struct sim_choice channels[] = {
    { 100000000, 0, "Mail" },
    { 100000001, 0, "Phone" },
    { 100000002, 0, "Web" },
    { 100000003, 0, "Partner" },
};

#define ID(column)                                                                                 \
    {                                                                                              \
        .name = (column), .type = SIM_TYPE_UNIQUEIDENTIFIER, .required = SIM_REQUIRED_SYSTEM,      \
        .no_update = true                                                                          \
    }
#define TEXT(column, units)                                                                        \
    {                                                                                              \
        .name = (column), .type = SIM_TYPE_STRING, .length_max = (units)                           \
    }
#define SHADOW(column, units, of)                                                                  \
    {                                                                                              \
        .name = (column), .type = SIM_TYPE_STRING, .length_max = (units), .attribute_of = (of),    \
        .no_read = true, READ_ONLY                                                                 \
    }
#define MEMO(column, units)                                                                        \
    {                                                                                              \
        .name = (column), .type = SIM_TYPE_MEMO, .length_max = (units)                             \
    }
#define LOOKUP(column, to, navigation)                                                             \
    {                                                                                              \
        .name = (column), .type = SIM_TYPE_LOOKUP,                                                 \
        .targets = { { .table = (to), .nav = (navigation) } }, .target_count = 1                   \
    }
#define SYSTEM_DATE(column)                                                                        \
    {                                                                                              \
        .name = (column), .type = SIM_TYPE_DATETIME, READ_ONLY                                     \
    }
#define SYSTEM_USER(column)                                                                        \
    {                                                                                              \
        .name = (column), .type = SIM_TYPE_LOOKUP, READ_ONLY,                                      \
        .targets = { { .table = "systemuser", .nav = (column) } }, .target_count = 1               \
    }
#define SYSTEM_USERS                                                                               \
    SYSTEM_USER("createdby"), SYSTEM_USER("modifiedby"), SYSTEM_USER("createdonbehalfby")
#define OVERRIDDEN_DATE                                                                            \
    {                                                                                              \
        .name = "overriddencreatedon", .type = SIM_TYPE_DATETIME, .no_update = true                \
    }
#define OWNER                                                                                      \
    {                                                                                              \
        .name = "ownerid", .type = SIM_TYPE_OWNER, .required = SIM_REQUIRED_SYSTEM,                \
        .targets = { { .table = "systemuser", .nav = "ownerid" },                                  \
                     { .table = "team", .nav = "ownerid" } },                                      \
        .target_count = 2                                                                          \
    }
#define CUSTOMER(column)                                                                           \
    {                                                                                              \
        .name = (column), .type = SIM_TYPE_CUSTOMER,                                               \
        .targets = { { .table = "account", .nav = column "_account" },                             \
                     { .table = "contact", .nav = column "_contact" } },                           \
        .target_count = 2                                                                          \
    }
#define STATE                                                                                      \
    {                                                                                              \
        .name = "statecode", .type = SIM_TYPE_STATE, .required = SIM_REQUIRED_SYSTEM,              \
        .no_create = true, CHOICES(states)                                                         \
    }
#define STATUS                                                                                     \
    {                                                                                              \
        .name = "statuscode", .type = SIM_TYPE_STATUS, CHOICES(statuses)                           \
    }

static const struct sim_column account_columns[] = {
    ID("accountid"),
    { .name = "name",
      .type = SIM_TYPE_STRING,
      .length_max = 160,
      .required = SIM_REQUIRED_APPLICATION },
    TEXT("accountnumber", 20),
    TEXT("telephone1", 50),
    TEXT("emailaddress1", 100),
    TEXT("websiteurl", 200),
    TEXT("address1_city", 80),
    MEMO("description", 2000),
    { .name = "revenue", .type = SIM_TYPE_MONEY, .max = MONEY_MAX, .precision = 2 },
    { .name = "creditlimit", .type = SIM_TYPE_MONEY, .max = 100000000000, .precision = 4 },
    { .name = "exchangerate", .type = SIM_TYPE_DECIMAL, .max = 100000, .precision = 10, READ_ONLY },
    { .name = "weir_score",
      .type = SIM_TYPE_DECIMAL,
      .min = -DECIMAL_MAX,
      .max = DECIMAL_MAX,
      .precision = 4 },
    { .name = "weir_amount",
      .type = SIM_TYPE_DECIMAL,
      .min = -AMOUNT_MAX,
      .max = AMOUNT_MAX,
      .precision = 10 },
    { .name = "address1_latitude", .type = SIM_TYPE_DOUBLE, .min = -90, .max = 90, .precision = 5 },
    { .name = "weir_measure",
      .type = SIM_TYPE_DOUBLE,
      .min = -DECIMAL_MAX,
      .max = DECIMAL_MAX,
      .precision = 5 },
    { .name = "numberofemployees", .type = SIM_TYPE_INTEGER, .max = 1000000000 },
    { .name = "weir_sequence", .type = SIM_TYPE_BIGINT, .min = INT64_MIN, .max = INT64_MAX },
    { .name = "industrycode", .type = SIM_TYPE_PICKLIST, CHOICES(industries) },
    { .name = "weir_channels",
      .type = SIM_TYPE_MULTI_PICKLIST,
      CHOICES(channels),
      .option_set = "weir_channel" },
    { .name = "donotemail", .type = SIM_TYPE_BOOLEAN, CHOICES(yes_no) },
    { .name = "lastonholdtime", .type = SIM_TYPE_DATETIME },
    { .name = "weir_founded", .type = SIM_TYPE_DATETIME, .behavior = SIM_DATE_ONLY },
    { .name = "weir_opening", .type = SIM_TYPE_DATETIME, .behavior = SIM_DATE_ZONE_INDEPENDENT },
    LOOKUP("parentaccountid", "account", "parentaccountid"),
    SHADOW("parentaccountidname", 100, "parentaccountid"),
    LOOKUP("primarycontactid", "contact", "primarycontactid"),
    LOOKUP("transactioncurrencyid", "transactioncurrency", "transactioncurrencyid"),
    LOOKUP("preferredsystemuserid", "systemuser", "preferredsystemuserid"),
    LOOKUP("weir_unitid", "businessunit", "weir_UnitId"),
    { .name = "entityimage", .type = SIM_TYPE_IMAGE },
    SHADOW("entityimage_url", 200, "entityimage"),
    { .name = "weir_contract", .type = SIM_TYPE_FILE, READ_ONLY },
    OWNER,
    STATE,
    STATUS,
    SYSTEM_DATE("createdon"),
    SYSTEM_DATE("modifiedon"),
    OVERRIDDEN_DATE,
    SYSTEM_USERS,
};

static const struct sim_column contact_columns[] = {
    ID("contactid"),
    { .name = "fullname", .type = SIM_TYPE_STRING, .length_max = 160, READ_ONLY },
    TEXT("firstname", 50),
    { .name = "lastname",
      .type = SIM_TYPE_STRING,
      .length_max = 50,
      .required = SIM_REQUIRED_APPLICATION },
    TEXT("emailaddress1", 100),
    TEXT("telephone1", 50),
    TEXT("jobtitle", 100),
    TEXT("externaluseridentifier", 50),
    MEMO("description", 2000),
    { .name = "birthdate", .type = SIM_TYPE_DATETIME, .behavior = SIM_DATE_ONLY },
    { .name = "gendercode", .type = SIM_TYPE_PICKLIST, CHOICES(genders) },
    { .name = "numberofchildren", .type = SIM_TYPE_INTEGER, .max = 1000000000 },
    { .name = "donotemail", .type = SIM_TYPE_BOOLEAN, CHOICES(yes_no) },
    CUSTOMER("parentcustomerid"),
    SHADOW("parentcustomeridname", 4000, "parentcustomerid"),
    LOOKUP("weir_reportsto", "contact", "weir_ReportsTo"),
    LOOKUP("preferredsystemuserid", "systemuser", "preferredsystemuserid"),
    OWNER,
    STATE,
    STATUS,
    SYSTEM_DATE("createdon"),
    SYSTEM_DATE("modifiedon"),
    OVERRIDDEN_DATE,
    SYSTEM_USERS,
};

static const struct sim_column opportunity_columns[] = {
    ID("opportunityid"),
    { .name = "name",
      .type = SIM_TYPE_STRING,
      .length_max = 300,
      .required = SIM_REQUIRED_APPLICATION },
    MEMO("description", 2000),
    { .name = "estimatedvalue", .type = SIM_TYPE_MONEY, .max = MONEY_MAX, .precision = 2 },
    { .name = "estimatedclosedate", .type = SIM_TYPE_DATETIME, .behavior = SIM_DATE_ONLY },
    { .name = "closeprobability", .type = SIM_TYPE_INTEGER, .max = 100 },
    CUSTOMER("customerid"),
    LOOKUP("parentaccountid", "account", "parentaccountid"),
    LOOKUP("parentcontactid", "contact", "parentcontactid"),
    LOOKUP("transactioncurrencyid", "transactioncurrency", "transactioncurrencyid"),
    OWNER,
    { .name = "statecode",
      .type = SIM_TYPE_STATE,
      .required = SIM_REQUIRED_SYSTEM,
      .no_create = true,
      CHOICES(opportunity_states) },
    { .name = "statuscode", .type = SIM_TYPE_STATUS, CHOICES(opportunity_statuses) },
    SYSTEM_DATE("createdon"),
    SYSTEM_DATE("modifiedon"),
    OVERRIDDEN_DATE,
    SYSTEM_USERS,
};

static const struct sim_column reading_columns[] = {
    ID("sensorreadingid"),
    TEXT("name", 200),
    TEXT("deviceid", 100),
    { .name = "value",
      .type = SIM_TYPE_DECIMAL,
      .min = -DECIMAL_MAX,
      .max = DECIMAL_MAX,
      .precision = 4 },
    { .name = "readon", .type = SIM_TYPE_DATETIME },
    MEMO("energyconsumption", 100000),
    TEXT("partitionid", 1000),
    { .name = "ttlinseconds", .type = SIM_TYPE_INTEGER, .min = -1, .max = INT_MAX_VALUE },
    OWNER,
    SYSTEM_DATE("createdon"),
    SYSTEM_DATE("modifiedon"),
    OVERRIDDEN_DATE,
    SYSTEM_USERS,
};

static const struct sim_column annotation_columns[] = {
    ID("annotationid"),
    TEXT("subject", 500),
    MEMO("notetext", 100000),
    { .name = "isdocument", .type = SIM_TYPE_BOOLEAN, CHOICES(flags) },
    { .name = "objectid",
      .type = SIM_TYPE_LOOKUP,
      .targets = { { .table = "account", .nav = "objectid_account" },
                   { .table = "contact", .nav = "objectid_contact" } },
      .target_count = 2 },
    OWNER,
    SYSTEM_DATE("createdon"),
    SYSTEM_DATE("modifiedon"),
    OVERRIDDEN_DATE,
    SYSTEM_USERS,
};

static const struct sim_column user_columns[] = {
    ID("systemuserid"),
    TEXT("fullname", 200),
    TEXT("domainname", 1024),
    TEXT("internalemailaddress", 100),
    { .name = "applicationid", .type = SIM_TYPE_UNIQUEIDENTIFIER },
    { .name = "azureactivedirectoryobjectid", .type = SIM_TYPE_UNIQUEIDENTIFIER },
    { .name = "isdisabled", .type = SIM_TYPE_BOOLEAN, CHOICES(flags) },
    LOOKUP("businessunitid", "businessunit", "businessunitid"),
    SYSTEM_DATE("createdon"),
    SYSTEM_DATE("modifiedon"),
};

static const struct sim_column team_columns[] = {
    ID("teamid"),
    TEXT("name", 160),
    LOOKUP("businessunitid", "businessunit", "businessunitid"),
    SYSTEM_DATE("createdon"),
    SYSTEM_DATE("modifiedon"),
};

static const struct sim_column unit_columns[] = {
    ID("businessunitid"),
    TEXT("name", 160),
    LOOKUP("parentbusinessunitid", "businessunit", "parentbusinessunitid"),
    SYSTEM_DATE("createdon"),
    SYSTEM_DATE("modifiedon"),
};

static const struct sim_column currency_columns[] = {
    ID("transactioncurrencyid"),
    TEXT("currencyname", 100),
    TEXT("isocurrencycode", 5),
    TEXT("currencysymbol", 13),
    { .name = "exchangerate", .type = SIM_TYPE_DECIMAL, .max = 100000, .precision = 10 },
    SYSTEM_DATE("createdon"),
    SYSTEM_DATE("modifiedon"),
};

struct builtin {
    struct sim_table table; /* names and flags */
    const struct sim_column *columns;
    uint32_t column_count;
    uint32_t name_column;
    struct builtin_key {
        const char *name;
        const char *columns[SIM_KEY_COLUMNS_MAX];
        enum sim_key_status status;
    } keys[2];
    struct builtin_key rule; /* see struct sim_table */
};

static const struct builtin builtins[] = {
    { .table = { .name = "account",
                 .schema = "Account",
                 .set = "accounts",
                 .label = "Account",
                 .type_code = 1,
                 .user_owned = true,
                 .bulk = true },
      .columns = account_columns,
      .column_count = COUNT(account_columns),
      .name_column = 1,
      .keys = { { .name = "accountnumber_key", .columns = { "accountnumber" } } },
      .rule = { .name = "Accounts with the same name and phone",
                .columns = { "name", "telephone1" } } },
    { .table = { .name = "contact",
                 .schema = "Contact",
                 .set = "contacts",
                 .label = "Contact",
                 .type_code = 2,
                 .user_owned = true,
                 .bulk = true },
      .columns = contact_columns,
      .column_count = COUNT(contact_columns),
      .name_column = 1,
      .keys = { { .name = "emailaddress1_key", .columns = { "emailaddress1" } },
                { .name = "externaluseridentifier_key",
                  .columns = { "externaluseridentifier" },
                  .status = SIM_KEY_PENDING } } },
    { .table = { .name = "opportunity",
                 .schema = "Opportunity",
                 .set = "opportunities",
                 .label = "Opportunity",
                 .type_code = 3,
                 .user_owned = true,
                 .bulk = true },
      .columns = opportunity_columns,
      .column_count = COUNT(opportunity_columns),
      .name_column = 1 },
    { .table = { .name = "sensorreading",
                 .schema = "SensorReading",
                 .set = "sensorreadings",
                 .label = "Sensor Reading",
                 .type_code = 10500,
                 .elastic = true,
                 .user_owned = true,
                 .bulk = true },
      .columns = reading_columns,
      .column_count = COUNT(reading_columns),
      .name_column = 1,
      .keys = { { .name = "KeyForNoSqlEntityWithPKPartitionId",
                  .columns = { "sensorreadingid", "partitionid" } } } },
    { .table = { .name = "annotation",
                 .schema = "Annotation",
                 .set = "annotations",
                 .label = "Note",
                 .type_code = 5,
                 .user_owned = true },
      .columns = annotation_columns,
      .column_count = COUNT(annotation_columns),
      .name_column = 1 },
    { .table = { .name = "systemuser",
                 .schema = "SystemUser",
                 .set = "systemusers",
                 .label = "User",
                 .type_code = 8,
                 .read_only = true },
      .columns = user_columns,
      .column_count = COUNT(user_columns),
      .name_column = 1,
      .keys = { { .name = "aadobjectid_key", .columns = { "azureactivedirectoryobjectid" } } } },
    { .table = { .name = "team",
                 .schema = "Team",
                 .set = "teams",
                 .label = "Team",
                 .type_code = 9,
                 .read_only = true },
      .columns = team_columns,
      .column_count = COUNT(team_columns),
      .name_column = 1 },
    { .table = { .name = "businessunit",
                 .schema = "BusinessUnit",
                 .set = "businessunits",
                 .label = "Business Unit",
                 .type_code = 10,
                 .read_only = true },
      .columns = unit_columns,
      .column_count = COUNT(unit_columns),
      .name_column = 1 },
    { .table = { .name = "transactioncurrency",
                 .schema = "TransactionCurrency",
                 .set = "transactioncurrencies",
                 .label = "Currency",
                 .type_code = 9105,
                 .read_only = true },
      .columns = currency_columns,
      .column_count = COUNT(currency_columns),
      .name_column = 1 },
};

static uint32_t place_of(const struct sim_table *table, const char *name)
{
    uint32_t i = 0;
    while (strcmp(table->columns[i].name, name) != 0)
        i++;
    return i;
}

static void read_key(struct sim_table *table, const struct builtin_key *builtin,
                     struct sim_key *key)
{
    key->name = builtin->name;
    key->status = builtin->status;
    for (uint32_t i = 0; i < SIM_KEY_COLUMNS_MAX && builtin->columns[i]; i++)
        key->columns[key->column_count++] = place_of(table, builtin->columns[i]);
}

void sim_schema_add_builtin(struct sim_schema *schema)
{
    for (uint32_t i = 0; i < COUNT(builtins); i++) {
        const struct builtin *builtin = &builtins[i];
        struct sim_table *table = sim_schema_add(schema, builtin->table.name, builtin->table.set);
        table->schema = builtin->table.schema;
        table->label = builtin->table.label;
        table->type_code = builtin->table.type_code;
        table->elastic = builtin->table.elastic;
        table->user_owned = builtin->table.user_owned;
        table->bulk = builtin->table.bulk;
        table->read_only = builtin->table.read_only;
        for (uint32_t j = 0; j < builtin->column_count; j++)
            *sim_table_add(table, builtin->columns[j].name, builtin->columns[j].type) =
                builtin->columns[j];
        table->id = 0;
        table->primary_name = builtin->name_column;
        for (uint32_t j = 0; j < COUNT(builtin->keys) && builtin->keys[j].name; j++)
            read_key(table, &builtin->keys[j], &table->keys[table->key_count++]);
        read_key(table, &builtin->rule, &table->rule);
    }
}

/* SPDX-License-Identifier: MIT */
/* Definitions of tables: the documented queries, every answer read as JSON. */
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "sim/service/api.h"
#include "support/suite.h"

#define ACCOUNT "EntityDefinitions(LogicalName='account')"

static struct sim_api *api;
static struct sim_answer answer;
static struct weir_json *document;

static void setup(void)
{
    struct sim_api_options options = { .users = 1, .base_url = "http://sim", .seed = 1 };
    ck_assert_int_eq(sim_api_new(&options, &api, NULL), WEIR_OK);
    sim_answer_init(&answer);
}

static void teardown(void)
{
    weir_json_free(document);
    document = NULL;
    sim_answer_release(&answer);
    sim_api_free(api);
}

/* The root of the answer to a GET; it must be JSON. */
static const struct weir_json_node *get(const char *address)
{
    char target[2000];
    snprintf(target, sizeof(target), "/api/data/v9.2/%s", address);
    struct sim_call call = { .method = weir_str_from("GET"), .target = weir_str_from(target) };
    sim_answer_reset(&answer);
    sim_api_execute(api, &call, NULL, NULL, &answer);
    weir_json_free(document);
    document = NULL;
    struct weir_error err;
    enum weir_status status =
        weir_json_parse(weir_str(answer.body.ptr, answer.body.len), &document, &err);
    ck_assert_msg(status == WEIR_OK, "%s: %s: %s", address, err.message,
                  weir_buf_text(&answer.body));
    return weir_json_root(document);
}

static const struct weir_json_node *get_ok(const char *address)
{
    const struct weir_json_node *root = get(address);
    ck_assert_msg(answer.status == 200, "%s: %s", address, weir_buf_text(&answer.body));
    ck_assert_ptr_nonnull(weir_json_find(root, "@odata.context"));
    return root;
}

static bool is(const struct weir_json_node *node, const char *text)
{
    return node && weir_str_equal(node->text, weir_str_from(text));
}

/* The element of an array whose member has a value. */
static const struct weir_json_node *element(const struct weir_json_node *array, const char *member,
                                            const char *value)
{
    ck_assert_ptr_nonnull(array);
    ck_assert_int_eq(array->type, WEIR_JSON_ARRAY);
    for (const struct weir_json_node *node = array->first; node; node = node->next) {
        if (is(weir_json_find(node, member), value))
            return node;
    }
    return NULL;
}

static const struct weir_json_node *value_of(const struct weir_json_node *node, const char *member)
{
    const struct weir_json_node *value = weir_json_find(weir_json_find(node, member), "Value");
    ck_assert_ptr_nonnull(value);
    return value;
}

START_TEST(the_combined_query_of_a_loader_is_answered_whole)
{
    const struct weir_json_node *root =
        get_ok(ACCOUNT "?$select=LogicalName,EntitySetName,PrimaryIdAttribute,PrimaryNameAttribute,"
                       "TableType,IsOptimisticConcurrencyEnabled,ObjectTypeCode"
                       "&$expand=Attributes($select=LogicalName,AttributeType,AttributeTypeName,"
                       "IsValidForCreate,IsValidForUpdate,RequiredLevel,AttributeOf),"
                       "Keys($select=LogicalName,KeyAttributes,EntityKeyIndexStatus),"
                       "ManyToOneRelationships($select=ReferencingAttribute,ReferencedEntity,"
                       "ReferencingEntityNavigationPropertyName)");
    ck_assert(is(weir_json_find(root, "LogicalName"), "account"));
    ck_assert(is(weir_json_find(root, "EntitySetName"), "accounts"));
    ck_assert(is(weir_json_find(root, "PrimaryIdAttribute"), "accountid"));
    ck_assert(is(weir_json_find(root, "PrimaryNameAttribute"), "name"));
    ck_assert(is(weir_json_find(root, "TableType"), "Standard"));
    ck_assert(is(weir_json_find(root, "IsOptimisticConcurrencyEnabled"), "true"));
    ck_assert(is(weir_json_find(root, "ObjectTypeCode"), "1"));
    ck_assert_ptr_nonnull(weir_json_find(root, "MetadataId"));
    ck_assert_ptr_null(weir_json_find(root, "SchemaName"));

    const struct weir_json_node *attributes = weir_json_find(root, "Attributes");
    const struct weir_json_node *name = element(attributes, "LogicalName", "name");
    ck_assert(
        is(weir_json_find(name, "@odata.type"), "#Microsoft.Dynamics.CRM.StringAttributeMetadata"));
    ck_assert(is(weir_json_find(name, "AttributeType"), "String"));
    ck_assert(is(value_of(name, "AttributeTypeName"), "StringType"));
    ck_assert(is(weir_json_find(name, "IsValidForCreate"), "true"));
    ck_assert(is(value_of(name, "RequiredLevel"), "ApplicationRequired"));
    ck_assert_int_eq(weir_json_find(name, "AttributeOf")->type, WEIR_JSON_NULL);
    ck_assert_ptr_null(weir_json_find(name, "MaxLength"));
    const struct weir_json_node *created = element(attributes, "LogicalName", "createdon");
    ck_assert(is(weir_json_find(created, "IsValidForCreate"), "false"));
    ck_assert(is(weir_json_find(created, "IsValidForUpdate"), "false"));
    const struct weir_json_node *channels = element(attributes, "LogicalName", "weir_channels");
    ck_assert(is(weir_json_find(channels, "AttributeType"), "Virtual"));
    ck_assert(is(value_of(channels, "AttributeTypeName"), "MultiSelectPicklistType"));

    const struct weir_json_node *key =
        element(weir_json_find(root, "Keys"), "LogicalName", "accountnumber_key");
    ck_assert(is(weir_json_find(key, "KeyAttributes")->first, "accountnumber"));
    ck_assert(is(weir_json_find(key, "EntityKeyIndexStatus"), "Active"));

    const struct weir_json_node *relations = weir_json_find(root, "ManyToOneRelationships");
    const struct weir_json_node *contact =
        element(relations, "ReferencingAttribute", "primarycontactid");
    ck_assert(is(weir_json_find(contact, "ReferencedEntity"), "contact"));
    ck_assert(
        is(weir_json_find(contact, "ReferencingEntityNavigationPropertyName"), "primarycontactid"));
    const struct weir_json_node *owner = element(relations, "ReferencingAttribute", "ownerid");
    ck_assert(is(weir_json_find(owner, "ReferencedEntity"), "owner"));
}
END_TEST

START_TEST(a_lookup_to_several_tables_has_a_navigation_for_each)
{
    const struct weir_json_node *root =
        get_ok("EntityDefinitions(LogicalName='contact')/ManyToOneRelationships");
    const struct weir_json_node *value = weir_json_find(root, "value");
    const struct weir_json_node *account =
        element(value, "ReferencingEntityNavigationPropertyName", "parentcustomerid_account");
    const struct weir_json_node *contact =
        element(value, "ReferencingEntityNavigationPropertyName", "parentcustomerid_contact");
    ck_assert(is(weir_json_find(account, "ReferencedEntity"), "account"));
    ck_assert(is(weir_json_find(account, "ReferencedAttribute"), "accountid"));
    ck_assert(is(weir_json_find(account, "ReferencingEntity"), "contact"));
    ck_assert(is(weir_json_find(contact, "ReferencingAttribute"), "parentcustomerid"));
    ck_assert_ptr_nonnull(weir_json_find(contact, "SchemaName"));
}
END_TEST

START_TEST(an_elastic_table_says_so)
{
    const struct weir_json_node *root =
        get_ok("EntityDefinitions(LogicalName='sensorreading')?$select=TableType,OwnershipType");
    ck_assert(is(weir_json_find(root, "TableType"), "Elastic"));
    ck_assert(is(weir_json_find(root, "OwnershipType"), "UserOwned"));
}
END_TEST

START_TEST(tables_are_listed_and_filtered)
{
    const struct weir_json_node *value =
        weir_json_find(get_ok("EntityDefinitions?$select=LogicalName"), "value");
    uint32_t all = value->count;
    ck_assert_uint_ge(all, 4);
    value = weir_json_find(get_ok("EntityDefinitions?$select=LogicalName,EntitySetName&$filter="
                                  "LogicalName%20eq%20'contact'"),
                           "value");
    ck_assert_uint_eq(value->count, 1);
    ck_assert(is(weir_json_find(value->first, "EntitySetName"), "contacts"));
    value = weir_json_find(
        get_ok("EntityDefinitions?$filter=LogicalName%20eq%20'nosuch'&$expand=Keys"), "value");
    ck_assert_uint_eq(value->count, 0);
    value = weir_json_find(get_ok("EntityDefinitions?$filter=LogicalName%20ne%20'contact'&"
                                  "$expand=Attributes,Keys,ManyToOneRelationships,"
                                  "OneToManyRelationships,ManyToManyRelationships"),
                           "value");
    ck_assert_uint_eq(value->count, all - 1);
}
END_TEST

START_TEST(a_table_is_found_by_its_metadata_id_too)
{
    const struct weir_json_node *root = get_ok(ACCOUNT "?$select=LogicalName");
    char address[200];
    struct weir_str id = weir_json_find(root, "MetadataId")->text;
    snprintf(address, sizeof(address), "EntityDefinitions(%.*s)?$select=LogicalName", (int)id.len,
             id.ptr);
    ck_assert(is(weir_json_find(get_ok(address), "LogicalName"), "account"));
}
END_TEST

static const struct weir_json_node *cast(const char *type, const char *select, const char *column)
{
    char address[300];
    snprintf(address, sizeof(address),
             ACCOUNT
             "/Attributes/Microsoft.Dynamics.CRM.%sAttributeMetadata?$select=LogicalName,%s",
             type, select);
    const struct weir_json_node *found =
        element(weir_json_find(get_ok(address), "value"), "LogicalName", column);
    ck_assert_msg(found != NULL, "%s", column);
    return found;
}

START_TEST(a_cast_gives_the_properties_of_a_type)
{
    ck_assert(is(weir_json_find(cast("String", "MaxLength,Format", "name"), "MaxLength"), "160"));
    ck_assert(is(weir_json_find(cast("Memo", "MaxLength", "description"), "MaxLength"), "2000"));
    ck_assert(
        is(weir_json_find(cast("Integer", "MinValue,MaxValue", "numberofemployees"), "MaxValue"),
           "1000000000"));
    ck_assert(is(weir_json_find(cast("Money", "Precision", "revenue"), "Precision"), "2"));
    ck_assert(is(weir_json_find(cast("Decimal", "Precision", "weir_score"), "Precision"), "4"));
    ck_assert(is(value_of(cast("DateTime", "DateTimeBehavior", "weir_founded"), "DateTimeBehavior"),
                 "DateOnly"));
    ck_assert(
        is(weir_json_find(cast("DateTime", "Format", "lastonholdtime"), "Format"), "DateAndTime"));
    ck_assert(is(weir_json_find(cast("Lookup", "Targets", "parentaccountid"), "Targets")->first,
                 "account"));
    /* Owners are lookups as well, strings are not. */
    ck_assert_uint_eq(weir_json_find(cast("Lookup", "Targets", "ownerid"), "Targets")->count, 2);
    const struct weir_json_node *value = weir_json_find(
        get_ok(ACCOUNT "/Attributes/Microsoft.Dynamics.CRM.LookupAttributeMetadata"), "value");
    ck_assert_ptr_null(element(value, "LogicalName", "name"));
    /* A property of another type cannot be selected. */
    get(ACCOUNT "/Attributes/Microsoft.Dynamics.CRM.MoneyAttributeMetadata?$select=MaxLength");
    ck_assert_int_eq(answer.status, 400);
    get(ACCOUNT "/Attributes?$select=MaxLength");
    ck_assert_int_eq(answer.status, 400);
}
END_TEST

static const struct weir_json_node *option(const struct weir_json_node *set, const char *value)
{
    return element(weir_json_find(set, "Options"), "Value", value);
}

START_TEST(option_sets_are_expanded_with_labels)
{
    const struct weir_json_node *value = weir_json_find(
        get_ok(ACCOUNT "/Attributes/Microsoft.Dynamics.CRM.PicklistAttributeMetadata?"
                       "$select=LogicalName&$expand=OptionSet,GlobalOptionSet"),
        "value");
    const struct weir_json_node *industry = element(value, "LogicalName", "industrycode");
    const struct weir_json_node *label =
        weir_json_find(option(weir_json_find(industry, "OptionSet"), "1"), "Label");
    ck_assert(
        is(weir_json_find(weir_json_find(label, "UserLocalizedLabel"), "Label"), "Accounting"));
    ck_assert(is(weir_json_find(weir_json_find(label, "LocalizedLabels")->first, "LanguageCode"),
                 "1033"));
    ck_assert_int_eq(weir_json_find(industry, "GlobalOptionSet")->type, WEIR_JSON_NULL);

    value = weir_json_find(
        get_ok(ACCOUNT "/Attributes/Microsoft.Dynamics.CRM.MultiSelectPicklistAttributeMetadata?"
                       "$expand=OptionSet($select=Options),GlobalOptionSet($select=Options,Name)"),
        "value");
    const struct weir_json_node *channels = element(value, "LogicalName", "weir_channels");
    ck_assert_int_eq(weir_json_find(channels, "OptionSet")->type, WEIR_JSON_NULL);
    const struct weir_json_node *global = weir_json_find(channels, "GlobalOptionSet");
    ck_assert(is(weir_json_find(global, "Name"), "weir_channel"));
    ck_assert_ptr_nonnull(option(global, "100000001"));
    ck_assert_ptr_null(weir_json_find(global, "IsGlobal"));

    value =
        weir_json_find(get_ok(ACCOUNT "/Attributes/Microsoft.Dynamics.CRM.StatusAttributeMetadata?"
                                      "$expand=OptionSet"),
                       "value");
    const struct weir_json_node *statuses = weir_json_find(value->first, "OptionSet");
    ck_assert(is(weir_json_find(option(statuses, "2"), "State"), "1"));

    value =
        weir_json_find(get_ok(ACCOUNT "/Attributes/Microsoft.Dynamics.CRM.BooleanAttributeMetadata?"
                                      "$expand=OptionSet"),
                       "value");
    const struct weir_json_node *flags = weir_json_find(value->first, "OptionSet");
    ck_assert(is(weir_json_find(weir_json_find(flags, "TrueOption"), "Value"), "1"));
    ck_assert(is(weir_json_find(weir_json_find(flags, "FalseOption"), "Value"), "0"));
}
END_TEST

START_TEST(one_column_and_its_option_set_are_read_alone)
{
    const struct weir_json_node *root =
        get_ok(ACCOUNT "/Attributes(LogicalName='industrycode')?$select=LogicalName,AttributeType");
    ck_assert(is(weir_json_find(root, "AttributeType"), "Picklist"));
    root = get_ok(ACCOUNT "/Attributes(LogicalName='industrycode')/"
                          "Microsoft.Dynamics.CRM.PicklistAttributeMetadata/OptionSet");
    ck_assert_ptr_nonnull(option(root, "7"));
    root = get_ok("GlobalOptionSetDefinitions(Name='weir_channel')");
    ck_assert_ptr_nonnull(option(root, "100000000"));
    ck_assert_uint_eq(weir_json_find(get_ok("GlobalOptionSetDefinitions"), "value")->count, 1);
}
END_TEST

/* A member of the column's definition after a cast to its type. */
static const char *member(const char *table, const char *type, const char *column,
                          const char *property)
{
    static char text[200];
    char address[300];
    snprintf(address, sizeof(address),
             "EntityDefinitions(LogicalName='%s')/Attributes(LogicalName='%s')/"
             "Microsoft.Dynamics.CRM.%sAttributeMetadata?$select=LogicalName,%s",
             table, column, type, property);
    const struct weir_json_node *node = weir_json_find(get_ok(address), property);
    ck_assert_msg(node != NULL, "%s of %s", property, column);
    snprintf(text, sizeof(text), "%.*s", (int)node->text.len, node->text.ptr);
    return text;
}

START_TEST(ranges_are_told_with_all_their_digits)
{
    static const char most[] = "10000000000000000000000000000";
    ck_assert_str_eq(member("account", "Decimal", "weir_amount", "MaxValue"), most);
    ck_assert_str_eq(member("account", "Decimal", "weir_amount", "MinValue") + 1, most);
    ck_assert_str_eq(member("account", "Decimal", "weir_amount", "Precision"), "10");
    ck_assert_str_eq(member("account", "Double", "weir_measure", "MinValue"), "-100000000000");
    ck_assert_str_eq(member("account", "BigInt", "weir_sequence", "MinValue"),
                     "-9223372036854775808");
    ck_assert_str_eq(member("opportunity", "Integer", "closeprobability", "MaxValue"), "100");
    ck_assert_str_eq(member("opportunity", "Money", "estimatedvalue", "MaxValue"),
                     "922337203685477");
}
END_TEST

START_TEST(files_and_images_say_what_they_are)
{
    static const char *const cases[][3] = {
        { "entityimage", "ImageType", "#Microsoft.Dynamics.CRM.ImageAttributeMetadata" },
        { "weir_contract", "FileType", "#Microsoft.Dynamics.CRM.FileAttributeMetadata" },
    };
    for (size_t i = 0; i < 2; i++) {
        char address[200];
        snprintf(address, sizeof(address), ACCOUNT "/Attributes(LogicalName='%s')", cases[i][0]);
        const struct weir_json_node *root = get_ok(address);
        ck_assert(is(weir_json_find(root, "AttributeType"), "Virtual"));
        ck_assert(is(value_of(root, "AttributeTypeName"), cases[i][1]));
        ck_assert(is(weir_json_find(root, "@odata.type"), cases[i][2]));
    }
}
END_TEST

START_TEST(a_status_names_its_state_and_a_key_its_index)
{
    static const char *const states[][2] = {
        { "1", "0" }, { "2", "0" }, { "3", "1" }, { "4", "2" }, { "5", "2" },
    };
    const struct weir_json_node *value =
        weir_json_find(get_ok("EntityDefinitions(LogicalName='opportunity')/Attributes/"
                              "Microsoft.Dynamics.CRM.StatusAttributeMetadata?$expand=OptionSet"),
                       "value");
    const struct weir_json_node *set = weir_json_find(value->first, "OptionSet");
    for (size_t i = 0; i < 5; i++)
        ck_assert(is(weir_json_find(option(set, states[i][0]), "State"), states[i][1]));
    const struct weir_json_node *keys =
        weir_json_find(get_ok("EntityDefinitions(LogicalName='contact')/Keys"), "value");
    const struct weir_json_node *active = element(keys, "LogicalName", "emailaddress1_key");
    const struct weir_json_node *pending =
        element(keys, "LogicalName", "externaluseridentifier_key");
    ck_assert(is(weir_json_find(active, "EntityKeyIndexStatus"), "Active"));
    ck_assert(is(weir_json_find(pending, "EntityKeyIndexStatus"), "Pending"));
}
END_TEST

/* What the definition says of create and update is what the rows find. */
START_TEST(what_is_said_of_writing_is_true)
{
    static const char *const cases[][3] = {
        { "createdon", "false", "false" },    { "overriddencreatedon", "true", "false" },
        { "statecode", "false", "true" },     { "statuscode", "true", "true" },
        { "createdby", "false", "false" },    { "createdonbehalfby", "false", "false" },
        { "exchangerate", "false", "false" }, { "accountid", "true", "false" },
        { "ownerid", "true", "true" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char address[200];
        snprintf(address, sizeof(address), ACCOUNT "/Attributes(LogicalName='%s')", cases[i][0]);
        const struct weir_json_node *root = get_ok(address);
        ck_assert_msg(is(weir_json_find(root, "IsValidForCreate"), cases[i][1]), "%s", cases[i][0]);
        ck_assert_msg(is(weir_json_find(root, "IsValidForUpdate"), cases[i][2]), "%s", cases[i][0]);
    }
}
END_TEST

/* They are listed, but rows do not have them. */
START_TEST(the_name_beside_a_lookup_is_a_shadow_of_it)
{
    const struct weir_json_node *root = get_ok(ACCOUNT "/Attributes(LogicalName="
                                                       "'parentaccountidname')");
    ck_assert(is(weir_json_find(root, "AttributeOf"), "parentaccountid"));
    ck_assert(is(weir_json_find(root, "IsValidForCreate"), "false"));
    ck_assert(is(weir_json_find(root, "IsValidForRead"), "true"));
    get("accounts?$select=parentaccountidname");
    ck_assert_int_eq(answer.status, 400);
    get("accounts?$filter=parentaccountidname eq 'x'");
    ck_assert_int_eq(answer.status, 400);
}
END_TEST

START_TEST(a_custom_lookup_has_a_navigation_with_capitals)
{
    const struct weir_json_node *relations = weir_json_find(
        get_ok("EntityDefinitions(LogicalName='contact')/ManyToOneRelationships"), "value");
    const struct weir_json_node *boss =
        element(relations, "ReferencingAttribute", "weir_reportsto");
    ck_assert(is(weir_json_find(boss, "ReferencedEntity"), "contact"));
    ck_assert(
        is(weir_json_find(boss, "ReferencingEntityNavigationPropertyName"), "weir_ReportsTo"));
}
END_TEST

START_TEST(attributes_are_filtered)
{
    const struct weir_json_node *value = weir_json_find(
        get_ok(ACCOUNT "?$expand=Attributes($select=LogicalName;$filter=LogicalName%20eq%20'name'"
                       "%20or%20IsValidForCreate%20eq%20false)"),
        "Attributes");
    ck_assert_ptr_nonnull(element(value, "LogicalName", "name"));
    ck_assert_ptr_nonnull(element(value, "LogicalName", "createdon"));
    ck_assert_ptr_null(element(value, "LogicalName", "accountnumber"));
}
END_TEST

START_TEST(what_is_not_there_is_404_and_what_cannot_be_read_is_400)
{
    static const struct {
        const char *address;
        int status;
        const char *code;
    } cases[] = {
        { "EntityDefinitions(LogicalName='nosuch')", 404, "0x80040217" },
        { "EntityDefinitions(LogicalName='Account')", 404, "0x80040217" },
        { "EntityDefinitions(nosuch='account')", 404, "0x80040217" },
        { "EntityDefinitions(00000000-0000-0000-0000-000000000000)", 404, "0x80040217" },
        { ACCOUNT "/Nosuch", 404, "0x8006088a" },
        { ACCOUNT "/Attributes(LogicalName='nosuch')", 404, "0x8006088a" },
        { ACCOUNT "/Attributes('", 404, "0x8006088a" },
        { ACCOUNT "/Attributes()", 404, "0x8006088a" },
        { ACCOUNT "/Attributes/Microsoft.Dynamics.CRM.NosuchAttributeMetadata", 404, "0x8006088a" },
        { ACCOUNT "/Attributes(LogicalName='name')/"
                  "Microsoft.Dynamics.CRM.PicklistAttributeMetadata",
          404, "0x8006088a" },
        { ACCOUNT "/Keys/more", 404, "0x8006088a" },
        { "EntityDefinitions/Attributes", 404, "0x8006088a" },
        { "RelationshipDefinitions", 404, "0x8006088a" },
        { "GlobalOptionSetDefinitions(Name='nosuch')", 404, "0x8006088a" },
        { ACCOUNT "?$select=Nosuch", 400, "0x0" },
        { ACCOUNT "?$expand=Nosuch", 400, "0x80060888" },
        { ACCOUNT "?$expand=Keys(", 400, "0x80060888" },
        { ACCOUNT "?$expand=Keys($select=LogicalName", 400, "0x80060888" },
        { ACCOUNT "?$expand=Keys($nosuch=1)", 400, "0x80060888" },
        { ACCOUNT "?$expand=Keys($select=Nosuch)", 400, "0x0" },
        { ACCOUNT "?$expand=,", 400, "0x80060888" },
        { ACCOUNT "?$expand=Attributes($expand=OptionSet)", 400, "0x0" },
        { "EntityDefinitions?$filter=Nosuch%20eq%201", 400, "0x0" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct weir_json_node *error = weir_json_find(get(cases[i].address), "error");
        ck_assert_msg(answer.status == cases[i].status, "%s: %d", cases[i].address, answer.status);
        ck_assert_msg(is(weir_json_find(error, "code"), cases[i].code), "%s: %s", cases[i].address,
                      weir_buf_text(&answer.body));
    }
}
END_TEST

START_TEST(random_expands_never_break_it)
{
    static const char *const words[] = { "Attributes", "Keys",        "(",        ")",
                                         ";",          ",",           "$select=", "$filter=",
                                         "'",          "=",           "eq",       "/",
                                         " ",          "LogicalName", "$expand=", "OptionSet" };
    struct weir_rng rng;
    weir_rng_init(&rng, (uint64_t)_i, 0);
    for (int round = 0; round < 1000; round++) {
        char address[500] = ACCOUNT;
        size_t used = strlen(address);
        used += (size_t)snprintf(address + used, sizeof(address) - used, "%s",
                                 weir_rng_below(&rng, 2) ? "?$expand=" : "/Attributes");
        for (uint64_t i = weir_rng_below(&rng, 10); i; i--)
            used += (size_t)snprintf(address + used, sizeof(address) - used, "%s",
                                     words[weir_rng_below(&rng, sizeof(words) / sizeof(*words))]);
        get(address);
        must(answer.status == 200 || answer.status == 400 || answer.status == 404);
    }
}
END_TEST

struct named_test {
    const char *name;
    const TTest *const *test;
    int count;
};

int main(void)
{
    struct suite s = suite_new("sim_metadata");
#define T(function)                                                                                \
    {                                                                                              \
#function, &function, 1                                                                    \
    }
    const struct named_test tests[] = {
        T(the_combined_query_of_a_loader_is_answered_whole),
        T(a_lookup_to_several_tables_has_a_navigation_for_each),
        T(an_elastic_table_says_so),
        T(tables_are_listed_and_filtered),
        T(a_table_is_found_by_its_metadata_id_too),
        T(a_cast_gives_the_properties_of_a_type),
        T(option_sets_are_expanded_with_labels),
        T(one_column_and_its_option_set_are_read_alone),
        T(ranges_are_told_with_all_their_digits),
        T(files_and_images_say_what_they_are),
        T(a_status_names_its_state_and_a_key_its_index),
        T(what_is_said_of_writing_is_true),
        T(the_name_beside_a_lookup_is_a_shadow_of_it),
        T(a_custom_lookup_has_a_navigation_with_capitals),
        T(attributes_are_filtered),
        T(what_is_not_there_is_404_and_what_cannot_be_read_is_400),
        { "random_expands_never_break_it", &random_expands_never_break_it, 3 },
    };
    for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
        TCase *tcase = tcase_create(tests[i].name);
        tcase_set_timeout(tcase, 0);
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_loop_test(tcase, *tests[i].test, 0, tests[i].count);
        suite_add_tcase(s.suite, tcase);
    }
    return suite_run(&s);
}

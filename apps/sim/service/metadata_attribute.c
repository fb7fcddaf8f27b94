/* SPDX-License-Identifier: MIT */
/*
 * Columns. Each has a type of its own (StringAttributeMetadata) with properties that others lack.
 * Without a cast only what all have in common can be selected; with one also the rest, and the
 * option sets expanded.
 */
#include <inttypes.h>

#include "sim/service/filter.h"
#include "sim/service/literal.h"
#include "sim/service/metadata_write.h"

#define TYPE(type)   (1u << SIM_TYPE_##type)
#define LOOKUP_TYPES (TYPE(LOOKUP) | TYPE(CUSTOMER) | TYPE(OWNER))
#define ENUM_TYPES   (TYPE(PICKLIST) | TYPE(STATE) | TYPE(STATUS) | TYPE(MULTI_PICKLIST))
#define TEXT_TYPES   (TYPE(STRING) | TYPE(MEMO))
#define NUMBER_TYPES (TYPE(INTEGER) | TYPE(BIGINT) | TYPE(DECIMAL) | TYPE(MONEY) | TYPE(DOUBLE))

static const struct {
    const char *metadata; /* StringAttributeMetadata */
    const char *code;     /* AttributeType */
    const char *name;     /* AttributeTypeName */
} type_names[SIM_TYPES] = {
    [SIM_TYPE_STRING] = { "StringAttributeMetadata", "String", "StringType" },
    [SIM_TYPE_MEMO] = { "MemoAttributeMetadata", "Memo", "MemoType" },
    [SIM_TYPE_INTEGER] = { "IntegerAttributeMetadata", "Integer", "IntegerType" },
    [SIM_TYPE_BIGINT] = { "BigIntAttributeMetadata", "BigInt", "BigIntType" },
    [SIM_TYPE_DECIMAL] = { "DecimalAttributeMetadata", "Decimal", "DecimalType" },
    [SIM_TYPE_MONEY] = { "MoneyAttributeMetadata", "Money", "MoneyType" },
    [SIM_TYPE_DOUBLE] = { "DoubleAttributeMetadata", "Double", "DoubleType" },
    [SIM_TYPE_BOOLEAN] = { "BooleanAttributeMetadata", "Boolean", "BooleanType" },
    [SIM_TYPE_PICKLIST] = { "PicklistAttributeMetadata", "Picklist", "PicklistType" },
    [SIM_TYPE_MULTI_PICKLIST] = { "MultiSelectPicklistAttributeMetadata", "Virtual",
                                  "MultiSelectPicklistType" },
    [SIM_TYPE_STATE] = { "StateAttributeMetadata", "State", "StateType" },
    [SIM_TYPE_STATUS] = { "StatusAttributeMetadata", "Status", "StatusType" },
    [SIM_TYPE_DATETIME] = { "DateTimeAttributeMetadata", "DateTime", "DateTimeType" },
    [SIM_TYPE_UNIQUEIDENTIFIER] = { "UniqueIdentifierAttributeMetadata", "Uniqueidentifier",
                                    "UniqueidentifierType" },
    [SIM_TYPE_LOOKUP] = { "LookupAttributeMetadata", "Lookup", "LookupType" },
    [SIM_TYPE_CUSTOMER] = { "LookupAttributeMetadata", "Customer", "CustomerType" },
    [SIM_TYPE_OWNER] = { "LookupAttributeMetadata", "Owner", "OwnerType" },
    [SIM_TYPE_FILE] = { "FileAttributeMetadata", "Virtual", "FileType" },
    [SIM_TYPE_IMAGE] = { "ImageAttributeMetadata", "Virtual", "ImageType" },
};

static const struct sim_column *column_of(const struct sim_meta *meta)
{
    return &meta->table->columns[meta->column];
}

static void put_bool(bool value, struct weir_buf *json)
{
    weir_buf_add_text(json, value ? "true" : "false");
}

/* ---- what all have ---- */

static void put_id(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_id(meta->table->name, column_of(meta)->name, json);
}

static void put_logical(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(column_of(meta)->name, json);
}

static void put_schema(const struct sim_meta *meta, struct weir_buf *json)
{
    const struct sim_column *column = column_of(meta);
    sim_meta_put_text(column->schema ? column->schema : column->name, json);
}

static void put_display_name(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_label(sim_label_of(meta->table, column_of(meta)), json);
}

static void put_entity(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(meta->table->name, json);
}

static void put_type(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(type_names[column_of(meta)->type].code, json);
}

static void put_type_name(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_value(type_names[column_of(meta)->type].name, json);
}

static void put_attribute_of(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(column_of(meta)->attribute_of, json);
}

static void put_for_create(const struct sim_meta *meta, struct weir_buf *json)
{
    put_bool(!column_of(meta)->no_create && !meta->table->read_only, json);
}

static void put_for_update(const struct sim_meta *meta, struct weir_buf *json)
{
    put_bool(!column_of(meta)->no_update && !meta->table->read_only, json);
}

static void put_for_read(const struct sim_meta *meta, struct weir_buf *json)
{
    put_bool(!column_of(meta)->no_read || column_of(meta)->attribute_of, json);
}

static void put_is_id(const struct sim_meta *meta, struct weir_buf *json)
{
    put_bool(meta->column == meta->table->id, json);
}

static void put_is_name(const struct sim_meta *meta, struct weir_buf *json)
{
    put_bool(meta->column == meta->table->primary_name, json);
}

static void put_number(const struct sim_meta *meta, struct weir_buf *json)
{
    weir_buf_printf(json, "%" PRIu32, meta->column + 1);
}

static void put_required(const struct sim_meta *meta, struct weir_buf *json)
{
    static const char *const names[] = {
        [SIM_REQUIRED_NONE] = "None",
        [SIM_REQUIRED_RECOMMENDED] = "Recommended",
        [SIM_REQUIRED_APPLICATION] = "ApplicationRequired",
        [SIM_REQUIRED_SYSTEM] = "SystemRequired",
    };
    enum sim_required required = column_of(meta)->required;
    weir_buf_printf(json,
                    "{\"Value\":\"%s\",\"CanBeChanged\":%s,"
                    "\"ManagedPropertyLogicalName\":\"canmodifyrequirementlevelsettings\"}",
                    names[required], required == SIM_REQUIRED_SYSTEM ? "false" : "true");
}

/* ---- what some have ---- */

static void put_max_length(const struct sim_meta *meta, struct weir_buf *json)
{
    weir_buf_printf(json, "%" PRIu32, column_of(meta)->length_max);
}

static void put_min(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_decimal_print(column_of(meta)->min, 0, json);
}

static void put_max(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_decimal_print(column_of(meta)->max, 0, json);
}

static void put_precision(const struct sim_meta *meta, struct weir_buf *json)
{
    weir_buf_printf(json, "%u", column_of(meta)->precision);
}

static void put_format(const struct sim_meta *meta, struct weir_buf *json)
{
    const struct sim_column *column = column_of(meta);
    bool date_only = column->behavior == SIM_DATE_ONLY;
    switch (column->type) {
    case SIM_TYPE_DATETIME:
        sim_meta_put_text(date_only ? "DateOnly" : "DateAndTime", json);
        break;
    case SIM_TYPE_MEMO:
        sim_meta_put_text("TextArea", json);
        break;
    case SIM_TYPE_STRING:
        sim_meta_put_text("Text", json);
        break;
    default:
        sim_meta_put_text("None", json);
        break;
    }
}

static void put_behavior(const struct sim_meta *meta, struct weir_buf *json)
{
    static const char *const names[] = {
        [SIM_DATE_USER_LOCAL] = "UserLocal",
        [SIM_DATE_ONLY] = "DateOnly",
        [SIM_DATE_ZONE_INDEPENDENT] = "TimeZoneIndependent",
    };
    sim_meta_put_value(names[column_of(meta)->behavior], json);
}

static void put_targets(const struct sim_meta *meta, struct weir_buf *json)
{
    const struct sim_column *column = column_of(meta);
    weir_buf_add_char(json, '[');
    for (uint32_t i = 0; i < column->target_count; i++) {
        if (i)
            weir_buf_add_char(json, ',');
        sim_meta_put_text(column->targets[i].table, json);
    }
    weir_buf_add_char(json, ']');
}

#define EMPTY_LABEL "{\"LocalizedLabels\":[],\"UserLocalizedLabel\":null}"
#define RANGE_TYPES (NUMBER_TYPES & ~TYPE(BIGINT))

static const struct sim_meta_property properties[] = {
    { "MetadataId", NULL, put_id, 0 },
    { "HasChanged", "null", NULL, 0 },
    { "LogicalName", NULL, put_logical, 0 },
    { "SchemaName", NULL, put_schema, 0 },
    { "DisplayName", NULL, put_display_name, 0 },
    { "Description", EMPTY_LABEL, NULL, 0 },
    { "EntityLogicalName", NULL, put_entity, 0 },
    { "AttributeType", NULL, put_type, 0 },
    { "AttributeTypeName", NULL, put_type_name, 0 },
    { "AttributeOf", NULL, put_attribute_of, 0 },
    { "ColumnNumber", NULL, put_number, 0 },
    { "IsValidForCreate", NULL, put_for_create, 0 },
    { "IsValidForUpdate", NULL, put_for_update, 0 },
    { "IsValidForRead", NULL, put_for_read, 0 },
    { "RequiredLevel", NULL, put_required, 0 },
    { "IsPrimaryId", NULL, put_is_id, 0 },
    { "IsPrimaryName", NULL, put_is_name, 0 },
    { "IsLogical", "false", NULL, 0 },
    { "IsCustomAttribute", "false", NULL, 0 },
    { "IsManaged", "true", NULL, 0 },
    { "IsSecured", "false", NULL, 0 },
    { "IsRetrievable", "true", NULL, 0 },
    { "IsFilterable", "true", NULL, 0 },
    { "IsSearchable", "true", NULL, 0 },
    { "SourceType", "0", NULL, 0 },
    { "MaxLength", NULL, put_max_length, TEXT_TYPES },
    { "FormatName", "{\"Value\":\"Text\"}", NULL, TYPE(STRING) },
    { "Format", NULL, put_format, TEXT_TYPES | TYPE(DATETIME) | TYPE(INTEGER) | LOOKUP_TYPES },
    { "MinValue", NULL, put_min, NUMBER_TYPES },
    { "MaxValue", NULL, put_max, NUMBER_TYPES },
    { "Precision", NULL, put_precision, RANGE_TYPES & ~TYPE(INTEGER) },
    { "PrecisionSource", "0", NULL, TYPE(MONEY) },
    { "DateTimeBehavior", NULL, put_behavior, TYPE(DATETIME) },
    { "Targets", NULL, put_targets, LOOKUP_TYPES },
    { "MaxSizeInKB", "32768", NULL, TYPE(FILE) | TYPE(IMAGE) },
    { "IsPrimaryImage", "true", NULL, TYPE(IMAGE) },
    { "DefaultFormValue", "null", NULL, ENUM_TYPES },
    { "DefaultValue", "false", NULL, TYPE(BOOLEAN) },
};

static const struct sim_meta_type attribute_type = SIM_META_TYPE("AttributeMetadata", properties);

/* ---- casts ---- */

bool sim_meta_find_cast(struct weir_str text, struct sim_meta_cast *ret)
{
    static const char prefix[] = "Microsoft.Dynamics.CRM.";
    size_t len = sizeof(prefix) - 1;
    *ret = (struct sim_meta_cast){ NULL, 0 };
    if (!text.len)
        return true;
    if (text.len <= len || memcmp(text.ptr, prefix, len) != 0)
        return false;
    text = weir_str(text.ptr + len, text.len - len);
    if (weir_str_equal(text, weir_str_from("EnumAttributeMetadata")))
        *ret = (struct sim_meta_cast){ "EnumAttributeMetadata", ENUM_TYPES };
    for (uint32_t i = 0; i < SIM_TYPES; i++) {
        if (!weir_str_equal(text, weir_str_from(type_names[i].metadata)))
            continue;
        ret->name = type_names[i].metadata;
        ret->types |= 1u << i;
    }
    return ret->types != 0;
}

/* ---- one column ---- */

static bool put_expanded(const struct sim_meta *meta, struct weir_str name,
                         const struct sim_meta_options *options, struct weir_buf *json,
                         struct sim_answer *answer)
{
    bool global = weir_str_equal(name, weir_str_from("GlobalOptionSet"));
    const struct sim_column *column = column_of(meta);
    if (!global && !weir_str_equal(name, weir_str_from("OptionSet"))) {
        sim_answer_error(answer, 400, "0x0", "Could not find a property named '%.*s'.",
                         (int)(name.len <= 100 ? name.len : 0), name.ptr);
        return false;
    }
    weir_buf_printf(json, ",\"%s\":", global ? "GlobalOptionSet" : "OptionSet");
    /* A column has either a set of its own or shares a global one. */
    if (global != (column->option_set != NULL)) {
        weir_buf_add_text(json, "null");
        return true;
    }
    return sim_meta_put_option_set(meta, options->select, json, answer);
}

static bool put_one(const struct sim_meta *meta, const struct sim_meta_cast *cast,
                    const struct sim_meta_options *options, struct weir_buf *json,
                    struct sim_answer *answer)
{
    uint32_t type = 1u << column_of(meta)->type;
    if (!cast->types)
        weir_buf_printf(json, "\"@odata.type\":\"#Microsoft.Dynamics.CRM.%s\",",
                        type_names[column_of(meta)->type].metadata);
    sim_meta_put(&attribute_type, type, meta, options->select, json);
    struct weir_str expand = options->expand;
    struct weir_str name;
    struct sim_meta_options inner;
    while (sim_meta_take_expand(&expand, &name, &inner)) {
        if (!put_expanded(meta, name, &inner, json, answer))
            return false;
    }
    return !expand.len || sim_meta_bad_expand(answer);
}

bool sim_meta_put_attribute(const struct sim_meta *meta, const struct sim_meta_cast *cast,
                            const struct sim_meta_options *options, struct weir_buf *json,
                            struct sim_answer *answer)
{
    return sim_meta_check_select(&attribute_type, cast->types, options->select, answer) &&
           put_one(meta, cast, options, json, answer);
}

/* ---- all of them ---- */

enum slot {
    SLOT_LOGICAL,
    SLOT_SCHEMA,
    SLOT_ATTRIBUTE_OF,
    SLOT_FOR_CREATE,
    SLOT_FOR_UPDATE,
    SLOT_FOR_READ,
};

static const struct sim_column filter_columns[] = {
    [SLOT_LOGICAL] = { .name = "LogicalName", .type = SIM_TYPE_STRING },
    [SLOT_SCHEMA] = { .name = "SchemaName", .type = SIM_TYPE_STRING },
    [SLOT_ATTRIBUTE_OF] = { .name = "AttributeOf", .type = SIM_TYPE_STRING },
    [SLOT_FOR_CREATE] = { .name = "IsValidForCreate", .type = SIM_TYPE_BOOLEAN },
    [SLOT_FOR_UPDATE] = { .name = "IsValidForUpdate", .type = SIM_TYPE_BOOLEAN },
    [SLOT_FOR_READ] = { .name = "IsValidForRead", .type = SIM_TYPE_BOOLEAN },
};

static const struct sim_column *find(const void *ctx, struct weir_str path, uint32_t *ret_slot)
{
    (void)ctx;
    return sim_meta_find_column(filter_columns, sizeof(filter_columns) / sizeof(*filter_columns),
                                path, ret_slot);
}

static struct sim_value text_value(const char *text)
{
    return (struct sim_value){ .kind = text ? SIM_TEXT : SIM_NULL, .text = weir_str_from(text) };
}

static struct sim_value get(const void *ctx, const void *row, uint32_t slot)
{
    (void)ctx;
    const struct sim_meta *meta = row;
    const struct sim_column *column = column_of(meta);
    bool writable = !meta->table->read_only;
    switch ((enum slot)slot) {
    case SLOT_LOGICAL:
        return text_value(column->name);
    case SLOT_SCHEMA:
        return text_value(column->schema ? column->schema : column->name);
    case SLOT_ATTRIBUTE_OF:
        return text_value(column->attribute_of);
    case SLOT_FOR_CREATE:
        return (struct sim_value){ .kind = SIM_NUMBER, .number = !column->no_create && writable };
    case SLOT_FOR_UPDATE:
        return (struct sim_value){ .kind = SIM_NUMBER, .number = !column->no_update && writable };
    case SLOT_FOR_READ:
        break;
    }
    return (struct sim_value){ .kind = SIM_NUMBER,
                               .number = !column->no_read || column->attribute_of };
}

static bool put_matching(const struct sim_meta *meta, const struct sim_filter *filter,
                         const struct sim_meta_cast *cast, const struct sim_meta_options *options,
                         struct weir_buf *json, struct sim_answer *answer)
{
    struct sim_meta one = *meta;
    bool first = true;
    for (one.column = 0; one.column < meta->table->column_count; one.column++) {
        bool fits = !cast->types || cast->types & 1u << column_of(&one)->type;
        if (!fits || !sim_filter_match(filter, &one))
            continue;
        weir_buf_add_text(json, first ? "{" : ",{");
        if (!put_one(&one, cast, options, json, answer))
            return false;
        weir_buf_add_char(json, '}');
        first = false;
    }
    return true;
}

bool sim_meta_put_attributes(const struct sim_meta *meta, const struct sim_meta_cast *cast,
                             const struct sim_meta_options *options, struct weir_buf *json,
                             struct sim_answer *answer)
{
    static const struct sim_filter_names names = { find, get, NULL, "AttributeMetadata" };
    struct sim_filter *filter;
    if (options->expand.len && !(cast->types & SIM_META_CHOICE_TYPES)) {
        sim_answer_error(answer, 400, "0x0",
                         "Could not find a property named 'OptionSet' on type "
                         "'Microsoft.Dynamics.CRM.%s'.",
                         cast->name ? cast->name : "AttributeMetadata");
        return false;
    }
    if (!sim_meta_check_select(&attribute_type, cast->types, options->select, answer) ||
        !sim_filter_parse(options->filter, &names, meta->url, &filter, answer))
        return false;
    bool ok = put_matching(meta, filter, cast, options, json, answer);
    sim_filter_free(filter);
    return ok;
}

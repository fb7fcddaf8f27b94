/* SPDX-License-Identifier: MIT */
/* Option sets: of choices, states and statuses a list, of booleans a pair. */
#include <inttypes.h>
#include <stdio.h>

#include "sim/service/metadata_write.h"

static const struct sim_column *column_of(const struct sim_meta *meta)
{
    return &meta->table->columns[meta->column];
}

static const char *name_of(const struct sim_meta *meta, char *text, size_t bytes)
{
    const struct sim_column *column = column_of(meta);
    if (column->option_set)
        return column->option_set;
    snprintf(text, bytes, "%s_%s", meta->table->name, column->name);
    return text;
}

static void put_id(const struct sim_meta *meta, struct weir_buf *json)
{
    char text[2 * SIM_LOGICAL_MAX + 2];
    sim_meta_put_id("optionset", name_of(meta, text, sizeof(text)), json);
}

static void put_name(const struct sim_meta *meta, struct weir_buf *json)
{
    char text[2 * SIM_LOGICAL_MAX + 2];
    sim_meta_put_text(name_of(meta, text, sizeof(text)), json);
}

static void put_display_name(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_label(column_of(meta)->name, json);
}

static void put_is_global(const struct sim_meta *meta, struct weir_buf *json)
{
    weir_buf_add_text(json, column_of(meta)->option_set ? "true" : "false");
}

static void put_type(const struct sim_meta *meta, struct weir_buf *json)
{
    switch (column_of(meta)->type) {
    case SIM_TYPE_STATE:
        sim_meta_put_text("State", json);
        break;
    case SIM_TYPE_STATUS:
        sim_meta_put_text("Status", json);
        break;
    case SIM_TYPE_BOOLEAN:
        sim_meta_put_text("Boolean", json);
        break;
    default:
        sim_meta_put_text("Picklist", json);
        break;
    }
}

static void put_option(const struct sim_column *column, const struct sim_choice *choice,
                       struct weir_buf *json)
{
    weir_buf_add_char(json, '{');
    if (column->type == SIM_TYPE_STATUS)
        weir_buf_printf(json,
                        "\"@odata.type\":\"#Microsoft.Dynamics.CRM.StatusOptionMetadata\","
                        "\"State\":%" PRId32 ",\"TransitionData\":null,",
                        choice->state);
    if (column->type == SIM_TYPE_STATE) {
        weir_buf_add_text(json, "\"@odata.type\":\"#Microsoft.Dynamics.CRM.StateOptionMetadata\","
                                "\"InvariantName\":");
        sim_meta_put_text(choice->label, json);
        weir_buf_add_char(json, ',');
    }
    weir_buf_printf(json, "\"Value\":%" PRId32 ",\"Label\":", choice->value);
    sim_meta_put_label(choice->label, json);
    weir_buf_add_text(json, ",\"Description\":{\"LocalizedLabels\":[],\"UserLocalizedLabel\":null},"
                            "\"Color\":null,\"IsManaged\":true,\"ExternalValue\":null,"
                            "\"ParentValues\":[],\"MetadataId\":null,\"HasChanged\":null}");
}

static void put_options(const struct sim_meta *meta, struct weir_buf *json)
{
    const struct sim_column *column = column_of(meta);
    weir_buf_add_char(json, '[');
    for (uint32_t i = 0; i < column->choice_count; i++) {
        if (i)
            weir_buf_add_char(json, ',');
        put_option(column, &column->choices[i], json);
    }
    weir_buf_add_char(json, ']');
}

static void put_flag(const struct sim_meta *meta, int64_t value, const char *label,
                     struct weir_buf *json)
{
    const struct sim_column *column = column_of(meta);
    const struct sim_choice *choice = sim_column_choice(column, value);
    struct sim_choice made = { .value = (int32_t)value, .label = label };
    put_option(column, choice ? choice : &made, json);
}

static void put_true(const struct sim_meta *meta, struct weir_buf *json)
{
    put_flag(meta, 1, "Yes", json);
}

static void put_false(const struct sim_meta *meta, struct weir_buf *json)
{
    put_flag(meta, 0, "No", json);
}

#define LIST_TYPES (SIM_META_CHOICE_TYPES & ~(1u << SIM_TYPE_BOOLEAN))
#define FLAG_TYPES (1u << SIM_TYPE_BOOLEAN)

static const struct sim_meta_property properties[] = {
    { "MetadataId", NULL, put_id, 0 },
    { "Name", NULL, put_name, 0 },
    { "DisplayName", NULL, put_display_name, 0 },
    { "Description", "{\"LocalizedLabels\":[],\"UserLocalizedLabel\":null}", NULL, 0 },
    { "IsGlobal", NULL, put_is_global, 0 },
    { "IsManaged", "true", NULL, 0 },
    { "IsCustomOptionSet", "false", NULL, 0 },
    { "OptionSetType", NULL, put_type, 0 },
    { "HasChanged", "null", NULL, 0 },
    { "Options", NULL, put_options, LIST_TYPES },
    { "TrueOption", NULL, put_true, FLAG_TYPES },
    { "FalseOption", NULL, put_false, FLAG_TYPES },
};

static const struct sim_meta_type list_type = SIM_META_TYPE("OptionSetMetadata", properties);
static const struct sim_meta_type flag_type = SIM_META_TYPE("BooleanOptionSetMetadata", properties);

bool sim_meta_put_option_set(const struct sim_meta *meta, struct weir_str select,
                             struct weir_buf *json, struct sim_answer *answer)
{
    bool flag = column_of(meta)->type == SIM_TYPE_BOOLEAN;
    const struct sim_meta_type *type = flag ? &flag_type : &list_type;
    uint32_t types = flag ? FLAG_TYPES : LIST_TYPES;
    if (!sim_meta_check_select(type, types, select, answer))
        return false;
    weir_buf_add_char(json, '{');
    sim_meta_put(type, types, meta, select, json);
    weir_buf_add_char(json, '}');
    return true;
}

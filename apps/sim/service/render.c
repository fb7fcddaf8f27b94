/* SPDX-License-Identifier: MIT */
/* Rows as JSON; see render.h. */
#include "sim/service/render.h"

#include "sim/service/api_internal.h"
#include "sim/service/literal.h"

#define FORMATTED "@OData.Community.Display.V1.FormattedValue"

static struct weir_str next_name(struct weir_str *list)
{
    const char *comma = memchr(list->ptr, ',', list->len);
    size_t len = comma ? (size_t)(comma - list->ptr) : list->len;
    struct weir_str name = weir_str_trim(weir_str(list->ptr, len));
    size_t taken = comma ? len + 1 : len;
    *list = weir_str(list->ptr + taken, list->len - taken);
    return name;
}

bool sim_select_parse(const struct sim_table *table, struct weir_str text, struct sim_select *ret,
                      struct sim_answer *answer)
{
    *ret = (struct sim_select){ .all = text.len == 0 };
    ret->columns[table->id] = 1;
    while (text.len) {
        struct weir_str name = next_name(&text);
        if (weir_str_equal(name, weir_str_from("*"))) {
            ret->all = true;
            continue;
        }
        const struct sim_property *property = sim_table_property(table, name);
        if (!property) {
            sim_answer_error(answer, 400, "0x0",
                             "Could not find a property named '%.*s' on type "
                             "'Microsoft.Dynamics.CRM.%s'.",
                             (int)sim_text_cut(name, 200).len, name.ptr, table->name);
            return false;
        }
        ret->columns[property->column] = 1;
    }
    return true;
}

/* A JSON string; what needs no escape is copied in runs. */
static void add_string(struct weir_buf *json, struct weir_str text)
{
    size_t start = 0;
    weir_buf_add_char(json, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        weir_buf_add(json, text.ptr + start, i - start);
        if (c == '"' || c == '\\')
            weir_buf_printf(json, "\\%c", c);
        else
            weir_buf_printf(json, "\\u%04x", c);
        start = i + 1;
    }
    weir_buf_add(json, text.ptr + start, text.len - start);
    weir_buf_add_char(json, '"');
}

static void add_number(const struct sim_column *column, int64_t number, struct weir_buf *json)
{
    switch (column->type) {
    case SIM_TYPE_BOOLEAN:
        weir_buf_add_text(json, number ? "true" : "false");
        break;
    case SIM_TYPE_DATETIME:
        weir_buf_add_char(json, '"');
        sim_date_print(number, column->behavior, json);
        weir_buf_add_char(json, '"');
        break;
    default:
        weir_buf_printf(json, "%lld", (long long)number);
    }
}

void sim_render_value(const struct sim_column *column, const struct sim_value *value,
                      struct weir_buf *json)
{
    char text[SIM_GUID_TEXT];
    switch (value->kind) {
    case SIM_NULL:
        weir_buf_add_text(json, "null");
        break;
    case SIM_TEXT:
        add_string(json, value->text);
        break;
    case SIM_NUMBER:
        add_number(column, value->number, json);
        break;
    case SIM_DECIMAL:
        sim_decimal_print(value->decimal, column->precision, json);
        break;
    case SIM_REAL:
        sim_real_print(value->real, json);
        break;
    case SIM_ID:
        weir_buf_printf(json, "\"%s\"", sim_guid_print(value->id, text));
        break;
    }
}

/* The texts of the choices of a value, "A; B" for several. */
static void add_labels(const struct sim_column *column, const struct sim_value *value,
                       struct weir_buf *text)
{
    struct weir_str list = value->kind == SIM_TEXT ? value->text : weir_str("", 0);
    if (value->kind == SIM_NUMBER) {
        const struct sim_choice *choice = sim_column_choice(column, value->number);
        weir_buf_add_text(text, choice ? choice->label : "");
    }
    while (list.len) {
        int64_t number;
        struct weir_str name = next_name(&list);
        const struct sim_choice *choice =
            weir_str_to_int64(name, &number) ? sim_column_choice(column, number) : NULL;
        weir_buf_printf(text, "%s%s", text->len ? "; " : "", choice ? choice->label : "");
    }
}

static void add_formatted(const struct sim_column *column, const char *name,
                          const struct sim_value *value, struct weir_buf *json)
{
    if (value->kind == SIM_NULL || value->kind == SIM_ID ||
        (value->kind == SIM_TEXT && column->type != SIM_TYPE_MULTI_PICKLIST))
        return;
    struct weir_buf text;
    weir_buf_init(&text, json->bytes_max);
    if (column->choice_count)
        add_labels(column, value, &text);
    else if (column->type == SIM_TYPE_DATETIME)
        sim_date_print(value->number, column->behavior, &text);
    else
        sim_render_value(column, value, &text);
    weir_buf_printf(json, ",\"%s" FORMATTED "\":", name);
    add_string(json, weir_str(weir_buf_text(&text), text.len));
    weir_buf_release(&text);
}

/* What a lookup refers to, by its primary name. */
static void add_referred(const struct sim_api *api, const struct sim_column *column,
                         const struct sim_value *value, struct weir_buf *json)
{
    uint32_t target = column->targets[value->target].place;
    const struct sim_table *table = api->schema.tables[target];
    const struct sim_store *store = &api->stores[target];
    uint32_t place = sim_store_find(store, value->id, weir_str("", 0));
    if (place == SIM_NO_PLACE || table->primary_name == SIM_NO_COLUMN)
        return;
    struct sim_value name = sim_row_get(sim_store_at(store, place), table->primary_name);
    if (name.kind != SIM_TEXT)
        return;
    weir_buf_printf(json, ",\"_%s_value" FORMATTED "\":", column->name);
    add_string(json, name.text);
}

static void add_lookup(const struct sim_api *api, const struct sim_column *column,
                       const struct sim_value *value, const struct sim_prefer *prefer,
                       struct weir_buf *json)
{
    weir_buf_printf(json, ",\"_%s_value\":", column->name);
    sim_render_value(column, value, json);
    if (value->kind == SIM_NULL || value->target >= column->target_count)
        return;
    if (prefer->formatted)
        add_referred(api, column, value, json);
    if (!prefer->lookup_names)
        return;
    const struct sim_target *target = &column->targets[value->target];
    weir_buf_printf(json,
                    ",\"_%s_value@Microsoft.Dynamics.CRM.associatednavigationproperty\":\"%s\"",
                    column->name, target->nav);
    weir_buf_printf(json, ",\"_%s_value@Microsoft.Dynamics.CRM.lookuplogicalname\":\"%s\"",
                    column->name, target->table);
}

void sim_render_row(const struct sim_api *api, const struct sim_table *table,
                    const struct sim_row *row, const struct sim_select *select,
                    const struct sim_prefer *prefer, struct weir_buf *json)
{
    struct sim_value values[SIM_COLUMNS_MAX];
    sim_row_read(row, table, values);
    weir_buf_printf(json, "\"@odata.etag\":\"W/\\\"%llu\\\"\"", (unsigned long long)row->version);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct sim_column *column = &table->columns[i];
        if ((!select->all && !select->columns[i]) || column->no_read)
            continue;
        if (sim_type_is_lookup(column->type)) {
            add_lookup(api, column, &values[i], prefer, json);
            continue;
        }
        weir_buf_printf(json, ",\"%s\":", column->name);
        sim_render_value(column, &values[i], json);
        if (prefer->formatted)
            add_formatted(column, column->name, &values[i], json);
    }
}

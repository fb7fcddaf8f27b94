/* SPDX-License-Identifier: MIT */
/*
 * Tables, columns and the names that stand for them; see schema.h. Tables are made by
 * schema_tables.c and schema_read.c; here they are completed: what has a meaning is found, names
 * are hashed, targets resolved.
 */
#include "sim/service/schema.h"

#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"

struct sim_table *sim_schema_add(struct sim_schema *schema, const char *name, const char *set)
{
    if (schema->table_count == SIM_TABLES_MAX)
        return NULL;
    struct sim_table *table = weir_calloc(1, sizeof(*table));
    table->place = schema->table_count;
    table->id = table->primary_name = table->owner = table->state = SIM_NO_COLUMN;
    table->status = table->created_on = table->modified_on = SIM_NO_COLUMN;
    table->overridden_created_on = table->partition = table->created_by = SIM_NO_COLUMN;
    table->modified_by = table->on_behalf_of = SIM_NO_COLUMN;
    table->name = sim_table_text(table, weir_str_from(name));
    table->set = sim_table_text(table, weir_str_from(set));
    schema->tables[schema->table_count++] = table;
    return table;
}

struct sim_column *sim_table_add(struct sim_table *table, const char *name, enum sim_type type)
{
    if (table->column_count == SIM_COLUMNS_MAX)
        return NULL;
    if (!table->columns)
        table->columns = weir_calloc(SIM_COLUMNS_MAX, sizeof(*table->columns));
    struct sim_column *column = &table->columns[table->column_count++];
    *column = (struct sim_column){ .name = name, .type = type };
    return column;
}

const char *sim_table_text(struct sim_table *table, struct weir_str text)
{
    table->texts = weir_realloc(table->texts, table->text_count + 1, sizeof(*table->texts));
    char *copy = weir_strndup(text.ptr, text.len);
    table->texts[table->text_count++] = copy;
    return copy;
}

static void table_free(struct sim_table *table)
{
    for (uint32_t i = 0; i < table->text_count; i++)
        free(table->texts[i]);
    free(table->texts);
    free(table->columns);
    free(table->properties);
    weir_map_release(&table->column_map);
    weir_map_release(&table->property_map);
    free(table);
}

void sim_schema_release(struct sim_schema *schema)
{
    for (uint32_t i = 0; i < schema->table_count; i++)
        table_free(schema->tables[i]);
    weir_map_release(&schema->name_map);
    weir_map_release(&schema->set_map);
    *schema = (struct sim_schema){ 0 };
}

/* Where a table keeps the place of a column that the service knows by name; NULL: it does not. */
static uint32_t *meaning_of(struct sim_table *table, const char *name)
{
    const struct {
        const char *name;
        uint32_t *place;
    } meanings[] = {
        { "createdon", &table->created_on },
        { "modifiedon", &table->modified_on },
        { "overriddencreatedon", &table->overridden_created_on },
        { "createdby", &table->created_by },
        { "modifiedby", &table->modified_by },
        { "createdonbehalfby", &table->on_behalf_of },
        { table->elastic ? "partitionid" : "", &table->partition },
    };
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
        if (strcmp(name, meanings[i].name) == 0)
            return meanings[i].place;
    }
    return NULL;
}

/* The columns that the service itself knows, by type or by name. */
static void find_meanings(struct sim_table *table)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct sim_column *column = &table->columns[i];
        uint32_t *place = meaning_of(table, column->name);
        if (column->type == SIM_TYPE_OWNER)
            table->owner = i;
        else if (column->type == SIM_TYPE_STATE)
            table->state = i;
        else if (column->type == SIM_TYPE_STATUS)
            table->status = i;
        else if (place)
            *place = i;
    }
}

static void add_property(struct sim_table *table, const char *name, struct sim_property property)
{
    if (weir_map_add(&table->property_map, weir_str_from(name), table->property_count))
        table->properties[table->property_count++] = property;
}

static void add_lookup(struct sim_table *table, uint32_t place)
{
    const struct sim_column *column = &table->columns[place];
    char name[SIM_LOGICAL_MAX + 16];
    snprintf(name, sizeof(name), "_%.*s_value", SIM_LOGICAL_MAX, column->name);
    add_property(table, sim_table_text(table, weir_str_from(name)),
                 (struct sim_property){ SIM_PROPERTY_LOOKUP_VALUE, place, 0 });
    for (uint32_t i = 0; i < column->target_count; i++)
        add_property(table, column->targets[i].nav,
                     (struct sim_property){ SIM_PROPERTY_NAVIGATION, place, i });
}

static void name_properties(struct sim_table *table)
{
    size_t max = (size_t)table->column_count * (1 + SIM_TARGETS_MAX);
    table->properties = weir_calloc(max, sizeof(*table->properties));
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct sim_column *column = &table->columns[i];
        weir_map_add(&table->column_map, weir_str_from(column->name), i);
        if (column->attribute_of)
            continue;
        if (sim_type_is_lookup(column->type))
            add_lookup(table, i);
        else
            add_property(table, column->name, (struct sim_property){ SIM_PROPERTY_COLUMN, i, 0 });
    }
}

static enum weir_status resolve_targets(const struct sim_schema *schema, struct sim_table *table,
                                        const char *file, struct weir_error *err)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        struct sim_column *column = &table->columns[i];
        for (uint32_t j = 0; j < column->target_count; j++) {
            const char *name = column->targets[j].table;
            const struct sim_table *target = sim_schema_table(schema, weir_str_from(name));
            if (!target)
                return weir_fail(err, WEIR_E_INVALID,
                                 "%s: tables: column \"%s\" of \"%s\" points at \"%s\", allowed is "
                                 "the name of a table",
                                 file, column->name, table->name, name);
            column->targets[j].place = target->place;
        }
    }
    return WEIR_OK;
}

static enum weir_status complete(struct sim_schema *schema, const char *file,
                                 struct weir_error *err)
{
    for (uint32_t i = 0; i < schema->table_count; i++) {
        struct sim_table *table = schema->tables[i];
        find_meanings(table);
        name_properties(table);
        if (!weir_map_add(&schema->name_map, weir_str_from(table->name), i) ||
            !weir_map_add(&schema->set_map, weir_str_from(table->set), i))
            return weir_fail(err, WEIR_E_INVALID, "%s: tables: there are two of the name \"%s\"",
                             file, table->name);
    }
    for (uint32_t i = 0; i < schema->table_count; i++) {
        enum weir_status status = resolve_targets(schema, schema->tables[i], file, err);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

/* A built-in table that the scenario defines itself goes; `first` is the first of the scenario's.
 */
static void drop_replaced(struct sim_schema *schema, uint32_t first)
{
    uint32_t kept = 0;
    uint32_t count = schema->table_count;
    for (uint32_t i = 0; i < count; i++) {
        struct sim_table *table = schema->tables[i];
        bool replaced = false;
        for (uint32_t j = first; i < first && j < count; j++)
            replaced |= strcmp(schema->tables[j]->name, table->name) == 0;
        if (replaced) {
            table_free(table);
            continue;
        }
        table->place = kept;
        schema->tables[kept++] = table;
    }
    schema->table_count = kept;
}

enum weir_status sim_schema_init(struct sim_schema *schema, const struct weir_json *scenario,
                                 const char *file, struct weir_error *err)
{
    *schema = (struct sim_schema){ 0 };
    sim_schema_add_builtin(schema);
    uint32_t first = schema->table_count;
    file = file ? file : "scenario";
    enum weir_status status = WEIR_OK;
    const struct weir_json_node *tables =
        scenario ? weir_json_find(weir_json_root(scenario), "tables") : NULL;
    if (tables)
        status = sim_schema_read(schema, tables, file, err);
    if (status == WEIR_OK) {
        drop_replaced(schema, first);
        status = complete(schema, file, err);
    }
    if (status != WEIR_OK)
        sim_schema_release(schema);
    return status;
}

const struct sim_table *sim_schema_table(const struct sim_schema *schema, struct weir_str name)
{
    uint32_t place;
    return weir_map_find(&schema->name_map, name, &place) ? schema->tables[place] : NULL;
}

const struct sim_table *sim_schema_set(const struct sim_schema *schema, struct weir_str set)
{
    uint32_t place;
    return weir_map_find(&schema->set_map, set, &place) ? schema->tables[place] : NULL;
}

uint32_t sim_table_column(const struct sim_table *table, struct weir_str name)
{
    uint32_t column;
    return weir_map_find(&table->column_map, name, &column) ? column : SIM_NO_COLUMN;
}

const struct sim_property *sim_table_property(const struct sim_table *table, struct weir_str name)
{
    uint32_t place;
    return weir_map_find(&table->property_map, name, &place) ? &table->properties[place] : NULL;
}

static bool has_column(const struct sim_key *key, uint32_t column)
{
    for (uint32_t i = 0; i < key->column_count; i++) {
        if (key->columns[i] == column)
            return true;
    }
    return false;
}

const struct sim_key *sim_table_key(const struct sim_table *table, const uint32_t *columns,
                                    uint32_t count)
{
    for (uint32_t i = 0; i < table->key_count; i++) {
        const struct sim_key *key = &table->keys[i];
        bool all = key->column_count == count;
        for (uint32_t j = 0; all && j < count; j++)
            all = has_column(key, columns[j]);
        if (all)
            return key;
    }
    return NULL;
}

const struct sim_choice *sim_column_choice(const struct sim_column *column, int64_t value)
{
    for (uint32_t i = 0; i < column->choice_count; i++) {
        if (column->choices[i].value == value)
            return &column->choices[i];
    }
    return NULL;
}

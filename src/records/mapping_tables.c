/* SPDX-License-Identifier: MIT */
/* What must be known before a mapping can be made: the tables that lookups point to. */
#include "base/error.h"
#include "base/mem.h"
#include "records/mapping_parts.h"
#include "records/read_format.h"

void weir_table_list_release(struct weir_table_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct weir_table_list){ 0 };
}

static bool has(const struct weir_table_list *list, struct weir_str name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (weir_str_equal(name, weir_str_from(list->names[i])))
            return true;
    }
    return false;
}

static enum weir_status add(const struct weir_table *own, struct weir_table_list *list,
                            struct weir_str name, struct weir_error *err)
{
    if (weir_str_equal(name, weir_str_from(own->name)) || has(list, name))
        return WEIR_OK;
    if (list->count == WEIR_LOOKUP_TABLES_MAX)
        return weir_fail(err, WEIR_E_INVALID,
                         "lookups may point to more than %d tables; say which in the header, as "
                         "column:table",
                         WEIR_LOOKUP_TABLES_MAX);
    list->names = weir_realloc(list->names, list->count + 1, sizeof(*list->names));
    list->names[list->count++] = weir_strndup(name.ptr, name.len);
    return WEIR_OK;
}

/* A table whose set every environment knows needs no describing for ids alone. */
static enum weir_status add_set(const struct weir_table *own, struct weir_table_list *list,
                                struct weir_str name, struct weir_error *err)
{
    struct weir_lookup_world world = { .own = own };
    return weir_lookup_set(&world, name).len ? WEIR_OK : add(own, list, name, err);
}

static enum weir_status add_target(const struct weir_table *own, struct weir_table_list *list,
                                   struct weir_str text, struct weir_error *err)
{
    struct weir_column_target target;
    enum weir_status status = weir_column_target_parse(text, &target, err);
    if (status)
        return status;
    if (target.key_count)
        return add(own, list, target.table, err);
    if (target.table.ptr)
        return add_set(own, list, target.table, err);
    const struct weir_column *column = weir_table_column(own, target.column);
    if (column && column->type == WEIR_COLUMN_OWNER)
        return WEIR_OK; /* users and teams */
    for (uint32_t i = 0; column && i < column->target_count && !status; i++)
        status = add_set(own, list, weir_str_from(column->targets[i].table), err);
    return status;
}

/* The name of a lookup as Dataverse writes it is that of its column in another dress. */
static enum weir_status add_column(const struct weir_table *own, const struct weir_spec *spec,
                                   struct weir_table_list *list, struct weir_str name,
                                   struct weir_error *err)
{
    struct weir_str column;
    if (weir_spec_find(spec, name))
        return WEIR_OK;
    enum weir_read_member kind = weir_read_member_of(name, &column);
    if (kind == WEIR_READ_LOOKUP)
        return add_target(own, list, column, err);
    return kind == WEIR_READ_PLAIN ? add_target(own, list, name, err) : WEIR_OK;
}

static enum weir_status add_all(const struct weir_table *own, struct weir_columns columns,
                                const struct weir_spec *spec, struct weir_table_list *list,
                                struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < columns.count && !status; i++)
        status = add_column(own, spec, list, columns.names[i], err);
    for (uint32_t i = 0; spec && i < spec->column_count && !status; i++) {
        if (spec->columns[i].target)
            status = add_target(own, list, weir_str_from(spec->columns[i].target), err);
    }
    for (uint32_t i = 0; spec && i < spec->with_count && !status; i++)
        status = add_target(own, list, weir_str_from(spec->with[i].target), err);
    return status;
}

enum weir_status weir_mapping_tables(const struct weir_table *table, struct weir_columns columns,
                                     const struct weir_spec *spec, struct weir_table_list *ret,
                                     struct weir_error *err)
{
    struct weir_table_list list = { 0 };
    enum weir_status status = add_all(table, columns, spec, &list, err);
    if (status)
        weir_table_list_release(&list);
    else
        *ret = list;
    return status;
}

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
    for (uint32_t i = 0; i < list->count; i++)
        free(list->columns[i]);
    free(list->names);
    free(list->columns);
    *list = (struct weir_table_list){ 0 };
}

/* Tables as they are found. */
struct search {
    const struct weir_table *own;
    struct weir_table_list list;
    struct weir_str column; /* of the input, that is looked at; no ptr: something else is */
};

static bool has(const struct weir_table_list *list, struct weir_str name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (weir_str_equal(name, weir_str_from(list->names[i])))
            return true;
    }
    return false;
}

static enum weir_status add(struct search *search, struct weir_str name, struct weir_error *err)
{
    struct weir_table_list *list = &search->list;
    const struct weir_str column = search->column;
    if (weir_str_equal(name, weir_str_from(search->own->name)) || has(list, name))
        return WEIR_OK;
    if (list->count == WEIR_LOOKUP_TABLES_MAX)
        return weir_fail(err, WEIR_E_INVALID,
                         "lookups may point to more than %d tables; say which in the header, as "
                         "column:table",
                         WEIR_LOOKUP_TABLES_MAX);
    list->names = weir_realloc(list->names, list->count + 1, sizeof(*list->names));
    list->columns = weir_realloc(list->columns, list->count + 1, sizeof(*list->columns));
    list->names[list->count] = weir_strndup(name.ptr, name.len);
    list->columns[list->count++] = column.ptr ? weir_strndup(column.ptr, column.len) : NULL;
    return WEIR_OK;
}

/* A table whose set every environment knows needs no describing for ids alone. */
static enum weir_status add_set(struct search *search, struct weir_str name, struct weir_error *err)
{
    struct weir_lookup_world world = { .own = search->own };
    return weir_lookup_set(&world, name).len ? WEIR_OK : add(search, name, err);
}

static enum weir_status add_target(struct search *search, struct weir_str text,
                                   struct weir_error *err)
{
    struct weir_column_target target;
    enum weir_status status = WEIR_OK;
    if (weir_column_target_parse(text, &target, NULL))
        return WEIR_OK;
    if (target.key_count)
        return add(search, target.table, err);
    if (target.table.ptr)
        return add_set(search, target.table, err);
    const struct weir_column *column = weir_table_column(search->own, target.column);
    if (column && column->type == WEIR_COLUMN_OWNER)
        return WEIR_OK; /* users and teams */
    for (uint32_t i = 0; column && i < column->target_count && !status; i++)
        status = add_set(search, weir_str_from(column->targets[i].table), err);
    return status;
}

/* The name of a lookup as Dataverse writes it is that of its column in another dress. */
static enum weir_status add_column(struct search *search, const struct weir_spec *spec,
                                   struct weir_str name, struct weir_error *err)
{
    struct weir_str column;
    if (weir_spec_find(spec, name))
        return WEIR_OK;
    search->column = name;
    enum weir_read_member kind = weir_read_member_of(name, &column);
    if (kind == WEIR_READ_LOOKUP)
        return add_target(search, column, err);
    return kind == WEIR_READ_PLAIN ? add_target(search, name, err) : WEIR_OK;
}

static enum weir_status add_all(struct search *search, struct weir_columns columns,
                                const struct weir_spec *spec, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < columns.count && !status; i++)
        status = add_column(search, spec, columns.names[i], err);
    search->column = weir_str(NULL, 0);
    for (uint32_t i = 0; spec && i < spec->column_count && !status; i++) {
        if (spec->columns[i].target)
            status = add_target(search, weir_str_from(spec->columns[i].target), err);
    }
    for (uint32_t i = 0; spec && i < spec->with_count && !status; i++)
        status = add_target(search, weir_str_from(spec->with[i].target), err);
    return status;
}

enum weir_status weir_mapping_tables(const struct weir_table *table, struct weir_columns columns,
                                     const struct weir_spec *spec, struct weir_table_list *ret,
                                     struct weir_error *err)
{
    struct search search = { .own = table };
    enum weir_status status = add_all(&search, columns, spec, err);
    if (status)
        weir_table_list_release(&search.list);
    else
        *ret = search.list;
    return status;
}

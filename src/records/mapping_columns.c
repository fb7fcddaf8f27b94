/* SPDX-License-Identifier: MIT */
/*
 * What each column of the input is for; see mapping_parts.h. It names the row, becomes a member, or
 * (in a delete) is passed over. Whatever else is refused here, before anything was sent.
 */
#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "records/hash.h"
#include "records/mapping_parts.h"

/* ---- names that are not there ---- */

/* The nearest column; NULL: none is near. */
static const char *nearest(const struct weir_table *table, struct weir_str name)
{
    size_t best = weir_str_tolerance(name) + 1;
    const char *found = NULL;
    for (uint32_t i = 0; i < table->column_count && best; i++) {
        size_t distance = weir_str_distance(name, weir_str_from(table->columns[i].name));
        if (distance < best) {
            best = distance;
            found = table->columns[i].name;
        }
    }
    return found;
}

enum weir_status weir_mapping_fail_unknown(const struct weir_table *table, struct weir_str name,
                                           struct weir_error *err)
{
    const char *near = nearest(table, name);
    if (near)
        return weir_fail(err, WEIR_E_INVALID,
                         "the table \"%s\" has no column \"%.*s\"; did you mean \"%s\"?",
                         table->name, WEIR_QUOTED(name), near);
    return weir_fail(err, WEIR_E_INVALID,
                     "the table \"%s\" has no column \"%.*s\"; columns go by their logical names",
                     table->name, WEIR_QUOTED(name));
}

/* ---- members ---- */

static bool is_writable(const struct weir_mapping *mapping, const struct weir_column *column)
{
    bool create = mapping->operation != WEIR_OPERATION_UPDATE;
    bool update = mapping->operation != WEIR_OPERATION_CREATE;
    return column->type != WEIR_COLUMN_OTHER && (!create || column->for_create) &&
           (!update || column->for_update);
}

static enum weir_status check_member(const struct weir_mapping *mapping,
                                     const struct weir_column *column, struct weir_error *err)
{
    if (column->type == WEIR_COLUMN_FILE || column->type == WEIR_COLUMN_IMAGE)
        return weir_fail(err, WEIR_E_INVALID,
                         "the column \"%s\" of the table \"%s\" is of the type %s, which no row "
                         "can carry; leave it out of the input",
                         column->name, mapping->table->name, weir_column_type_name(column->type));
    if (is_writable(mapping, column))
        return WEIR_OK;
    const char *hint = "";
    if (mapping->operation == WEIR_OPERATION_UPSERT && column->for_create != column->for_update)
        hint = column->for_create ? ", only by a create" : ", only by an update";
    return weir_fail(
        err, WEIR_E_INVALID,
        "the column \"%s\" of the table \"%s\" cannot be written by %s%s; leave it out "
        "of the input",
        column->name, mapping->table->name, weir_mapping_verb(mapping), hint);
}

static struct weir_str make_opening(const struct weir_column *column,
                                    const struct weir_cell_kind *kind)
{
    struct weir_buf text;
    size_t bytes = strlen(",\"\":") + strlen(column->name) + strlen(kind->suffix);
    weir_buf_init(&text, bytes);
    weir_buf_printf(&text, ",\"%s%s\":", column->name, kind->suffix);
    return weir_str(weir_buf_take(&text), bytes);
}

static void add_member(struct weir_mapping *mapping, const struct weir_column *column,
                       uint32_t place)
{
    struct weir_member *member = &mapping->members[mapping->member_count++];
    const struct weir_cell_kind *kind = weir_cell_kind_of(column);
    *member = (struct weir_member){
        .place = place,
        .column = column,
        .kind = kind,
        .opening = make_opening(column, kind),
        .shape = weir_hash64(column->name, strlen(column->name)),
    };
    if (column->type == WEIR_COLUMN_OWNER)
        mapping->owner_column = member;
}

/* ---- one column ---- */

/* The place among those that name rows that this column fills; NULL: it is none of them. */
static uint32_t *naming_place(struct weir_mapping *mapping, const struct weir_column *column)
{
    for (uint32_t i = 0; i < mapping->key_count; i++) {
        if (column == mapping->key[i])
            return &mapping->key_places[i];
    }
    if (strcmp(column->name, mapping->table->primary_id) == 0)
        return &mapping->id_place;
    if (mapping->elastic && strcmp(column->name, WEIR_PARTITION_COLUMN) == 0)
        return &mapping->partition_place;
    return NULL;
}

static enum weir_status choose(struct weir_mapping *mapping, struct weir_str name, uint32_t place,
                               struct weir_error *err)
{
    const struct weir_column *column = weir_table_column(mapping->table, name);
    if (!column)
        return weir_mapping_fail_unknown(mapping->table, name, err);
    mapping->columns[place] = column;
    uint32_t *naming = naming_place(mapping, column);
    if (naming) {
        *naming = place;
        return WEIR_OK;
    }
    if (mapping->operation == WEIR_OPERATION_DELETE)
        return WEIR_OK;
    enum weir_status status = check_member(mapping, column, err);
    if (!status)
        add_member(mapping, column, place);
    return status;
}

static enum weir_status choose_all(struct weir_mapping *mapping, struct weir_columns columns,
                                   struct weir_error *err)
{
    struct weir_map seen;
    weir_map_init(&seen);
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < columns.count && !status; i++) {
        struct weir_str name = columns.names[i];
        status = choose(mapping, name, i, err);
        if (!status && !weir_map_add(&seen, name, i))
            status = weir_fail(err, WEIR_E_INVALID,
                               "the input has the column \"%.*s\" twice; the table \"%s\" takes it "
                               "once",
                               WEIR_QUOTED(name), mapping->table->name);
    }
    weir_map_release(&seen);
    return status;
}

/* ---- what must be there ---- */

static enum weir_status fail_missing(const struct weir_mapping *mapping, const char *column,
                                     struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "the input has no column \"%s\", by which %s names its rows", column,
                     weir_mapping_verb(mapping));
}

/* In a delete the other name is one of the columns that are passed over. */
static enum weir_status check_key(const struct weir_mapping *mapping, struct weir_error *err)
{
    for (uint32_t i = 0; i < mapping->key_count; i++) {
        if (mapping->key_places[i] == WEIR_NO_PLACE)
            return fail_missing(mapping, mapping->key[i]->name, err);
    }
    bool both = mapping->id_place != WEIR_NO_PLACE || mapping->partition_place != WEIR_NO_PLACE;
    if (!both || mapping->operation == WEIR_OPERATION_DELETE)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "the input has the column \"%s\", and rows go by a key; leave one of them out",
                     mapping->id_place != WEIR_NO_PLACE ? mapping->table->primary_id
                                                        : WEIR_PARTITION_COLUMN);
}

static enum weir_status check_naming(const struct weir_mapping *mapping, struct weir_error *err)
{
    if (mapping->by_key)
        return check_key(mapping, err);
    bool create = mapping->operation == WEIR_OPERATION_CREATE;
    if (!create && mapping->id_place == WEIR_NO_PLACE)
        return fail_missing(mapping, mapping->table->primary_id, err);
    if (mapping->by_partition && mapping->partition_place == WEIR_NO_PLACE)
        return fail_missing(mapping, WEIR_PARTITION_COLUMN, err);
    return WEIR_OK;
}

enum weir_status weir_mapping_choose_columns(struct weir_mapping *mapping,
                                             struct weir_columns columns, struct weir_error *err)
{
    mapping->column_count = columns.count;
    mapping->columns = weir_calloc(columns.count, sizeof(*mapping->columns));
    mapping->members = weir_calloc(columns.count, sizeof(*mapping->members));
    enum weir_status status = choose_all(mapping, columns, err);
    if (!status)
        status = check_naming(mapping, err);
    if (!status && mapping->operation == WEIR_OPERATION_UPDATE && !mapping->member_count)
        status = weir_fail(err, WEIR_E_INVALID,
                           "the input has no column for an update to write, only those that name "
                           "rows");
    return status;
}

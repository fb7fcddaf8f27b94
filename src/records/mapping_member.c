/* SPDX-License-Identifier: MIT */
/* Columns that are written; see mapping_parts.h. What cannot be written is refused here. */
#include "base/error.h"
#include "base/mem.h"
#include "records/hash.h"
#include "records/mapping_parts.h"

#define CREATED            "createdon"
#define OVERRIDDEN_CREATED "overriddencreatedon"

const struct weir_column *weir_mapping_redirect(const struct weir_mapping *mapping,
                                                const struct weir_column *column)
{
    if (strcmp(column->name, CREATED) != 0 || !weir_mapping_may_create(mapping))
        return column;
    const struct weir_column *other =
        weir_table_column(mapping->table, weir_str_from(OVERRIDDEN_CREATED));
    return other ? other : column;
}

/* ---- what can be written ---- */

static bool is_state(const struct weir_column *column)
{
    return column->type == WEIR_COLUMN_STATE || column->type == WEIR_COLUMN_STATUS;
}

/* When a row was created is written by an upsert, too: it counts where the row is new. States are
 * only ever written by an update. */
static bool is_writable(const struct weir_mapping *mapping, const struct weir_column *column)
{
    bool create = mapping->operation != WEIR_OPERATION_UPDATE;
    bool update = mapping->operation != WEIR_OPERATION_CREATE;
    if (mapping->passes && is_state(column))
        return column->for_update;
    if (create && update && strcmp(column->name, OVERRIDDEN_CREATED) == 0)
        update = false;
    return column->type != WEIR_COLUMN_OTHER && (!create || column->for_create) &&
           (!update || column->for_update);
}

static enum weir_status check_type(const struct weir_mapping *mapping,
                                   const struct weir_column *column, struct weir_error *err)
{
    bool known = weir_typed_kind_of(column) || weir_column_is_lookup(column);
    if (known || column->type == WEIR_COLUMN_OTHER)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "the column \"%s\" of the table \"%s\" is of the type %s, which no row can "
                     "carry",
                     column->name, mapping->table->name, weir_column_type_name(column->type));
}

static enum weir_status check_state(const struct weir_mapping *mapping,
                                    const struct weir_column *column, struct weir_error *err)
{
    if (!mapping->closes || column->type != WEIR_COLUMN_STATE)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "the column \"%s\" of the table \"%s\" is set by actions that close a row, "
                     "which are not offered here",
                     column->name, mapping->table->name);
}

static enum weir_status check(const struct weir_mapping *mapping, const struct weir_column *column,
                              struct weir_error *err)
{
    enum weir_status status = check_type(mapping, column, err);
    if (!status)
        status = check_state(mapping, column, err);
    if (status || is_writable(mapping, column))
        return status;
    const char *hint = "";
    if (mapping->operation == WEIR_OPERATION_UPSERT && column->for_create != column->for_update)
        hint = column->for_create ? ", only by a create" : ", only by an update";
    return weir_fail(err, WEIR_E_INVALID,
                     "the column \"%s\" of the table \"%s\" cannot be written by %s%s",
                     column->name, mapping->table->name, weir_mapping_verb(mapping), hint);
}

/* ---- making one ---- */

static struct weir_str make_opening(const struct weir_column *column)
{
    struct weir_buf text;
    size_t bytes = strlen(",\"\":") + strlen(column->name);
    weir_buf_init(&text, bytes);
    weir_buf_printf(&text, ",\"%s\":", column->name);
    return weir_str(weir_buf_take(&text), bytes);
}

static enum weir_status point(const struct weir_mapping *mapping, struct weir_member *member,
                              const struct weir_column_target *target, struct weir_error *err)
{
    if (weir_column_is_lookup(member->column))
        return weir_lookup_new(mapping->world, member->column, target, &member->lookup, err);
    if (!target->table.ptr)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "the column \"%s\" is of the type %s and points to no table; leave out "
                     "\":%.*s\"",
                     member->column->name, weir_column_type_name(member->column->type),
                     WEIR_QUOTED(target->table));
}

enum weir_status weir_mapping_add_member(const struct weir_mapping *mapping, struct weir_slot *slot,
                                         const struct weir_column_target *target,
                                         struct weir_error *err)
{
    const struct weir_column *column = slot->column;
    enum weir_cell_empty empty = mapping->empty;
    enum weir_status status = check(mapping, column, err);
    slot->unwritable = status != WEIR_OK;
    if (status)
        return status;
    if (slot->said && slot->said->empty >= 0)
        empty = (enum weir_cell_empty)slot->said->empty;
    struct weir_member *member = weir_calloc(1, sizeof(*member));
    slot->member = member;
    slot->use = WEIR_USE_MEMBER;
    member->column = column;
    member->opening = make_opening(column);
    member->shape = weir_hash64(column->name, strlen(column->name));
    member->pass = mapping->passes && is_state(column) ? WEIR_PASS_STATE : WEIR_PASS_ROWS;
    weir_cell_rule_init(&member->rule, column, mapping->zone, empty);
    return point(mapping, member, target, err);
}

void weir_member_free(struct weir_member *member)
{
    if (!member)
        return;
    weir_lookup_free(member->lookup);
    weir_cell_rule_release(&member->rule);
    free((char *)member->opening.ptr);
    free(member);
}

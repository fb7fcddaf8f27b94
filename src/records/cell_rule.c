/* SPDX-License-Identifier: MIT */
/* What a column asks of its cells; see cell_kinds.h. */
#include "base/error.h"
#include "records/cell_kinds.h"

#define NULL_BYTES 4

static const struct weir_typed_kind *kind_of_date(enum weir_date_behavior behavior)
{
    static const struct weir_typed_kind *const kinds[] = {
        [WEIR_DATE_USER_LOCAL] = &weir_kind_moment,
        [WEIR_DATE_ONLY] = &weir_kind_date,
        [WEIR_DATE_ZONE_INDEPENDENT] = &weir_kind_clock,
    };
    return kinds[behavior];
}

const struct weir_typed_kind *weir_typed_kind_of(const struct weir_column *column)
{
    static const struct weir_typed_kind *const kinds[WEIR_COLUMN_TYPES] = {
        [WEIR_COLUMN_STRING] = &weir_kind_text,
        [WEIR_COLUMN_MEMO] = &weir_kind_text,
        [WEIR_COLUMN_INTEGER] = &weir_kind_whole,
        [WEIR_COLUMN_BIGINT] = &weir_kind_whole,
        [WEIR_COLUMN_DECIMAL] = &weir_kind_decimal,
        [WEIR_COLUMN_DOUBLE] = &weir_kind_floating,
        [WEIR_COLUMN_MONEY] = &weir_kind_decimal,
        [WEIR_COLUMN_BOOLEAN] = &weir_kind_boolean,
        [WEIR_COLUMN_PICKLIST] = &weir_kind_choice,
        [WEIR_COLUMN_MULTI_PICKLIST] = &weir_kind_choices,
        [WEIR_COLUMN_STATE] = &weir_kind_choice,
        [WEIR_COLUMN_STATUS] = &weir_kind_choice,
        [WEIR_COLUMN_ID] = &weir_kind_guid,
        [WEIR_COLUMN_ENTITY_NAME] = &weir_kind_text,
    };
    if (column->type == WEIR_COLUMN_DATETIME)
        return kind_of_date(column->behavior);
    return kinds[column->type];
}

void weir_cell_rule_init(struct weir_cell_rule *rule, const struct weir_column *column,
                         const struct weir_zone *zone, enum weir_cell_empty empty)
{
    *rule = (struct weir_cell_rule){
        .column = column,
        .kind = weir_typed_kind_of(column),
        .zone = zone,
        .empty = empty,
    };
    weir_cell_rule_set_range(rule);
    weir_choice_index_init(&rule->choices, column->choices, column->choice_count);
    weir_cell_rule_set_plain(rule);
}

void weir_cell_rule_release(struct weir_cell_rule *rule)
{
    weir_choice_index_release(&rule->choices);
}

bool weir_cell_rule_omits(const struct weir_cell_rule *rule, struct weir_str cell)
{
    return !cell.len && rule->empty == WEIR_CELL_EMPTY_OMIT;
}

enum weir_status weir_cell_rule_measure(const struct weir_cell_rule *rule, struct weir_str cell,
                                        size_t *ret_bytes, struct weir_error *err)
{
    if (cell.len)
        return rule->kind->measure(rule, cell, ret_bytes, err);
    if (rule->empty == WEIR_CELL_EMPTY_REJECT)
        return weir_fail(err, WEIR_E_INVALID,
                         "the cell is empty; \"%s\" takes a value in every row",
                         rule->column->name);
    *ret_bytes = NULL_BYTES;
    return WEIR_OK;
}

char *weir_cell_rule_write(const struct weir_cell_rule *rule, struct weir_str cell, char *to)
{
    if (cell.len)
        return rule->kind->write(rule, cell, to);
    memcpy(to, "null", NULL_BYTES);
    return to + NULL_BYTES;
}

/* ---- in keys ---- */

static enum weir_status print_id(const struct weir_cell_rule *rule, struct weir_str cell,
                                 char text[WEIR_GUID_TEXT], struct weir_error *err)
{
    struct weir_guid guid;
    if (!weir_cell_guid(cell, &guid))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is no id; \"%s\" needs 32 hexadecimal digits in groups of "
                         "8-4-4-4-12",
                         WEIR_CELL_QUOTED(cell), rule->column->name);
    weir_guid_print(&guid, text);
    return WEIR_OK;
}

/* Into memory of just the size that was measured. */
static struct weir_str print_value(const struct weir_cell_rule *rule, struct weir_str cell,
                                   char *memory, size_t bytes)
{
    weir_cell_rule_write(rule, cell, memory);
    bool quoted = bytes >= 2 && memory[0] == '"';
    return quoted ? weir_str(memory + 1, bytes - 2) : weir_str(memory, bytes);
}

enum weir_status weir_cell_rule_literal(const struct weir_cell_rule *rule, struct weir_str cell,
                                        struct weir_arena *arena, struct weir_str *ret,
                                        struct weir_error *err)
{
    char id[WEIR_GUID_TEXT];
    size_t bytes = WEIR_GUID_CHARS;
    bool is_id = !rule->kind || rule->kind == &weir_kind_guid;
    if (rule->kind == &weir_kind_text) {
        *ret = cell;
        return WEIR_OK;
    }
    enum weir_status status =
        is_id ? print_id(rule, cell, id, err) : weir_cell_rule_measure(rule, cell, &bytes, err);
    if (status)
        return status;
    char *memory = weir_arena_take(arena, bytes);
    if (!memory)
        return weir_fail(err, WEIR_E_TOO_BIG, "the row is too big");
    if (is_id)
        memcpy(memory, id, bytes);
    *ret = is_id ? weir_str(memory, bytes) : print_value(rule, cell, memory, bytes);
    return WEIR_OK;
}

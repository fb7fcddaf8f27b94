/* SPDX-License-Identifier: MIT */
/*
 * A cell on its way into a row; see mapping_parts.h. It is read and measured, then written:
 *
 *     ,"name":  "Contoso"  ,"Maker@odata.bind":  "/accounts(…)"
 *     ╰ opening ╯ ╰ rule ╯ ╰────────────── binding ─────────────╯
 */
#include "base/error.h"
#include "protocol/scan.h"
#include "records/mapping_parts.h"

static enum weir_status read_lookup(const struct weir_mapping *mapping, struct weir_item *item,
                                    struct weir_arena *arena, struct weir_error *err)
{
    const struct weir_lookup *lookup = item->member->lookup;
    enum weir_status status = WEIR_OK;
    if (item->null)
        item->binding = weir_lookup_null(lookup);
    else
        status = weir_lookup_read(lookup, mapping->world, item->cell, item->table, arena,
                                  &item->binding, err);
    if (status)
        return status;
    bool inward = weir_str_equal(item->binding.end->table, mapping->names.logical_name);
    bool waits = mapping->passes && inward && lookup->column->for_update && !item->null;
    item->pass = waits ? WEIR_PASS_LOOKUPS : WEIR_PASS_ROWS;
    item->bytes = weir_binding_bytes(&item->binding);
    return WEIR_OK;
}

/* Of a value that is neither plain nor null. */
static inline bool is_choice(const struct weir_item *item)
{
    return item->member->rule.kind == &weir_kind_choice && item->cell.len && !item->null;
}

enum weir_status weir_item_read(const struct weir_mapping *mapping, struct weir_item *item,
                                struct weir_arena *arena, struct weir_error *err)
{
    const struct weir_member *member = item->member;
    size_t bytes = strlen("null");
    if (member->lookup)
        return read_lookup(mapping, item, arena, err);
    enum weir_status status = WEIR_OK;
    item->plain =
        item->null ? WEIR_CELL_NOT_PLAIN : weir_cell_rule_plain(&member->rule, item->cell);
    if (item->plain)
        bytes = item->cell.len + (item->plain == WEIR_CELL_QUOTED_AS_IS ? 2 : 0);
    else if (is_choice(item))
        status = weir_cell_choice_measure(&member->rule, item->cell, &item->choice, &bytes, err);
    else if (!item->null)
        status = weir_cell_rule_measure(&member->rule, item->cell, &bytes, err);
    if (!status && !item->null && member->column->type == WEIR_COLUMN_STATUS)
        status = weir_mapping_check_status(mapping, item, err);
    item->pass = member->pass;
    item->bytes = member->opening.len + bytes;
    return status;
}

static char *put_plain(const struct weir_item *item, char *to)
{
    bool quoted = item->plain == WEIR_CELL_QUOTED_AS_IS;
    if (quoted)
        *to++ = '"';
    to = weir_put_short(to, item->cell);
    if (quoted)
        *to++ = '"';
    return to;
}

char *weir_item_write(const struct weir_item *item, char *to)
{
    const struct weir_member *member = item->member;
    if (member->lookup)
        return weir_binding_write(&item->binding, to);
    to = weir_put_short(to, member->opening);
    if (item->plain)
        return put_plain(item, to);
    if (is_choice(item))
        return weir_cell_choice_write(item->choice, to);
    if (!item->null)
        return weir_cell_rule_write(&member->rule, item->cell, to);
    memcpy(to, "null", strlen("null"));
    return to + strlen("null");
}

/* ---- cells that are cleared ---- */

static bool is_kept(const struct weir_column *column)
{
    return column->type == WEIR_COLUMN_OWNER || column->type == WEIR_COLUMN_STATE ||
           column->type == WEIR_COLUMN_STATUS;
}

/*
 * A row that is created has nothing to clear, and a reference to nothing is no member that every
 * version of the service takes there; the owner of the options stands in for one that is cleared.
 * What says when a row was created is never cleared: rows that Dataverse wrote have it beside
 * createdon, mostly null.
 */
bool weir_mapping_is_nothing(const struct weir_mapping *mapping, const struct weir_member *member)
{
    bool create = mapping->operation == WEIR_OPERATION_CREATE;
    if (member->column->type == WEIR_COLUMN_OWNER && mapping->owner.len)
        return true;
    if (strcmp(member->column->name, WEIR_OVERRIDDEN_COLUMN) == 0)
        return true;
    return create && (member->lookup || is_kept(member->column));
}

enum weir_status weir_mapping_check_clearing(const struct weir_mapping *mapping,
                                             const struct weir_member *member,
                                             struct weir_error *err)
{
    if (weir_mapping_is_nothing(mapping, member) || !is_kept(member->column))
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "\"%s\" cannot be cleared: every row has one; leave it out or give it a value",
                     member->column->name);
}

/* ---- arrays ---- */

bool weir_item_join_choices(struct weir_str array, struct weir_arena *arena, struct weir_str *ret)
{
    struct weir_scan scan = weir_scan_open(array);
    struct weir_str key, value;
    size_t len = 0;
    char *text = weir_arena_take(arena, 3 * array.len);
    if (!text)
        return false;
    while (weir_scan_next(&scan, &key, &value)) {
        if (!weir_scan_is_string(value) && !weir_scan_is_number(value)) {
            *ret = weir_str(NULL, 0);
            return true;
        }
        if (len)
            text[len++] = ';';
        len += weir_scan_text(value, text + len, 3 * array.len - len);
    }
    *ret = weir_str(text, len);
    return true;
}

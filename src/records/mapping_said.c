/* SPDX-License-Identifier: MIT */
/*
 * What is said beside the input: constants, and the texts of a mapping file that cells stand for;
 * see mapping_parts.h. One that can never be right would refuse every row that has it, so it ends
 * the job before the first, with the place where it was said:
 *
 *     --with industrycode=Baking: "Baking" is no choice of …
 *     map.json, line 3, column 22: "IT" stands for a wrong value: "Baking" is no choice of …
 *
 * Those that point to a row by a list of references are looked at when that has been read.
 */
#include "base/error.h"
#include "records/mapping_parts.h"

enum weir_status weir_mapping_fail_place(const struct weir_spec *spec, struct weir_spec_place place,
                                         const struct weir_error *why, struct weir_error *err)
{
    if (!place.line)
        return weir_fail(err, why->status, "%s", why->message);
    return weir_fail(err, why->status, "%s, line %u, column %u: %s", spec->name, place.line,
                     place.column, why->message);
}

static enum weir_status fail_constant(const struct weir_mapping *mapping,
                                      const struct weir_spec_with *with,
                                      const struct weir_error *why, struct weir_error *err)
{
    struct weir_str target = weir_str_from(with->target);
    struct weir_str value = weir_str_from(with->value);
    if (with->place.line)
        return weir_mapping_fail_place(mapping->spec, with->place, why, err);
    return weir_fail(err, why->status, "--with %.*s=%.*s: %s", WEIR_QUOTED(target),
                     WEIR_QUOTED(value), why->message);
}

static enum weir_status fail_value(const struct weir_mapping *mapping,
                                   const struct weir_spec_value *value,
                                   const struct weir_error *why, struct weir_error *err)
{
    struct weir_str from = weir_str_from(value->from);
    struct weir_error whole;
    weir_fail(&whole, why->status, "\"%.*s\" stands for a wrong value: %s", WEIR_QUOTED(from),
              why->message);
    return weir_mapping_fail_place(mapping->spec, value->place, &whole, err);
}

/* ---- one cell ---- */

/* Nothing is known yet that could tell: the list of a reference, the table that a row says. */
static bool is_open(const struct weir_mapping *mapping, const struct weir_slot *slot)
{
    const struct weir_lookup *lookup = slot->member->lookup;
    if (!lookup)
        return false;
    return lookup->way == WEIR_LOOKUP_REFERENCE ? !mapping->world->references
                                                : slot->tells_table && !lookup->only;
}

/* `cell` empty: it is cleared. */
static enum weir_status check_member(const struct weir_mapping *mapping,
                                     const struct weir_slot *slot, struct weir_str cell,
                                     struct weir_arena *arena, struct weir_error *err)
{
    struct weir_item item = { .member = slot->member, .cell = cell };
    if (!cell.len)
        return weir_mapping_check_clearing(mapping, slot->member, err);
    return is_open(mapping, slot) ? WEIR_OK : weir_item_read(mapping, &item, arena, err);
}

static enum weir_status check_cell(const struct weir_mapping *mapping, const struct weir_slot *slot,
                                   struct weir_str cell, struct weir_arena *arena,
                                   struct weir_error *err)
{
    weir_arena_reset(arena);
    if (slot->id_part != WEIR_NO_PLACE && !weir_str_trim(cell).len)
        return weir_fail(err, WEIR_E_INVALID,
                         "ids are derived from \"%s\" (--id-from), which needs a value",
                         slot->name);
    switch (slot->use) {
    case WEIR_USE_MEMBER:
        return check_member(mapping, slot, cell, arena, err);
    case WEIR_USE_ID:
    case WEIR_USE_PARTITION:
    case WEIR_USE_KEY:
        return weir_mapping_check_name(mapping, slot, cell, arena, err);
    default:
        return WEIR_OK;
    }
}

/* ---- constants ---- */

static enum weir_status choose_constant(struct weir_mapping *mapping,
                                        const struct weir_spec_with *with, struct weir_error *err)
{
    struct weir_str target = weir_str_from(with->target);
    struct weir_slot *slot = weir_slots_add(&mapping->constants, target);
    struct weir_error why;
    slot->with = with;
    enum weir_status status = weir_mapping_resolve(mapping, slot, target, &why);
    if (!status && slot->use == WEIR_USE_ID)
        status = weir_fail(&why, WEIR_E_INVALID,
                           "\"%s\" cannot be a constant: no two rows have the same id",
                           slot->column->name);
    if (!status)
        status = weir_mapping_take_column(mapping, slot, &why);
    if (status)
        return fail_constant(mapping, with, &why, err);
    weir_mapping_note(mapping, slot);
    return WEIR_OK;
}

enum weir_status weir_mapping_choose_constants(struct weir_mapping *mapping, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; mapping->spec && i < mapping->spec->with_count && !status; i++)
        status = choose_constant(mapping, &mapping->spec->with[i], err);
    return status;
}

static enum weir_status check_constants(const struct weir_mapping *mapping,
                                        struct weir_arena *arena, struct weir_error *err)
{
    for (uint32_t i = 0; i < mapping->constants.count; i++) {
        const struct weir_slot *slot = mapping->constants.list[i];
        struct weir_error why;
        if (check_cell(mapping, slot, weir_str_from(slot->with->value), arena, &why))
            return fail_constant(mapping, slot->with, &why, err);
    }
    return WEIR_OK;
}

/* The constant of a column of that type; NULL: none, or it is cleared. */
static const struct weir_slot *find_constant(const struct weir_mapping *mapping,
                                             enum weir_column_type type)
{
    for (uint32_t i = 0; i < mapping->constants.count; i++) {
        const struct weir_slot *slot = mapping->constants.list[i];
        if (slot->member && slot->column->type == type && slot->with->value[0])
            return slot;
    }
    return NULL;
}

static enum weir_status check_states(const struct weir_mapping *mapping, struct weir_error *err)
{
    const struct weir_slot *state = find_constant(mapping, WEIR_COLUMN_STATE);
    const struct weir_slot *status = find_constant(mapping, WEIR_COLUMN_STATUS);
    struct weir_error why;
    int32_t implied;
    if (!state || !status)
        return WEIR_OK;
    const struct weir_item items[] = {
        { .member = state->member, .cell = weir_str_from(state->with->value) },
        { .member = status->member, .cell = weir_str_from(status->with->value) },
    };
    if (!weir_mapping_check_states(&items[0], &items[1], &implied, &why))
        return WEIR_OK;
    return fail_constant(mapping, status->with, &why, err);
}

/* ---- values ---- */

/* A cell that becomes an empty one is what `empty` says of it. */
static enum weir_status check_value(const struct weir_mapping *mapping,
                                    const struct weir_slot *slot,
                                    const struct weir_spec_value *value, struct weir_arena *arena,
                                    struct weir_error *err)
{
    struct weir_str to = weir_str_from(value->to);
    enum weir_cell_empty empty = slot->member ? slot->member->rule.empty : WEIR_CELL_EMPTY_NULL;
    size_t bytes;
    if (value->to && !to.len && slot->member && empty == WEIR_CELL_EMPTY_OMIT)
        return WEIR_OK;
    if (value->to && !to.len && slot->member && empty == WEIR_CELL_EMPTY_REJECT)
        return weir_cell_rule_measure(&slot->member->rule, to, &bytes, err);
    return check_cell(mapping, slot, to, arena, err);
}

static enum weir_status check_slot(const struct weir_mapping *mapping, const struct weir_slot *slot,
                                   struct weir_arena *arena, struct weir_error *err)
{
    const struct weir_spec_column *said = slot->said;
    struct weir_error why;
    if (!said || !said->target)
        return WEIR_OK;
    for (uint32_t i = 0; i < said->value_count; i++) {
        if (check_value(mapping, slot, &said->values[i], arena, &why))
            return fail_value(mapping, &said->values[i], &why, err);
    }
    if (said->empty == WEIR_CELL_EMPTY_NULL && slot->member &&
        weir_mapping_check_clearing(mapping, slot->member, &why))
        return weir_mapping_fail_place(mapping->spec, said->place, &why, err);
    return WEIR_OK;
}

static enum weir_status check_slots(const struct weir_mapping *mapping,
                                    const struct weir_slots *slots, struct weir_arena *arena,
                                    struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < slots->count && !status; i++)
        status = check_slot(mapping, slots->list[i], arena, err);
    return status;
}

/* ---- all of them ---- */

enum weir_status weir_mapping_check_said(const struct weir_mapping *mapping, struct weir_error *err)
{
    if (!mapping->spec)
        return WEIR_OK;
    struct weir_arena *arena = weir_arena_new(WEIR_DRAFT_BYTES_ENOUGH);
    enum weir_status status = check_constants(mapping, arena, err);
    if (!status)
        status = check_states(mapping, err);
    if (!status)
        status = check_slots(mapping, &mapping->slots, arena, err);
    if (!status)
        status = check_slots(mapping, &mapping->memory->names, arena, err);
    weir_arena_unref(arena);
    return status;
}

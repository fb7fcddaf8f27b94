/* SPDX-License-Identifier: MIT */
/*
 * Rows that go straight through; see mapping_parts.h. Most inputs have a value in each cell and a
 * column for each value: nothing names the row, nothing points elsewhere, nothing depends on
 * another cell. Such a row is read and written in one go, where others are sorted into items, read,
 * measured and written:
 *
 *     Contoso , 5.50 ,      ──▶  ,"name":"Contoso","revenue":5.50
 *
 * Whatever is not as simple as that, or wrong, is left to the long way (mapping_row.c), which comes
 * to the same for every row that goes straight (tests/unit/test_mapping_straight.c).
 */
#include "base/mem.h"
#include "records/mapping_parts.h"

/* A row that is not longer has room for the long way as well, should this one be left. */
#define CELLS_BYTES_MAX ((size_t)64 * 1024)

/* A cell may become so much longer, or twice as long: a date that gets its time. There is room for
 * the rest of an opening as well, which is overwritten. */
#define CELL_BYTES_MORE 32
_Static_assert(CELL_BYTES_MORE >= WEIR_OPENING_BYTES, "an opening is copied whole");

/* ---- once ---- */

static bool is_value(const struct weir_slot *slot)
{
    const struct weir_member *member = slot->member;
    return slot->use == WEIR_USE_MEMBER && !slot->values.count && !slot->with && member &&
           !member->lookup && member->pass == WEIR_PASS_ROWS &&
           slot->table_place == WEIR_NO_PLACE && member->column->type != WEIR_COLUMN_OWNER &&
           member->column->type != WEIR_COLUMN_STATE && member->column->type != WEIR_COLUMN_STATUS;
}

static bool is_straight(const struct weir_slot *slot)
{
    return slot->id_part == WEIR_NO_PLACE && (slot->use == WEIR_USE_NONE || is_value(slot));
}

static bool are_straight(const struct weir_mapping *mapping)
{
    bool *seen = weir_calloc(mapping->table->column_count, sizeof(*seen));
    bool straight = true;
    for (uint32_t i = 0; straight && i < mapping->slots.count; i++) {
        const struct weir_slot *slot = mapping->slots.list[i];
        straight = is_straight(slot);
        if (!straight || !slot->member)
            continue;
        bool *mine = &seen[slot->member->column - mapping->table->columns];
        straight = !*mine;
        *mine = true;
    }
    free(seen);
    return straight;
}

void weir_mapping_choose_straight(struct weir_mapping *mapping)
{
    if (mapping->objects || mapping->named || mapping->has_id || mapping->id_count ||
        mapping->by_key || mapping->constants.count || mapping->owner_needed ||
        mapping->has_status || mapping->operation != WEIR_OPERATION_CREATE ||
        !mapping->slots.count || !are_straight(mapping))
        return;
    mapping->straight = weir_calloc(mapping->slots.count, sizeof(*mapping->straight));
    mapping->straight_bytes = mapping->owner.len;
    for (uint32_t i = 0; i < mapping->slots.count; i++) {
        struct weir_straight *straight = &mapping->straight[i];
        straight->member = mapping->slots.list[i]->member;
        if (!straight->member)
            continue;
        struct weir_str opening = straight->member->opening;
        straight->opening_len = opening.len;
        if (opening.len <= WEIR_OPENING_BYTES)
            memcpy(straight->opening, opening.ptr, opening.len);
        mapping->straight_bytes += opening.len + CELL_BYTES_MORE;
    }
}

/* ---- each row ---- */

/* A value that is not sent as it stands; NULL: it is wrong, or there is not enough room. */
static char *write_value(const struct weir_member *member, struct weir_str cell, char *to)
{
    struct weir_error err;
    int32_t choice = 0;
    size_t bytes;
    bool is_choice = member->rule.kind == &weir_kind_choice;
    enum weir_status status =
        is_choice ? weir_cell_choice_measure(&member->rule, cell, &choice, &bytes, &err)
                  : weir_cell_rule_measure(&member->rule, cell, &bytes, &err);
    if (status || bytes > 2 * cell.len + CELL_BYTES_MORE)
        return NULL;
    return is_choice ? weir_cell_choice_write(choice, to)
                     : weir_cell_rule_write(&member->rule, cell, to);
}

static inline char *put_opening(const struct weir_straight *straight, char *to)
{
    if (straight->opening_len > WEIR_OPENING_BYTES)
        return weir_put_short(to, straight->member->opening);
    memcpy(to, straight->opening, WEIR_OPENING_BYTES);
    return to + straight->opening_len;
}

static char *write_cell(const struct weir_straight *straight, struct weir_str cell, char *to)
{
    const struct weir_member *member = straight->member;
    to = put_opening(straight, to);
    switch (weir_cell_rule_plain(&member->rule, cell)) {
    case WEIR_CELL_AS_IS:
        return weir_put_short(to, cell);
    case WEIR_CELL_QUOTED_AS_IS:
        *to++ = '"';
        to = weir_put_short(to, cell);
        *to++ = '"';
        return to;
    default:
        return write_value(member, cell, to);
    }
}

/* All members with a comma before each; where they end. NULL: it takes the long way. */
static char *write_cells(const struct weir_mapping *mapping, const struct weir_record *record,
                         char *to)
{
    for (uint32_t i = 0; i < record->cell_count; i++) {
        const struct weir_straight *straight = &mapping->straight[i];
        const struct weir_member *member = straight->member;
        const struct weir_str cell = record->cells[i];
        if (!member || (!cell.len && member->rule.empty == WEIR_CELL_EMPTY_OMIT))
            continue;
        /* A cell of blanks may be as good as empty. */
        if (!cell.len || (unsigned char)cell.ptr[0] <= ' ')
            return NULL;
        to = write_cell(straight, cell, to);
        if (!to)
            return NULL;
    }
    return to;
}

/* Room for all members; NULL: there is none, or they may become too long. */
static char *take_room(const struct weir_mapping *mapping, const struct weir_record *record,
                       struct weir_arena *arena)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < record->cell_count; i++)
        bytes += record->cells[i].len;
    return bytes <= CELLS_BYTES_MAX ? weir_arena_take(arena, mapping->straight_bytes + 2 * bytes)
                                    : NULL;
}

bool weir_mapping_straight(const struct weir_mapping *mapping, const struct weir_record *record,
                           struct weir_arena *arena, struct weir_draft *draft)
{
    static const struct weir_row_name unnamed;
    if (!mapping->straight || record->cell_count != mapping->slots.count)
        return false;
    char *memory = take_room(mapping, record, arena);
    char *end = memory ? write_cells(mapping, record, memory) : NULL;
    if (!end || end == memory)
        return false;
    end = weir_put_short(end, mapping->owner);
    struct weir_draft before = *draft;
    draft->column = weir_str("", 0);
    if (weir_mapping_name(mapping, &unnamed, arena, draft) && !draft->refusal.len &&
        weir_mapping_weigh(mapping, weir_str(memory + 1, (size_t)(end - memory) - 1), arena,
                           draft) &&
        !draft->refusal.len)
        return true;
    *draft = before;
    return false;
}

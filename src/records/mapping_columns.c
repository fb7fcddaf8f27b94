/* SPDX-License-Identifier: MIT */
/*
 * What each column of the input and each name of a member is for; see
 * mapping_parts.h. It names the row, becomes a member, or (in a delete) is passed over. Whatever
 * else is refused: of columns here, before anything was sent, of members with the row that has
 * them.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "records/mapping_parts.h"
#include "records/read_format.h"

/* ---- slots ---- */

static void free_slot(struct weir_slot *slot)
{
    weir_member_free(slot->member);
    weir_map_release(&slot->values);
    free(slot->name);
    free(slot->refusal);
    free(slot);
}

void weir_slots_release(struct weir_slots *slots)
{
    for (uint32_t i = 0; i < slots->count; i++)
        free_slot(slots->list[i]);
    free(slots->list);
    *slots = (struct weir_slots){ 0 };
}

struct weir_slot *weir_slots_add(struct weir_slots *slots, struct weir_str name)
{
    if (slots->count == slots->capacity) {
        slots->capacity = slots->capacity ? slots->capacity * 2 : 16;
        slots->list = weir_realloc(slots->list, slots->capacity, sizeof(struct weir_slot *));
    }
    struct weir_slot *slot = weir_calloc(1, sizeof(*slot));
    slot->name = weir_strndup(name.ptr, name.len);
    slot->id_part = WEIR_NO_PLACE;
    slot->table_place = WEIR_NO_PLACE;
    slots->list[slots->count++] = slot;
    return slot;
}

/* ---- where it goes ---- */

static uint32_t find_id_part(const struct weir_mapping *mapping, struct weir_str name)
{
    for (uint32_t i = 0; i < mapping->id_count; i++) {
        if (weir_str_equal(mapping->id_names[i], name))
            return i;
    }
    return WEIR_NO_PLACE;
}

static enum weir_use naming_use(const struct weir_mapping *mapping,
                                const struct weir_column *column, uint32_t *ret_key)
{
    for (uint32_t i = 0; i < mapping->key_count; i++) {
        *ret_key = i;
        if (column == mapping->key[i])
            return WEIR_USE_KEY;
    }
    if (strcmp(column->name, mapping->table->primary_id) == 0)
        return WEIR_USE_ID;
    bool partition = mapping->elastic && strcmp(column->name, WEIR_PARTITION_COLUMN) == 0;
    return partition ? WEIR_USE_PARTITION : WEIR_USE_NONE;
}

static enum weir_status fail_naming(const struct weir_slot *slot, struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "the column \"%s\" names rows, and its cells are taken as they are; leave out "
                     "what stands behind its name",
                     slot->column->name);
}

enum weir_status weir_mapping_resolve(const struct weir_mapping *mapping, struct weir_slot *slot,
                                      struct weir_str text, struct weir_error *err)
{
    struct weir_column_target target;
    enum weir_status status = weir_column_target_parse(text, &target, err);
    if (status)
        return status;
    if (slot->id_part == WEIR_NO_PLACE)
        slot->id_part = find_id_part(mapping, target.column);
    slot->column = weir_table_column(mapping->table, target.column);
    if (!slot->column && slot->id_part != WEIR_NO_PLACE && !slot->said)
        return WEIR_OK;
    if (!slot->column)
        return weir_mapping_fail_slot(mapping, slot, target.column, err);
    slot->use = naming_use(mapping, slot->column, &slot->key);
    if (slot->use != WEIR_USE_NONE)
        return target.table.ptr ? fail_naming(slot, err) : WEIR_OK;
    if (mapping->operation == WEIR_OPERATION_DELETE)
        return WEIR_OK;
    const struct weir_column *written = weir_mapping_redirect(mapping, slot->column);
    slot->redirected = written != slot->column;
    slot->column = written;
    return weir_mapping_add_member(mapping, slot, &target, err);
}

/*
 * Cells are found by their text to the letter, and those of a type for which blanks around a value
 * do not count without them, too.
 */
static void index_values(struct weir_slot *slot)
{
    const struct weir_spec_column *said = slot->said;
    const struct weir_member *member = slot->member;
    bool text = slot->use == WEIR_USE_PARTITION || (member && member->rule.kind == &weir_kind_text);
    slot->trims = said->value_count && !text;
    for (uint32_t i = 0; i < said->value_count; i++)
        weir_map_add(&slot->values, weir_str_from(said->values[i].from), i);
    for (uint32_t i = 0; slot->trims && i < said->value_count; i++)
        weir_map_add(&slot->values, weir_str_trim(weir_str_from(said->values[i].from)), i);
}

/* What the row has beside `_maker_value` says to which table that points, unless it is ignored. */
static bool tells_table(const struct weir_mapping *mapping, struct weir_str name)
{
    struct weir_str column;
    char beside[WEIR_NAME_BYTES_MAX + sizeof(WEIR_READ_TABLE_TERM) + 16];
    if (weir_read_member_of(name, &column) != WEIR_READ_LOOKUP)
        return false;
    int len =
        snprintf(beside, sizeof(beside), "%.*s%s", (int)name.len, name.ptr, WEIR_READ_TABLE_TERM);
    return len < (int)sizeof(beside) &&
           !weir_spec_find(mapping->spec, weir_str(beside, (size_t)len));
}

static enum weir_status resolve_said(const struct weir_mapping *mapping, struct weir_slot *slot,
                                     struct weir_error *err)
{
    const struct weir_spec_column *said = slot->said;
    struct weir_error why;
    if (!said->target)
        return WEIR_OK;
    slot->tells_table = tells_table(mapping, weir_str_from(slot->name));
    enum weir_status status =
        weir_mapping_resolve(mapping, slot, weir_str_from(said->target), &why);
    if (status)
        return weir_mapping_fail_place(mapping->spec, said->place, &why, err);
    index_values(slot);
    return WEIR_OK;
}

/* `_maker_value`: the row says beside it to which table it points. */
static enum weir_status resolve_read_lookup(const struct weir_mapping *mapping,
                                            struct weir_slot *slot, struct weir_str name,
                                            struct weir_error *err)
{
    const struct weir_column *column = weir_table_column(mapping->table, name);
    slot->tells_table = tells_table(mapping, weir_str_from(slot->name));
    if (!column || weir_column_is_lookup(column))
        return weir_mapping_resolve(mapping, slot, name, err);
    return weir_fail(err, WEIR_E_INVALID,
                     "\"%s\" reads as a lookup, and the column \"%s\" of the table \"%s\" is none",
                     slot->name, column->name, mapping->table->name);
}

/* Its own name: as it stands in a header, or as Dataverse writes it when rows are read. */
static enum weir_status resolve_name(const struct weir_mapping *mapping, struct weir_slot *slot,
                                     struct weir_error *err)
{
    struct weir_str name = weir_str_from(slot->name);
    struct weir_str belongs;
    switch (weir_read_member_of(name, &belongs)) {
    case WEIR_READ_PLAIN:
        return weir_mapping_resolve(mapping, slot, name, err);
    case WEIR_READ_LOOKUP:
        return resolve_read_lookup(mapping, slot, belongs, err);
    case WEIR_READ_BIND:
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is a member as the Web API takes it; a lookup is written "
                         "column:table, or all rows are sent as they are (--raw)",
                         WEIR_QUOTED(name));
    default:
        return WEIR_OK;
    }
}

static enum weir_status resolve(const struct weir_mapping *mapping, struct weir_slot *slot,
                                struct weir_error *err)
{
    struct weir_str name = weir_str_from(slot->name);
    slot->said = weir_spec_find(mapping->spec, name);
    slot->id_part = find_id_part(mapping, name);
    return slot->said ? resolve_said(mapping, slot, err) : resolve_name(mapping, slot, err);
}

/* ---- what is filled twice ---- */

static uint32_t place_of(const struct weir_mapping *mapping, const struct weir_column *column)
{
    return (uint32_t)(column - mapping->table->columns);
}

/* A lookup may have a column of the input for each table that it may point to. And what Dataverse
 * wrote has createdon beside overriddencreatedon. */
static bool may_share(const struct weir_slot *a, const struct weir_slot *b)
{
    if (!b->with && a->redirected != b->redirected)
        return true;
    const struct weir_lookup *one = a->member ? a->member->lookup : NULL;
    const struct weir_lookup *other = b->member ? b->member->lookup : NULL;
    return one && other && one->only && other->only &&
           !weir_str_equal(one->only->table, other->only->table);
}

static enum weir_status fail_twice(const struct weir_mapping *mapping, const struct weir_slot *a,
                                   const struct weir_slot *b, struct weir_error *err)
{
    struct weir_str name = weir_str_from(b->name);
    struct weir_str before = weir_str_from(a->name);
    if (b->with)
        return weir_fail(err, WEIR_E_INVALID,
                         "the column \"%s\" has a constant, and is in the input as \"%.*s\"; leave "
                         "one of them out",
                         b->column->name, WEIR_QUOTED(before));
    if (weir_str_equal(name, before))
        return weir_fail(err, WEIR_E_INVALID,
                         "%s has the column \"%.*s\" twice; the table \"%s\" takes it once",
                         weir_mapping_input(mapping).text, WEIR_QUOTED(name), mapping->table->name);
    return weir_fail(
        err, WEIR_E_INVALID, "the columns \"%.*s\" and \"%.*s\" of %s both go to \"%s\"",
        WEIR_QUOTED(before), WEIR_QUOTED(name), weir_mapping_input(mapping).text, b->column->name);
}

enum weir_status weir_mapping_take_column(struct weir_mapping *mapping, struct weir_slot *slot,
                                          struct weir_error *err)
{
    struct weir_slot **taker;
    if (!slot->column)
        return WEIR_OK;
    taker = &mapping->takers[place_of(mapping, slot->column)];
    if (*taker && !may_share(*taker, slot))
        return fail_twice(mapping, *taker, slot, err);
    *taker = slot;
    return WEIR_OK;
}

/* ---- columns ---- */

void weir_mapping_note(struct weir_mapping *mapping, const struct weir_slot *slot)
{
    const struct weir_member *member = slot->member;
    mapping->has_id = mapping->has_id || slot->use == WEIR_USE_ID;
    if (!member)
        return;
    mapping->member_count++;
    if (member->pass == WEIR_PASS_STATE)
        mapping->has_states = true;
    if (member->column->type == WEIR_COLUMN_STATUS)
        mapping->has_status = true;
    if (member->lookup && member->column->for_update &&
        weir_lookup_is_inward(member->lookup, mapping->table))
        mapping->has_lookups = true;
    if (member->column->type == WEIR_COLUMN_OWNER)
        mapping->owner_column = member->column;
}

/* What cannot be written is said of all of them at once. */
static enum weir_status settle(struct weir_mapping *mapping, struct weir_slot *slot,
                               struct weir_error *err)
{
    struct weir_error why;
    enum weir_status status = resolve(mapping, slot, &why);
    if (status && slot->unwritable) {
        slot->refusal = weir_strdup(why.message);
        return WEIR_OK;
    }
    if (status && !slot->said)
        return weir_mapping_fail_input(mapping, &why, err);
    if (!status && !mapping->named)
        status = weir_mapping_take_column(mapping, slot, &why);
    if (status)
        return weir_fail(err, status, "%s", why.message);
    weir_mapping_note(mapping, slot);
    return WEIR_OK;
}

/* A name that is known to come. Two of them may mean one column: rows have one or the other. */
static enum weir_status choose_name(struct weir_mapping *mapping, struct weir_str name,
                                    struct weir_error *err)
{
    struct weir_slots *names = &mapping->memory->names;
    uint32_t known;
    if (weir_map_find(&mapping->memory->map, name, &known))
        return WEIR_OK;
    struct weir_slot *slot = weir_slots_add(names, name);
    weir_map_add(&mapping->memory->map, weir_str_from(slot->name), names->count - 1);
    return settle(mapping, slot, err);
}

/* The names of the first row, and those that the mapping file speaks of: any row may have them. */
static enum weir_status choose_names(struct weir_mapping *mapping, struct weir_columns columns,
                                     struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < columns.count && !status; i++)
        status = choose_name(mapping, columns.names[i], err);
    for (uint32_t i = 0; mapping->spec && i < mapping->spec->column_count && !status; i++)
        status = choose_name(mapping, weir_str_from(mapping->spec->columns[i].source), err);
    return status ? status : weir_mapping_fail_unwritable(mapping, &mapping->memory->names, err);
}

static enum weir_status choose_columns(struct weir_mapping *mapping, struct weir_columns columns,
                                       struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < columns.count && !status; i++)
        status = settle(mapping, weir_slots_add(&mapping->slots, columns.names[i]), err);
    return status ? status : weir_mapping_fail_unwritable(mapping, &mapping->slots, err);
}

/* ---- what the mapping file and the list of columns to ignore speak of ---- */

static enum weir_status fail_source(const struct weir_mapping *mapping,
                                    const struct weir_spec_column *column, struct weir_error *err)
{
    struct weir_str source = weir_str_from(column->source);
    struct weir_error why;
    if (!column->place.line)
        return weir_fail(err, WEIR_E_INVALID,
                         "--ignore-columns names \"%.*s\", and %s has no column of that name",
                         WEIR_QUOTED(source), weir_mapping_input(mapping).text);
    weir_fail(&why, WEIR_E_INVALID, "%s has no column \"%.*s\"", weir_mapping_input(mapping).text,
              WEIR_QUOTED(source));
    return weir_mapping_fail_place(mapping->spec, column->place, &why, err);
}

/* A source that is not there is a misspelt one. */
static enum weir_status check_sources(const struct weir_mapping *mapping,
                                      struct weir_columns columns, struct weir_error *err)
{
    struct weir_map names;
    enum weir_status status = WEIR_OK;
    uint32_t place;
    weir_map_init(&names);
    for (uint32_t i = 0; i < columns.count; i++)
        weir_map_add(&names, columns.names[i], i);
    for (uint32_t i = 0; mapping->spec && i < mapping->spec->column_count && !status; i++) {
        const struct weir_spec_column *column = &mapping->spec->columns[i];
        if (!weir_map_find(&names, weir_str_from(column->source), &place))
            status = fail_source(mapping, column, err);
    }
    weir_map_release(&names);
    return status;
}

/* ---- columns that say to which table another one points ---- */

static uint32_t find_beside(struct weir_columns columns, const char *name)
{
    const size_t len = strlen(name);
    const struct weir_str term = weir_str_from(WEIR_READ_TABLE_TERM);
    for (uint32_t i = 0; i < columns.count; i++) {
        struct weir_str it = columns.names[i];
        if (it.len == len + term.len && memcmp(it.ptr, name, len) == 0 &&
            memcmp(it.ptr + len, term.ptr, term.len) == 0)
            return i;
    }
    return WEIR_NO_PLACE;
}

/* `_maker_value` alone: nothing says to which of several tables it points. */
static bool is_vague(const struct weir_slot *slot)
{
    const struct weir_lookup *lookup = slot->member ? slot->member->lookup : NULL;
    struct weir_str inner;
    return lookup && !lookup->only && slot->table_place == WEIR_NO_PLACE &&
           weir_read_member_of(weir_str_from(slot->name), &inner) == WEIR_READ_LOOKUP;
}

static enum weir_status fail_vague(const struct weir_mapping *mapping, const struct weir_slot *slot,
                                   struct weir_error *err)
{
    struct weir_str table = slot->member->lookup->ends[0].table;
    struct weir_error why;
    weir_fail(&why, WEIR_E_INVALID,
              "\"%s\" may point to several tables, and no \"%s%s\" beside it says to which; "
              "say it in a mapping file, as \"%s:%.*s\", or pass over it with --ignore-columns",
              slot->name, slot->name, WEIR_READ_TABLE_TERM, slot->column->name, (int)table.len,
              table.ptr);
    return weir_mapping_fail_input(mapping, &why, err);
}

/* Of objects another row may say it, where the first had nothing to say: but every row has an
 * owner. */
static enum weir_status find_tables(struct weir_mapping *mapping, struct weir_columns columns,
                                    struct weir_error *err)
{
    const bool named = mapping->named;
    const struct weir_slots *slots = named ? &mapping->memory->names : &mapping->slots;
    for (uint32_t i = 0; i < slots->count && i < columns.count; i++) {
        struct weir_slot *slot = slots->list[i];
        if (slot->tells_table)
            slot->table_place = find_beside(columns, slot->name);
        if (is_vague(slot) && (!named || slot->column->type == WEIR_COLUMN_OWNER))
            return fail_vague(mapping, slot, err);
    }
    return WEIR_OK;
}

/* ---- what must be there ---- */

static enum weir_status fail_missing(const struct weir_mapping *mapping, const char *column,
                                     struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID, "%s has no column \"%s\", by which %s names its rows",
                     weir_mapping_input(mapping).text, column, weir_mapping_verb(mapping));
}

static bool has_partition(const struct weir_mapping *mapping)
{
    const struct weir_column *column =
        weir_table_column(mapping->table, weir_str_from(WEIR_PARTITION_COLUMN));
    return mapping->elastic && column && mapping->takers[place_of(mapping, column)];
}

/* In a delete the other name is one of the columns that are passed over. */
static enum weir_status check_key(const struct weir_mapping *mapping, struct weir_error *err)
{
    for (uint32_t i = 0; i < mapping->key_count; i++) {
        if (!mapping->takers[place_of(mapping, mapping->key[i])])
            return fail_missing(mapping, mapping->key[i]->name, err);
    }
    bool both = mapping->has_id || has_partition(mapping);
    if (!both || mapping->operation == WEIR_OPERATION_DELETE)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "%s has the column \"%s\", and rows go by a key; leave one of them out",
                     weir_mapping_input(mapping).text,
                     mapping->has_id ? mapping->table->primary_id : WEIR_PARTITION_COLUMN);
}

/* What fills a part of the ids, behind `last`; NULL: nothing more does. */
static const struct weir_slot *next_id_slot(const struct weir_mapping *mapping, uint32_t part,
                                            const struct weir_slot *last)
{
    const struct weir_slots *all[] = { &mapping->slots, &mapping->constants };
    bool behind = !last;
    for (size_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < all[k]->count; i++) {
            const struct weir_slot *slot = all[k]->list[i];
            if (behind && slot->id_part == part)
                return slot;
            behind = behind || slot == last;
        }
    }
    return NULL;
}

static enum weir_status check_id_part(const struct weir_mapping *mapping, uint32_t part,
                                      struct weir_error *err)
{
    struct weir_str name = mapping->id_names[part];
    const struct weir_slot *slot = next_id_slot(mapping, part, NULL);
    if (!slot)
        return weir_fail(err, WEIR_E_INVALID,
                         "%s has no column \"%.*s\", from which ids are derived (--id-from)",
                         weir_mapping_input(mapping).text, WEIR_QUOTED(name));
    const struct weir_slot *other = next_id_slot(mapping, part, slot);
    if (!other)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "ids are derived from \"%.*s\" (--id-from), which both \"%.*s\" and \"%.*s\" "
                     "of %s could be",
                     WEIR_QUOTED(name), WEIR_QUOTED(weir_str_from(slot->name)),
                     WEIR_QUOTED(weir_str_from(other->name)), weir_mapping_input(mapping).text);
}

static enum weir_status check_ids(const struct weir_mapping *mapping, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < mapping->id_count && !status; i++)
        status = check_id_part(mapping, i, err);
    if (status)
        return status;
    if (!mapping->has_id || mapping->operation == WEIR_OPERATION_DELETE)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "%s has the column \"%s\", and ids are derived (--id-from); leave one of them "
                     "out",
                     weir_mapping_input(mapping).text, mapping->table->primary_id);
}

static enum weir_status check_naming(const struct weir_mapping *mapping, struct weir_error *err)
{
    if (mapping->by_key)
        return check_key(mapping, err);
    if (mapping->id_count)
        return check_ids(mapping, err);
    if (mapping->operation != WEIR_OPERATION_CREATE && !mapping->has_id)
        return fail_missing(mapping, mapping->table->primary_id, err);
    if (mapping->by_partition && !has_partition(mapping))
        return fail_missing(mapping, WEIR_PARTITION_COLUMN, err);
    return WEIR_OK;
}

static enum weir_status check_all(const struct weir_mapping *mapping, struct weir_error *err)
{
    enum weir_status status = check_naming(mapping, err);
    if (!status && mapping->operation == WEIR_OPERATION_UPDATE && !mapping->member_count)
        status = weir_fail(err, WEIR_E_INVALID,
                           "%s has no column for an update to write, only those that name rows",
                           weir_mapping_input(mapping).text);
    return status;
}

/* Any row may have any column. */
static void expect_anything(struct weir_mapping *mapping)
{
    for (uint32_t i = 0; i < mapping->table->column_count; i++) {
        const struct weir_column *column = &mapping->table->columns[i];
        bool state = column->for_update &&
                     (column->type == WEIR_COLUMN_STATE || column->type == WEIR_COLUMN_STATUS);
        bool inward = weir_column_is_lookup(column) && column->for_update &&
                      weir_column_target(column, weir_str_from(mapping->table->name));
        mapping->has_states = mapping->has_states || state;
        mapping->has_status = mapping->has_status || column->type == WEIR_COLUMN_STATUS;
        mapping->has_lookups = mapping->has_lookups || inward;
    }
}

enum weir_status weir_mapping_choose_columns(struct weir_mapping *mapping,
                                             struct weir_columns columns, struct weir_error *err)
{
    enum weir_status status = mapping->named ? WEIR_OK : check_sources(mapping, columns, err);
    if (!status)
        status = mapping->named ? choose_names(mapping, columns, err)
                                : choose_columns(mapping, columns, err);
    if (!status)
        status = find_tables(mapping, columns, err);
    if (!status)
        status = weir_mapping_choose_constants(mapping, err);
    if (mapping->named)
        expect_anything(mapping);
    if (!status && !mapping->named)
        status = check_all(mapping, err);
    return status ? status : weir_mapping_check_said(mapping, err);
}

/* ---- names that come with the rows ---- */

const struct weir_slot *weir_mapping_slot(const struct weir_mapping *mapping, struct weir_str name)
{
    struct weir_mapping_memory *memory = mapping->memory;
    struct weir_error err;
    uint32_t place;
    if (weir_map_find(&memory->map, name, &place))
        return memory->names.list[place];
    if (memory->names.count >= WEIR_MEMBER_NAMES_MAX)
        return NULL;
    struct weir_slot *slot = weir_slots_add(&memory->names, name);
    weir_map_add(&memory->map, weir_str_from(slot->name), memory->names.count - 1);
    if (resolve(mapping, slot, &err) != WEIR_OK) {
        slot->use = WEIR_USE_REFUSED;
        slot->refusal = weir_mapping_explain(mapping, slot, &err);
    }
    return slot;
}

/* SPDX-License-Identifier: MIT */
/*
 * Rows of cells; see mapping.h. The cells of a record are sorted by what they are for: what names
 * the row, and items, which are read and measured, then written into memory of just that size:
 *
 *     ,"name":  "Contoso"  ,"Maker@odata.bind":  "/accounts(…)"
 *     ╰ opening ╯ ╰ rule ╯ ╰────────────── binding ─────────────╯      the first comma is left out
 *
 * In the first pass all items are read, so that a wrong one is found before the row is created, and
 * those of later passes are not written.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "protocol/scan.h"
#include "records/mapping_parts.h"
#include "records/read_format.h"

#define ASTRAY                                                                                     \
    "the row is in a partition and points to a row of its own table, which a lookup does not "     \
    "find "                                                                                        \
    "by an id alone; leave it empty"

struct row {
    const struct weir_mapping *mapping;
    enum weir_pass pass;
    const struct weir_record *record;
    struct weir_arena *arena;
    struct weir_draft *draft;
    struct weir_row_name name;
    struct weir_item *items;
    uint32_t count;
    bool filled;             /* the input has a value for it: constants do not count */
    bool owned;              /* says its owner itself */
    struct weir_str implied; /* `,"statecode":1`, by the status; empty: none */
    size_t bytes;
};

/* ---- refusing ---- */

static bool refuse(const struct row *row, const struct weir_column *column, const char *reason)
{
    return weir_draft_refuse(row->draft, row->arena, weir_str_from(column->name), "%s", reason);
}

static bool is_refused(const struct row *row)
{
    return row->draft->refusal.len > 0;
}

/* ---- sorting cells ---- */

/* A column that two members, or a member and a constant, want to fill. */
static bool is_filled(const struct row *row, const struct weir_column *column)
{
    struct weir_mapping_memory *memory = row->mapping->memory;
    uint64_t *turn = &memory->turns[column - row->mapping->table->columns];
    bool filled = *turn == memory->turn;
    *turn = memory->turn;
    return filled;
}

static bool refuse_twice(const struct row *row, const struct weir_column *column)
{
    char reason[200];
    snprintf(reason, sizeof(reason), "the row has two values for \"%.100s\", which takes one",
             column->name);
    return refuse(row, column, reason);
}

static struct weir_item *find_column(const struct row *row, const struct weir_column *column)
{
    uint32_t i = 0;
    while (row->items[i].member->column != column)
        i++; /* it is there */
    return &row->items[i];
}

/*
 * A second cell for a column, as a lookup to several tables may have it. An empty one says nothing
 * beside one that is filled. In a row that Dataverse wrote, createdon is when it was created and
 * overriddencreatedon when it was brought in, by an earlier migration: the first is what is meant.
 */
static bool add_second(const struct row *row, const struct weir_item *item)
{
    struct weir_item *first = find_column(row, item->member->column);
    bool dates = item->redirected != first->redirected;
    if (!item->empty && !first->empty && !dates)
        return refuse_twice(row, item->member->column);
    if (first->empty || (dates && item->redirected))
        *first = *item;
    return true;
}

/* There is room for one more than there are. What is not named here belongs to reading it. */
static inline bool append(struct row *row, const struct weir_slot *slot,
                          const struct weir_str *cell, const struct weir_str *table, bool null,
                          bool empty)
{
    struct weir_item *item = &row->items[row->count];
    item->member = slot->member;
    item->cell = *cell;
    item->table = *table;
    item->null = null;
    item->empty = empty;
    item->redirected = slot->redirected;
    if (is_filled(row, slot->member->column))
        return add_second(row, item);
    row->count++;
    return true;
}

/* Where blanks around a value do not count, a cell of blanks has nothing in it. */
static struct weir_str without_blanks(const struct weir_member *member, struct weir_str cell)
{
    bool blank = cell.len && (cell.ptr[0] == ' ' || cell.ptr[0] == '\t');
    if (!blank || member->rule.kind == &weir_kind_text || weir_str_trim(cell).len)
        return cell;
    return weir_str("", 0);
}

static bool add_item(struct row *row, const struct weir_slot *slot, struct weir_str cell, bool null,
                     struct weir_str table)
{
    const struct weir_member *member = slot->member;
    cell = without_blanks(member, cell);
    bool empty = !cell.len && !null;
    struct weir_error err;
    if (empty && member->rule.empty == WEIR_CELL_EMPTY_OMIT)
        return true;
    if (empty && member->rule.empty == WEIR_CELL_EMPTY_REJECT) {
        size_t bytes;
        weir_cell_rule_measure(&member->rule, cell, &bytes, &err);
        return refuse(row, member->column, err.message);
    }
    null = null || empty;
    if (null && weir_mapping_is_nothing(row->mapping, member))
        return true;
    if (null && weir_mapping_check_clearing(row->mapping, member, &err))
        return refuse(row, member->column, err.message);
    row->owned = row->owned || member->column->type == WEIR_COLUMN_OWNER;
    return append(row, slot, &cell, &table, null, empty);
}

static void translate(const struct weir_slot *slot, struct weir_str *cell, bool *null)
{
    uint32_t place;
    if (*null || !slot->values.count)
        return;
    if (!weir_map_find(&slot->values, *cell, &place) &&
        (!slot->trims || !weir_map_find(&slot->values, weir_str_trim(*cell), &place)))
        return;
    *null = !slot->said->values[place].to;
    *cell = weir_str_from(slot->said->values[place].to);
}

/* A naming column twice: only members with names of their own can do that. */
static bool name_once(struct row *row, const struct weir_slot *slot, struct weir_str cell,
                      struct weir_str *to)
{
    if (is_filled(row, slot->column))
        return refuse_twice(row, slot->column);
    *to = cell;
    return true;
}

/* A value of the input that goes somewhere. */
static bool is_value(const struct weir_slot *slot, struct weir_str cell)
{
    bool used = slot->use != WEIR_USE_NONE || slot->id_part != WEIR_NO_PLACE;
    if (slot->with || !used)
        return false;
    return slot->member ? without_blanks(slot->member, cell).len : weir_str_trim(cell).len;
}

static bool take_cell(struct row *row, const struct weir_slot *slot, struct weir_str cell,
                      bool null, struct weir_str table)
{
    row->filled = row->filled || is_value(slot, cell);
    translate(slot, &cell, &null);
    if (null)
        cell = weir_str("", 0);
    if (slot->id_part != WEIR_NO_PLACE)
        row->name.id_parts[slot->id_part] = cell;
    switch (slot->use) {
    case WEIR_USE_MEMBER:
        return add_item(row, slot, cell, null, table);
    case WEIR_USE_ID:
        row->name.has_id = true;
        return name_once(row, slot, cell, &row->name.id);
    case WEIR_USE_PARTITION:
        return name_once(row, slot, cell, &row->name.partition);
    case WEIR_USE_KEY:
        return name_once(row, slot, cell, &row->name.key[slot->key]);
    case WEIR_USE_REFUSED:
        return weir_draft_refuse(row->draft, row->arena, weir_str_from(slot->name), "%s",
                                 slot->refusal);
    default:
        return true;
    }
}

/* It goes into a member, whatever it is: nothing else depends on it, and nothing is put in its
 * place. */
static inline bool is_simple(const struct weir_slot *slot)
{
    return slot->use == WEIR_USE_MEMBER && !slot->values.count && slot->id_part == WEIR_NO_PLACE &&
           !slot->with && slot->column->type != WEIR_COLUMN_OWNER;
}

/* … and it has a value: take_cell() would come to the same, by a longer way. */
static inline bool is_simple_cell(const struct weir_slot *slot, const struct weir_str *cell)
{
    return cell->len && (unsigned char)cell->ptr[0] > ' ' && is_simple(slot);
}

static inline bool take_simple(struct row *row, const struct weir_slot *slot,
                               const struct weir_str *cell)
{
    static const struct weir_str none = { "", 0 };
    row->filled = true;
    return append(row, slot, cell, &none, false, false);
}

/* ---- records with names ---- */

/* What the row says beside the member, in Dataverse's own format. */
static struct weir_str table_beside(const struct weir_record *record, struct weir_str name)
{
    const struct weir_str term = weir_str_from(WEIR_READ_TABLE_TERM);
    for (uint32_t i = 0; i < record->cell_count; i++) {
        struct weir_str other = record->names[i];
        if (other.len == name.len + term.len && memcmp(other.ptr, name.ptr, name.len) == 0 &&
            memcmp(other.ptr + name.len, term.ptr, term.len) == 0)
            return record->cells[i];
    }
    return weir_str("", 0);
}

static bool refuse_names(const struct row *row)
{
    return weir_draft_refuse(row->draft, row->arena, weir_str("", 0),
                             "the objects of the input have more than %d different names of "
                             "members",
                             WEIR_MEMBER_NAMES_MAX);
}

static bool refuse_nested(const struct row *row, struct weir_str name, struct weir_str cell)
{
    return weir_draft_refuse(
        row->draft, row->arena, name,
        "member \"%.*s\" is an %s; it must be a text, a number, true, false or "
        "null",
        WEIR_QUOTED(name), *cell.ptr == '{' ? "object" : "array");
}

/* An object or an array: for a column that is passed over, or of choices that it lists. */
static bool take_nested(struct row *row, const struct weir_slot *slot, struct weir_str name,
                        struct weir_str cell)
{
    struct weir_str joined;
    bool unused = slot->use == WEIR_USE_NONE && slot->id_part == WEIR_NO_PLACE;
    if (unused || slot->use == WEIR_USE_REFUSED)
        return take_cell(row, slot, cell, false, weir_str("", 0));
    bool choices = slot->use == WEIR_USE_MEMBER && slot->column->type == WEIR_COLUMN_MULTI_PICKLIST;
    if (!choices || !weir_scan_is_array(cell))
        return refuse_nested(row, name, cell);
    if (!weir_item_join_choices(cell, row->arena, &joined))
        return false;
    if (!joined.ptr)
        return refuse_nested(row, name, cell);
    return take_cell(row, slot, joined, !joined.len, weir_str("", 0));
}

static bool take_member(struct row *row, uint32_t i)
{
    struct weir_str name = row->record->names[i];
    struct weir_str cell = row->record->cells[i];
    struct weir_str table = weir_str("", 0);
    const struct weir_slot *slot = weir_mapping_slot(row->mapping, name);
    if (!slot)
        return refuse_names(row);
    if (weir_record_is_nested(row->record, i))
        return take_nested(row, slot, name, cell);
    if (!slot->tells_table && is_simple_cell(slot, &row->record->cells[i]))
        return take_simple(row, slot, &row->record->cells[i]);
    if (slot->tells_table)
        table = table_beside(row->record, name);
    return take_cell(row, slot, cell, !cell.ptr, table);
}

/* By key, or by derived ids, the id has no place in the row; a delete passes over it. */
static bool check_named(const struct row *row)
{
    const struct weir_mapping *mapping = row->mapping;
    bool other = mapping->by_key || mapping->id_count;
    bool both = row->name.has_id || (mapping->by_key && row->name.partition.len);
    if (!mapping->named || !other || !both || mapping->operation == WEIR_OPERATION_DELETE)
        return true;
    struct weir_str column =
        row->name.has_id ? mapping->names.primary_id : weir_str_from(WEIR_PARTITION_COLUMN);
    return weir_draft_refuse(row->draft, row->arena, column,
                             "the row has \"%.*s\", and rows go by %s; leave one of them out",
                             (int)column.len, column.ptr,
                             mapping->by_key ? "a key" : "ids that are derived");
}

/* ---- sorting all of them ---- */

static bool take_column(struct row *row, uint32_t i)
{
    const struct weir_slot *slot = row->mapping->slots.list[i];
    struct weir_str table = weir_str("", 0);
    if (slot->table_place == WEIR_NO_PLACE && is_simple_cell(slot, &row->record->cells[i]))
        return take_simple(row, slot, &row->record->cells[i]);
    if (slot->table_place < row->record->cell_count)
        table = weir_str_trim(row->record->cells[slot->table_place]);
    return take_cell(row, slot, row->record->cells[i], false, table);
}

static bool sort_cells(struct row *row)
{
    const struct weir_mapping *mapping = row->mapping;
    const struct weir_record *record = row->record;
    uint32_t count = record->cell_count;
    if (!mapping->named && count > mapping->slots.count)
        count = mapping->slots.count;
    mapping->memory->turn++;
    for (uint32_t i = 0; i < count && !is_refused(row); i++) {
        if (!(mapping->named ? take_member(row, i) : take_column(row, i)))
            return false;
    }
    for (uint32_t i = 0; i < mapping->constants.count && !is_refused(row); i++) {
        const struct weir_slot *slot = mapping->constants.list[i];
        struct weir_str constant = weir_str_from(slot->with->value);
        if (!take_cell(row, slot, constant, !constant.len, weir_str("", 0)))
            return false;
    }
    return is_refused(row) || check_named(row);
}

static bool sort(struct row *row)
{
    size_t most = (size_t)row->record->cell_count + row->mapping->constants.count;
    row->items = weir_arena_take(row->arena, (most + 1) * sizeof(*row->items));
    row->name.has_id = row->mapping->has_id && !row->mapping->named;
    return row->items && sort_cells(row);
}

/* ---- reading items ---- */

/* It cannot be for this pass, and was checked in the first. */
static bool is_elsewhere(const struct row *row, const struct weir_item *item)
{
    if (row->pass == WEIR_PASS_ROWS)
        return false;
    return item->member->lookup ? row->pass != WEIR_PASS_LOOKUPS : row->pass != item->member->pass;
}

/* A row of a partition is found by its id and its partition, and a lookup holds only an id. */
static bool is_astray(const struct row *row, const struct weir_item *item)
{
    return row->name.partition.len && row->mapping->elastic && item->member->lookup &&
           !item->null &&
           weir_str_equal(item->binding.end->table, row->mapping->names.logical_name);
}

static bool read_items(struct row *row)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < row->count; i++) {
        struct weir_item *item = &row->items[i];
        struct weir_error err;
        if (is_elsewhere(row, item))
            continue;
        enum weir_status status = weir_item_read(row->mapping, item, row->arena, &err);
        if (status == WEIR_E_TOO_BIG)
            return false;
        if (status)
            return refuse(row, item->member->column, err.message);
        if (is_astray(row, item))
            return refuse(row, item->member->column, ASTRAY);
        if (kept < i)
            row->items[kept] = *item;
        kept++;
    }
    row->count = kept;
    return true;
}

static const struct weir_item *find_type(const struct row *row, enum weir_column_type type)
{
    for (uint32_t i = 0; i < row->count; i++) {
        if (row->items[i].member->column->type == type && !row->items[i].null)
            return &row->items[i];
    }
    return NULL;
}

static bool imply(struct row *row, int32_t state)
{
    const char *name = row->mapping->state_column->name;
    size_t most = strlen(name) + sizeof(",\"\":-2147483648");
    char *memory = weir_arena_take(row->arena, most);
    if (!memory)
        return false;
    int len = snprintf(memory, most, ",\"%s\":%" PRId32, name, state);
    row->implied = weir_str(memory, (size_t)len);
    return true;
}

/* States are read in the first pass and in their own. */
static bool check_states(struct row *row)
{
    struct weir_error err;
    int32_t state;
    if (!row->mapping->has_status)
        return true;
    const struct weir_item *status = find_type(row, WEIR_COLUMN_STATUS);
    if (!status)
        return true;
    if (weir_mapping_check_states(find_type(row, WEIR_COLUMN_STATE), status, &state, &err))
        return refuse(row, status->member->column, err.message);
    const struct weir_column *column = row->mapping->state_column;
    bool needed = state >= 0 && status->pass == row->pass && column && column->for_update;
    return !needed || imply(row, state);
}

/* ---- writing ---- */

static struct weir_str owner_of(const struct row *row)
{
    bool wanted = row->pass == WEIR_PASS_ROWS && !row->owned;
    return wanted ? row->mapping->owner : weir_str("", 0);
}

/* The bytes of all members, commas included, and the shape. */
static void measure(struct row *row)
{
    uint64_t shape = 0;
    row->bytes = owner_of(row).len + row->implied.len;
    for (uint32_t i = 0; i < row->count; i++) {
        if (row->items[i].pass != row->pass)
            continue;
        row->bytes += row->items[i].bytes;
        shape += row->items[i].member->shape;
    }
    if (weir_mapping_operation(row->mapping, row->pass) != WEIR_OPERATION_CREATE)
        row->draft->shape = shape;
}

static void write_members(const struct row *row, char *to)
{
    struct weir_str owner = owner_of(row);
    for (uint32_t i = 0; i < row->count; i++) {
        if (row->items[i].pass == row->pass)
            to = weir_item_write(&row->items[i], to);
    }
    if (row->implied.len)
        memcpy(to, row->implied.ptr, row->implied.len);
    if (owner.len)
        memcpy(to + row->implied.len, owner.ptr, owner.len);
}

/*
 * What is to blame if the service refuses the row in a pass that writes one column: its lookup, its
 * state. A status belongs to the state.
 */
static struct weir_str blame(const struct row *row)
{
    const struct weir_column *found = NULL;
    for (uint32_t i = 0; row->pass != WEIR_PASS_ROWS && i < row->count; i++) {
        const struct weir_item *item = &row->items[i];
        if (item->pass != row->pass)
            continue;
        if (found && row->pass == WEIR_PASS_LOOKUPS)
            return weir_str("", 0);
        if (!found || item->member->column->type == WEIR_COLUMN_STATE)
            found = item->member->column;
    }
    return weir_str_from(found ? found->name : "");
}

static bool add_members(struct row *row)
{
    char *memory;
    measure(row);
    row->draft->idle = row->pass != WEIR_PASS_ROWS && !row->bytes;
    row->draft->column = blame(row);
    if (!row->bytes)
        return true;
    if (!weir_mapping_reserve(row->mapping, row->bytes, row->arena, row->draft, &memory))
        return false;
    if (memory)
        write_members(row, memory);
    return true;
}

/* ---- all of it ---- */

static bool refuse_ownerless(const struct row *row)
{
    const struct weir_column *column = row->mapping->owner_column;
    return weir_draft_refuse(row->draft, row->arena,
                             weir_str_from(column ? column->name : "ownerid"),
                             "the row has no owner, and several connections would share such "
                             "rows out; it takes systemuser:ID or team:ID");
}

/* What a spreadsheet leaves behind its last row would become a row without content. */
static bool check_filled(const struct row *row)
{
    const struct weir_record *record = row->record;
    bool values = false;
    if (row->filled || !weir_mapping_may_create(row->mapping))
        return true;
    for (uint32_t i = 0; i < record->cell_count && !values; i++)
        values = weir_str_trim(record->cells[i]).len;
    return weir_draft_refuse(
        row->draft, row->arena, weir_str("", 0), "every %s of the row%s is empty",
        row->mapping->named ? "member" : "cell", values ? " that is not passed over" : "");
}

static bool draft_row(struct row *row)
{
    if (!sort(row))
        return false;
    if (!is_refused(row) && !check_filled(row))
        return false;
    if (!is_refused(row) && !weir_mapping_name(row->mapping, &row->name, row->arena, row->draft))
        return false;
    if (!is_refused(row) && row->mapping->owner_needed && !row->owned &&
        row->pass == WEIR_PASS_ROWS && !refuse_ownerless(row))
        return false;
    if (!is_refused(row) && !read_items(row))
        return false;
    if (!is_refused(row) && !check_states(row))
        return false;
    return is_refused(row) || add_members(row);
}

/* By hand: of the parts that name rows there is room for many, and mostly there are none. */
static void begin(struct row *row, const struct weir_mapping *mapping)
{
    row->mapping = mapping;
    row->name.id = row->name.partition = row->implied = weir_str(NULL, 0);
    for (uint32_t i = 0; i < mapping->key_count; i++)
        row->name.key[i] = weir_str(NULL, 0);
    for (uint32_t i = 0; i < mapping->id_count; i++)
        row->name.id_parts[i] = weir_str(NULL, 0);
    row->items = NULL;
    row->count = 0;
    row->filled = row->owned = false;
    row->bytes = 0;
}

bool weir_mapping_record(const struct weir_mapping *mapping, enum weir_pass pass,
                         const struct weir_record *record, struct weir_arena *arena,
                         struct weir_draft *ret)
{
    static const struct weir_draft nothing;
    struct row row;
    *ret = nothing;
    ret->number = record->number;
    ret->file = record->place.file;
    ret->offset = record->place.offset;
    ret->end = record->place.end;
    ret->raw = record->raw;
    if (pass == WEIR_PASS_ROWS && !record->problem &&
        weir_mapping_straight(mapping, record, arena, ret))
        return true;
    begin(&row, mapping);
    row.pass = pass;
    row.record = record;
    row.arena = arena;
    row.draft = ret;
    if (record->problem)
        return weir_mapping_refuse_problem(mapping, record, arena, ret);
    if (mapping->objects)
        return weir_mapping_object(mapping, weir_str_trim(record->raw), arena, ret);
    return draft_row(&row);
}

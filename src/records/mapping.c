/* SPDX-License-Identifier: MIT */
/*
 * From records to drafts; see mapping.h. All that can be decided once is decided when the mapping
 * is made; of a row, its cells are measured, then written into memory of just that size:
 *
 *     ,"name":  "Contoso"  ,"accountnumber":  "A1"
 *     ╰ member ╯ ╰─ kind ╯ ╰──── member ────╯ ╰ kind      the first comma is left out
 */
#include "records/mapping.h"

#include "base/error.h"
#include "base/mem.h"
#include "records/mapping_parts.h"
#include "records/owner.h"

#define OWNER_OPENING ",\"ownerid@odata.bind\":"

const char *weir_mapping_verb(const struct weir_mapping *mapping)
{
    static const char *const verbs[] = {
        [WEIR_OPERATION_CREATE] = "a create",
        [WEIR_OPERATION_UPDATE] = "an update",
        [WEIR_OPERATION_UPSERT] = "an upsert",
        [WEIR_OPERATION_DELETE] = "a delete",
    };
    return verbs[mapping->operation];
}

/* ---- the owner ---- */

static bool may_create(const struct weir_mapping *mapping)
{
    return mapping->operation == WEIR_OPERATION_CREATE ||
           mapping->operation == WEIR_OPERATION_UPSERT;
}

/* Of several connections each would own what it happens to send. */
static enum weir_status choose_no_owner(struct weir_mapping *mapping, size_t connections,
                                        struct weir_error *err)
{
    mapping->owner_needed =
        may_create(mapping) && connections > 1 && mapping->table->ownership == WEIR_OWNERSHIP_USER;
    if (!mapping->owner_needed || mapping->owner_column)
        return WEIR_OK;
    return weir_fail(
        err, WEIR_E_INVALID,
        "rows of the table \"%s\" have owners, and %zu connections would share them "
        "out; say the owner (--owner): systemuser:ID, team:ID, or caller (whoever sends the row)",
        mapping->table->name, connections);
}

static enum weir_status check_owner(const struct weir_mapping *mapping, struct weir_error *err)
{
    if (!may_create(mapping))
        return weir_fail(err, WEIR_E_INVALID,
                         "%s takes no owner: it is said of rows that are created",
                         weir_mapping_verb(mapping));
    if (mapping->table->ownership != WEIR_OWNERSHIP_USER)
        return weir_fail(err, WEIR_E_INVALID,
                         "rows of the table \"%s\" have no owner; leave it out",
                         mapping->table->name);
    return WEIR_OK;
}

static void set_owner(struct weir_mapping *mapping, const struct weir_owner *owner)
{
    size_t bytes = strlen(OWNER_OPENING) + weir_owner_bytes(owner);
    char *text = weir_calloc(bytes, 1);
    memcpy(text, OWNER_OPENING, strlen(OWNER_OPENING));
    weir_owner_write(owner, text + strlen(OWNER_OPENING));
    mapping->owner_text = text;
    mapping->owner = weir_str(text, bytes);
}

static enum weir_status choose_owner(struct weir_mapping *mapping,
                                     const struct weir_mapping_options *options,
                                     struct weir_error *err)
{
    struct weir_str text = weir_str_from(options->owner);
    struct weir_owner owner;
    if (!options->owner)
        return choose_no_owner(mapping, options->connections, err);
    if (weir_str_equal(text, weir_str_from("caller")))
        return WEIR_OK;
    if (!weir_owner_parse(text, &owner))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is no owner; it must be systemuser:ID, team:ID, or caller "
                         "(whoever sends the row)",
                         WEIR_QUOTED(text));
    enum weir_status status = check_owner(mapping, err);
    if (!status)
        set_owner(mapping, &owner);
    return status;
}

/* ---- life ---- */

static struct weir_mapping *begin(const struct weir_mapping_options *options)
{
    struct weir_mapping *mapping = weir_calloc(1, sizeof(*mapping));
    mapping->table = options->table;
    mapping->names = weir_table_names_of(options->table);
    mapping->operation = options->operation;
    mapping->ids = options->ids;
    mapping->objects = options->columns.count == 0;
    mapping->elastic = options->table->type == WEIR_TABLE_ELASTIC;
    mapping->id_place = WEIR_NO_PLACE;
    mapping->partition_place = WEIR_NO_PLACE;
    for (size_t i = 0; i < WEIR_KEY_PARTS_MAX; i++)
        mapping->key_places[i] = WEIR_NO_PLACE;
    return mapping;
}

enum weir_status weir_mapping_new(const struct weir_mapping_options *options,
                                  struct weir_mapping **ret, struct weir_error *err)
{
    struct weir_mapping *mapping = begin(options);
    enum weir_status status = weir_mapping_choose_key(mapping, options->key, err);
    if (!status && !mapping->objects)
        status = weir_mapping_choose_columns(mapping, options->columns, err);
    if (!status)
        status = choose_owner(mapping, options, err);
    if (status)
        weir_mapping_free(mapping);
    else
        *ret = mapping;
    return status;
}

void weir_mapping_free(struct weir_mapping *mapping)
{
    if (!mapping)
        return;
    for (uint32_t i = 0; i < mapping->member_count; i++)
        free((char *)mapping->members[i].opening.ptr);
    free(mapping->members);
    free(mapping->columns);
    free(mapping->owner_text);
    free(mapping);
}

bool weir_mapping_allows_bulk(const struct weir_mapping *mapping)
{
    return !mapping->by_key || mapping->operation == WEIR_OPERATION_UPSERT;
}

bool weir_mapping_takes_ids(const struct weir_mapping *mapping)
{
    return mapping->objects || mapping->id_place != WEIR_NO_PLACE;
}

/* ---- rows of cells ---- */

static struct weir_str cell(const struct weir_record *record, uint32_t place)
{
    return place == WEIR_NO_PLACE ? weir_str("", 0) : record->cells[place];
}

static bool refuse_problem(const struct weir_mapping *mapping, const struct weir_record *record,
                           struct weir_arena *arena, struct weir_draft *draft)
{
    struct weir_str column = weir_str("", 0);
    if (record->column > 0 && record->column <= mapping->column_count)
        column = weir_str_from(mapping->columns[record->column - 1]->name);
    char text[WEIR_MESSAGE_MAX];
    weir_record_explain(record, column, text, sizeof(text));
    return weir_draft_refuse(draft, arena, column, "%s", text);
}

static bool name_record(const struct weir_mapping *mapping, const struct weir_record *record,
                        struct weir_arena *arena, struct weir_draft *draft)
{
    struct weir_row_name name;
    name.has_id = mapping->id_place != WEIR_NO_PLACE;
    name.id = cell(record, mapping->id_place);
    name.partition = cell(record, mapping->partition_place);
    for (uint32_t i = 0; i < mapping->key_count; i++)
        name.key[i] = cell(record, mapping->key_places[i]);
    return weir_mapping_name(mapping, &name, arena, draft);
}

/* The owner that the options name stands in for a cell that is empty, or for the column. */
static bool has_own_owner(const struct weir_mapping *mapping, const struct weir_record *record)
{
    return mapping->owner_column && record->cells[mapping->owner_column->place].len;
}

/* The bytes of all members, commas included, and the shape. A refusal may come of it. */
static bool measure(const struct weir_mapping *mapping, const struct weir_record *record,
                    struct weir_arena *arena, struct weir_draft *draft, size_t *ret)
{
    size_t bytes = has_own_owner(mapping, record) ? 0 : mapping->owner.len;
    uint64_t shape = 0;
    for (uint32_t i = 0; i < mapping->member_count; i++) {
        const struct weir_member *member = &mapping->members[i];
        struct weir_str value = record->cells[member->place];
        if (!value.len)
            continue;
        size_t value_bytes;
        struct weir_error err;
        if (member->kind->measure(member->column, value, &value_bytes, &err) != WEIR_OK)
            return weir_draft_refuse(draft, arena, weir_str_from(member->column->name), "%s",
                                     err.message);
        bytes += member->opening.len + value_bytes;
        shape += member->shape;
    }
    if (mapping->operation != WEIR_OPERATION_CREATE)
        draft->shape = shape;
    *ret = bytes;
    return true;
}

/* Behind an empty beginning, without its comma. */
static char *add(char *to, struct weir_str text, bool first)
{
    memcpy(to, text.ptr + first, text.len - first);
    return to + text.len - first;
}

static void write_members(const struct weir_mapping *mapping, const struct weir_record *record,
                          char *to)
{
    const char *begin = to;
    for (uint32_t i = 0; i < mapping->member_count; i++) {
        const struct weir_member *member = &mapping->members[i];
        struct weir_str value = record->cells[member->place];
        if (!value.len)
            continue;
        to = add(to, member->opening, to == begin);
        to = member->kind->write(member->column, value, to);
    }
    if (mapping->owner.len && !has_own_owner(mapping, record))
        add(to, mapping->owner, to == begin);
}

static bool add_members(const struct weir_mapping *mapping, const struct weir_record *record,
                        struct weir_arena *arena, struct weir_draft *draft)
{
    size_t bytes;
    char *memory;
    if (mapping->owner_needed && !has_own_owner(mapping, record))
        return weir_draft_refuse(draft, arena, weir_str_from(mapping->owner_column->column->name),
                                 "the row has no owner, and several connections would share such "
                                 "rows out; it takes systemuser:ID or team:ID");
    if (!measure(mapping, record, arena, draft, &bytes))
        return false;
    if (draft->refusal.len || !bytes)
        return true;
    if (!weir_mapping_reserve(mapping, bytes - 1, arena, draft, &memory))
        return false;
    if (memory)
        write_members(mapping, record, memory);
    return true;
}

bool weir_mapping_record(const struct weir_mapping *mapping, const struct weir_record *record,
                         struct weir_arena *arena, struct weir_draft *ret)
{
    *ret = (struct weir_draft){
        .number = record->number,
        .file = record->place.file,
        .offset = record->place.offset,
        .end = record->place.end,
        .raw = record->raw,
    };
    if (record->problem)
        return refuse_problem(mapping, record, arena, ret);
    if (!name_record(mapping, record, arena, ret))
        return false;
    return ret->refusal.len || add_members(mapping, record, arena, ret);
}

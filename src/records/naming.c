/* SPDX-License-Identifier: MIT */
/*
 * What a row is called; see mapping_parts.h. Every name is checked here for standing in an address:
 * a request with one row whose name does not would fail for all of its rows.
 */
#include "base/error.h"
#include "protocol/odata.h"
#include "records/mapping_parts.h"
#include "records/row_key.h"

static bool refuse_empty(struct weir_arena *arena, struct weir_draft *draft, const char *column)
{
    return weir_draft_refuse(draft, arena, weir_str_from(column),
                             "the row has no value for \"%s\", which names it", column);
}

/* ---- by its id ---- */

static bool set_id(struct weir_arena *arena, struct weir_draft *draft, const struct weir_guid *id)
{
    char *text = weir_arena_take(arena, WEIR_GUID_TEXT);
    if (!text)
        return false;
    weir_guid_print(id, text);
    draft->target.id = weir_str(text, WEIR_GUID_CHARS);
    draft->id = *id;
    draft->id_known = true;
    return true;
}

static bool is_nil(const struct weir_guid *id)
{
    static const struct weir_guid nil;
    return weir_guid_equal(id, &nil);
}

static bool refuse_id(const struct weir_mapping *mapping, struct weir_str id,
                      struct weir_arena *arena, struct weir_draft *draft)
{
    return weir_draft_refuse(draft, arena, mapping->names.primary_id,
                             "\"%.*s\" is no id; \"%s\" needs 32 hexadecimal digits in groups of "
                             "8-4-4-4-12, not all of them 0",
                             WEIR_QUOTED(id), mapping->table->primary_id);
}

/* The same values give the same id, in whichever job. */
static bool name_by_values(const struct weir_mapping *mapping, const struct weir_row_name *name,
                           struct weir_arena *arena, struct weir_draft *draft,
                           struct weir_row_key *key)
{
    struct weir_derived_ids *ids = mapping->world->derived;
    weir_derived_ids_begin(ids, mapping->table->name);
    for (uint32_t i = 0; i < mapping->id_count; i++) {
        struct weir_str column = mapping->id_names[i];
        if (!weir_str_trim(name->id_parts[i]).len)
            return weir_draft_refuse(draft, arena, column,
                                     "the row has no value for \"%.*s\", from which its id is "
                                     "derived",
                                     (int)column.len, column.ptr);
        weir_derived_ids_add(ids, mapping->id_columns[i], name->id_parts[i]);
    }
    struct weir_guid id = weir_derived_ids_end(ids);
    weir_row_key_add_guid(key, &id);
    draft->named_by_input = true;
    return set_id(arena, draft, &id);
}

/* The service takes an id of zeros for none and makes one: the row could not be found again. */
static bool name_by_id(const struct weir_mapping *mapping, const struct weir_row_name *name,
                       struct weir_arena *arena, struct weir_draft *draft, struct weir_row_key *key)
{
    struct weir_guid id;
    if (mapping->id_count)
        return name_by_values(mapping, name, arena, draft, key);
    if (mapping->operation == WEIR_OPERATION_CREATE && !name->has_id) {
        id = weir_row_ids_make(&mapping->ids, draft->number);
        return set_id(arena, draft, &id);
    }
    if (!name->id.len)
        return refuse_empty(arena, draft, mapping->table->primary_id);
    if (!weir_cell_guid(name->id, &id) || is_nil(&id))
        return refuse_id(mapping, name->id, arena, draft);
    weir_row_key_add_guid(key, &id);
    draft->named_by_input = true;
    return set_id(arena, draft, &id);
}

/* ---- in a partition ---- */

static bool refuse_partition(struct weir_str partition, struct weir_arena *arena,
                             struct weir_draft *draft)
{
    struct weir_str column = weir_str_from(WEIR_PARTITION_COLUMN);
    size_t at = weir_odata_key_obstacle(partition);
    if (at == partition.len)
        return weir_draft_refuse(draft, arena, column,
                                 "the partition of the row is longer than %zu bytes, which no "
                                 "address can hold",
                                 WEIR_ROW_NAME_BYTES_MAX);
    unsigned char c = (unsigned char)partition.ptr[at];
    if (c < 0x20 || c == 0x7f)
        return weir_draft_refuse(draft, arena, column,
                                 "the partition of the row has a control character, which cannot "
                                 "stand in an address");
    return weir_draft_refuse(
        draft, arena, column,
        "the partition \"%.*s\" has a \"%c\", which cannot stand in an address",
        WEIR_QUOTED(partition), c);
}

static bool name_partition(const struct weir_mapping *mapping, struct weir_str partition,
                           struct weir_arena *arena, struct weir_draft *draft,
                           struct weir_row_key *key)
{
    if (!partition.len && mapping->by_partition)
        return refuse_empty(arena, draft, WEIR_PARTITION_COLUMN);
    if (partition.len && (weir_odata_key_obstacle(partition) < partition.len ||
                          weir_odata_encoded_bytes(partition) > WEIR_ROW_NAME_BYTES_MAX))
        return refuse_partition(partition, arena, draft);
    weir_row_key_add_exact(key, partition);
    draft->target.partition = partition;
    return true;
}

/* ---- by an alternate key ---- */

/* Append `column='value'`; the value becomes what stands there. A refusal may come of it. */
static bool add_part(struct weir_buf *predicate, const struct weir_cell_rule *rule,
                     struct weir_str *value, struct weir_arena *arena, struct weir_draft *draft)
{
    const struct weir_column *column = rule->column;
    struct weir_str name = weir_str_from(column->name);
    struct weir_key_part part;
    struct weir_error err;
    if (!value->len)
        return refuse_empty(arena, draft, column->name);
    enum weir_status status = weir_cell_rule_literal(rule, *value, arena, value, &err);
    if (status == WEIR_E_TOO_BIG)
        return false;
    weir_column_key_part(column, *value, &part);
    if (!status)
        status = weir_odata_add_predicate(predicate, &part, 1, &err);
    if (status)
        return weir_draft_refuse(draft, arena, name, "%s", err.message);
    if (predicate->overflow)
        return weir_draft_refuse(draft, arena, name,
                                 "the key of the row is longer than %zu bytes, which no address "
                                 "can hold",
                                 WEIR_ROW_NAME_BYTES_MAX);
    return true;
}

static bool check_part(const struct weir_mapping *mapping, const struct weir_slot *slot,
                       struct weir_str cell, struct weir_arena *arena, struct weir_draft *draft)
{
    char text[WEIR_ROW_NAME_BYTES_MAX + 1];
    struct weir_buf predicate = { .ptr = text,
                                  .capacity = sizeof(text),
                                  .bytes_max = WEIR_ROW_NAME_BYTES_MAX };
    struct weir_row_key key;
    struct weir_guid id;
    if (slot->use == WEIR_USE_KEY)
        return add_part(&predicate, &mapping->key_rules[slot->key], &cell, arena, draft);
    weir_row_key_init(&key);
    if (slot->use == WEIR_USE_PARTITION)
        return name_partition(mapping, cell, arena, draft, &key);
    bool fine = weir_cell_guid(cell, &id) && !is_nil(&id);
    return fine || refuse_id(mapping, cell, arena, draft);
}

enum weir_status weir_mapping_check_name(const struct weir_mapping *mapping,
                                         const struct weir_slot *slot, struct weir_str cell,
                                         struct weir_arena *arena, struct weir_error *err)
{
    struct weir_draft draft = { 0 };
    if (check_part(mapping, slot, cell, arena, &draft) && !draft.refusal.len)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID, "%.*s", (int)draft.refusal.len, draft.refusal.ptr);
}

static bool set_key(struct weir_arena *arena, struct weir_draft *draft,
                    const struct weir_buf *predicate)
{
    char *text = weir_arena_take(arena, predicate->len);
    if (!text)
        return false;
    memcpy(text, predicate->ptr, predicate->len);
    draft->target.key = weir_str(text, predicate->len);
    return true;
}

/* The buffer has all of its memory from the beginning: nothing is allocated for a row. */
static bool name_by_key(const struct weir_mapping *mapping, const struct weir_row_name *name,
                        struct weir_arena *arena, struct weir_draft *draft,
                        struct weir_row_key *key)
{
    char text[WEIR_ROW_NAME_BYTES_MAX + 1];
    struct weir_buf predicate = { .ptr = text,
                                  .capacity = sizeof(text),
                                  .bytes_max = WEIR_ROW_NAME_BYTES_MAX };
    for (uint32_t i = 0; i < mapping->key_count; i++) {
        if (i)
            weir_buf_add_char(&predicate, ',');
        struct weir_str value = name->key[i];
        if (!add_part(&predicate, &mapping->key_rules[i], &value, arena, draft))
            return false;
        if (draft->refusal.len)
            return true;
        weir_row_key_add(key, mapping->key[i]->type, value);
    }
    return set_key(arena, draft, &predicate);
}

/* ---- all of it ---- */

/* An id that was made is nobody else's, and its row needs no hash. */
bool weir_mapping_name(const struct weir_mapping *mapping, const struct weir_row_name *name,
                       struct weir_arena *arena, struct weir_draft *draft)
{
    struct weir_row_key key;
    weir_row_key_init(&key);
    bool made = mapping->operation == WEIR_OPERATION_CREATE && !name->has_id && !mapping->id_count;
    bool fits = mapping->by_key ? name_by_key(mapping, name, arena, draft, &key)
                                : name_by_id(mapping, name, arena, draft, &key);
    if (fits && !draft->refusal.len && !mapping->by_key)
        fits = name_partition(mapping, name->partition, arena, draft, &key);
    if (fits && !draft->refusal.len && !made)
        draft->key_hash = weir_row_key_hash(&key);
    return fits;
}

/* ---- what it weighs ---- */

bool weir_mapping_weigh(const struct weir_mapping *mapping, struct weir_str members,
                        struct weir_arena *arena, struct weir_draft *draft)
{
    struct weir_target target = draft->target;
    target.members = members;
    size_t bytes = weir_bulk_target_bytes(&mapping->names, &target);
    if (bytes > WEIR_ROW_BYTES_MAX)
        return weir_draft_refuse(draft, arena, weir_str("", 0),
                                 "the row has %zu bytes as JSON, more than the %zu that a request "
                                 "can carry",
                                 bytes, WEIR_ROW_BYTES_MAX);
    draft->target.members = members;
    return true;
}

bool weir_mapping_reserve(const struct weir_mapping *mapping, size_t bytes,
                          struct weir_arena *arena, struct weir_draft *draft, char **ret)
{
    *ret = NULL;
    if (!weir_mapping_weigh(mapping, weir_str(NULL, bytes - 1), arena, draft))
        return false;
    if (draft->refusal.len)
        return true;
    char *memory = weir_arena_take(arena, bytes);
    draft->target.members = weir_str(memory ? memory + 1 : NULL, bytes - 1);
    *ret = memory;
    return memory != NULL;
}

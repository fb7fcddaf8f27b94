/* SPDX-License-Identifier: MIT */
/*
 * A table: its memory, finding things in it, names for people. See metadata.h.
 *
 * All memory of a table comes from blocks that hang together in a list, so that hundreds of columns
 * with thousands of labels are given back in a few calls.
 */
#include "protocol/metadata.h"

#include "base/mem.h"
#include "protocol/metadata_parts.h"

#define BLOCK_BYTES ((size_t)32 * 1024)
#define ALIGNMENT   16

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct weir_table_block {
    struct weir_table_block *next;
    size_t used;
    size_t size;
    _Alignas(ALIGNMENT) char bytes[];
};

/* ---- memory ---- */

static struct weir_table_block *add_block(struct weir_table *table, size_t size)
{
    struct weir_table_block *block = weir_calloc(1, sizeof(*block) + size);
    block->size = size;
    block->next = table->blocks;
    table->blocks = block;
    return block;
}

void *weir_table_alloc(struct weir_table *table, size_t count, size_t size)
{
    size_t bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct weir_table_block *block = table->blocks;
    if (!block || block->size - block->used < bytes)
        block = add_block(table, bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES);
    void *memory = block->bytes + block->used;
    block->used += bytes;
    return memory;
}

const char *weir_table_text(struct weir_table *table, struct weir_str text)
{
    char *copy = weir_table_alloc(table, text.len + 1, 1);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

void weir_table_free(struct weir_table *table)
{
    if (!table)
        return;
    weir_map_release(&table->column_map);
    for (struct weir_table_block *block = table->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(table);
}

/* ---- finding ---- */

const struct weir_column *weir_table_column(const struct weir_table *table, struct weir_str name)
{
    uint32_t place;
    return weir_map_find(&table->column_map, name, &place) ? &table->columns[place] : NULL;
}

const struct weir_alternate_key *weir_table_key(const struct weir_table *table,
                                                struct weir_str name)
{
    for (uint32_t i = 0; i < table->key_count; i++) {
        if (weir_str_equal(name, weir_str_from(table->keys[i].name)))
            return &table->keys[i];
    }
    return NULL;
}

static bool is_among(const char *name, const struct weir_str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (weir_str_equal(weir_str_from(name), names[i]))
            return true;
    }
    return false;
}

static bool has_column(const struct weir_alternate_key *key, struct weir_str name)
{
    for (uint32_t i = 0; i < key->column_count; i++) {
        if (weir_str_equal(weir_str_from(key->columns[i]), name))
            return true;
    }
    return false;
}

/* Both ways, because a name that comes twice on one side stands for two of the other. */
static bool is_key_of(const struct weir_alternate_key *key, const struct weir_str *columns,
                      size_t count)
{
    if (key->column_count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!has_column(key, columns[i]) || !is_among(key->columns[i], columns, count))
            return false;
    }
    return count > 0;
}

const struct weir_alternate_key *weir_table_key_of(const struct weir_table *table,
                                                   const struct weir_str *columns, size_t count)
{
    for (uint32_t i = 0; i < table->key_count; i++) {
        if (is_key_of(&table->keys[i], columns, count))
            return &table->keys[i];
    }
    return NULL;
}

struct weir_table_names weir_table_names_of(const struct weir_table *table)
{
    const struct weir_column *overridden =
        weir_table_column(table, weir_str_from(WEIR_OVERRIDDEN_COLUMN));
    return (struct weir_table_names){ .logical_name = weir_str_from(table->name),
                                      .set_name = weir_str_from(table->set_name),
                                      .primary_id = weir_str_from(table->primary_id),
                                      .overridden = overridden && overridden->for_read };
}

bool weir_column_key_part(const struct weir_column *column, struct weir_str value,
                          struct weir_key_part *ret)
{
    enum weir_key_part_type type = WEIR_KEY_PART_LITERAL;
    switch (column->type) {
    case WEIR_COLUMN_OTHER:
    case WEIR_COLUMN_MULTI_PICKLIST:
    case WEIR_COLUMN_PARTY_LIST:
    case WEIR_COLUMN_FILE:
    case WEIR_COLUMN_IMAGE:
        return false;
    case WEIR_COLUMN_STRING:
    case WEIR_COLUMN_MEMO:
    case WEIR_COLUMN_ENTITY_NAME:
        type = WEIR_KEY_PART_TEXT;
        break;
    default:
        break;
    }
    *ret = (struct weir_key_part){ type, weir_str_from(column->key_name), value };
    return true;
}

const struct weir_choice *weir_column_choice(const struct weir_column *column, int32_t value)
{
    for (uint32_t i = 0; i < column->choice_count; i++) {
        if (column->choices[i].value == value)
            return &column->choices[i];
    }
    return NULL;
}

const struct weir_lookup_target *weir_column_target(const struct weir_column *column,
                                                    struct weir_str table)
{
    for (uint32_t i = 0; i < column->target_count; i++) {
        if (weir_str_equal(table, weir_str_from(column->targets[i].table)))
            return &column->targets[i];
    }
    return NULL;
}

bool weir_column_is_lookup(const struct weir_column *column)
{
    return column->type == WEIR_COLUMN_LOOKUP || column->type == WEIR_COLUMN_CUSTOMER ||
           column->type == WEIR_COLUMN_OWNER;
}

/* ---- names ---- */

const char *weir_column_type_name(enum weir_column_type type)
{
    static const char *const names[WEIR_COLUMN_TYPES] = {
        [WEIR_COLUMN_OTHER] = "other",
        [WEIR_COLUMN_STRING] = "text",
        [WEIR_COLUMN_MEMO] = "multi-line text",
        [WEIR_COLUMN_INTEGER] = "whole number",
        [WEIR_COLUMN_BIGINT] = "big whole number",
        [WEIR_COLUMN_DECIMAL] = "decimal",
        [WEIR_COLUMN_DOUBLE] = "floating point",
        [WEIR_COLUMN_MONEY] = "money",
        [WEIR_COLUMN_BOOLEAN] = "yes or no",
        [WEIR_COLUMN_PICKLIST] = "choice",
        [WEIR_COLUMN_MULTI_PICKLIST] = "choices",
        [WEIR_COLUMN_STATE] = "state",
        [WEIR_COLUMN_STATUS] = "status",
        [WEIR_COLUMN_DATETIME] = "date and time",
        [WEIR_COLUMN_ID] = "id",
        [WEIR_COLUMN_LOOKUP] = "lookup",
        [WEIR_COLUMN_CUSTOMER] = "customer",
        [WEIR_COLUMN_OWNER] = "owner",
        [WEIR_COLUMN_PARTY_LIST] = "party list",
        [WEIR_COLUMN_ENTITY_NAME] = "table name",
        [WEIR_COLUMN_FILE] = "file",
        [WEIR_COLUMN_IMAGE] = "image",
    };
    return (size_t)type < COUNT(names) ? names[type] : "unknown type";
}

const char *weir_table_type_name(enum weir_table_type type)
{
    static const char *const names[] = {
        [WEIR_TABLE_STANDARD] = "standard",
        [WEIR_TABLE_ELASTIC] = "elastic",
        [WEIR_TABLE_VIRTUAL] = "virtual",
        [WEIR_TABLE_OTHER] = "other",
    };
    return (size_t)type < COUNT(names) ? names[type] : "unknown type";
}

const char *weir_key_status_name(enum weir_key_status status)
{
    static const char *const names[] = {
        [WEIR_KEY_STATUS_OTHER] = "other",
        [WEIR_KEY_STATUS_PENDING] = "pending",
        [WEIR_KEY_STATUS_IN_PROGRESS] = "in progress",
        [WEIR_KEY_STATUS_ACTIVE] = "active",
        [WEIR_KEY_STATUS_FAILED] = "failed",
    };
    return (size_t)status < COUNT(names) ? names[status] : "unknown status";
}

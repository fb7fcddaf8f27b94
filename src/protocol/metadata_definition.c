/* SPDX-License-Identifier: MIT */
/*
 * The definition of a table: names, columns, alternate keys, and for each lookup the relationships
 * that it stands for. What only some kinds of columns have comes from the casts, later.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "protocol/metadata_parts.h"

static enum weir_status too_many(struct weir_metadata_reader *reader, const char *what, size_t max)
{
    return weir_fail(reader->err, WEIR_E_TOO_BIG, "table \"%s\" has more than %zu %s", reader->name,
                     max, what);
}

/* ---- columns ---- */

/* AttributeTypeName, which knows more than AttributeType: choices, files and images are all
 * virtual there. */
static const struct {
    const char *name;
    enum weir_column_type type;
} type_names[] = {
    { "StringType", WEIR_COLUMN_STRING },
    { "MemoType", WEIR_COLUMN_MEMO },
    { "IntegerType", WEIR_COLUMN_INTEGER },
    { "BigIntType", WEIR_COLUMN_BIGINT },
    { "DecimalType", WEIR_COLUMN_DECIMAL },
    { "DoubleType", WEIR_COLUMN_DOUBLE },
    { "MoneyType", WEIR_COLUMN_MONEY },
    { "BooleanType", WEIR_COLUMN_BOOLEAN },
    { "PicklistType", WEIR_COLUMN_PICKLIST },
    { "MultiSelectPicklistType", WEIR_COLUMN_MULTI_PICKLIST },
    { "StateType", WEIR_COLUMN_STATE },
    { "StatusType", WEIR_COLUMN_STATUS },
    { "DateTimeType", WEIR_COLUMN_DATETIME },
    { "UniqueidentifierType", WEIR_COLUMN_ID },
    { "LookupType", WEIR_COLUMN_LOOKUP },
    { "CustomerType", WEIR_COLUMN_CUSTOMER },
    { "OwnerType", WEIR_COLUMN_OWNER },
    { "PartyListType", WEIR_COLUMN_PARTY_LIST },
    { "EntityNameType", WEIR_COLUMN_ENTITY_NAME },
    { "FileType", WEIR_COLUMN_FILE },
    { "ImageType", WEIR_COLUMN_IMAGE },
};

#define TYPE_NAMES (sizeof(type_names) / sizeof((type_names)[0]))

/* `suffix` is what the name of a type has behind the word that `text` is. */
static enum weir_column_type find_type(struct weir_str text, size_t suffix)
{
    for (size_t i = 0; i < TYPE_NAMES; i++) {
        size_t len = strlen(type_names[i].name) - suffix;
        if (weir_str_equal(text, weir_str(type_names[i].name, len)))
            return type_names[i].type;
    }
    return WEIR_COLUMN_OTHER;
}

static enum weir_status read_type(struct weir_metadata_reader *reader,
                                  const struct weir_json_node *node, enum weir_column_type *ret)
{
    struct weir_str name;
    const struct weir_json_node *code;
    enum weir_status status = weir_metadata_get_value(reader, node, "AttributeTypeName", &name);
    if (status != WEIR_OK)
        return status;
    *ret = find_type(name, 0);
    if (name.len)
        return WEIR_OK;
    status = weir_metadata_get(reader, node, "AttributeType", WEIR_JSON_STRING, true, &code);
    if (status == WEIR_OK)
        *ret = find_type(code->text, strlen("Type"));
    return status;
}

static enum weir_status read_required(struct weir_metadata_reader *reader,
                                      const struct weir_json_node *node, enum weir_required *ret)
{
    static const char *const words[] = { "None", "Recommended", "ApplicationRequired",
                                         "SystemRequired", NULL };
    struct weir_str word;
    enum weir_status status = weir_metadata_get_value(reader, node, "RequiredLevel", &word);
    if (status == WEIR_OK)
        *ret = (enum weir_required)weir_metadata_word(word, words, WEIR_REQUIRED_NONE);
    return status;
}

/* A lookup holds a row, and its id goes by another name. */
const char *weir_table_key_name(struct weir_table *table, const struct weir_column *column)
{
    if (!weir_column_is_lookup(column))
        return column->name;
    size_t bytes = strlen(column->name) + sizeof("__value");
    char *name = weir_table_alloc(table, bytes, 1);
    snprintf(name, bytes, "_%s_value", column->name);
    return name;
}

static enum weir_status read_column(struct weir_metadata_reader *reader,
                                    const struct weir_json_node *node, struct weir_column *column)
{
    column->precision = -1;
    enum weir_status status =
        weir_metadata_get_text(reader, node, "LogicalName", true, &column->name);
    if (status == WEIR_OK)
        status = weir_metadata_get_label(reader, node, "DisplayName", &column->label);
    if (status == WEIR_OK)
        status = read_type(reader, node, &column->type);
    if (status == WEIR_OK)
        status = weir_metadata_get_bool(reader, node, "IsValidForCreate", &column->for_create);
    if (status == WEIR_OK)
        status = weir_metadata_get_bool(reader, node, "IsValidForUpdate", &column->for_update);
    if (status == WEIR_OK)
        status = weir_metadata_get_bool(reader, node, "IsValidForRead", &column->for_read);
    if (status == WEIR_OK)
        status = weir_metadata_get_text(reader, node, "AttributeOf", false, &column->part_of);
    if (status == WEIR_OK)
        status = read_required(reader, node, &column->required);
    if (status == WEIR_OK)
        column->key_name = weir_table_key_name(reader->table, column);
    return status;
}

static enum weir_status read_columns(struct weir_metadata_reader *reader,
                                     const struct weir_json_node *root)
{
    struct weir_table *table = reader->table;
    const struct weir_json_node *list;
    enum weir_status status =
        weir_metadata_get(reader, root, "Attributes", WEIR_JSON_ARRAY, true, &list);
    if (status != WEIR_OK)
        return status;
    if (list->count > WEIR_COLUMNS_MAX)
        return too_many(reader, "columns", WEIR_COLUMNS_MAX);
    table->columns = weir_table_alloc(table, list->count, sizeof(*table->columns));
    for (const struct weir_json_node *node = list->first; node; node = node->next) {
        struct weir_column *column = &table->columns[table->column_count];
        status = read_column(reader, node, column);
        if (status != WEIR_OK)
            return status;
        if (!weir_map_add(&table->column_map, weir_str_from(column->name), table->column_count++))
            return weir_fail(reader->err, WEIR_E_INVALID,
                             "the metadata of \"%s\" makes no sense: column \"%s\" comes twice",
                             reader->name, column->name);
    }
    return WEIR_OK;
}

/* ---- alternate keys ---- */

static enum weir_status read_key_columns(struct weir_metadata_reader *reader,
                                         const struct weir_json_node *node,
                                         struct weir_alternate_key *key)
{
    const struct weir_json_node *list;
    enum weir_status status =
        weir_metadata_get(reader, node, "KeyAttributes", WEIR_JSON_ARRAY, true, &list);
    if (status != WEIR_OK)
        return status;
    if (list->count > WEIR_KEY_PARTS_MAX)
        return too_many(reader, "columns in a key", WEIR_KEY_PARTS_MAX);
    key->columns = weir_table_alloc(reader->table, list->count, sizeof(*key->columns));
    for (node = list->first; node && status == WEIR_OK; node = node->next)
        status = weir_metadata_own_text(reader, node, "KeyAttributes",
                                        &key->columns[key->column_count++]);
    return status;
}

static enum weir_status read_key(struct weir_metadata_reader *reader,
                                 const struct weir_json_node *node, struct weir_alternate_key *key)
{
    static const char *const words[] = { "", "Pending", "InProgress", "Active", "Failed", NULL };
    const struct weir_json_node *word;
    enum weir_status status = weir_metadata_get_text(reader, node, "LogicalName", true, &key->name);
    if (status == WEIR_OK)
        status = read_key_columns(reader, node, key);
    if (status == WEIR_OK)
        status =
            weir_metadata_get(reader, node, "EntityKeyIndexStatus", WEIR_JSON_STRING, true, &word);
    if (status == WEIR_OK)
        key->status =
            (enum weir_key_status)weir_metadata_word(word->text, words, WEIR_KEY_STATUS_OTHER);
    return status;
}

static enum weir_status read_keys(struct weir_metadata_reader *reader,
                                  const struct weir_json_node *root)
{
    struct weir_table *table = reader->table;
    const struct weir_json_node *list;
    enum weir_status status = weir_metadata_get(reader, root, "Keys", WEIR_JSON_ARRAY, true, &list);
    if (status != WEIR_OK)
        return status;
    if (list->count > WEIR_ALTERNATE_KEYS_MAX)
        return too_many(reader, "alternate keys", WEIR_ALTERNATE_KEYS_MAX);
    table->keys = weir_table_alloc(table, list->count, sizeof(*table->keys));
    for (const struct weir_json_node *node = list->first; node && status == WEIR_OK;
         node = node->next)
        status = read_key(reader, node, &table->keys[table->key_count++]);
    return status;
}

/* ---- lookups ---- */

/* The lookup of a relationship; *ret NULL: of a column that is not there, which is no matter. */
static enum weir_status find_lookup(struct weir_metadata_reader *reader,
                                    const struct weir_json_node *node, struct weir_column **ret)
{
    const struct weir_json_node *name;
    uint32_t place;
    enum weir_status status =
        weir_metadata_get(reader, node, "ReferencingAttribute", WEIR_JSON_STRING, true, &name);
    if (status != WEIR_OK)
        return status;
    bool found = weir_map_find(&reader->table->column_map, name->text, &place);
    *ret = found ? &reader->table->columns[place] : NULL;
    return WEIR_OK;
}

static enum weir_status count_targets(struct weir_metadata_reader *reader,
                                      const struct weir_json_node *list)
{
    for (const struct weir_json_node *node = list->first; node; node = node->next) {
        struct weir_column *column;
        enum weir_status status = find_lookup(reader, node, &column);
        if (status != WEIR_OK)
            return status;
        if (column && ++column->target_count > WEIR_LOOKUP_TARGETS_MAX)
            return too_many(reader, "targets of a lookup", WEIR_LOOKUP_TARGETS_MAX);
    }
    return WEIR_OK;
}

static void make_room(struct weir_table *table)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        struct weir_column *column = &table->columns[i];
        if (column->target_count)
            column->targets =
                weir_table_alloc(table, column->target_count, sizeof(*column->targets));
        column->target_count = 0;
    }
}

static enum weir_status add_target(struct weir_metadata_reader *reader,
                                   const struct weir_json_node *node)
{
    struct weir_column *column;
    enum weir_status status = find_lookup(reader, node, &column);
    if (status != WEIR_OK || !column)
        return status;
    struct weir_lookup_target *target = &column->targets[column->target_count++];
    status = weir_metadata_get_text(reader, node, "ReferencedEntity", true, &target->table);
    if (status != WEIR_OK)
        return status;
    return weir_metadata_get_text(reader, node, "ReferencingEntityNavigationPropertyName", false,
                                  &target->navigation);
}

static enum weir_status read_lookups(struct weir_metadata_reader *reader,
                                     const struct weir_json_node *root)
{
    const struct weir_json_node *list;
    enum weir_status status =
        weir_metadata_get(reader, root, "ManyToOneRelationships", WEIR_JSON_ARRAY, true, &list);
    if (status == WEIR_OK)
        status = count_targets(reader, list);
    if (status != WEIR_OK)
        return status;
    make_room(reader->table);
    for (const struct weir_json_node *node = list->first; node && status == WEIR_OK;
         node = node->next)
        status = add_target(reader, node);
    return status;
}

/* ---- the table ---- */

static enum weir_status read_kind(struct weir_metadata_reader *reader,
                                  const struct weir_json_node *root)
{
    static const char *const types[] = { "Standard", "Elastic", "Virtual", NULL };
    static const char *const owners[] = { "None", "UserOwned", "OrganizationOwned", "TeamOwned",
                                          NULL };
    const struct weir_json_node *type, *owner;
    enum weir_status status =
        weir_metadata_get(reader, root, "TableType", WEIR_JSON_STRING, false, &type);
    if (status == WEIR_OK)
        status = weir_metadata_get(reader, root, "OwnershipType", WEIR_JSON_STRING, false, &owner);
    if (status != WEIR_OK)
        return status;
    struct weir_table *table = reader->table;
    if (type)
        table->type = (enum weir_table_type)weir_metadata_word(type->text, types, WEIR_TABLE_OTHER);
    int ownership = owner ? weir_metadata_word(owner->text, owners, WEIR_OWNERSHIP_NONE) : 0;
    table->ownership = ownership == 3 ? WEIR_OWNERSHIP_USER : (enum weir_ownership)ownership;
    return WEIR_OK;
}

static enum weir_status read_names(struct weir_metadata_reader *reader,
                                   const struct weir_json_node *root)
{
    struct weir_table *table = reader->table;
    enum weir_status status =
        weir_metadata_get_text(reader, root, "LogicalName", true, &table->name);
    if (status == WEIR_OK)
        status = weir_metadata_get_text(reader, root, "EntitySetName", true, &table->set_name);
    if (status == WEIR_OK)
        status =
            weir_metadata_get_text(reader, root, "PrimaryIdAttribute", true, &table->primary_id);
    if (status == WEIR_OK)
        status = weir_metadata_get_text(reader, root, "PrimaryNameAttribute", false,
                                        &table->primary_name);
    return status;
}

enum weir_status weir_metadata_read_definition(struct weir_metadata_reader *reader,
                                               const struct weir_json_node *root)
{
    enum weir_status status = read_names(reader, root);
    if (status == WEIR_OK)
        status = read_kind(reader, root);
    if (status == WEIR_OK)
        status = read_columns(reader, root);
    if (status == WEIR_OK)
        status = read_keys(reader, root);
    if (status == WEIR_OK)
        status = read_lookups(reader, root);
    return status;
}

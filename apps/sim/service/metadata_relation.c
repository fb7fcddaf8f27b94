/* SPDX-License-Identifier: MIT */
/* Alternate keys and relationships of a table. */
#include <stdio.h>

#include "sim/service/metadata_write.h"

#define EMPTY_LABEL "{\"LocalizedLabels\":[],\"UserLocalizedLabel\":null}"

static void put_logical(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(meta->table->name, json);
}

/* ---- keys ---- */

static const struct sim_key *key_of(const struct sim_meta *meta)
{
    return &meta->table->keys[meta->key];
}

static void put_key_id(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_id(meta->table->name, key_of(meta)->name, json);
}

static void put_key_name(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(key_of(meta)->name, json);
}

static void put_key_columns(const struct sim_meta *meta, struct weir_buf *json)
{
    const struct sim_key *key = key_of(meta);
    weir_buf_add_char(json, '[');
    for (uint32_t i = 0; i < key->column_count; i++) {
        if (i)
            weir_buf_add_char(json, ',');
        sim_meta_put_text(meta->table->columns[key->columns[i]].name, json);
    }
    weir_buf_add_char(json, ']');
}

static void put_key_status(const struct sim_meta *meta, struct weir_buf *json)
{
    static const char *const names[] = {
        [SIM_KEY_ACTIVE] = "Active",
        [SIM_KEY_PENDING] = "Pending",
        [SIM_KEY_FAILED] = "Failed",
    };
    sim_meta_put_text(names[key_of(meta)->status], json);
}

static const struct sim_meta_property key_properties[] = {
    { "MetadataId", NULL, put_key_id, 0 },
    { "HasChanged", "null", NULL, 0 },
    { "LogicalName", NULL, put_key_name, 0 },
    { "SchemaName", NULL, put_key_name, 0 },
    { "DisplayName", EMPTY_LABEL, NULL, 0 },
    { "EntityLogicalName", NULL, put_logical, 0 },
    { "KeyAttributes", NULL, put_key_columns, 0 },
    { "EntityKeyIndexStatus", NULL, put_key_status, 0 },
    { "IsManaged", "true", NULL, 0 },
};

static const struct sim_meta_type key_type = SIM_META_TYPE("EntityKeyMetadata", key_properties);

/* ---- relationships: of each lookup to each of its targets ---- */

static const struct sim_column *lookup_of(const struct sim_meta *meta)
{
    return &meta->table->columns[meta->column];
}

static bool is_owner(const struct sim_meta *meta)
{
    return lookup_of(meta)->type == SIM_TYPE_OWNER;
}

/* Users and teams are owners: one relationship for both. */
static const char *referenced(const struct sim_meta *meta)
{
    return is_owner(meta) ? "owner" : lookup_of(meta)->targets[meta->target].table;
}

static void relationship_name(const struct sim_meta *meta, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s_%s_%s", referenced(meta), meta->table->name, lookup_of(meta)->name);
}

#define RELATIONSHIP_NAME_MAX (3 * SIM_LOGICAL_MAX + 3)

static void put_relationship_id(const struct sim_meta *meta, struct weir_buf *json)
{
    char text[RELATIONSHIP_NAME_MAX];
    relationship_name(meta, text, sizeof(text));
    sim_meta_put_id("relationship", text, json);
}

static void put_relationship_name(const struct sim_meta *meta, struct weir_buf *json)
{
    char text[RELATIONSHIP_NAME_MAX];
    relationship_name(meta, text, sizeof(text));
    sim_meta_put_text(text, json);
}

static void put_referencing_attribute(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(lookup_of(meta)->name, json);
}

static void put_referenced_entity(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(referenced(meta), json);
}

static void put_referenced_attribute(const struct sim_meta *meta, struct weir_buf *json)
{
    const struct sim_table *table =
        sim_schema_table(&meta->api->schema, weir_str_from(referenced(meta)));
    if (is_owner(meta))
        sim_meta_put_text("ownerid", json);
    else if (table && table->id != SIM_NO_COLUMN)
        sim_meta_put_text(table->columns[table->id].name, json);
    else
        sim_meta_put_text(NULL, json);
}

static void put_navigation(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(lookup_of(meta)->targets[meta->target].nav, json);
}

static const struct sim_meta_property relationship_properties[] = {
    { "MetadataId", NULL, put_relationship_id, 0 },
    { "HasChanged", "null", NULL, 0 },
    { "SchemaName", NULL, put_relationship_name, 0 },
    { "RelationshipType", "\"OneToManyRelationship\"", NULL, 0 },
    { "ReferencingEntity", NULL, put_logical, 0 },
    { "ReferencingAttribute", NULL, put_referencing_attribute, 0 },
    { "ReferencedEntity", NULL, put_referenced_entity, 0 },
    { "ReferencedAttribute", NULL, put_referenced_attribute, 0 },
    { "ReferencingEntityNavigationPropertyName", NULL, put_navigation, 0 },
    { "ReferencedEntityNavigationPropertyName", NULL, put_relationship_name, 0 },
    { "IsCustomRelationship", "false", NULL, 0 },
    { "IsManaged", "true", NULL, 0 },
};

static const struct sim_meta_type relationship_type =
    SIM_META_TYPE("OneToManyRelationshipMetadata", relationship_properties);

/* ---- collections ---- */

static void put_element(const struct sim_meta_type *type, const struct sim_meta *meta,
                        struct weir_str select, bool *first, struct weir_buf *json)
{
    weir_buf_add_text(json, *first ? "{" : ",{");
    sim_meta_put(type, 0, meta, select, json);
    weir_buf_add_char(json, '}');
    *first = false;
}

bool sim_meta_put_keys(const struct sim_meta *meta, const struct sim_meta_options *options,
                       struct weir_buf *json, struct sim_answer *answer)
{
    struct sim_meta one = *meta;
    bool first = true;
    if (!sim_meta_check_select(&key_type, 0, options->select, answer))
        return false;
    for (one.key = 0; one.key < meta->table->key_count; one.key++)
        put_element(&key_type, &one, options->select, &first, json);
    return true;
}

/* The relationships of one table, those to `to` only if it is not NULL. */
static void put_lookups(const struct sim_meta *meta, const char *to, struct weir_str select,
                        bool *first, struct weir_buf *json)
{
    struct sim_meta one = *meta;
    for (one.column = 0; one.column < meta->table->column_count; one.column++) {
        uint32_t targets = is_owner(&one) ? 1 : lookup_of(&one)->target_count;
        if (!sim_type_is_lookup(lookup_of(&one)->type))
            continue;
        for (one.target = 0; one.target < targets; one.target++) {
            if (!to || strcmp(referenced(&one), to) == 0)
                put_element(&relationship_type, &one, select, first, json);
        }
    }
}

bool sim_meta_put_many_to_one(const struct sim_meta *meta, const struct sim_meta_options *options,
                              struct weir_buf *json, struct sim_answer *answer)
{
    bool first = true;
    if (!sim_meta_check_select(&relationship_type, 0, options->select, answer))
        return false;
    put_lookups(meta, NULL, options->select, &first, json);
    return true;
}

bool sim_meta_put_one_to_many(const struct sim_meta *meta, const struct sim_meta_options *options,
                              struct weir_buf *json, struct sim_answer *answer)
{
    const struct sim_schema *schema = &meta->api->schema;
    struct sim_meta other = *meta;
    bool first = true;
    if (!sim_meta_check_select(&relationship_type, 0, options->select, answer))
        return false;
    for (uint32_t i = 0; i < schema->table_count; i++) {
        other.table = schema->tables[i];
        put_lookups(&other, meta->table->name, options->select, &first, json);
    }
    return true;
}

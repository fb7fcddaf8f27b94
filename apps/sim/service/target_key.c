/* SPDX-License-Identifier: MIT */
/* Which row a key in an address means; see record.h. */
#include <stdio.h>

#include "sim/service/literal.h"
#include "sim/service/record.h"

static bool bad_key(const struct sim_table *table, struct sim_rejection *why)
{
    return sim_reject(why, 400, "0x80060888",
                      "The key in the request URI is not valid for resource "
                      "'Microsoft.Dynamics.CRM.%s'. Ensure that the names and number of key "
                      "properties match the declared or alternate key properties for the "
                      "resource 'Microsoft.Dynamics.CRM.%s'.",
                      table->name, table->name);
}

/* The column that a name in a key stands for. Users and teams call their id ownerid there. */
static uint32_t key_column(const struct sim_table *table, struct weir_str name)
{
    const struct sim_property *property = sim_table_property(table, name);
    if (property && property->kind != SIM_PROPERTY_NAVIGATION)
        return property->column;
    bool principal = strcmp(table->name, "systemuser") == 0 || strcmp(table->name, "team") == 0;
    return principal && weir_str_equal(name, weir_str_from("ownerid")) ? table->id : SIM_NO_COLUMN;
}

static bool read_part(const struct sim_column *column, const struct sim_url_key *key,
                      struct sim_value *ret)
{
    bool text = column->type == SIM_TYPE_STRING || column->type == SIM_TYPE_MEMO;
    if (!key->quoted && weir_str_equal(key->value, weir_str_from("null"))) {
        *ret = (struct sim_value){ .kind = SIM_NULL };
        return true;
    }
    return text == key->quoted && sim_literal_parse(column, key->value, ret);
}

static const struct sim_url_key *find_part(const struct sim_table *table,
                                           const struct sim_url_key *keys, uint32_t count,
                                           uint32_t column)
{
    for (uint32_t i = 0; i < count; i++) {
        if (key_column(table, keys[i].name) == column)
            return &keys[i];
    }
    return NULL;
}

/* "id", or "id and partition" of an elastic table. */
static bool read_primary(const struct sim_table *table, const struct sim_url_key *keys,
                         uint32_t count, struct sim_target_key *ret, struct sim_rejection *why)
{
    bool bare = count == 1 && keys[0].name.len == 0;
    const struct sim_url_key *id = bare ? &keys[0] : find_part(table, keys, count, table->id);
    const struct sim_url_key *partition = table->partition == SIM_NO_COLUMN || bare
                                              ? NULL
                                              : find_part(table, keys, count, table->partition);
    if (!id || count != 1u + (partition != NULL) || (partition && !partition->quoted) ||
        id->quoted || !sim_guid_parse(id->value, &ret->id))
        return bad_key(table, why);
    if (partition)
        ret->partition = partition->value;
    ret->key = SIM_NO_KEY;
    return true;
}

static bool read_alternate(const struct sim_table *table, const struct sim_url_key *keys,
                           uint32_t count, const struct sim_key *definition,
                           struct sim_target_key *ret, struct sim_rejection *why)
{
    if (definition->status != SIM_KEY_ACTIVE)
        return sim_reject(why, 400, "0x80060893",
                          "The entity key %s is not active for the %s entity.", definition->name,
                          table->name);
    for (uint32_t i = 0; i < definition->column_count; i++) {
        uint32_t column = definition->columns[i];
        const struct sim_url_key *part = find_part(table, keys, count, column);
        if (!part || !read_part(&table->columns[column], part, &ret->parts[i]))
            return bad_key(table, why);
    }
    ret->key = (uint32_t)(definition - table->keys);
    return true;
}

bool sim_target_key_read(const struct sim_table *table, const struct sim_url_key *keys,
                         uint32_t key_count, struct weir_str partition, struct sim_target_key *ret,
                         struct sim_rejection *why)
{
    *ret = (struct sim_target_key){ .key = SIM_NO_KEY };
    ret->partition = partition.ptr ? partition : weir_str("", 0);
    uint32_t columns[SIM_URL_KEYS_MAX] = { 0 };
    for (uint32_t i = 0; i < key_count; i++)
        columns[i] = key_column(table, keys[i].name);
    const struct sim_key *definition = sim_table_key(table, columns, key_count);
    bool with_id = key_count &&
                   (keys[0].name.len == 0 || find_part(table, keys, key_count, table->id) != NULL);
    if (with_id)
        return read_primary(table, keys, key_count, ret, why);
    return definition ? read_alternate(table, keys, key_count, definition, ret, why)
                      : bad_key(table, why);
}

uint32_t sim_target_key_find(const struct sim_api *api, const struct sim_table *table,
                             const struct sim_target_key *key)
{
    const struct sim_store *store = &api->stores[table->place];
    if (key->key == SIM_NO_KEY)
        return sim_store_find(store, key->id, key->partition);
    return sim_store_find_key(store, key->key, key->parts);
}

bool sim_target_key_absent(const struct sim_table *table, const struct sim_target_key *key,
                           struct sim_rejection *why)
{
    if (key->key == SIM_NO_KEY)
        return sim_reject_absent(why, table, key->id);
    return sim_reject(why, 404, "0x80060891",
                      "A record with the specified key values does not exist in %s entity",
                      table->name);
}

void sim_target_key_fill(const struct sim_table *table, const struct sim_target_key *key,
                         struct sim_record *record)
{
    if (key->key == SIM_NO_KEY) {
        sim_record_set(record, table->id, (struct sim_value){ .kind = SIM_ID, .id = key->id });
        if (key->partition.len && table->partition != SIM_NO_COLUMN)
            sim_record_set(record, table->partition,
                           (struct sim_value){ .kind = SIM_TEXT, .text = key->partition });
        return;
    }
    const struct sim_key *definition = &table->keys[key->key];
    for (uint32_t i = 0; i < definition->column_count; i++)
        sim_record_set(record, definition->columns[i], key->parts[i]);
}

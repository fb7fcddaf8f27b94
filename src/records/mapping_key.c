/* SPDX-License-Identifier: MIT */
/*
 * By what rows are named; see mapping_parts.h. The columns of `key` are an alternate key of the
 * table, in any order. The primary id is no alternate key, and with the partition of an elastic
 * table it is one that means the same: both are rows that go by their id.
 */
#include "base/error.h"
#include "base/mem.h"
#include "records/mapping_parts.h"

/* Of a list of keys in a message. */
#define LIST_BYTES 200

struct names {
    struct weir_str names[WEIR_KEY_PARTS_MAX];
    size_t count;
};

static bool has(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (weir_str_equal(names->names[i], weir_str_from(name)))
            return true;
    }
    return false;
}

static enum weir_status add_name(const struct weir_table *table, struct names *names,
                                 struct weir_str name, struct weir_error *err)
{
    if (names->count == WEIR_KEY_PARTS_MAX)
        return weir_fail(err, WEIR_E_INVALID, "a key has %d columns at most", WEIR_KEY_PARTS_MAX);
    const struct weir_column *column = weir_table_column(table, name);
    if (!column)
        return weir_mapping_fail_unknown(table, name, err);
    if (has(names, column->name))
        return weir_fail(err, WEIR_E_INVALID, "the key names the column \"%s\" twice",
                         column->name);
    names->names[names->count++] = weir_str_from(column->name);
    return WEIR_OK;
}

/* Names with commas between them, and blanks around them. */
static enum weir_status split(const struct weir_table *table, const char *key, struct names *ret,
                              struct weir_error *err)
{
    struct weir_str rest = weir_str_from(key);
    enum weir_status status = WEIR_OK;
    for (bool more = true; more && !status;) {
        const char *comma = rest.len ? memchr(rest.ptr, ',', rest.len) : NULL;
        size_t len = comma ? (size_t)(comma - rest.ptr) : rest.len;
        status = add_name(table, ret, weir_str_trim(weir_str(rest.ptr, len)), err);
        more = comma != NULL;
        if (more)
            rest = weir_str(rest.ptr + len + 1, rest.len - len - 1);
    }
    return status;
}

static bool is_primary(const struct weir_mapping *mapping, const struct names *names)
{
    if (!has(names, mapping->table->primary_id))
        return false;
    return names->count == 1 ||
           (names->count == 2 && mapping->elastic && has(names, WEIR_PARTITION_COLUMN));
}

/* `"a,b" or "c"`, as many as fit. */
static void list_keys(const struct weir_table *table, char text[LIST_BYTES])
{
    struct weir_buf list;
    weir_buf_init(&list, LIST_BYTES - 1);
    for (uint32_t i = 0; i < table->key_count; i++) {
        weir_buf_add_text(&list, i ? " or \"" : "\"");
        for (uint32_t k = 0; k < table->keys[i].column_count; k++)
            weir_buf_printf(&list, "%s%s", k ? "," : "", table->keys[i].columns[k]);
        weir_buf_add_text(&list, "\"");
    }
    if (list.overflow)
        weir_buf_reset(&list);
    weir_buf_hand_over(&list, text, LIST_BYTES);
}

static enum weir_status fail_no_key(const struct weir_table *table, const char *key,
                                    struct weir_error *err)
{
    char list[LIST_BYTES];
    list_keys(table, list);
    struct weir_str wanted = weir_str_from(key);
    return weir_fail(err, WEIR_E_INVALID,
                     "the table \"%s\" has no alternate key of just the columns \"%.*s\"%s%s",
                     table->name, WEIR_QUOTED(wanted), list[0] ? "; it could be " : "", list);
}

static enum weir_status use(struct weir_mapping *mapping, const struct weir_alternate_key *key,
                            struct weir_error *err)
{
    if (key->status != WEIR_KEY_STATUS_ACTIVE)
        return weir_fail(err, WEIR_E_INVALID,
                         "the index of the key \"%s\" of the table \"%s\" is %s; it must be active",
                         key->name, mapping->table->name, weir_key_status_name(key->status));
    for (uint32_t i = 0; i < key->column_count; i++) {
        const struct weir_column *column =
            weir_table_column(mapping->table, weir_str_from(key->columns[i]));
        struct weir_key_part part;
        if (!weir_column_key_part(column, weir_str("", 0), &part))
            return weir_fail(err, WEIR_E_INVALID,
                             "rows cannot go by the key \"%s\": its column \"%s\" is of the type "
                             "%s, which cannot stand in an address",
                             key->name, column->name, weir_column_type_name(column->type));
        mapping->key[i] = column;
        weir_cell_rule_init(&mapping->key_rules[mapping->key_count++], column, mapping->zone,
                            WEIR_CELL_EMPTY_REJECT);
    }
    mapping->by_key = true;
    return WEIR_OK;
}

enum weir_status weir_mapping_choose_key(struct weir_mapping *mapping, const char *key,
                                         struct weir_error *err)
{
    if (!key)
        return WEIR_OK;
    if (mapping->operation == WEIR_OPERATION_CREATE)
        return weir_fail(err, WEIR_E_INVALID,
                         "a create takes no key; rows that may be there already are upserted");
    struct names names = { .count = 0 };
    enum weir_status status = split(mapping->table, key, &names, err);
    if (status)
        return status;
    if (is_primary(mapping, &names)) {
        mapping->by_partition = names.count == 2;
        return WEIR_OK;
    }
    const struct weir_alternate_key *found =
        weir_table_key_of(mapping->table, names.names, names.count);
    return found ? use(mapping, found, err) : fail_no_key(mapping->table, key, err);
}

/* ---- derived ids ---- */

static enum weir_status check_ids(const struct weir_mapping *mapping, struct weir_error *err)
{
    if (mapping->by_key || mapping->by_partition)
        return weir_fail(err, WEIR_E_INVALID,
                         "rows go by a key or by derived ids (--id-from); leave one of them out");
    if (!mapping->world->derived)
        return weir_fail(err, WEIR_E_INVALID,
                         "ids are derived (--id-from), for which the id of the organisation must "
                         "be known");
    return WEIR_OK;
}

static enum weir_status add_id(struct weir_mapping *mapping, struct weir_str name,
                               struct weir_error *err)
{
    if (!name.len)
        return weir_fail(err, WEIR_E_INVALID,
                         "a column from which ids are derived (--id-from) has no name");
    if (mapping->id_count == WEIR_KEY_PARTS_MAX)
        return weir_fail(err, WEIR_E_INVALID, "ids are derived from %d columns at most",
                         WEIR_KEY_PARTS_MAX);
    for (uint32_t i = 0; i < mapping->id_count; i++) {
        if (weir_str_equal(mapping->id_names[i], name))
            return weir_fail(err, WEIR_E_INVALID, "ids are derived from the column \"%.*s\" twice",
                             WEIR_QUOTED(name));
    }
    mapping->id_columns[mapping->id_count] = weir_table_column(mapping->table, name);
    mapping->id_names[mapping->id_count++] = name;
    return WEIR_OK;
}

enum weir_status weir_mapping_choose_ids(struct weir_mapping *mapping, const char *id_from,
                                         struct weir_error *err)
{
    if (!id_from)
        return WEIR_OK;
    enum weir_status status = check_ids(mapping, err);
    mapping->id_text = weir_strdup(id_from);
    struct weir_str rest = weir_str_from(mapping->id_text);
    for (bool more = true; more && !status;) {
        const char *comma = rest.len ? memchr(rest.ptr, ',', rest.len) : NULL;
        size_t len = comma ? (size_t)(comma - rest.ptr) : rest.len;
        status = add_id(mapping, weir_str_trim(weir_str(rest.ptr, len)), err);
        more = comma != NULL;
        if (more)
            rest = weir_str(rest.ptr + len + 1, rest.len - len - 1);
    }
    return status;
}

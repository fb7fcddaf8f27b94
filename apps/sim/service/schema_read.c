/* SPDX-License-Identifier: MIT */
/*
 * Tables of a scenario:
 *
 *     "tables": [{
 *         "name": "weir_item", "set": "weir_items", "type": "Standard" | "Elastic",
 *         "primary_id": "weir_itemid", "primary_name": "weir_name", "owned": true, "bulk": true,
 *         "columns": [{ "name": "weir_name", "type": "string", "max_length": 100,
 *                       "min": 0, "max": 10, "precision": 2, "behavior": "DateOnly",
 *                       "required": "none" | "application" | "system",
 *                       "create": true, "update": true, "read": true,
 *                       "choices": [{ "value": 1, "label": "One" }],
 *                       "targets": [{ "table": "account", "nav": "weir_Account" }] }],
 *         "keys": [{ "name": "weir_key", "columns": ["weir_name"], "status": "Active" }]
 *     }]
 *
 * The columns that every table has (its id, dates, owner, state) are added by themselves. Whatever
 * is wrong ends the reading with a message that names file, key, value and what is allowed.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "sim/service/schema.h"

#define FIRST_TYPE_CODE 10600
#define SHOWN           60 /* bytes of an offending value */

/* Where we are. */
struct place {
    struct sim_schema *schema;
    struct sim_table *table;
    const char *file;
    struct weir_error *err;
    char path[256]; /* "tables[0].columns[2]" */
};

struct word {
    const char *text;
    int value;
};

static const struct word types[] = {
    { "string", SIM_TYPE_STRING },     { "memo", SIM_TYPE_MEMO },
    { "integer", SIM_TYPE_INTEGER },   { "bigint", SIM_TYPE_BIGINT },
    { "decimal", SIM_TYPE_DECIMAL },   { "money", SIM_TYPE_MONEY },
    { "double", SIM_TYPE_DOUBLE },     { "boolean", SIM_TYPE_BOOLEAN },
    { "choice", SIM_TYPE_PICKLIST },   { "choices", SIM_TYPE_MULTI_PICKLIST },
    { "datetime", SIM_TYPE_DATETIME }, { "uniqueidentifier", SIM_TYPE_UNIQUEIDENTIFIER },
    { "lookup", SIM_TYPE_LOOKUP },     { "file", SIM_TYPE_FILE },
    { "image", SIM_TYPE_IMAGE },       { NULL, 0 },
};

static const struct word table_types[] = { { "Standard", 0 }, { "Elastic", 1 }, { NULL, 0 } };

static const struct word behaviors[] = {
    { "UserLocal", SIM_DATE_USER_LOCAL },
    { "DateOnly", SIM_DATE_ONLY },
    { "TimeZoneIndependent", SIM_DATE_ZONE_INDEPENDENT },
    { NULL, 0 },
};

static const struct word requirements[] = {
    { "none", SIM_REQUIRED_NONE },
    { "recommended", SIM_REQUIRED_RECOMMENDED },
    { "application", SIM_REQUIRED_APPLICATION },
    { "system", SIM_REQUIRED_SYSTEM },
    { NULL, 0 },
};

static const struct word key_statuses[] = {
    { "Active", SIM_KEY_ACTIVE },
    { "Pending", SIM_KEY_PENDING },
    { "Failed", SIM_KEY_FAILED },
    { NULL, 0 },
};

static const struct sim_choice states[] = { { 0, 0, "Active" }, { 1, 1, "Inactive" } };
static const struct sim_choice statuses[] = { { 1, 0, "Active" }, { 2, 1, "Inactive" } };
static const struct sim_choice flags[] = { { 0, 0, "No" }, { 1, 0, "Yes" } };

static enum weir_status wrong(const struct place *place, const char *key,
                              const struct weir_json_node *node, const char *allowed)
{
    int shown = (int)(node->text.len < SHOWN ? node->text.len : SHOWN);
    bool plain = node->type != WEIR_JSON_ARRAY && node->type != WEIR_JSON_OBJECT;
    return weir_fail(place->err, WEIR_E_INVALID, "%s: %s%s%s is \"%.*s\", allowed is %s",
                     place->file, place->path, *key ? "." : "", key, plain ? shown : 3,
                     plain ? node->text.ptr : "...", allowed);
}

/* The keys of an object are among those of a list; the first that is not ends the reading. */
static enum weir_status check_keys(const struct place *place, const struct weir_json_node *object,
                                   const char *const *known)
{
    if (object->type != WEIR_JSON_OBJECT)
        return wrong(place, "", object, "an object");
    for (const struct weir_json_node *node = object->first; node; node = node->next) {
        size_t i = 0;
        while (known[i] && !weir_str_equal(node->key, weir_str_from(known[i])))
            i++;
        if (!known[i])
            return weir_fail(place->err, WEIR_E_INVALID, "%s: %s has an unknown key \"%.*s\"",
                             place->file, place->path, (int)node->key.len, node->key.ptr);
    }
    return WEIR_OK;
}

static bool is_name(struct weir_str text)
{
    if (text.len == 0 || text.len > SIM_LOGICAL_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return true;
}

/* A name; *ret stays as it is if the key is not there. */
static enum weir_status read_name(struct place *place, const struct weir_json_node *object,
                                  const char *key, const char **ret)
{
    const struct weir_json_node *node = weir_json_find(object, key);
    if (!node)
        return WEIR_OK;
    if (node->type != WEIR_JSON_STRING || !is_name(node->text))
        return wrong(place, key, node, "a name of at most 100 letters, digits and underscores");
    *ret = sim_table_text(place->table, node->text);
    return WEIR_OK;
}

static enum weir_status read_word(const struct place *place, const struct weir_json_node *object,
                                  const char *key, const struct word *words, int *ret)
{
    const struct weir_json_node *node = weir_json_find(object, key);
    if (!node)
        return WEIR_OK;
    char allowed[256] = "one of";
    for (; words->text; words++) {
        if (node->type == WEIR_JSON_STRING &&
            weir_str_equal(node->text, weir_str_from(words->text))) {
            *ret = words->value;
            return WEIR_OK;
        }
        size_t len = strlen(allowed);
        snprintf(allowed + len, sizeof(allowed) - len, " %s", words->text);
    }
    return wrong(place, key, node, allowed);
}

static enum weir_status read_bool(const struct place *place, const struct weir_json_node *object,
                                  const char *key, bool *ret)
{
    const struct weir_json_node *node = weir_json_find(object, key);
    if (!node)
        return WEIR_OK;
    if (node->type != WEIR_JSON_BOOL)
        return wrong(place, key, node, "true or false");
    *ret = node->text.ptr[0] == 't';
    return WEIR_OK;
}

static enum weir_status read_number(const struct place *place, const struct weir_json_node *object,
                                    const char *key, int64_t min, int64_t max, int64_t *ret)
{
    const struct weir_json_node *node = weir_json_find(object, key);
    int64_t value;
    if (!node)
        return WEIR_OK;
    if (node->type == WEIR_JSON_NUMBER && weir_str_to_int64(node->text, &value) && value >= min &&
        value <= max) {
        *ret = value;
        return WEIR_OK;
    }
    char allowed[96];
    snprintf(allowed, sizeof(allowed), "a whole number from %lld to %lld", (long long)min,
             (long long)max);
    return wrong(place, key, node, allowed);
}

static const struct weir_json_node *array(const struct weir_json_node *object, const char *key)
{
    const struct weir_json_node *node = weir_json_find(object, key);
    return node && node->type == WEIR_JSON_ARRAY ? node : NULL;
}

/* Columns. */

static enum weir_status read_choices(struct place *place, const struct weir_json_node *object,
                                     struct sim_column *column)
{
    static const char *const known[] = { "value", "label", NULL };
    const struct weir_json_node *list = array(object, "choices");
    if (!list)
        return WEIR_OK;
    if (list->count > SIM_CHOICES_MAX)
        return wrong(place, "choices", list, "a list of at most 1000");
    /* The list is kept among the table's texts, as memory that it owns. */
    struct sim_table *table = place->table;
    struct sim_choice *choices = weir_calloc(list->count + 1, sizeof(*choices));
    table->texts = weir_realloc(table->texts, table->text_count + 1, sizeof(*table->texts));
    table->texts[table->text_count++] = (char *)choices;
    column->choices = choices;
    for (const struct weir_json_node *node = list->first; node; node = node->next) {
        int64_t value = 0;
        enum weir_status status = check_keys(place, node, known);
        if (status == WEIR_OK)
            status = read_number(place, node, "value", INT32_MIN, INT32_MAX, &value);
        if (status != WEIR_OK)
            return status;
        const struct weir_json_node *label = weir_json_find(node, "label");
        bool text = label && label->type == WEIR_JSON_STRING;
        choices[column->choice_count++] =
            (struct sim_choice){ (int32_t)value, 0,
                                 text ? sim_table_text(table, label->text) : "?" };
    }
    return WEIR_OK;
}

static enum weir_status read_targets(struct place *place, const struct weir_json_node *object,
                                     struct sim_column *column)
{
    static const char *const known[] = { "table", "nav", NULL };
    const struct weir_json_node *list = array(object, "targets");
    if (!list)
        return WEIR_OK;
    if (list->count > SIM_TARGETS_MAX)
        return wrong(place, "targets", list, "a list of at most 8");
    for (const struct weir_json_node *node = list->first; node; node = node->next) {
        struct sim_target target = { .nav = column->name };
        enum weir_status status = check_keys(place, node, known);
        if (status == WEIR_OK)
            status = read_name(place, node, "table", &target.table);
        if (status == WEIR_OK)
            status = read_name(place, node, "nav", &target.nav);
        if (status != WEIR_OK)
            return status;
        if (!target.table)
            return wrong(place, "targets", node, "an object with a table");
        column->targets[column->target_count++] = target;
    }
    return WEIR_OK;
}

/* What each type allows at most. */
static void set_defaults(struct sim_column *column)
{
    switch (column->type) {
    case SIM_TYPE_STRING:
        column->length_max = 100;
        break;
    case SIM_TYPE_MEMO:
        column->length_max = 2000;
        break;
    case SIM_TYPE_INTEGER:
        column->min = INT32_MIN;
        column->max = INT32_MAX;
        break;
    case SIM_TYPE_BIGINT:
        column->min = INT64_MIN;
        column->max = INT64_MAX;
        break;
    case SIM_TYPE_DECIMAL:
    case SIM_TYPE_MONEY:
    case SIM_TYPE_DOUBLE:
        column->precision = 2;
        column->min = -INT64_C(100000000000);
        column->max = INT64_C(100000000000);
        break;
    case SIM_TYPE_BOOLEAN:
        column->choices = flags;
        column->choice_count = 2;
        break;
    default:
        break;
    }
}

static enum weir_status read_limits(const struct place *place, const struct weir_json_node *object,
                                    struct sim_column *column)
{
    int64_t length = column->length_max;
    int64_t precision = column->precision;
    int64_t min = (int64_t)column->min;
    int64_t max = (int64_t)column->max;
    int behavior = SIM_DATE_USER_LOCAL;
    int required = SIM_REQUIRED_NONE;
    enum weir_status status =
        read_number(place, object, "max_length", 1, SIM_MEMO_UNITS_MAX, &length);
    if (status == WEIR_OK)
        status = read_number(place, object, "precision", 0, 10, &precision);
    if (status == WEIR_OK)
        status = read_number(place, object, "min", INT64_MIN, INT64_MAX, &min);
    if (status == WEIR_OK)
        status = read_number(place, object, "max", INT64_MIN, INT64_MAX, &max);
    if (status == WEIR_OK)
        status = read_word(place, object, "behavior", behaviors, &behavior);
    if (status == WEIR_OK)
        status = read_word(place, object, "required", requirements, &required);
    column->length_max = (uint32_t)length;
    column->precision = (uint8_t)precision;
    column->min = min;
    column->max = max;
    column->behavior = (enum sim_date_behavior)behavior;
    column->required = (enum sim_required)required;
    return status;
}

static enum weir_status read_validity(const struct place *place,
                                      const struct weir_json_node *object,
                                      struct sim_column *column)
{
    bool create = true;
    bool update = true;
    bool read = true;
    enum weir_status status = read_bool(place, object, "create", &create);
    if (status == WEIR_OK)
        status = read_bool(place, object, "update", &update);
    if (status == WEIR_OK)
        status = read_bool(place, object, "read", &read);
    column->no_create = !create;
    column->no_update = !update;
    column->no_read = !read;
    return status;
}

static uint32_t find_column(const struct sim_table *table, struct weir_str name)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (weir_str_equal(weir_str_from(table->columns[i].name), name))
            return i;
    }
    return SIM_NO_COLUMN;
}

static enum weir_status read_column(struct place *place, const struct weir_json_node *object)
{
    static const char *const known[] = { "name",      "type",     "max_length", "min",    "max",
                                         "precision", "behavior", "required",   "create", "update",
                                         "read",      "choices",  "targets",    NULL };
    const char *name = NULL;
    int type = SIM_TYPE_STRING;
    enum weir_status status = check_keys(place, object, known);
    if (status == WEIR_OK)
        status = read_name(place, object, "name", &name);
    if (status == WEIR_OK)
        status = read_word(place, object, "type", types, &type);
    if (status != WEIR_OK)
        return status;
    if (!name || find_column(place->table, weir_str_from(name)) != SIM_NO_COLUMN)
        return wrong(place, "name", object, "a name that no other column has");
    struct sim_column *column = sim_table_add(place->table, name, (enum sim_type)type);
    if (!column)
        return wrong(place, "", object, "at most 256 columns");
    set_defaults(column);
    status = read_limits(place, object, column);
    if (status == WEIR_OK)
        status = read_validity(place, object, column);
    if (status == WEIR_OK)
        status = read_choices(place, object, column);
    if (status == WEIR_OK)
        status = read_targets(place, object, column);
    if (status == WEIR_OK && type == SIM_TYPE_LOOKUP && !column->target_count)
        return wrong(place, "targets", object, "at least one table");
    return status;
}

/* Tables. */

static void add_date(struct sim_table *table, const char *name, bool create)
{
    struct sim_column *column = sim_table_add(table, name, SIM_TYPE_DATETIME);
    if (column) {
        column->no_create = !create;
        column->no_update = true;
    }
}

static void add_user(struct sim_table *table, const char *name)
{
    struct sim_column *column = sim_table_add(table, name, SIM_TYPE_LOOKUP);
    if (column) {
        column->no_create = column->no_update = true;
        column->targets[0] = (struct sim_target){ .table = "systemuser", .nav = name };
        column->target_count = 1;
    }
}

static void add_choice(struct sim_table *table, const char *name, enum sim_type type,
                       const struct sim_choice *choices)
{
    struct sim_column *column = sim_table_add(table, name, type);
    if (column) {
        column->choices = choices;
        column->choice_count = 2;
        column->no_create = type == SIM_TYPE_STATE;
        column->required = type == SIM_TYPE_STATE ? SIM_REQUIRED_SYSTEM : SIM_REQUIRED_NONE;
    }
}

static void add_owner(struct sim_table *table)
{
    struct sim_column *column = sim_table_add(table, "ownerid", SIM_TYPE_OWNER);
    if (!column)
        return;
    column->required = SIM_REQUIRED_SYSTEM;
    column->targets[0] = (struct sim_target){ .table = "systemuser", .nav = "ownerid" };
    column->targets[1] = (struct sim_target){ .table = "team", .nav = "ownerid" };
    column->target_count = 2;
}

static void add_partition(struct sim_table *table)
{
    struct sim_column *partition = sim_table_add(table, "partitionid", SIM_TYPE_STRING);
    if (partition)
        partition->length_max = 1000;
    struct sim_column *ttl = sim_table_add(table, "ttlinseconds", SIM_TYPE_INTEGER);
    if (ttl) {
        ttl->min = -1;
        ttl->max = INT32_MAX;
    }
}

/* What every table has. */
static void add_system_columns(struct sim_table *table)
{
    add_date(table, "createdon", false);
    add_date(table, "modifiedon", false);
    add_date(table, "overriddencreatedon", true);
    add_user(table, "createdby");
    add_user(table, "modifiedby");
    add_user(table, "createdonbehalfby");
    if (table->user_owned)
        add_owner(table);
    if (table->elastic) {
        add_partition(table);
    } else {
        add_choice(table, "statecode", SIM_TYPE_STATE, states);
        add_choice(table, "statuscode", SIM_TYPE_STATUS, statuses);
    }
}

static enum weir_status read_key(struct place *place, const struct weir_json_node *object)
{
    static const char *const known[] = { "name", "columns", "status", NULL };
    struct sim_table *table = place->table;
    if (table->key_count == SIM_KEYS_MAX)
        return wrong(place, "keys", object, "at most 10 keys");
    struct sim_key *key = &table->keys[table->key_count];
    int key_status = SIM_KEY_ACTIVE;
    key->name = "key";
    enum weir_status status = check_keys(place, object, known);
    if (status == WEIR_OK)
        status = read_name(place, object, "name", &key->name);
    if (status == WEIR_OK)
        status = read_word(place, object, "status", key_statuses, &key_status);
    if (status != WEIR_OK)
        return status;
    key->status = (enum sim_key_status)key_status;
    const struct weir_json_node *list = array(object, "columns");
    if (!list || !list->count || list->count > SIM_KEY_COLUMNS_MAX)
        return wrong(place, "columns", object, "a list of 1 to 8 columns");
    for (const struct weir_json_node *node = list->first; node; node = node->next) {
        uint32_t column = find_column(table, node->text);
        if (node->type != WEIR_JSON_STRING || column == SIM_NO_COLUMN)
            return wrong(place, "columns", node, "the name of a column");
        key->columns[key->column_count++] = column;
    }
    table->key_count++;
    return WEIR_OK;
}

static enum weir_status
read_list(struct place *place, const struct weir_json_node *object, const char *key,
          enum weir_status (*read)(struct place *, const struct weir_json_node *))
{
    const struct weir_json_node *list = weir_json_find(object, key);
    size_t len = strlen(place->path);
    uint32_t number = 0;
    if (list && list->type != WEIR_JSON_ARRAY)
        return wrong(place, key, list, "an array");
    enum weir_status status = WEIR_OK;
    for (const struct weir_json_node *node = list ? list->first : NULL; node && status == WEIR_OK;
         node = node->next) {
        snprintf(place->path + len, sizeof(place->path) - len, ".%s[%u]", key, number++);
        status = read(place, node);
    }
    place->path[len] = '\0';
    return status;
}

static enum weir_status read_flags(struct place *place, const struct weir_json_node *object)
{
    struct sim_table *table = place->table;
    int elastic = 0;
    table->user_owned = table->bulk = true;
    enum weir_status status = read_word(place, object, "type", table_types, &elastic);
    if (status == WEIR_OK)
        status = read_bool(place, object, "owned", &table->user_owned);
    if (status == WEIR_OK)
        status = read_bool(place, object, "bulk", &table->bulk);
    table->elastic = elastic;
    return status;
}

/* The primary id is the first column; the primary name is a text column, or none. */
static enum weir_status read_primary(struct place *place, const struct weir_json_node *object)
{
    struct sim_table *table = place->table;
    char made[SIM_LOGICAL_MAX + 8];
    snprintf(made, sizeof(made), "%sid", table->name);
    const char *id = sim_table_text(table, weir_str_from(made));
    enum weir_status status = read_name(place, object, "primary_id", &id);
    if (status != WEIR_OK)
        return status;
    struct sim_column *column = sim_table_add(table, id, SIM_TYPE_UNIQUEIDENTIFIER);
    column->required = SIM_REQUIRED_SYSTEM;
    column->no_update = true;
    table->id = 0;
    return WEIR_OK;
}

static enum weir_status read_primary_name(struct place *place, const struct weir_json_node *object)
{
    struct sim_table *table = place->table;
    const struct weir_json_node *node = weir_json_find(object, "primary_name");
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct sim_column *column = &table->columns[i];
        if (column->type != SIM_TYPE_STRING || table->primary_name != SIM_NO_COLUMN)
            continue;
        if (!node || weir_str_equal(node->text, weir_str_from(column->name)))
            table->primary_name = i;
    }
    if (node && table->primary_name == SIM_NO_COLUMN)
        return wrong(place, "primary_name", node, "the name of a string column");
    return WEIR_OK;
}

static enum weir_status read_table(struct place *place, const struct weir_json_node *object)
{
    static const char *const known[] = { "name",  "set",  "type",    "primary_id", "primary_name",
                                         "owned", "bulk", "columns", "keys",       NULL };
    struct sim_table *table = sim_schema_add(place->schema, "", "");
    if (!table)
        return wrong(place, "", object, "at most 64 tables");
    place->table = table;
    table->type_code = FIRST_TYPE_CODE + (int32_t)table->place;
    enum weir_status status = check_keys(place, object, known);
    if (status == WEIR_OK)
        status = read_name(place, object, "name", &table->name);
    if (status != WEIR_OK)
        return status;
    if (!*table->name)
        return wrong(place, "name", object, "a name");
    char set[SIM_LOGICAL_MAX + 8];
    snprintf(set, sizeof(set), "%ss", table->name);
    table->set = sim_table_text(table, weir_str_from(set));
    status = read_name(place, object, "set", &table->set);
    if (status == WEIR_OK)
        status = read_flags(place, object);
    if (status == WEIR_OK)
        status = read_primary(place, object);
    if (status == WEIR_OK)
        status = read_list(place, object, "columns", read_column);
    if (status == WEIR_OK)
        status = read_primary_name(place, object);
    if (status != WEIR_OK)
        return status;
    add_system_columns(table);
    return read_list(place, object, "keys", read_key);
}

enum weir_status sim_schema_read(struct sim_schema *schema, const struct weir_json_node *tables,
                                 const char *file, struct weir_error *err)
{
    struct place place = { .schema = schema, .file = file, .err = err };
    if (tables->type != WEIR_JSON_ARRAY)
        return weir_fail(err, WEIR_E_INVALID, "%s: tables is %s, allowed is an array", file,
                         weir_json_type_name(tables->type));
    uint32_t number = 0;
    for (const struct weir_json_node *node = tables->first; node; node = node->next) {
        snprintf(place.path, sizeof(place.path), "tables[%u]", number++);
        enum weir_status status = read_table(&place, node);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

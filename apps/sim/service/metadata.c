/* SPDX-License-Identifier: MIT */
/*
 * Paths of the metadata, and the definitions of tables:
 *
 *     EntityDefinitions                                    all tables, $filter
 *     EntityDefinitions(LogicalName='account')             one, $expand of all that stands below
 *         /Attributes[(LogicalName='x')][/Microsoft.Dynamics.CRM.XAttributeMetadata[/OptionSet]]
 *         /Keys   /ManyToOneRelationships   /OneToManyRelationships   /ManyToManyRelationships
 *     GlobalOptionSetDefinitions[(Name='x')]
 */
#include "sim/service/metadata.h"

#include <inttypes.h>
#include <stdio.h>

#include "sim/service/filter.h"
#include "sim/service/metadata_write.h"
#include "sim/service/privileges.h"

/* ---- tables ---- */

static void put_id(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_id(meta->table->name, "", json);
}

static void put_logical(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(meta->table->name, json);
}

static void put_schema(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(meta->table->schema ? meta->table->schema : meta->table->name, json);
}

static void put_set(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(meta->table->set, json);
}

static void put_display_name(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_label(meta->table->label ? meta->table->label : meta->table->name, json);
}

static void put_column_name(const struct sim_meta *meta, uint32_t column, struct weir_buf *json)
{
    bool none = column == SIM_NO_COLUMN;
    sim_meta_put_text(none ? NULL : meta->table->columns[column].name, json);
}

static void put_primary_id(const struct sim_meta *meta, struct weir_buf *json)
{
    put_column_name(meta, meta->table->id, json);
}

static void put_primary_name(const struct sim_meta *meta, struct weir_buf *json)
{
    put_column_name(meta, meta->table->primary_name, json);
}

static void put_table_type(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(meta->table->elastic ? "Elastic" : "Standard", json);
}

static void put_ownership(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_meta_put_text(meta->table->user_owned ? "UserOwned" : "OrganizationOwned", json);
}

static void put_type_code(const struct sim_meta *meta, struct weir_buf *json)
{
    weir_buf_printf(json, "%" PRId32, meta->table->type_code);
}

static void put_concurrency(const struct sim_meta *meta, struct weir_buf *json)
{
    weir_buf_add_text(json, meta->table->elastic ? "false" : "true");
}

static void put_is_custom(const struct sim_meta *meta, struct weir_buf *json)
{
    weir_buf_add_text(json, meta->table->type_code >= 10000 ? "true" : "false");
}

static void put_privileges(const struct sim_meta *meta, struct weir_buf *json)
{
    sim_privileges_put(meta->table, json);
}

#define EMPTY_LABEL "{\"LocalizedLabels\":[],\"UserLocalizedLabel\":null}"

static const struct sim_meta_property table_properties[] = {
    { "MetadataId", NULL, put_id, 0 },
    { "HasChanged", "null", NULL, 0 },
    { "LogicalName", NULL, put_logical, 0 },
    { "SchemaName", NULL, put_schema, 0 },
    { "EntitySetName", NULL, put_set, 0 },
    { "LogicalCollectionName", NULL, put_set, 0 },
    { "CollectionSchemaName", NULL, put_set, 0 },
    { "DisplayName", NULL, put_display_name, 0 },
    { "DisplayCollectionName", NULL, put_display_name, 0 },
    { "Description", EMPTY_LABEL, NULL, 0 },
    { "PrimaryIdAttribute", NULL, put_primary_id, 0 },
    { "PrimaryNameAttribute", NULL, put_primary_name, 0 },
    { "PrimaryImageAttribute", "null", NULL, 0 },
    { "TableType", NULL, put_table_type, 0 },
    { "OwnershipType", NULL, put_ownership, 0 },
    { "ObjectTypeCode", NULL, put_type_code, 0 },
    { "IsOptimisticConcurrencyEnabled", NULL, put_concurrency, 0 },
    { "IsCustomEntity", NULL, put_is_custom, 0 },
    { "IsActivity", "false", NULL, 0 },
    { "IsActivityParty", "false", NULL, 0 },
    { "IsIntersect", "false", NULL, 0 },
    { "IsLogicalEntity", "false", NULL, 0 },
    { "IsBPFEntity", "false", NULL, 0 },
    { "IsManaged", "true", NULL, 0 },
    { "IsPrivate", "false", NULL, 0 },
    { "ChangeTrackingEnabled", "true", NULL, 0 },
    { "DataProviderId", "null", NULL, 0 },
    { "ExternalName", "null", NULL, 0 },
    { "Privileges", NULL, put_privileges, 0 },
};

static const struct sim_meta_type table_type = SIM_META_TYPE("EntityMetadata", table_properties);

/* ---- collections below a table ---- */

static bool put_nothing(const struct sim_meta *meta, const struct sim_meta_options *options,
                        struct weir_buf *json, struct sim_answer *answer)
{
    (void)meta, (void)options, (void)json, (void)answer;
    return true;
}

static bool put_attributes(const struct sim_meta *meta, const struct sim_meta_options *options,
                           struct weir_buf *json, struct sim_answer *answer)
{
    struct sim_meta_cast none = { NULL, 0 };
    return sim_meta_put_attributes(meta, &none, options, json, answer);
}

typedef bool put_collection(const struct sim_meta *meta, const struct sim_meta_options *options,
                            struct weir_buf *json, struct sim_answer *answer);

static const struct collection {
    const char *name;
    put_collection *put;
} collections[] = {
    { "Attributes", put_attributes },
    { "Keys", sim_meta_put_keys },
    { "ManyToOneRelationships", sim_meta_put_many_to_one },
    { "OneToManyRelationships", sim_meta_put_one_to_many },
    { "ManyToManyRelationships", put_nothing },
};

static const struct collection *find_collection(struct weir_str name)
{
    for (size_t i = 0; i < sizeof(collections) / sizeof(*collections); i++) {
        if (weir_str_equal(name, weir_str_from(collections[i].name)))
            return &collections[i];
    }
    return NULL;
}

/* ---- one table ---- */

static bool put_expanded(const struct sim_meta *meta, const struct collection *collection,
                         const struct sim_meta_options *options, struct weir_buf *json,
                         struct sim_answer *answer)
{
    char member[64], path[SIM_LOGICAL_MAX + 64];
    snprintf(member, sizeof(member), "%s@odata.context", collection->name);
    snprintf(path, sizeof(path), "EntityDefinitions('%s')/%s", meta->table->name, collection->name);
    weir_buf_add_char(json, ',');
    sim_meta_put_context(meta, member, path, options->select, "", json);
    weir_buf_printf(json, ",\"%s\":[", collection->name);
    if (!collection->put(meta, options, json, answer))
        return false;
    weir_buf_add_char(json, ']');
    return true;
}

static bool put_table(const struct sim_meta *meta, const struct sim_meta_options *options,
                      struct weir_buf *json, struct sim_answer *answer)
{
    sim_meta_put(&table_type, 0, meta, options->select, json);
    struct weir_str expand = options->expand;
    struct weir_str name;
    struct sim_meta_options inner;
    while (sim_meta_take_expand(&expand, &name, &inner)) {
        const struct collection *collection = find_collection(name);
        if (!collection)
            return sim_meta_bad_expand(answer);
        if (!put_expanded(meta, collection, &inner, json, answer))
            return false;
    }
    return !expand.len || sim_meta_bad_expand(answer);
}

/* ---- all tables ---- */

enum slot {
    SLOT_LOGICAL,
    SLOT_SCHEMA,
    SLOT_SET,
    SLOT_TYPE_CODE,
};

static const struct sim_column filter_columns[] = {
    [SLOT_LOGICAL] = { .name = "LogicalName", .type = SIM_TYPE_STRING },
    [SLOT_SCHEMA] = { .name = "SchemaName", .type = SIM_TYPE_STRING },
    [SLOT_SET] = { .name = "EntitySetName", .type = SIM_TYPE_STRING },
    [SLOT_TYPE_CODE] = { .name = "ObjectTypeCode", .type = SIM_TYPE_INTEGER },
};

static const struct sim_column *find(const void *ctx, struct weir_str path, uint32_t *ret_slot)
{
    (void)ctx;
    return sim_meta_find_column(filter_columns, sizeof(filter_columns) / sizeof(*filter_columns),
                                path, ret_slot);
}

static struct sim_value get(const void *ctx, const void *row, uint32_t slot)
{
    (void)ctx;
    const struct sim_table *table = row;
    const char *text = table->name;
    if (slot == SLOT_TYPE_CODE)
        return (struct sim_value){ .kind = SIM_NUMBER, .number = table->type_code };
    if (slot == SLOT_SCHEMA && table->schema)
        text = table->schema;
    if (slot == SLOT_SET)
        text = table->set;
    return (struct sim_value){ .kind = SIM_TEXT, .text = weir_str_from(text) };
}

static bool put_tables(const struct sim_meta *meta, const struct sim_meta_options *options,
                       struct weir_buf *json, struct sim_answer *answer)
{
    static const struct sim_filter_names names = { find, get, NULL, "EntityMetadata" };
    const struct sim_schema *schema = &meta->api->schema;
    struct sim_meta one = *meta;
    struct sim_filter *filter;
    bool ok = true, first = true;
    if (!sim_filter_parse(options->filter, &names, meta->url, &filter, answer))
        return false;
    for (uint32_t i = 0; ok && i < schema->table_count; i++) {
        one.table = schema->tables[i];
        if (!sim_filter_match(filter, one.table))
            continue;
        weir_buf_add_text(json, first ? "{" : ",{");
        ok = put_table(&one, options, json, answer);
        weir_buf_add_char(json, '}');
        first = false;
    }
    sim_filter_free(filter);
    return ok;
}

/* ---- answers ---- */

static void begin(const struct sim_meta *meta, const char *path, struct weir_str select,
                  const char *end, struct sim_answer *answer)
{
    answer->status = 200;
    sim_answer_header(answer, "Content-Type", "application/json; odata.metadata=minimal");
    weir_buf_add_char(&answer->body, '{');
    sim_meta_put_context(meta, "@odata.context", path, select, end, &answer->body);
}

/* What was written to `json` becomes the body: an array or the members of one object. */
static void finish(const struct sim_meta *meta, const char *path, struct weir_str select,
                   bool collection, const struct weir_buf *json, struct sim_answer *answer)
{
    begin(meta, path, select, collection ? "" : "/$entity", answer);
    weir_buf_add_text(&answer->body, collection ? ",\"value\":[" : ",");
    weir_buf_add(&answer->body, json->ptr, json->len);
    weir_buf_add_text(&answer->body, collection ? "]}" : "}");
}

static struct weir_str take_segment(struct weir_str *path)
{
    const char *slash = path->len ? memchr(path->ptr, '/', path->len) : NULL;
    size_t len = slash ? (size_t)(slash - path->ptr) : path->len;
    struct weir_str segment = weir_str(path->ptr, len);
    len += slash != NULL;
    *path = weir_str(path->ptr + len, path->len - len);
    return segment;
}

/* "Attributes(LogicalName='name')": the name in quotes. False: there are no parentheses. */
static bool take_quoted(struct weir_str *segment, struct weir_str *ret)
{
    const char *open = memchr(segment->ptr, '(', segment->len);
    struct sim_url_key key;
    uint32_t count;
    char text[2 * SIM_LOGICAL_MAX];
    *ret = weir_str("", 0);
    if (!open)
        return false;
    size_t len = (size_t)(open - segment->ptr);
    struct weir_str inner = weir_str(open + 1, segment->len - len - 1);
    if (inner.len && inner.len < sizeof(text) && inner.ptr[inner.len - 1] == ')') {
        inner.len--;
        /* A name has no doubled quotes, so it can be borrowed from the path. */
        if (sim_url_keys_parse(inner, text, &key, 1, &count) && key.quoted)
            *ret = weir_str(inner.ptr + inner.len - key.value.len - 1, key.value.len);
    }
    segment->len = len;
    return true;
}

static bool answer_option_set(struct sim_meta *meta, struct weir_str name, struct weir_buf *json,
                              struct sim_answer *answer)
{
    const struct sim_column *column = &meta->table->columns[meta->column];
    bool global = weir_str_equal(name, weir_str_from("GlobalOptionSet"));
    if ((!global && !weir_str_equal(name, weir_str_from("OptionSet"))) ||
        !(SIM_META_CHOICE_TYPES & 1u << column->type) || global != (column->option_set != NULL))
        return sim_meta_absent(answer, name);
    struct weir_str select = meta->url->options[SIM_OPTION_SELECT];
    if (!sim_meta_put_option_set(meta, select, json, answer))
        return false;
    begin(meta, global ? "GlobalOptionSetDefinitions" : "OptionSet", select, "/$entity", answer);
    weir_buf_add_char(&answer->body, ',');
    weir_buf_add(&answer->body, json->ptr + 1, json->len - 1);
    return true;
}

/* Attributes(LogicalName='x')[/cast[/OptionSet]] */
static bool answer_attribute(struct sim_meta *meta, struct weir_str name, struct weir_str rest,
                             struct weir_buf *json, struct sim_answer *answer)
{
    struct sim_meta_options options = sim_meta_options_of(meta->url);
    struct sim_meta_cast cast;
    meta->column = sim_table_column(meta->table, name);
    struct weir_str segment = take_segment(&rest);
    if (meta->column == SIM_NO_COLUMN || !sim_meta_find_cast(segment, &cast) ||
        (cast.types && !(cast.types & 1u << meta->table->columns[meta->column].type)))
        return sim_meta_absent(answer, name);
    if (rest.len)
        return answer_option_set(meta, rest, json, answer);
    if (!sim_meta_put_attribute(meta, &cast, &options, json, answer))
        return false;
    char path[SIM_LOGICAL_MAX + 64];
    snprintf(path, sizeof(path), "EntityDefinitions('%s')/Attributes", meta->table->name);
    finish(meta, path, options.select, false, json, answer);
    return true;
}

/* Attributes[/cast] */
static bool answer_attributes(const struct sim_meta *meta, struct weir_str rest,
                              struct weir_buf *json, struct sim_answer *answer)
{
    struct sim_meta_options options = sim_meta_options_of(meta->url);
    struct sim_meta_cast cast;
    if (!sim_meta_find_cast(rest, &cast))
        return sim_meta_absent(answer, rest);
    if (!sim_meta_put_attributes(meta, &cast, &options, json, answer))
        return false;
    char path[2 * SIM_LOGICAL_MAX + 64];
    snprintf(path, sizeof(path), "EntityDefinitions('%s')/Attributes%s%s", meta->table->name,
             cast.name ? "/Microsoft.Dynamics.CRM." : "", cast.name ? cast.name : "");
    finish(meta, path, options.select, true, json, answer);
    return true;
}

static bool answer_below(struct sim_meta *meta, struct weir_str rest, struct weir_buf *json,
                         struct sim_answer *answer)
{
    struct sim_meta_options options = sim_meta_options_of(meta->url);
    struct weir_str segment = take_segment(&rest);
    struct weir_str name;
    bool one = take_quoted(&segment, &name);
    const struct collection *collection = find_collection(segment);
    if (!collection)
        return sim_meta_absent(answer, segment);
    if (collection->put == put_attributes)
        return one ? answer_attribute(meta, name, rest, json, answer)
                   : answer_attributes(meta, rest, json, answer);
    if (one || rest.len)
        return sim_meta_absent(answer, one ? name : rest);
    if (!collection->put(meta, &options, json, answer))
        return false;
    char path[SIM_LOGICAL_MAX + 64];
    snprintf(path, sizeof(path), "EntityDefinitions('%s')/%s", meta->table->name, collection->name);
    finish(meta, path, options.select, true, json, answer);
    return true;
}

static bool find_table(struct sim_meta *meta, const struct sim_url_key *key,
                       struct sim_answer *answer)
{
    const struct sim_schema *schema = &meta->api->schema;
    struct sim_guid id;
    if (weir_str_equal(key->name, weir_str_from("LogicalName")))
        meta->table = sim_schema_table(schema, key->value);
    bool by_id = !key->name.len || weir_str_equal(key->name, weir_str_from("MetadataId"));
    for (uint32_t i = 0; by_id && sim_guid_parse(key->value, &id) && i < schema->table_count; i++) {
        struct sim_guid other =
            sim_guid_of(schema->tables[i]->name, weir_str_hash(weir_str("", 0)));
        if (sim_guid_equal(id, other))
            meta->table = schema->tables[i];
    }
    if (meta->table)
        return true;
    sim_answer_error(answer, 404, "0x80040217",
                     "Could not find an entity with name %.*s and id "
                     "00000000-0000-0000-0000-000000000000.",
                     (int)(key->value.len <= 200 ? key->value.len : 0), key->value.ptr);
    return false;
}

static bool answer_tables(struct sim_meta *meta, struct weir_buf *json, struct sim_answer *answer)
{
    const struct sim_url *url = meta->url;
    struct sim_meta_options options = sim_meta_options_of(url);
    bool all = url->key_count == 0;
    if (url->key_count > 1 || (all && url->rest.len))
        return sim_meta_absent(answer, url->rest);
    if (!all && !find_table(meta, &url->keys[0], answer))
        return false;
    if (url->rest.len)
        return answer_below(meta, url->rest, json, answer);
    if (!sim_meta_check_select(&table_type, 0, options.select, answer))
        return false;
    bool ok =
        all ? put_tables(meta, &options, json, answer) : put_table(meta, &options, json, answer);
    if (ok)
        finish(meta, "EntityDefinitions", options.select, all, json, answer);
    return ok;
}

/* ---- global option sets ---- */

/* Whether the column at hand is the first that uses its global set. */
static bool is_first_use(const struct sim_meta *meta)
{
    const struct sim_schema *schema = &meta->api->schema;
    const char *name = meta->table->columns[meta->column].option_set;
    if (!name)
        return false;
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct sim_table *table = schema->tables[i];
        for (uint32_t j = 0; j < table->column_count; j++) {
            const char *other = table->columns[j].option_set;
            if (other && strcmp(other, name) == 0)
                return table == meta->table && j == meta->column;
        }
    }
    return false;
}

static bool answer_global_sets(struct sim_meta *meta, struct weir_buf *json,
                               struct sim_answer *answer)
{
    const struct sim_schema *schema = &meta->api->schema;
    const struct sim_url *url = meta->url;
    struct weir_str select = url->options[SIM_OPTION_SELECT];
    bool all = url->key_count == 0;
    for (uint32_t i = 0; i < schema->table_count; i++) {
        meta->table = schema->tables[i];
        for (meta->column = 0; meta->column < meta->table->column_count; meta->column++) {
            const char *name = meta->table->columns[meta->column].option_set;
            if (!is_first_use(meta) ||
                (!all && !weir_str_equal(url->keys[0].value, weir_str_from(name))))
                continue;
            if (!all)
                return answer_option_set(meta, weir_str_from("GlobalOptionSet"), json, answer);
            if (json->len)
                weir_buf_add_char(json, ',');
            if (!sim_meta_put_option_set(meta, select, json, answer))
                return false;
        }
    }
    if (!all)
        return sim_meta_absent(answer, url->keys[0].value);
    finish(meta, "GlobalOptionSetDefinitions", select, true, json, answer);
    return true;
}

void sim_metadata_execute(const struct sim_api *api, const struct sim_url *url,
                          struct sim_answer *answer)
{
    struct sim_meta meta = { .api = api, .url = url };
    struct weir_buf json;
    weir_buf_init(&json, SIM_ANSWER_BYTES_MAX / 2);
    if (weir_str_equal(url->set, weir_str_from("EntityDefinitions")))
        answer_tables(&meta, &json, answer);
    else if (weir_str_equal(url->set, weir_str_from("GlobalOptionSetDefinitions")) &&
             !url->rest.len)
        answer_global_sets(&meta, &json, answer);
    else
        sim_meta_absent(answer, url->set);
    weir_buf_release(&json);
}

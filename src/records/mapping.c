/* SPDX-License-Identifier: MIT */
/* From records to drafts; see mapping.h. All that can be decided once is decided here. */
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

bool weir_mapping_may_create(const struct weir_mapping *mapping)
{
    return mapping->operation == WEIR_OPERATION_CREATE ||
           mapping->operation == WEIR_OPERATION_UPSERT;
}

/* Of several connections each would own what it happens to send. */
static enum weir_status choose_no_owner(struct weir_mapping *mapping,
                                        const struct weir_mapping_options *options,
                                        struct weir_error *err)
{
    const size_t connections = options->connections;
    mapping->owner_needed = weir_mapping_may_create(mapping) && connections > 1 &&
                            mapping->table->ownership == WEIR_OWNERSHIP_USER;
    bool may_come = mapping->named && !options->columns.count;
    if (!mapping->owner_needed || mapping->owner_column || may_come)
        return WEIR_OK;
    return weir_fail(
        err, WEIR_E_INVALID,
        "rows of the table \"%s\" have owners, and %zu connections would share them "
        "out; say the owner (--owner): systemuser:ID, team:ID, or caller (whoever sends the row)",
        mapping->table->name, connections);
}

static enum weir_status check_owner(const struct weir_mapping *mapping, struct weir_error *err)
{
    if (!weir_mapping_may_create(mapping))
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
        return choose_no_owner(mapping, options, err);
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

static void open_world(struct weir_mapping *mapping, const struct weir_mapping_options *options)
{
    struct weir_guid organisation;
    mapping->world = weir_calloc(1, sizeof(*mapping->world));
    *mapping->world = (struct weir_lookup_world){
        .own = options->table,
        .others = options->others,
        .other_count = options->other_count,
        .zone = options->zone,
    };
    if (weir_guid_parse(weir_str_from(options->organisation), &organisation))
        mapping->world->derived = weir_derived_ids_new(&organisation);
}

static const struct weir_column *find_type(const struct weir_table *table,
                                           enum weir_column_type type)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].type == type)
            return &table->columns[i];
    }
    return NULL;
}

static struct weir_mapping *begin(const struct weir_mapping_options *options)
{
    const struct weir_table *table = options->table;
    struct weir_mapping *mapping = weir_calloc(1, sizeof(*mapping));
    mapping->table = table;
    mapping->names = weir_table_names_of(table);
    mapping->operation = options->operation;
    mapping->ids = options->ids;
    mapping->spec = options->spec;
    mapping->input = options->input;
    mapping->empty = options->empty;
    mapping->zone = options->zone;
    mapping->named = options->named && !options->raw;
    mapping->objects = options->raw || (options->columns.count == 0 && !options->named);
    mapping->elastic = table->type == WEIR_TABLE_ELASTIC;
    mapping->passes = !mapping->objects && weir_mapping_may_create(mapping);
    mapping->closes = weir_mapping_table_closes(table);
    mapping->state_column = find_type(table, WEIR_COLUMN_STATE);
    mapping->takers = weir_calloc(table->column_count + 1, sizeof(*mapping->takers));
    mapping->memory = weir_calloc(1, sizeof(*mapping->memory));
    mapping->memory->turns = weir_calloc(table->column_count + 1, sizeof(uint64_t));
    open_world(mapping, options);
    return mapping;
}

/* Objects are sent as they are: nothing that would change them can be asked for. */
static enum weir_status check_objects(const struct weir_mapping *mapping,
                                      const struct weir_mapping_options *options,
                                      struct weir_error *err)
{
    const char *what = options->id_from ? "--id-from" : options->zone ? "--timezone" : NULL;
    if (options->spec && (options->spec->column_count || options->spec->with_count))
        what = "--mapping, --with and --ignore-columns";
    if (options->empty != WEIR_CELL_EMPTY_OMIT)
        what = "--empty";
    if (!mapping->objects || !what)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "rows that are objects as the Web API takes them are sent as they are; leave "
                     "%s out",
                     what);
}

static enum weir_status check_spec(const struct weir_mapping *mapping, struct weir_error *err)
{
    const char *table = mapping->spec ? mapping->spec->table : NULL;
    if (!table || strcmp(table, mapping->table->name) == 0)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID,
                     "the mapping file is for the table \"%.*s\", and rows go to \"%s\"",
                     WEIR_QUOTED(weir_str_from(table)), mapping->table->name);
}

static enum weir_status choose(struct weir_mapping *mapping,
                               const struct weir_mapping_options *options, struct weir_error *err)
{
    enum weir_status status = check_objects(mapping, options, err);
    if (!status)
        status = check_spec(mapping, err);
    if (!status)
        status = weir_mapping_choose_key(mapping, options->key, err);
    if (!status)
        status = weir_mapping_choose_ids(mapping, options->id_from, err);
    if (!status && !mapping->objects)
        status = weir_mapping_choose_columns(mapping, options->columns, err);
    if (!status)
        status = choose_owner(mapping, options, err);
    if (!status)
        weir_mapping_choose_straight(mapping);
    return status;
}

enum weir_status weir_mapping_new(const struct weir_mapping_options *options,
                                  struct weir_mapping **ret, struct weir_error *err)
{
    struct weir_mapping *mapping = begin(options);
    enum weir_status status = choose(mapping, options, err);
    mapping->world->complete = true;
    if (status)
        weir_mapping_free(mapping);
    else
        *ret = mapping;
    return status;
}

static void close_world(struct weir_lookup_world *world)
{
    weir_derived_ids_free(world->derived);
    free(world->lists);
    free(world);
}

void weir_mapping_free(struct weir_mapping *mapping)
{
    if (!mapping)
        return;
    weir_slots_release(&mapping->slots);
    weir_slots_release(&mapping->constants);
    weir_slots_release(&mapping->memory->names);
    weir_map_release(&mapping->memory->map);
    free(mapping->memory->turns);
    free(mapping->memory);
    for (uint32_t i = 0; i < mapping->key_count; i++)
        weir_cell_rule_release(&mapping->key_rules[i]);
    close_world(mapping->world);
    free(mapping->takers);
    free(mapping->straight);
    free(mapping->id_text);
    free(mapping->owner_text);
    free(mapping);
}

/* ---- asking ---- */

bool weir_mapping_has_pass(const struct weir_mapping *mapping, enum weir_pass pass)
{
    if (pass == WEIR_PASS_ROWS)
        return true;
    return mapping->passes &&
           (pass == WEIR_PASS_LOOKUPS ? mapping->has_lookups : mapping->has_states);
}

enum weir_operation weir_mapping_operation(const struct weir_mapping *mapping, enum weir_pass pass)
{
    return pass == WEIR_PASS_ROWS ? mapping->operation : WEIR_OPERATION_UPDATE;
}

bool weir_mapping_allows_bulk(const struct weir_mapping *mapping, enum weir_pass pass)
{
    return !mapping->by_key || weir_mapping_operation(mapping, pass) == WEIR_OPERATION_UPSERT;
}

bool weir_mapping_takes_ids(const struct weir_mapping *mapping)
{
    return mapping->objects || mapping->named || mapping->has_id || mapping->id_count;
}

bool weir_mapping_reference(const struct weir_mapping *mapping, uint32_t i,
                            const struct weir_table **ret_table,
                            const struct weir_column **ret_column)
{
    if (i >= mapping->world->list_count)
        return false;
    *ret_table = mapping->world->lists[i].table;
    *ret_column = mapping->world->lists[i].column;
    return true;
}

void weir_mapping_set_references(struct weir_mapping *mapping,
                                 const struct weir_references *references)
{
    mapping->world->references = references;
}

/* SPDX-License-Identifier: MIT */
/* Making lookups; see lookup.h. Their cells are read in lookup_cell.c. */
#include "records/lookup.h"

#include "base/error.h"
#include "base/mem.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define QUOTED(text) (int)weir_str_cut((text), 60).len, (text).ptr

/* ---- tables ---- */

/* Those to which users, customers and money lead: described only if something is to be known of
 * their columns. */
static const char *const everywhere[][2] = {
    { "systemuser", "systemusers" },     { "team", "teams" },
    { "account", "accounts" },           { "contact", "contacts" },
    { "businessunit", "businessunits" }, { "transactioncurrency", "transactioncurrencies" },
};

static bool is(struct weir_str text, const char *wanted)
{
    return weir_str_equal(text, weir_str_from(wanted));
}

const struct weir_table *weir_lookup_table(const struct weir_lookup_world *world,
                                           struct weir_str table)
{
    if (is(table, world->own->name))
        return world->own;
    for (size_t i = 0; i < world->other_count; i++) {
        if (is(table, world->others[i]->name))
            return world->others[i];
    }
    return NULL;
}

struct weir_str weir_lookup_set(const struct weir_lookup_world *world, struct weir_str table)
{
    const struct weir_table *described = weir_lookup_table(world, table);
    if (described)
        return weir_str_from(described->set_name);
    for (size_t i = 0; i < COUNT(everywhere); i++) {
        if (is(table, everywhere[i][0]))
            return weir_str_from(everywhere[i][1]);
    }
    return weir_str("", 0);
}

/* ---- ends ---- */

static void add_end(const struct weir_lookup_world *world, struct weir_lookup *lookup,
                    const char *table, const char *navigation)
{
    lookup->ends[lookup->end_count++] = (struct weir_lookup_end){
        .table = weir_str_from(table),
        .navigation = weir_str_from(navigation),
        .set = weir_lookup_set(world, weir_str_from(table)),
    };
}

/* An owner is a user or a team; not every answer says it in so many words. */
static void add_ends(const struct weir_lookup_world *world, struct weir_lookup *lookup)
{
    const struct weir_column *column = lookup->column;
    lookup->ends = weir_calloc(2 * (size_t)column->target_count + 1, sizeof(*lookup->ends));
    for (uint32_t i = 0; i < column->target_count; i++) {
        const struct weir_lookup_target *target = &column->targets[i];
        bool owner = strcmp(target->table, "owner") == 0;
        add_end(world, lookup, owner ? "systemuser" : target->table, target->navigation);
        if (owner)
            add_end(world, lookup, "team", target->navigation);
    }
    if (lookup->end_count == 1)
        lookup->only = &lookup->ends[0];
}

/* `account, contact`, as many as fit. */
static void list_ends(const struct weir_lookup *lookup, char *text, size_t text_bytes)
{
    struct weir_buf list;
    weir_buf_init(&list, text_bytes - 1);
    for (uint32_t i = 0; i < lookup->end_count && !list.overflow; i++) {
        struct weir_str table = lookup->ends[i].table;
        if (list.len + table.len + 6 < text_bytes)
            weir_buf_printf(&list, "%s%.*s", i ? ", " : "", (int)table.len, table.ptr);
    }
    weir_buf_hand_over(&list, text, text_bytes);
}

static enum weir_status choose_end(struct weir_lookup *lookup, struct weir_str table,
                                   struct weir_error *err)
{
    char list[200];
    for (uint32_t i = 0; i < lookup->end_count; i++) {
        if (weir_str_equal(lookup->ends[i].table, table)) {
            lookup->only = &lookup->ends[i];
            return WEIR_OK;
        }
    }
    list_ends(lookup, list, sizeof(list));
    return weir_fail(err, WEIR_E_INVALID,
                     "the column \"%s\" does not point to the table \"%.*s\", but to: %s",
                     lookup->column->name, QUOTED(table), list);
}

static enum weir_status check_end(const struct weir_lookup *lookup, struct weir_error *err)
{
    bool navigable = false;
    for (uint32_t i = 0; i < lookup->end_count; i++)
        navigable = navigable || lookup->ends[i].navigation.len;
    if (!navigable)
        return weir_fail(err, WEIR_E_INVALID,
                         "the service does not say by which navigation property \"%s\" points to "
                         "any table",
                         lookup->column->name);
    if (!lookup->only)
        return WEIR_OK;
    if (!lookup->only->navigation.len)
        return weir_fail(err, WEIR_E_INVALID,
                         "the service does not say by which navigation property \"%s\" points to "
                         "the table \"%.*s\"",
                         lookup->column->name, QUOTED(lookup->only->table));
    if (!lookup->only->set.len)
        return weir_fail(err, WEIR_E_INVALID,
                         "the table \"%.*s\", to which \"%s\" points, was not described; name it "
                         "in a mapping file, or in the first row",
                         QUOTED(lookup->only->table), lookup->column->name);
    return WEIR_OK;
}

/* ---- by columns of the other table ---- */

static enum weir_status fail_column(const struct weir_lookup *lookup, struct weir_str name,
                                    struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "\"%s\" points to the table \"%s\", which has no column \"%.*s\"",
                     lookup->column->name, lookup->table->name, QUOTED(name));
}

static enum weir_status use_key(const struct weir_lookup_world *world, struct weir_lookup *lookup,
                                const struct weir_column_target *target, struct weir_error *err)
{
    lookup->way = WEIR_LOOKUP_KEY;
    lookup->rules = weir_calloc(target->key_count, sizeof(*lookup->rules));
    for (uint32_t i = 0; i < target->key_count; i++) {
        const struct weir_column *column = weir_table_column(lookup->table, target->keys[i]);
        struct weir_key_part part;
        if (!weir_column_key_part(column, weir_str("", 0), &part))
            return weir_fail(err, WEIR_E_INVALID,
                             "\"%s\" cannot point to the table \"%s\" by the column \"%s\" of the "
                             "type %s, which cannot stand in an address",
                             lookup->column->name, lookup->table->name, column->name,
                             weir_column_type_name(column->type));
        lookup->keys[i] = column;
        weir_cell_rule_init(&lookup->rules[i], column, world->zone, WEIR_CELL_EMPTY_REJECT);
        lookup->key_count++;
    }
    return WEIR_OK;
}

static enum weir_status use_list(struct weir_lookup_world *world, struct weir_lookup *lookup,
                                 struct weir_str name, struct weir_error *err)
{
    const struct weir_column *column = weir_table_column(lookup->table, name);
    lookup->way = WEIR_LOOKUP_REFERENCE;
    for (uint32_t i = 0; i < world->list_count; i++) {
        if (world->lists[i].table == lookup->table && world->lists[i].column == column) {
            lookup->list = i;
            return WEIR_OK;
        }
    }
    if (world->complete)
        return weir_fail(err, WEIR_E_INVALID,
                         "rows of the table \"%s\" by the column \"%s\" were not read; name that "
                         "lookup in a mapping file, or in the first row",
                         lookup->table->name, column->name);
    world->lists = weir_realloc(world->lists, world->list_count + 1, sizeof(*world->lists));
    world->lists[world->list_count] = (struct weir_lookup_list){ lookup->table, column };
    lookup->list = world->list_count++;
    return WEIR_OK;
}

/* One that can be shown as a text, and be read. */
static enum weir_status check_list(const struct weir_lookup *lookup,
                                   const struct weir_column_target *target, struct weir_error *err)
{
    const struct weir_column *column = weir_table_column(lookup->table, target->keys[0]);
    if (target->key_count > 1)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%s\" points to the table \"%s\" by %u columns, which must be an active "
                         "alternate key of it; otherwise it takes one column",
                         lookup->column->name, lookup->table->name, target->key_count);
    if (!column->for_read || (!weir_typed_kind_of(column) && !weir_column_is_lookup(column)))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%s\" cannot point to the table \"%s\" by the column \"%s\", which "
                         "cannot be read as a text",
                         lookup->column->name, lookup->table->name, column->name);
    return WEIR_OK;
}

static enum weir_status use_columns(struct weir_lookup_world *world, struct weir_lookup *lookup,
                                    const struct weir_column_target *target, struct weir_error *err)
{
    for (uint32_t i = 0; i < target->key_count; i++) {
        if (!weir_table_column(lookup->table, target->keys[i]))
            return fail_column(lookup, target->keys[i], err);
    }
    const struct weir_alternate_key *key =
        weir_table_key_of(lookup->table, target->keys, target->key_count);
    if (key && key->status == WEIR_KEY_STATUS_ACTIVE)
        return use_key(world, lookup, target, err);
    enum weir_status status = check_list(lookup, target, err);
    return status ? status : use_list(world, lookup, target->keys[0], err);
}

static enum weir_status use_derived(const struct weir_lookup_world *world,
                                    struct weir_lookup *lookup,
                                    const struct weir_column_target *target, struct weir_error *err)
{
    if (!world->derived)
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%s\" takes ids that are derived, for which the id of the organisation "
                         "must be known",
                         lookup->column->name);
    lookup->way = WEIR_LOOKUP_DERIVED;
    lookup->key_count = target->key_count;
    for (uint32_t i = 0; i < target->key_count; i++)
        lookup->keys[i] = weir_table_column(lookup->table, target->keys[i]);
    return WEIR_OK;
}

/* ---- life ---- */

static enum weir_status choose(struct weir_lookup_world *world, struct weir_lookup *lookup,
                               const struct weir_column_target *target, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;
    if (target->table.ptr)
        status = choose_end(lookup, target->table, err);
    if (!status)
        status = check_end(lookup, err);
    if (status || !target->key_count)
        return status;
    lookup->table = weir_lookup_table(world, target->table);
    if (!lookup->table)
        return weir_fail(err, WEIR_E_INVALID,
                         "the table \"%.*s\", to which \"%s\" points, was not described; name it "
                         "in a mapping file, or in the first row",
                         QUOTED(target->table), lookup->column->name);
    return target->derived ? use_derived(world, lookup, target, err)
                           : use_columns(world, lookup, target, err);
}

enum weir_status weir_lookup_new(struct weir_lookup_world *world, const struct weir_column *column,
                                 const struct weir_column_target *target, struct weir_lookup **ret,
                                 struct weir_error *err)
{
    struct weir_lookup *lookup = weir_calloc(1, sizeof(*lookup));
    lookup->column = column;
    add_ends(world, lookup);
    enum weir_status status = choose(world, lookup, target, err);
    if (status)
        weir_lookup_free(lookup);
    else
        *ret = lookup;
    return status;
}

void weir_lookup_free(struct weir_lookup *lookup)
{
    if (!lookup)
        return;
    for (uint32_t i = 0; lookup->rules && i < lookup->key_count; i++)
        weir_cell_rule_release(&lookup->rules[i]);
    free(lookup->rules);
    free(lookup->ends);
    free(lookup);
}

bool weir_lookup_is_inward(const struct weir_lookup *lookup, const struct weir_table *own)
{
    if (lookup->only)
        return is(lookup->only->table, own->name);
    for (uint32_t i = 0; i < lookup->end_count; i++) {
        if (is(lookup->ends[i].table, own->name))
            return true;
    }
    return false;
}

/* SPDX-License-Identifier: MIT */
/*
 * A row that was read is applied: what the service decides itself is added, references and keys are
 * checked, and it is written. See record.h.
 *
 * The order is the service's: a plug-in runs before the database looks at keys, so a row that meets
 * a duplicate has run its plug-ins, and is counted so.
 */
#include "sim/service/record.h"

#include <stdio.h>

#include "sim/service/render.h"

#define VALUE_SHOWN 100 /* bytes of a duplicate value in an answer */

/* A write on its way. */
struct write {
    struct sim_api *api;
    const struct sim_call *call;
    const struct sim_table *table;
    const struct sim_record *record;
    struct sim_rejection *why;
    struct sim_value values[SIM_COLUMNS_MAX]; /* the row as it will be */
};

static void set_number(struct write *write, uint32_t column, int64_t number)
{
    if (column != SIM_NO_COLUMN)
        write->values[column] = (struct sim_value){ .kind = SIM_NUMBER, .number = number };
}

static bool not_supported(const struct write *write, const char *message)
{
    return sim_reject(write->why, 400, "0x80040800",
                      "The '%s' method does not support entities of type '%s'.", message,
                      write->table->name);
}

/* The columns that were given and may be written become values. */
static void overlay(struct write *write, bool creating)
{
    const struct sim_record *record = write->record;
    for (uint32_t i = 0; i < record->column_count; i++) {
        uint32_t column = record->columns[i];
        const struct sim_column *definition = &write->table->columns[column];
        if (creating ? !definition->no_create : !definition->no_update)
            write->values[column] = record->values[column];
    }
}

/* The first status of a state. */
static int64_t default_status(const struct sim_table *table, int64_t state)
{
    const struct sim_column *column = &table->columns[table->status];
    for (uint32_t i = 0; i < column->choice_count; i++) {
        if (column->choices[i].state == state)
            return column->choices[i].value;
    }
    return 0;
}

/* The message that a state needs; NULL: it can simply be written. */
static const char *closing_message(const struct sim_table *table, int64_t state)
{
    bool opportunity = strcmp(table->name, "opportunity") == 0;
    return opportunity && state == 1   ? "WinOpportunity"
           : opportunity && state == 2 ? "LoseOpportunity"
                                       : NULL;
}

static const char *state_label(const struct sim_table *table, int64_t state)
{
    const struct sim_choice *choice = sim_column_choice(&table->columns[table->state], state);
    return choice ? choice->label : "?";
}

static bool check_closing(const struct write *write, int64_t state)
{
    const struct sim_table *table = write->table;
    const char *message = closing_message(table, state);
    if (!message)
        return true;
    return sim_reject(write->why, 400, "0x80048408",
                      "This message can not be used to set the state of %s to %s. In order to set "
                      "state of %s to %s, use the %s message instead.",
                      table->name, state_label(table, state), table->name,
                      state_label(table, state), message);
}

/* State and status must fit; `before` is the state that the row had, 0 for a new one. */
static bool settle_state(struct write *write, int64_t before)
{
    const struct sim_table *table = write->table;
    if (table->state == SIM_NO_COLUMN || table->status == SIM_NO_COLUMN)
        return true;
    struct sim_value *state = &write->values[table->state];
    struct sim_value *status = &write->values[table->status];
    if (state->kind != SIM_NUMBER)
        set_number(write, table->state, before);
    bool status_given = write->record->given[table->status];
    if (status->kind != SIM_NUMBER || (!status_given && state->number != before))
        set_number(write, table->status, default_status(table, state->number));
    const struct sim_choice *choice =
        sim_column_choice(&table->columns[table->status], status->number);
    if (choice && choice->state == state->number)
        return state->number == before || check_closing(write, state->number);
    char id[SIM_GUID_TEXT];
    return sim_reject(write->why, 400, "0x80048408",
                      "%lld is not a valid status code for state code %sState.%s on %s with Id "
                      "%s.",
                      (long long)status->number, table->schema ? table->schema : table->name,
                      state_label(table, state->number), table->name,
                      sim_guid_print(write->values[table->id].id, id));
}

static void set_user(struct write *write, uint32_t column, struct sim_guid id)
{
    if (column != SIM_NO_COLUMN)
        write->values[column] = (struct sim_value){ .kind = SIM_ID, .target = 0, .id = id };
}

/* Who is acted for has made the row; who did it in fact stands beside it. */
static void settle_users(struct write *write)
{
    const struct sim_table *table = write->table;
    const struct sim_call *call = write->call;
    if (table->owner != SIM_NO_COLUMN && write->values[table->owner].kind == SIM_NULL)
        set_user(write, table->owner, call->caller);
    set_user(write, table->created_by, call->caller);
    set_user(write, table->modified_by, call->caller);
    if (sim_call_impersonates(call))
        set_user(write, table->on_behalf_of, write->api->users[call->user].id);
}

/* A creation date that was given changes places with the real one. */
static void settle_dates(struct write *write)
{
    const struct sim_table *table = write->table;
    int64_t now_us = write->call->wall_us;
    set_number(write, table->created_on, now_us);
    set_number(write, table->modified_on, now_us);
    uint32_t overridden = table->overridden_created_on;
    if (overridden == SIM_NO_COLUMN || write->values[overridden].kind == SIM_NULL)
        return;
    set_number(write, table->created_on, write->values[overridden].number);
    set_number(write, overridden, now_us);
}

static void settle_booleans(struct write *write)
{
    for (uint32_t i = 0; i < write->table->column_count; i++) {
        if (write->table->columns[i].type == SIM_TYPE_BOOLEAN && write->values[i].kind == SIM_NULL)
            set_number(write, i, 0);
    }
}

/* contact.fullname is made of two others. It goes into `text`, which must outlive the write. */
static void settle_name(struct write *write, char *text, size_t bytes)
{
    const struct sim_table *table = write->table;
    if (strcmp(table->name, "contact") != 0)
        return;
    uint32_t full = sim_table_column(table, weir_str_from("fullname"));
    uint32_t first = sim_table_column(table, weir_str_from("firstname"));
    uint32_t last = sim_table_column(table, weir_str_from("lastname"));
    if (full == SIM_NO_COLUMN || first == SIM_NO_COLUMN || last == SIM_NO_COLUMN)
        return;
    const struct sim_value *a = &write->values[first];
    const struct sim_value *b = &write->values[last];
    int a_len = a->kind == SIM_TEXT ? (int)a->text.len : 0;
    int b_len = b->kind == SIM_TEXT ? (int)b->text.len : 0;
    int len = snprintf(text, bytes, "%.*s%s%.*s", a_len, a_len ? a->text.ptr : "",
                       a_len && b_len ? " " : "", b_len, b_len ? b->text.ptr : "");
    bool fits = len > 0 && (size_t)len < bytes;
    write->values[full] = (struct sim_value){ .kind = fits ? SIM_TEXT : SIM_NULL };
    if (fits)
        write->values[full].text = weir_str(text, (size_t)len);
}

static bool check_required(const struct write *write)
{
    for (uint32_t i = 0; i < write->table->column_count; i++) {
        const struct sim_column *column = &write->table->columns[i];
        if (column->required == SIM_REQUIRED_SYSTEM && write->values[i].kind == SIM_NULL)
            return sim_reject(write->why, 400, "0x80040203",
                              "Attribute: %s of entity: %s cannot be null.", column->name,
                              write->table->name);
    }
    return true;
}

/* What is referred to must be there. Only what was given is looked at: the rest was checked before.
 */
static bool check_references(const struct write *write)
{
    const struct sim_record *record = write->record;
    for (uint32_t i = 0; i < record->column_count; i++) {
        uint32_t place = record->columns[i];
        const struct sim_column *column = &write->table->columns[place];
        const struct sim_value *value = &write->values[place];
        if (!sim_type_is_lookup(column->type) || value->kind != SIM_ID)
            continue;
        uint32_t target = column->targets[value->target].place;
        if (sim_store_find(&write->api->stores[target], value->id, weir_str("", 0)) == SIM_NO_PLACE)
            return sim_reject_absent(write->why, write->api->schema.tables[target], value->id);
    }
    return true;
}

/* The row that a fault has made bad. */
static bool check_bad_row(const struct write *write)
{
    const struct sim_api *api = write->api;
    if (!api->bad_column)
        return true;
    uint32_t column = sim_table_column(write->table, weir_str_from(api->bad_column));
    if (column == SIM_NO_COLUMN || !write->record->given[column])
        return true;
    struct weir_buf text;
    weir_buf_init(&text, SIM_ANSWER_BYTES_MAX);
    const struct sim_value *value = &write->values[column];
    if (value->kind == SIM_TEXT)
        weir_buf_add(&text, value->text.ptr, value->text.len);
    else
        sim_render_value(&write->table->columns[column], value, &text);
    struct weir_str shown = weir_str(weir_buf_text(&text), text.len);
    if (shown.len >= 2 && value->kind != SIM_TEXT && *shown.ptr == '"')
        shown = weir_str(shown.ptr + 1, shown.len - 2);
    bool bad = weir_str_equal(shown, weir_str_from(api->bad_value));
    weir_buf_release(&text);
    if (!bad)
        return true;
    return sim_reject(write->why, 400, "0x80040265",
                      "The row of entity %s whose %s is '%s' is refused by a plug-in.",
                      write->table->name, api->bad_column, api->bad_value);
}

/* Duplicates. */

static bool primary_duplicate(const struct write *write)
{
    return sim_reject(write->why, write->api->switches.duplicate_status, "0x80040237",
                      "A record with matching key values already exists.");
}

static void add_xml(char *text, size_t bytes, const char *name, struct weir_str value)
{
    size_t len = strlen(text);
    value = sim_text_cut(value, VALUE_SHOWN);
    snprintf(text + len, bytes - len, "<%s>%.*s</%s>", name, (int)value.len, value.ptr, name);
}

static bool alternate_duplicate(const struct write *write, uint32_t place)
{
    const struct sim_key *key = &write->table->keys[place];
    struct sim_rejection *why = write->why;
    char columns[256] = "";
    char attributes[SIM_REJECTION_TEXT_MAX / 2] = "";
    for (uint32_t i = 0; i < key->column_count; i++) {
        const struct sim_column *column = &write->table->columns[key->columns[i]];
        struct weir_buf value;
        weir_buf_init(&value, SIM_REJECTION_TEXT_MAX);
        if (write->values[key->columns[i]].kind == SIM_TEXT)
            weir_buf_add(&value, write->values[key->columns[i]].text.ptr,
                         write->values[key->columns[i]].text.len);
        else
            sim_render_value(column, &write->values[key->columns[i]], &value);
        size_t len = strlen(columns);
        snprintf(columns + len, sizeof(columns) - len, "%s%s", i ? ", " : "", column->name);
        add_xml(attributes, sizeof(attributes), column->name,
                weir_str(weir_buf_text(&value), value.len));
        weir_buf_release(&value);
    }
    sim_reject(why, write->api->switches.duplicate_status, "0x80060892",
               "Entity Key %s violated. A record with the same value for %s already exists. A "
               "duplicate record cannot be created. Select one or more unique values and try "
               "again.",
               key->name, columns);
    why->key_name = key->name;
    snprintf(why->duplicate_attributes, sizeof(why->duplicate_attributes),
             "<DuplicateAttributes>%s</DuplicateAttributes>", attributes);
    return false;
}

/* The rule of the table, if its detection was asked for; `except` as below. */
static bool check_alike(const struct write *write, uint32_t except)
{
    const struct sim_store *store = &write->api->stores[write->table->place];
    if (!sim_call_has(write->call, SIM_EXTRA_DETECT_DUPLICATES) ||
        sim_store_alike(store, write->values, except) == SIM_NO_PLACE)
        return true;
    return sim_reject(write->why, write->api->switches.duplicate_status, "0x80040333",
                      "A record was not created or updated because a duplicate of the current "
                      "record already exists.");
}

/* `except`: the place of the row itself, or SIM_NO_PLACE for a new one. */
static bool check_duplicates(const struct write *write, uint32_t except)
{
    const struct sim_store *store = &write->api->stores[write->table->place];
    bool creating = except == SIM_NO_PLACE;
    bool primary = creating && sim_store_find(store, write->values[write->table->id].id,
                                              weir_str("", 0)) != SIM_NO_PLACE;
    uint32_t other;
    int key = sim_store_conflict(store, write->values, except, &other);
    if (primary && (key < 0 || write->api->switches.duplicate_first == SIM_DUPLICATE_PRIMARY_FIRST))
        return primary_duplicate(write);
    return key < 0 || alternate_duplicate(write, (uint32_t)key);
}

/* The writes. */

static void run_plugins(const struct write *write)
{
    const struct sim_table *table = write->table;
    struct weir_str partition = weir_str("", 0);
    if (sim_call_has(write->call, SIM_EXTRA_BYPASS_SYNC))
        return;
    if (table->partition != SIM_NO_COLUMN && write->values[table->partition].kind == SIM_TEXT)
        partition = write->values[table->partition].text;
    sim_ledger_plugin(&write->api->ledgers[table->place],
                      sim_ledger_id(write->values[table->id].id, partition));
}

static void begin(struct write *write, struct sim_api *api, const struct sim_call *call,
                  const struct sim_record *record, struct sim_rejection *why)
{
    write->api = api;
    write->call = call;
    write->table = record->table;
    write->record = record;
    write->why = why;
}

/* All columns of a new row. False: refused. */
static bool make_new(struct write *write, char *name, size_t name_bytes)
{
    const struct sim_table *table = write->table;
    struct sim_guid id;
    for (uint32_t i = 0; i < table->column_count; i++)
        write->values[i] = (struct sim_value){ .kind = SIM_NULL };
    overlay(write, true);
    if (!sim_record_id(write->record, &id))
        id = sim_guid_make(&write->api->rng);
    write->values[table->id] = (struct sim_value){ .kind = SIM_ID, .id = id };
    settle_users(write);
    settle_dates(write);
    settle_booleans(write);
    settle_name(write, name, name_bytes);
    return settle_state(write, 0) && check_required(write) && check_references(write);
}

static uint32_t insert(struct write *write, enum sim_event event)
{
    struct sim_api *api = write->api;
    struct sim_row *row = sim_row_new(write->table, ++api->row_version, write->values);
    return sim_txn_insert(&api->txn, write->table->place, row, event);
}

static void replace(struct write *write, uint32_t place, enum sim_event event)
{
    struct sim_api *api = write->api;
    struct sim_row *row = sim_row_new(write->table, ++api->row_version, write->values);
    sim_txn_replace(&api->txn, write->table->place, place, row, event);
}

static bool check_room(const struct write *write)
{
    if (write->api->stores[write->table->place].place_count < SIM_ROWS_MAX)
        return true;
    return sim_reject(write->why, 507, "0x8004Ed45", "The table %s of the simulator is full.",
                      write->table->name);
}

bool sim_record_create(struct sim_api *api, const struct sim_call *call, struct sim_record *record,
                       enum sim_event event, uint32_t *ret_place, struct sim_rejection *why)
{
    struct write write;
    char name[512];
    begin(&write, api, call, record, why);
    if (write.table->read_only)
        return not_supported(&write, "Create");
    if (!make_new(&write, name, sizeof(name)) || !check_room(&write) ||
        !check_alike(&write, SIM_NO_PLACE))
        return false;
    if (event == SIM_EVENT_CREATE)
        run_plugins(&write);
    if (!check_bad_row(&write))
        return false;
    uint32_t place = SIM_NO_PLACE;
    if (write.table->elastic)
        place = sim_store_find(&api->stores[write.table->place], write.values[write.table->id].id,
                               sim_record_partition(record));
    else if (!check_duplicates(&write, SIM_NO_PLACE))
        return false;
    if (place == SIM_NO_PLACE)
        *ret_place = insert(&write, event);
    else
        replace(&write, *ret_place = place, event);
    return true;
}

bool sim_record_replace(struct sim_api *api, const struct sim_call *call, struct sim_record *record,
                        uint32_t place, struct sim_rejection *why)
{
    struct write write;
    char name[512];
    begin(&write, api, call, record, why);
    if (!make_new(&write, name, sizeof(name)) || !check_bad_row(&write))
        return false;
    replace(&write, place, SIM_EVENT_UPSERT);
    return true;
}

bool sim_record_update(struct sim_api *api, const struct sim_call *call, struct sim_record *record,
                       uint32_t place, struct sim_rejection *why)
{
    struct write write;
    char name[512];
    begin(&write, api, call, record, why);
    const struct sim_table *table = write.table;
    if (table->read_only)
        return not_supported(&write, "Update");
    sim_row_read(sim_store_at(&api->stores[table->place], place), table, write.values);
    int64_t state = table->state == SIM_NO_COLUMN ? 0 : write.values[table->state].number;
    struct sim_value partition = { 0 };
    if (table->partition != SIM_NO_COLUMN)
        partition = write.values[table->partition];
    overlay(&write, false);
    if (table->partition != SIM_NO_COLUMN)
        write.values[table->partition] = partition; /* part of the key: it never changes */
    set_number(&write, table->modified_on, call->wall_us);
    set_user(&write, table->modified_by, call->caller);
    settle_name(&write, name, sizeof(name));
    if (!check_required(&write) || !settle_state(&write, state) || !check_references(&write) ||
        !check_alike(&write, place))
        return false;
    run_plugins(&write);
    if (!check_bad_row(&write) || (!table->elastic && !check_duplicates(&write, place)))
        return false;
    replace(&write, place, SIM_EVENT_UPDATE);
    return true;
}

bool sim_record_seed(struct sim_api *api, const struct sim_call *call, struct sim_record *record,
                     struct sim_rejection *why)
{
    struct write write;
    char name[512];
    begin(&write, api, call, record, why);
    if (!make_new(&write, name, sizeof(name)) || !check_duplicates(&write, SIM_NO_PLACE))
        return false;
    sim_store_insert(&api->stores[write.table->place],
                     sim_row_new(write.table, ++api->row_version, write.values));
    return true;
}

bool sim_record_delete(struct sim_api *api, const struct sim_call *call,
                       const struct sim_table *table, uint32_t place, struct sim_rejection *why)
{
    struct write write = { .api = api, .call = call, .table = table, .why = why };
    if (table->read_only)
        return not_supported(&write, "Delete");
    sim_row_read(sim_store_at(&api->stores[table->place], place), table, write.values);
    run_plugins(&write);
    sim_txn_delete(&api->txn, table->place, place);
    return true;
}

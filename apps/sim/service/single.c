/* SPDX-License-Identifier: MIT */
/*
 * One row a request; see single.h.
 *
 *     POST   set          create
 *     GET    set(key)     read                        If-None-Match: an ETag: 304 if it is the same
 *     PATCH  set(key)     update, or create           If-Match: * or an ETag: update only
 *                                                     If-None-Match: *: create only
 *     DELETE set(key)                                 If-Match: as above
 */
#include "sim/service/single.h"

#include "sim/service/privileges.h"
#include "sim/service/record.h"
#include "sim/service/render.h"

/* What an If-Match or If-None-Match header says. */
struct condition {
    enum condition_kind {
        CONDITION_NONE,
        CONDITION_ANY,
        CONDITION_VERSION,
    } kind;
    uint64_t version; /* an ETag that is none of ours has 0, which no row has */
};

/* A request on its way. */
struct single {
    struct sim_api *api;
    const struct sim_call *call;
    const struct sim_url *url;
    const struct sim_table *table;
    struct sim_answer *answer;
    struct sim_prefer prefer;
    struct sim_select select;
    struct condition match;
    struct condition none_match;
    struct sim_target_key key;
    struct sim_rejection why;
};

static struct condition read_condition(const struct sim_call *call, const char *name)
{
    struct condition condition = { .kind = CONDITION_NONE };
    struct weir_str value = weir_str_trim(sim_http_header(call->headers, call->header_count, name));
    if (!value.len || weir_str_equal_nocase(value, weir_str_from("null")))
        return condition;
    if (weir_str_equal(value, weir_str_from("*"))) {
        condition.kind = CONDITION_ANY;
        return condition;
    }
    condition.kind = CONDITION_VERSION;
    if (weir_str_starts_nocase(value, "W/"))
        value = weir_str(value.ptr + 2, value.len - 2);
    int64_t version;
    if (value.len > 2 && *value.ptr == '"' && value.ptr[value.len - 1] == '"' &&
        weir_str_to_int64(weir_str(value.ptr + 1, value.len - 2), &version) && version > 0)
        condition.version = (uint64_t)version;
    return condition;
}

static void reject(struct single *single)
{
    sim_rejection_answer(&single->why, single->prefer.error_details, single->answer);
}

static const struct sim_row *row_at(const struct single *single, uint32_t place)
{
    return sim_store_at(&single->api->stores[single->table->place], place);
}

/* Elastic tables hand out a token with which a later read sees this write. */
static void add_session_token(const struct single *single)
{
    if (single->table->elastic)
        sim_answer_header(single->answer, "x-ms-session-token", "0:-1#%llu",
                          (unsigned long long)single->api->row_version);
}

static void add_address(const struct single *single, const struct sim_row *row, const char *header)
{
    char id[SIM_GUID_TEXT];
    sim_answer_header(single->answer, header, "%s/api/data/%.*s/%s(%s)", single->api->base_url,
                      (int)single->url->version.len, single->url->version.ptr, single->table->set,
                      sim_guid_print(row->id, id));
}

static void add_row(struct single *single, const struct sim_row *row)
{
    struct weir_buf *body = &single->answer->body;
    struct weir_str select = single->url->options[SIM_OPTION_SELECT];
    sim_answer_header(single->answer, "Content-Type", "application/json; odata.metadata=minimal");
    weir_buf_printf(body, "{\"@odata.context\":\"%s/api/data/%.*s/$metadata#%s",
                    single->api->base_url, (int)single->url->version.len, single->url->version.ptr,
                    single->table->set);
    if (select.len)
        weir_buf_printf(body, "(%.*s)", (int)select.len, select.ptr);
    weir_buf_add_text(body, "/$entity\",");
    sim_render_row(single->api, single->table, row, &single->select, &single->prefer, body);
    weir_buf_add_char(body, '}');
}

/* The answer to a write: nothing but the row's address, or the row if that was wished. */
static void tell_written(struct single *single, uint32_t place, bool created)
{
    const struct sim_row *row = row_at(single, place);
    add_address(single, row, "OData-EntityId");
    if (created)
        add_address(single, row, "Location");
    add_session_token(single);
    single->answer->status = 204;
    if (!single->prefer.representation)
        return;
    single->answer->status = created ? 201 : 200;
    sim_answer_header(single->answer, "Preference-Applied", "return=representation");
    sim_answer_header(single->answer, "ETag", "W/\"%llu\"", (unsigned long long)row->version);
    add_row(single, row);
}

static bool may(struct single *single, enum sim_right right, const char *verb)
{
    return sim_api_may(single->api, single->call, single->table, right, verb, single->answer);
}

/* A row that a user does not see is forbidden, not absent. */
static bool may_touch(struct single *single, uint32_t place, const char *verb)
{
    if (sim_api_sees(single->api, single->call, single->table, row_at(single, place)))
        return true;
    char id[SIM_GUID_TEXT];
    sim_answer_error(single->answer, 403, "0x80040220",
                     "Principal user (Id=%s, type=8) is missing prv%s%s privilege with the depth "
                     "that row %s needs on entity '%s'.",
                     single->api->users[single->call->user].id_text, verb,
                     sim_privilege_noun(single->table),
                     sim_guid_print(row_at(single, place)->id, id), single->table->name);
    return false;
}

static void create(struct single *single)
{
    struct sim_record *record = single->api->record;
    uint32_t place;
    if (!may(single, SIM_RIGHT_WRITE, "Create"))
        return;
    sim_record_reset(record, single->table);
    if (sim_record_read_body(single->api, record, single->call->body, &single->why) &&
        sim_record_create(single->api, single->call, record, SIM_EVENT_CREATE, &place,
                          &single->why))
        tell_written(single, place, true);
    else
        reject(single);
}

/* The row that the key means; SIM_NO_PLACE: the answer is filled. */
static uint32_t find(struct single *single, struct weir_str partition)
{
    if (!sim_target_key_read(single->table, single->url->keys, single->url->key_count, partition,
                             &single->key, &single->why)) {
        reject(single);
        return SIM_NO_PLACE;
    }
    uint32_t place = sim_target_key_find(single->api, single->table, &single->key);
    if (place == SIM_NO_PLACE) {
        sim_target_key_absent(single->table, &single->key, &single->why);
        reject(single);
    }
    return place;
}

static struct weir_str partition_option(const struct single *single)
{
    return single->url->options[SIM_OPTION_PARTITION_ID];
}

/* "accounts(key)/name": one value. */
static void tell_property(struct single *single, const struct sim_row *row)
{
    struct sim_answer *answer = single->answer;
    struct weir_str name = single->url->rest;
    static const char suffix[] = "/$value";
    size_t suffix_len = sizeof(suffix) - 1;
    bool bare =
        name.len > suffix_len && memcmp(name.ptr + name.len - suffix_len, suffix, suffix_len) == 0;
    if (bare)
        name.len -= suffix_len;
    const struct sim_property *property = sim_table_property(single->table, name);
    if (!property || property->kind == SIM_PROPERTY_NAVIGATION) {
        sim_answer_error(answer, 404, "0x8006088a", "Resource not found for the segment '%.*s'.",
                         (int)sim_text_cut(name, 200).len, name.ptr);
        return;
    }
    const struct sim_column *column = &single->table->columns[property->column];
    struct sim_value value = sim_row_get(row, property->column);
    answer->status = value.kind == SIM_NULL ? 204 : 200;
    if (value.kind == SIM_NULL)
        return;
    sim_answer_header(answer, "Content-Type",
                      bare ? "text/plain" : "application/json; odata.metadata=minimal");
    if (bare && value.kind == SIM_TEXT) {
        weir_buf_add(&answer->body, value.text.ptr, value.text.len);
        return;
    }
    char id[SIM_GUID_TEXT];
    if (!bare)
        weir_buf_printf(&answer->body,
                        "{\"@odata.context\":\"%s/api/data/%.*s/$metadata#%s(%s)/%.*s\",\"value\":",
                        single->api->base_url, (int)single->url->version.len,
                        single->url->version.ptr, single->table->set, sim_guid_print(row->id, id),
                        (int)name.len, name.ptr);
    sim_render_value(column, &value, &answer->body);
    if (!bare)
        weir_buf_add_char(&answer->body, '}');
}

static void read_one(struct single *single)
{
    if (single->url->options[SIM_OPTION_EXPAND].ptr) {
        sim_answer_error(single->answer, 400, "0x80060888",
                         "This simulated service does not support $expand on rows.");
        return;
    }
    if (!may(single, SIM_RIGHT_READ, "Read"))
        return;
    uint32_t place = find(single, partition_option(single));
    if (place == SIM_NO_PLACE || !may_touch(single, place, "Read"))
        return;
    const struct sim_row *row = row_at(single, place);
    sim_answer_header(single->answer, "ETag", "W/\"%llu\"", (unsigned long long)row->version);
    add_session_token(single);
    if (single->url->kind == SIM_URL_PROPERTY) {
        tell_property(single, row);
        return;
    }
    single->answer->status = 200;
    if (single->none_match.kind == CONDITION_VERSION && single->none_match.version == row->version)
        single->answer->status = 304;
    else
        add_row(single, row);
}

/* If-Match and If-None-Match of a write, against the row that is there (or SIM_NO_PLACE). */
static bool check_conditions(struct single *single, uint32_t place)
{
    bool exists = place != SIM_NO_PLACE;
    if (single->none_match.kind == CONDITION_ANY && exists)
        return sim_reject(&single->why, 412,
                          single->key.key == SIM_NO_KEY ? "0x80040237" : "0x80060892",
                          "A record with matching key values already exists.");
    if (single->match.kind == CONDITION_NONE)
        return true;
    if (!exists)
        return sim_target_key_absent(single->table, &single->key, &single->why);
    if (single->match.kind == CONDITION_ANY ||
        row_at(single, place)->version == single->match.version)
        return true;
    return sim_reject(&single->why, 412, "0x80060882",
                      "The version of the existing record doesn't match the RowVersion property "
                      "provided.");
}

/* A part of a key that is null names no row, and cannot make one. */
static bool check_key_parts(struct single *single)
{
    if (single->key.key == SIM_NO_KEY)
        return true;
    const struct sim_key *key = &single->table->keys[single->key.key];
    for (uint32_t i = 0; i < key->column_count; i++) {
        if (single->key.parts[i].kind == SIM_NULL)
            return sim_reject(&single->why, 400, "0x80060888",
                              "The key column '%s' of entity '%s' cannot be null.",
                              single->table->columns[key->columns[i]].name, single->table->name);
    }
    return true;
}

static bool write_found(struct single *single, uint32_t place)
{
    bool upsert = single->match.kind == CONDITION_NONE;
    struct sim_record *record = single->api->record;
    if (!single->table->elastic || !upsert)
        return sim_record_update(single->api, single->call, record, place, &single->why);
    sim_target_key_fill(single->table, &single->key, record);
    return sim_record_replace(single->api, single->call, record, place, &single->why);
}

/* The elastic kind of upsert fires no create. */
static bool write_new(struct single *single, uint32_t *ret_place)
{
    struct sim_record *record = single->api->record;
    enum sim_event event = single->table->elastic ? SIM_EVENT_UPSERT : SIM_EVENT_CREATE;
    sim_target_key_fill(single->table, &single->key, record);
    return sim_record_create(single->api, single->call, record, event, ret_place, &single->why);
}

static bool prepare_patch(struct single *single, uint32_t *ret_place)
{
    struct sim_record *record = single->api->record;
    sim_record_reset(record, single->table);
    if (!sim_record_read_body(single->api, record, single->call->body, &single->why))
        return false;
    struct weir_str partition = partition_option(single);
    if (!partition.ptr)
        partition = sim_record_partition(record);
    if (!sim_target_key_read(single->table, single->url->keys, single->url->key_count, partition,
                             &single->key, &single->why) ||
        !check_key_parts(single))
        return false;
    *ret_place = sim_target_key_find(single->api, single->table, &single->key);
    return check_conditions(single, *ret_place);
}

static void patch(struct single *single)
{
    uint32_t place;
    if (!may(single, SIM_RIGHT_WRITE, "Write"))
        return;
    if (!prepare_patch(single, &place)) {
        reject(single);
        return;
    }
    bool created = place == SIM_NO_PLACE;
    if (!created && !may_touch(single, place, "Write"))
        return;
    if (created ? write_new(single, &place) : write_found(single, place))
        tell_written(single, place, created);
    else
        reject(single);
}

static void delete_one(struct single *single)
{
    if (!may(single, SIM_RIGHT_ALL, "Delete"))
        return;
    uint32_t place = find(single, partition_option(single));
    if (place == SIM_NO_PLACE || !may_touch(single, place, "Delete"))
        return;
    if (check_conditions(single, place) &&
        sim_record_delete(single->api, single->call, single->table, place, &single->why))
        single->answer->status = 204;
    else
        reject(single);
}

static void refuse_method(struct single *single)
{
    sim_answer_error(single->answer, 405, "0x80060888",
                     "The requested resource does not support http method '%.*s'.",
                     (int)sim_text_cut(single->call->method, 20).len, single->call->method.ptr);
}

static void dispatch(struct single *single)
{
    struct weir_str method = single->call->method;
    bool set = single->url->kind == SIM_URL_SET;
    bool record = single->url->kind == SIM_URL_RECORD;
    if (set && weir_str_equal(method, weir_str_from("POST")))
        create(single);
    else if (!set && weir_str_equal(method, weir_str_from("GET")))
        read_one(single);
    else if (record && weir_str_equal(method, weir_str_from("PATCH")))
        patch(single);
    else if (record && weir_str_equal(method, weir_str_from("DELETE")))
        delete_one(single);
    else
        refuse_method(single);
}

void sim_single_execute(struct sim_api *api, const struct sim_call *call, const struct sim_url *url,
                        struct sim_answer *answer)
{
    struct single single = { .api = api, .call = call, .url = url, .answer = answer };
    single.table = sim_api_set(api, url->set, answer);
    if (!single.table ||
        !sim_prefer_parse(call->headers, call->header_count, &single.prefer, answer) ||
        !sim_select_parse(single.table, url->options[SIM_OPTION_SELECT], &single.select, answer))
        return;
    single.match = read_condition(call, "If-Match");
    single.none_match = read_condition(call, "If-None-Match");
    dispatch(&single);
}

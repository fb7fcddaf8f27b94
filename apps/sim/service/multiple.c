/* SPDX-License-Identifier: MIT */
/*
 * The bulk messages; see multiple.h. The body is gone through twice, as the service does it:
 *
 *     read     all of it is JSON, and every row is of the right type with properties that exist: if
 *              not, nothing is executed
 *     apply    row by row. Standard tables: one transaction, the first row that fails takes all
 * back. Elastic tables: every row for itself, and the answer lists those that failed
 */
#include "sim/service/multiple.h"

#include <stdio.h>

#include "base/mem.h"
#include "sim/service/privileges.h"
#include "sim/service/record.h"
#include "sim/service/render.h"

enum message {
    MESSAGE_CREATE,
    MESSAGE_UPDATE,
    MESSAGE_UPSERT,
    MESSAGE_DELETE,
    MESSAGES,
};

static const struct {
    const char *name;
    const char *verb; /* of the privilege */
    enum sim_right right;
} messages[MESSAGES] = {
    { "CreateMultiple", "Create", SIM_RIGHT_WRITE },
    { "UpdateMultiple", "Write", SIM_RIGHT_WRITE },
    { "UpsertMultiple", "Write", SIM_RIGHT_WRITE },
    { "DeleteMultiple", "Delete", SIM_RIGHT_ALL },
};

/* The rows that the call has met already, by a name that is theirs. */
struct seen {
    struct sim_guid *slots;
    uint8_t *used;
    uint32_t slot_count;
};

struct multiple {
    struct sim_api *api;
    const struct sim_call *call;
    const struct sim_table *table;
    enum message message;
    struct sim_answer *answer;
    struct sim_prefer prefer;
    struct sim_rejection why; /* of the first row that failed */
    struct seen seen;
    struct weir_buf ids;     /* of the rows that were created, as JSON */
    struct weir_buf details; /* of the rows that failed, as JSON */
    uint32_t row_count;
    uint32_t failed;
};

static uint32_t message_of(struct weir_str action)
{
    uint32_t i = 0;
    while (i < MESSAGES && !weir_str_equal(action, weir_str_from(messages[i].name)))
        i++;
    return i;
}

bool sim_multiple_is(struct weir_str action)
{
    return message_of(action) < MESSAGES;
}

/* The rest of the container at `depth` is passed over; the scanner may be deeper. */
static bool leave(struct sim_scan *scan, uint32_t depth)
{
    struct sim_token token;
    while (scan->depth >= depth) {
        if (sim_scan_next(scan, &token) <= SIM_SCAN_END)
            return false;
    }
    return true;
}

/* Behind the bracket of Targets. False: there is no such array. */
static bool enter_targets(struct weir_str body, struct sim_scan *scan)
{
    struct sim_token token;
    sim_scan_init(scan, body);
    if (sim_scan_next(scan, &token) != SIM_SCAN_OBJECT)
        return false;
    while (sim_scan_next(scan, &token) > SIM_SCAN_OBJECT_END || token.type == SIM_SCAN_OBJECT) {
        if (token.type == SIM_SCAN_ARRAY && weir_str_equal(token.key, weir_str_from("Targets")))
            return true;
        bool container = token.type == SIM_SCAN_OBJECT || token.type == SIM_SCAN_ARRAY;
        if (container && !sim_scan_skip(scan))
            return false;
    }
    return false;
}

uint32_t sim_multiple_count(struct weir_str body)
{
    struct sim_scan scan;
    struct sim_token token;
    uint32_t count = 0;
    if (!enter_targets(body, &scan))
        return 0;
    while (sim_scan_next(&scan, &token) == SIM_SCAN_OBJECT && sim_scan_skip(&scan))
        count++;
    return count;
}

/* Repeated rows. */

static void seen_init(struct seen *seen, uint32_t rows)
{
    seen->slot_count = 16;
    while (seen->slot_count / 2 < rows)
        seen->slot_count *= 2;
    seen->slots = weir_calloc(seen->slot_count, sizeof(*seen->slots));
    seen->used = weir_calloc(seen->slot_count, sizeof(*seen->used));
}

static void seen_release(struct seen *seen)
{
    free(seen->slots);
    free(seen->used);
}

static bool seen_has(const struct seen *seen, struct sim_guid id)
{
    uint32_t mask = seen->slot_count - 1;
    uint32_t at = (uint32_t)sim_guid_hash(id) & mask;
    while (seen->used[at] && !sim_guid_equal(seen->slots[at], id))
        at = (at + 1) & mask;
    return seen->used[at];
}

static struct sim_guid place_name(uint32_t place)
{
    struct sim_guid name = { { 0 } };
    memcpy(name.bytes, &place, sizeof(place));
    return name;
}

/* True: it had been there already. */
static bool seen_add(struct seen *seen, struct sim_guid id)
{
    uint32_t mask = seen->slot_count - 1;
    uint32_t at = (uint32_t)sim_guid_hash(id) & mask;
    for (; seen->used[at]; at = (at + 1) & mask) {
        if (sim_guid_equal(seen->slots[at], id))
            return true;
    }
    seen->used[at] = 1;
    seen->slots[at] = id;
    return false;
}

/* Applying. */

static bool need_id(struct multiple *multiple, struct sim_guid *ret)
{
    const struct sim_table *table = multiple->table;
    if (sim_record_id(multiple->api->record, ret))
        return true;
    return sim_reject(&multiple->why, 400, "0x80040203",
                      "The primary key '%s' is missing or empty in a target of %s on entity '%s'.",
                      table->columns[table->id].name, messages[multiple->message].name,
                      table->name);
}

static bool sees(struct multiple *multiple, uint32_t place)
{
    const struct sim_table *table = multiple->table;
    const struct sim_row *row = sim_store_at(&multiple->api->stores[table->place], place);
    if (sim_api_sees(multiple->api, multiple->call, table, row))
        return true;
    return sim_reject(&multiple->why, 403, "0x80040220",
                      "Principal user (Id=%s, type=8) is missing prv%s%s privilege on entity '%s'.",
                      multiple->api->users[multiple->call->user].id_text,
                      messages[multiple->message].verb, sim_privilege_noun(table), table->name);
}

static bool create_row(struct multiple *multiple)
{
    struct sim_api *api = multiple->api;
    uint32_t place;
    if (!sim_record_create(api, multiple->call, api->record, SIM_EVENT_CREATE, &place,
                           &multiple->why))
        return false;
    char id[SIM_GUID_TEXT];
    sim_guid_print(sim_store_at(&api->stores[multiple->table->place], place)->id, id);
    struct weir_buf *ids = &multiple->ids;
    weir_buf_add(ids, ids->len ? ",\"" : "\"", ids->len ? 2 : 1);
    weir_buf_add(ids, id, SIM_GUID_TEXT - 1);
    weir_buf_add_char(ids, '"');
    return true;
}

/* The place of the row that the primary key in the body means. */
static bool find_by_id(struct multiple *multiple, struct sim_guid *ret_id, uint32_t *ret_place)
{
    if (!need_id(multiple, ret_id))
        return false;
    *ret_place = sim_store_find(&multiple->api->stores[multiple->table->place], *ret_id,
                                sim_record_partition(multiple->api->record));
    return true;
}

static bool update_row(struct multiple *multiple)
{
    struct sim_api *api = multiple->api;
    struct sim_guid id;
    uint32_t place;
    if (!find_by_id(multiple, &id, &place))
        return false;
    if (seen_add(&multiple->seen, sim_ledger_id(id, sim_record_partition(api->record))))
        return true; /* the first one counts, the rest is passed over in silence */
    if (place == SIM_NO_PLACE)
        return sim_reject_absent(&multiple->why, multiple->table, id);
    return sees(multiple, place) &&
           sim_record_update(api, multiple->call, api->record, place, &multiple->why);
}

static bool delete_row(struct multiple *multiple)
{
    struct sim_guid id;
    uint32_t place;
    if (!find_by_id(multiple, &id, &place))
        return false;
    if (place == SIM_NO_PLACE)
        return sim_reject_absent(&multiple->why, multiple->table, id);
    return sees(multiple, place) &&
           sim_record_delete(multiple->api, multiple->call, multiple->table, place, &multiple->why);
}

static bool repeated(struct multiple *multiple)
{
    return sim_reject(&multiple->why, 400, "0x80040203",
                      "The Targets of UpsertMultiple contain more than one row of entity '%s' with "
                      "the same key.",
                      multiple->table->name);
}

static bool write_upsert(struct multiple *multiple, uint32_t *place)
{
    struct sim_api *api = multiple->api;
    bool elastic = multiple->table->elastic;
    if (*place == SIM_NO_PLACE)
        return sim_record_create(api, multiple->call, api->record,
                                 elastic ? SIM_EVENT_UPSERT : SIM_EVENT_CREATE, place,
                                 &multiple->why);
    if (!sees(multiple, *place))
        return false;
    if (elastic)
        return sim_record_replace(api, multiple->call, api->record, *place, &multiple->why);
    return sim_record_update(api, multiple->call, api->record, *place, &multiple->why);
}

/* Whether a column of the key stands in the body as well. */
static bool key_in_body(const struct multiple *multiple, const struct sim_target_key *key)
{
    if (key->key == SIM_NO_KEY)
        return false;
    const struct sim_key *definition = &multiple->table->keys[key->key];
    for (uint32_t i = 0; i < definition->column_count; i++) {
        if (multiple->api->record->given[definition->columns[i]])
            return true;
    }
    return false;
}

/* Places name the rows here: one may come by its id first and by its alternate key then. */
static bool upsert_by_key(struct multiple *multiple, const struct sim_target_key *key)
{
    struct sim_api *api = multiple->api;
    uint32_t place = sim_target_key_find(api, multiple->table, key);
    if (place != SIM_NO_PLACE && seen_has(&multiple->seen, place_name(place)))
        return repeated(multiple);
    if (place == SIM_NO_PLACE && key_in_body(multiple, key))
        return sim_reject(&multiple->why, 400, "0x80040216", "An unexpected error occurred.");
    if (place == SIM_NO_PLACE || multiple->table->elastic)
        sim_target_key_fill(multiple->table, key, api->record);
    if (!write_upsert(multiple, &place))
        return false;
    seen_add(&multiple->seen, place_name(place));
    return true;
}

static bool upsert_by_address(struct multiple *multiple)
{
    struct sim_url url;
    struct sim_target_key key;
    struct weir_str address = multiple->api->record->odata_id;
    bool good = sim_url_parse(address, &url) && url.kind == SIM_URL_RECORD &&
                weir_str_equal(url.set, weir_str_from(multiple->table->set));
    if (!good)
        sim_reject_payload(&multiple->why, multiple->table,
                           "The value '%.*s' of the annotation 'odata.id' is not the address of a "
                           "row of this entity set.",
                           (int)sim_text_cut(address, 100).len, address.ptr);
    good = good &&
           sim_target_key_read(multiple->table, url.keys, url.key_count,
                               sim_record_partition(multiple->api->record), &key, &multiple->why) &&
           upsert_by_key(multiple, &key);
    sim_url_release(&url);
    return good;
}

static bool upsert_row(struct multiple *multiple)
{
    struct sim_target_key key = { .key = SIM_NO_KEY };
    if (multiple->api->record->odata_id.ptr)
        return upsert_by_address(multiple);
    if (!need_id(multiple, &key.id))
        return false;
    key.partition = sim_record_partition(multiple->api->record);
    return upsert_by_key(multiple, &key);
}

static bool apply_row(struct multiple *multiple)
{
    switch (multiple->message) {
    case MESSAGE_CREATE:
        return create_row(multiple);
    case MESSAGE_UPDATE:
        return update_row(multiple);
    case MESSAGE_UPSERT:
        return upsert_row(multiple);
    default:
        return delete_row(multiple);
    }
}

static void add_detail(struct multiple *multiple, uint32_t index)
{
    char text[SIM_GUID_TEXT];
    struct sim_guid id = { { 0 } };
    sim_record_id(multiple->api->record, &id);
    weir_buf_printf(&multiple->details, "%s{\"RequestIndex\":%u,\"Id\":\"%s\",\"StatusCode\":%d}",
                    multiple->failed ? "," : "", index, sim_guid_print(id, text),
                    multiple->why.status);
}

/* One row of the second pass. False: the whole call fails. */
static bool apply_next(struct multiple *multiple, struct sim_scan *scan, uint32_t index,
                       struct sim_rejection *first)
{
    struct sim_record *record = multiple->api->record;
    uint32_t depth = scan->depth;
    sim_record_reset(record, multiple->table);
    if (sim_record_read(multiple->api, record, scan, &multiple->why) && apply_row(multiple))
        return true;
    leave(scan, depth);
    if (!multiple->table->elastic)
        return false;
    add_detail(multiple, index);
    if (!multiple->failed++)
        *first = multiple->why;
    return true;
}

static bool apply_all(struct multiple *multiple)
{
    struct sim_scan scan;
    struct sim_token token;
    struct sim_rejection first;
    enter_targets(multiple->call->body, &scan);
    for (uint32_t i = 0; i < multiple->row_count; i++) {
        sim_scan_next(&scan, &token);
        if (!apply_next(multiple, &scan, i, &first))
            return false;
    }
    if (multiple->failed)
        multiple->why = first;
    return multiple->failed == 0;
}

/* Reading. */

static bool bad_json(struct multiple *multiple, const struct sim_scan *scan)
{
    return sim_reject_payload(&multiple->why, multiple->table, "Invalid JSON: %s.", scan->problem);
}

/* What a deserializer finds, as opposed to what the service finds when it looks at values. */
static bool is_payload(const struct sim_rejection *why)
{
    return strcmp(why->code, "0x80048d19") == 0 || strcmp(why->code, "0x0") == 0;
}

static bool check_row(struct multiple *multiple, struct sim_scan *scan)
{
    struct sim_record *record = multiple->api->record;
    uint32_t depth = scan->depth;
    sim_record_reset(record, multiple->table);
    if (!sim_record_read(multiple->api, record, scan, &multiple->why)) {
        return !is_payload(&multiple->why) && (leave(scan, depth) || bad_json(multiple, scan));
    }
    return record->has_type ||
           sim_reject_payload(&multiple->why, multiple->table,
                              "A resource without a type name was found, but no expected type was "
                              "specified. To allow entries without type information, the expected "
                              "type must also be specified when the model is specified.");
}

static bool check_all(struct multiple *multiple)
{
    struct sim_scan scan;
    struct sim_token token;
    const struct sim_table *table = multiple->table;
    if (!enter_targets(multiple->call->body, &scan))
        return scan.problem ? bad_json(multiple, &scan)
                            : sim_reject_payload(&multiple->why, table,
                                                 "The parameter 'Targets' is missing in the "
                                                 "request payload.");
    while (sim_scan_next(&scan, &token) == SIM_SCAN_OBJECT) {
        if (!check_row(multiple, &scan))
            return false;
        multiple->row_count++;
    }
    if (token.type > SIM_SCAN_END && token.type != SIM_SCAN_ARRAY_END)
        return sim_reject_payload(&multiple->why, table,
                                  "An unexpected node was found when reading from the JSON reader. "
                                  "A 'StartObject' node was expected.");
    while (token.type > SIM_SCAN_END)
        sim_scan_next(&scan, &token);
    if (token.type == SIM_SCAN_BAD)
        return bad_json(multiple, &scan);
    return multiple->row_count > 0 ||
           sim_reject(&multiple->why, 400, "0x80040203", "Targets must not be empty.");
}

/* Answering. */

static void tell_success(struct multiple *multiple, const struct sim_url *url)
{
    struct sim_answer *answer = multiple->answer;
    if (multiple->table->elastic && multiple->message != MESSAGE_DELETE)
        sim_answer_header(answer, "x-ms-session-token", "0:-1#%llu",
                          (unsigned long long)multiple->api->row_version);
    answer->status = 204;
    if (multiple->message != MESSAGE_CREATE)
        return;
    answer->status = 200;
    sim_answer_header(answer, "Content-Type", "application/json; odata.metadata=minimal");
    weir_buf_printf(&answer->body,
                    "{\"@odata.context\":\"%s/api/data/%.*s/$metadata#Microsoft.Dynamics.CRM."
                    "CreateMultipleResponse\",\"Ids\":[",
                    multiple->api->base_url, (int)url->version.len, url->version.ptr);
    weir_buf_add(&answer->body, multiple->ids.ptr, multiple->ids.len);
    weir_buf_add_text(&answer->body, "]}");
}

/* Of a partial success: who asks for annotations learns which rows failed. */
static void tell_failure(struct multiple *multiple)
{
    struct weir_buf *body = &multiple->answer->body;
    sim_rejection_answer(&multiple->why, multiple->prefer.error_details, multiple->answer);
    if (!multiple->failed || !multiple->prefer.error_details)
        return;
    struct weir_buf list;
    weir_buf_init(&list, SIM_ANSWER_BYTES_MAX);
    weir_buf_printf(&list, "[%s]", weir_buf_text(&multiple->details));
    body->len -= 2; /* inside the error, before its two braces */
    weir_buf_add_text(body,
                      ",\"@Microsoft.PowerApps.CDS.ErrorDetails.Plugin.BulkApiErrorDetails\":");
    weir_buf_add_json_string(body, weir_str(list.ptr, list.len));
    weir_buf_add_text(body, "}}");
    weir_buf_release(&list);
}

static bool check_message(struct multiple *multiple)
{
    const struct sim_table *table = multiple->table;
    const char *name = messages[multiple->message].name;
    if (!weir_str_equal(multiple->call->method, weir_str_from("POST")))
        return sim_reject(&multiple->why, 405, "0x80060888",
                          "The action %s does not support this http method.", name);
    if (multiple->message == MESSAGE_DELETE && !table->elastic)
        return sim_reject(&multiple->why, 501, "0x80040216",
                          "DeleteMultiple has not yet been implemented.");
    return table->bulk || sim_reject(&multiple->why, 400, "0x80040800",
                                     "The '%s' method does not support entities of type '%s'. "
                                     "MessageProcessorCache returned MessageProcessor.Empty.",
                                     name, table->name);
}

static void run(struct multiple *multiple, const struct sim_url *url)
{
    struct sim_txn *txn = &multiple->api->txn;
    if (!check_message(multiple) || !check_all(multiple)) {
        tell_failure(multiple);
        return;
    }
    seen_init(&multiple->seen, multiple->row_count);
    struct sim_savepoint savepoint = sim_txn_begin(txn);
    if (apply_all(multiple)) {
        sim_txn_commit(txn, savepoint);
        tell_success(multiple, url);
    } else {
        sim_txn_rollback(txn, savepoint);
        tell_failure(multiple);
    }
    seen_release(&multiple->seen);
}

void sim_multiple_execute(struct sim_api *api, const struct sim_call *call,
                          const struct sim_url *url, struct sim_answer *answer)
{
    struct multiple multiple = { .api = api, .call = call, .answer = answer };
    multiple.message = (enum message)message_of(url->action);
    multiple.table = sim_api_set(api, url->set, answer);
    if (!multiple.table ||
        !sim_prefer_parse(call->headers, call->header_count, &multiple.prefer, answer) ||
        !sim_api_may(api, call, multiple.table, messages[multiple.message].right,
                     messages[multiple.message].verb, answer))
        return;
    weir_buf_init(&multiple.ids, SIM_ANSWER_BYTES_MAX);
    weir_buf_init(&multiple.details, SIM_ANSWER_BYTES_MAX);
    run(&multiple, url);
    weir_buf_release(&multiple.ids);
    weir_buf_release(&multiple.details);
}

/* SPDX-License-Identifier: MIT */
/* The messages of each table; see messages.h. */
#include "sim/service/messages.h"

#include <inttypes.h>

#include "sim/service/api_internal.h"
#include "sim/service/filter.h"

enum slot {
    SLOT_ID,
    SLOT_TABLE,
    SLOT_MESSAGE,
    SLOT_MESSAGE_ID,
};

static const struct sim_column columns[] = {
    [SLOT_ID] = { .name = "sdkmessagefilterid", .type = SIM_TYPE_UNIQUEIDENTIFIER },
    [SLOT_TABLE] = { .name = "primaryobjecttypecode", .type = SIM_TYPE_STRING },
    [SLOT_MESSAGE] = { .name = "sdkmessageid/name", .type = SIM_TYPE_STRING },
    [SLOT_MESSAGE_ID] = { .name = "_sdkmessageid_value", .type = SIM_TYPE_UNIQUEIDENTIFIER },
};

/* Who has a message. */
enum holder {
    HOLDER_ALL,
    HOLDER_WRITABLE,
    HOLDER_BULK,
    HOLDER_ELASTIC_BULK,
};

static const struct {
    const char *name;
    enum holder holder;
} messages[] = {
    { "Retrieve", HOLDER_ALL },        { "RetrieveMultiple", HOLDER_ALL },
    { "Create", HOLDER_WRITABLE },     { "Update", HOLDER_WRITABLE },
    { "Upsert", HOLDER_WRITABLE },     { "Delete", HOLDER_WRITABLE },
    { "CreateMultiple", HOLDER_BULK }, { "UpdateMultiple", HOLDER_BULK },
    { "UpsertMultiple", HOLDER_BULK }, { "DeleteMultiple", HOLDER_ELASTIC_BULK },
};

#define MESSAGES (sizeof(messages) / sizeof(*messages))

struct pair {
    const struct sim_table *table;
    uint32_t message;
};

static bool holds(const struct sim_table *table, enum holder holder)
{
    switch (holder) {
    case HOLDER_ALL:
        return true;
    case HOLDER_WRITABLE:
        return !table->read_only;
    case HOLDER_BULK:
        return table->bulk && !table->read_only;
    case HOLDER_ELASTIC_BULK:
        return table->bulk && table->elastic;
    }
    return false;
}

static const struct sim_column *find(const void *ctx, struct weir_str path, uint32_t *ret_slot)
{
    (void)ctx;
    for (uint32_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
        if (weir_str_equal(path, weir_str_from(columns[i].name))) {
            *ret_slot = i;
            return &columns[i];
        }
    }
    return NULL;
}

static struct sim_guid pair_id(const struct pair *pair)
{
    return sim_guid_of(pair->table->name, 0x5d0000u + pair->message);
}

static struct sim_guid message_id(const struct pair *pair)
{
    return sim_guid_of(messages[pair->message].name, 0x5d);
}

static struct sim_value text_value(const char *text)
{
    return (struct sim_value){ .kind = SIM_TEXT, .text = weir_str_from(text) };
}

static struct sim_value get(const void *ctx, const void *row, uint32_t slot)
{
    (void)ctx;
    const struct pair *pair = row;
    switch ((enum slot)slot) {
    case SLOT_TABLE:
        return text_value(pair->table->name);
    case SLOT_MESSAGE:
        return text_value(messages[pair->message].name);
    case SLOT_MESSAGE_ID:
        return (struct sim_value){ .kind = SIM_ID, .id = message_id(pair) };
    case SLOT_ID:
        break;
    }
    return (struct sim_value){ .kind = SIM_ID, .id = pair_id(pair) };
}

static void put_pair(const struct pair *pair, bool first, struct weir_buf *json)
{
    char id[SIM_GUID_TEXT], message[SIM_GUID_TEXT];
    weir_buf_printf(json,
                    "%s{\"@odata.etag\":\"W/\\\"1\\\"\",\"sdkmessagefilterid\":\"%s\","
                    "\"primaryobjecttypecode\":\"%s\",\"_sdkmessageid_value\":\"%s\"}",
                    first ? "" : ",", sim_guid_print(pair_id(pair), id), pair->table->name,
                    sim_guid_print(message_id(pair), message));
}

/* All pairs that match, as the elements of an array; returns how many. */
static uint32_t put_pairs(const struct sim_api *api, const struct sim_filter *filter, int64_t top,
                          struct weir_buf *json)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < api->schema.table_count * MESSAGES && count < top; i++) {
        struct pair pair = { api->schema.tables[i / MESSAGES], (uint32_t)(i % MESSAGES) };
        if (!holds(pair.table, messages[pair.message].holder) || !sim_filter_match(filter, &pair))
            continue;
        put_pair(&pair, count == 0, json);
        count++;
    }
    return count;
}

static void answer_pairs(const struct sim_api *api, const struct sim_url *url,
                         const struct sim_filter *filter, int64_t top, struct sim_answer *answer)
{
    struct weir_buf rows;
    weir_buf_init(&rows, SIM_ANSWER_BYTES_MAX);
    uint32_t count = put_pairs(api, filter, top, &rows);
    bool only_count = url->kind == SIM_URL_COUNT;
    answer->status = 200;
    sim_answer_header(answer, "Content-Type", "%s",
                      only_count ? "text/plain" : "application/json; odata.metadata=minimal");
    if (only_count)
        weir_buf_printf(&answer->body, "%" PRIu32, count);
    else
        weir_buf_printf(&answer->body,
                        "{\"@odata.context\":\"%s/api/data/%.*s/$metadata#sdkmessagefilters\","
                        "\"value\":[%s]}",
                        api->base_url, (int)url->version.len, url->version.ptr,
                        weir_buf_text(&rows));
    weir_buf_release(&rows);
}

void sim_messages_query(const struct sim_api *api, const struct sim_url *url,
                        struct sim_answer *answer)
{
    static const struct sim_filter_names names = { find, get, NULL, "sdkmessagefilter" };
    struct weir_str text = url->options[SIM_OPTION_TOP];
    int64_t top = INT64_MAX;
    struct sim_filter *filter;
    if (text.ptr && (!weir_str_to_int64(text, &top) || top < 0)) {
        sim_answer_error(answer, 400, "0x80060888", "Invalid value for $top query option found.");
        return;
    }
    if (!sim_filter_parse(url->options[SIM_OPTION_FILTER], &names, url, &filter, answer))
        return;
    answer_pairs(api, url, filter, top, answer);
    sim_filter_free(filter);
}

/* SPDX-License-Identifier: MIT */
/* Optional headers and parameters of a request; see optional.h. */
#include "sim/service/optional.h"

#include <inttypes.h>

#include "sim/service/api_internal.h"

#define BYPASS "MSCRM.BypassBusinessLogicExecution"
#define FLOWS  "MSCRM.SuppressCallbackRegistrationExpanderJob"
#define DETECT "MSCRM.SuppressDuplicateDetection"

static struct weir_str header(const struct sim_call *call, const char *name)
{
    return weir_str_trim(sim_http_header(call->headers, call->header_count, name));
}

static bool bad_value(struct weir_str value, const char *name, struct sim_answer *answer)
{
    sim_answer_error(answer, 400, "0x80040203", "The value '%.*s' of the header %s is invalid.",
                     (int)sim_text_cut(value, 100).len, value.ptr, name);
    return false;
}

static void add(struct sim_call *call, enum sim_extra extra)
{
    call->extras |= 1u << extra;
}

/* "CustomSync,CustomAsync" */
static bool read_bypass(const struct sim_api *api, struct sim_call *call, struct sim_answer *answer)
{
    struct weir_str list = header(call, BYPASS);
    if (list.len && api->users[call->user].no_bypass) {
        sim_answer_error(answer, 403, "0x80040220",
                         "Principal user (Id=%s, type=8) is missing prvBypassCustomBusinessLogic "
                         "privilege.",
                         api->users[call->user].id_text);
        return false;
    }
    while (list.len) {
        const char *comma = memchr(list.ptr, ',', list.len);
        size_t len = comma ? (size_t)(comma - list.ptr) : list.len;
        struct weir_str word = weir_str_trim(weir_str(list.ptr, len));
        if (weir_str_equal(word, weir_str_from("CustomSync")))
            add(call, SIM_EXTRA_BYPASS_SYNC);
        else if (weir_str_equal(word, weir_str_from("CustomAsync")))
            add(call, SIM_EXTRA_BYPASS_ASYNC);
        else
            return bad_value(word, BYPASS, answer);
        len += comma != NULL;
        list = weir_str(list.ptr + len, list.len - len);
    }
    return true;
}

/* A header that is true or false, where `counts` is what is counted. */
static bool read_flag(struct sim_call *call, const char *name, bool counts, enum sim_extra meaning,
                      struct sim_answer *answer)
{
    struct weir_str value = header(call, name);
    bool yes = weir_str_equal_nocase(value, weir_str_from("true"));
    if (!value.len)
        return true;
    if (!yes && !weir_str_equal_nocase(value, weir_str_from("false")))
        return bad_value(value, name, answer);
    if (yes == counts)
        add(call, meaning);
    return true;
}

/* Who is acted for. */

static const struct sim_table *users(const struct sim_api *api)
{
    return sim_schema_table(&api->schema, weir_str_from("systemuser"));
}

static uint32_t find_object(const struct sim_api *api, struct sim_guid id)
{
    const struct sim_table *table = users(api);
    uint32_t column = sim_table_column(table, weir_str_from("azureactivedirectoryobjectid"));
    const struct sim_key *key = sim_table_key(table, &column, 1);
    struct sim_value value = { .kind = SIM_ID, .id = id };
    return key ? sim_store_find_key(&api->stores[table->place], (uint32_t)(key - table->keys),
                                    &value)
               : SIM_NO_PLACE;
}

static bool is_disabled(const struct sim_api *api, const struct sim_row *row)
{
    uint32_t column = sim_table_column(users(api), weir_str_from("isdisabled"));
    struct sim_value value = { .kind = SIM_NULL };
    if (column != SIM_NO_COLUMN)
        value = sim_row_get(row, column);
    return value.kind == SIM_NUMBER && value.number;
}

static bool nobody(struct sim_guid id, bool by_object, struct sim_answer *answer)
{
    char text[SIM_GUID_TEXT];
    sim_guid_print(id, text);
    if (by_object)
        sim_answer_error(answer, 403, "0x80072560",
                         "The user with object id %s is not a member of the organization.", text);
    else
        sim_answer_error(answer, 403, "0x80040217", "systemuser With Id = %s Does Not Exist", text);
    return false;
}

static bool may_impersonate(const struct sim_api *api, const struct sim_call *call,
                            struct sim_answer *answer)
{
    const struct sim_user *user = &api->users[call->user];
    if (!user->no_impersonation)
        return true;
    sim_answer_error(answer, 403, "0x80040220",
                     "Principal user (Id=%s, type=8) is missing prvActOnBehalfOfAnotherUser "
                     "privilege.",
                     user->id_text);
    return false;
}

static void act_for(const struct sim_api *api, struct sim_call *call, struct sim_guid id)
{
    call->caller = id;
    call->acting = 0;
    while (call->acting < api->user_count && !sim_guid_equal(api->users[call->acting].id, id))
        call->acting++;
    if (call->acting == api->user_count)
        call->acting = SIM_NO_USER;
}

static bool read_caller(const struct sim_api *api, struct sim_call *call, struct sim_answer *answer)
{
    struct weir_str text = header(call, "CallerObjectId");
    bool by_object = text.len > 0;
    if (!by_object)
        text = header(call, "MSCRMCallerID");
    struct sim_guid id;
    if (!text.len)
        return true;
    add(call, SIM_EXTRA_CALLER);
    if (!sim_guid_parse(text, &id))
        return bad_value(text, by_object ? "CallerObjectId" : "MSCRMCallerID", answer);
    if (!may_impersonate(api, call, answer))
        return false;
    const struct sim_store *store = &api->stores[users(api)->place];
    uint32_t place = by_object ? find_object(api, id) : sim_store_find(store, id, weir_str("", 0));
    if (place == SIM_NO_PLACE)
        return nobody(id, by_object, answer);
    const struct sim_row *row = sim_store_at(store, place);
    if (is_disabled(api, row)) {
        char name[SIM_GUID_TEXT];
        sim_answer_error(answer, 403, "0x80040225",
                         "The specified user(Id = %s) is disabled. Consider enabling this user.",
                         sim_guid_print(row->id, name));
        return false;
    }
    act_for(api, call, row->id);
    return true;
}

bool sim_optional_read(struct sim_api *api, const struct sim_url *url, struct sim_call *call,
                       struct sim_answer *answer)
{
    call->caller = api->users[call->user].id;
    call->acting = call->user;
    call->extras = 0;
    if (url->options[SIM_OPTION_TAG].len)
        add(call, SIM_EXTRA_TAG);
    bool good = read_bypass(api, call, answer) &&
                read_flag(call, FLOWS, true, SIM_EXTRA_BYPASS_FLOWS, answer) &&
                read_flag(call, DETECT, false, SIM_EXTRA_DETECT_DUPLICATES, answer) &&
                read_caller(api, call, answer);
    for (int i = 0; i < SIM_EXTRAS; i++)
        api->extra_counts[i] += call->extras >> i & 1;
    return good;
}

void sim_api_headers_json(const struct sim_api *api, struct weir_buf *json)
{
    static const char *const names[SIM_EXTRAS] = {
        [SIM_EXTRA_BYPASS_SYNC] = "bypass_sync",
        [SIM_EXTRA_BYPASS_ASYNC] = "bypass_async",
        [SIM_EXTRA_BYPASS_FLOWS] = "bypass_flows",
        [SIM_EXTRA_DETECT_DUPLICATES] = "detect_duplicates",
        [SIM_EXTRA_TAG] = "tag",
        [SIM_EXTRA_CALLER] = "caller",
    };
    for (int i = 0; i < SIM_EXTRAS; i++)
        weir_buf_printf(json, "%s\"%s\":%" PRIu64, i ? "," : "{", names[i], api->extra_counts[i]);
    weir_buf_add_char(json, '}');
}

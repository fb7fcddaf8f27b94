/* SPDX-License-Identifier: MIT */
/*
 * The Web API as a whole: its state, who may do what, and which file answers which address. See
 * api.h.
 */
#include "sim/service/api.h"

#include <stdio.h>

#include "base/mem.h"
#include "sim/service/api_internal.h"
#include "sim/service/batch.h"
#include "sim/service/metadata.h"
#include "sim/service/multiple.h"
#include "sim/service/privileges.h"
#include "sim/service/query.h"
#include "sim/service/record.h"
#include "sim/service/single.h"

#define SCRATCH_MAX ((size_t)1024 * 1024) /* what is kept for texts between calls */
#define ID_STREAM   0x1d

/* State. */

static void make_users(struct sim_api *api, uint32_t count)
{
    api->user_count = count;
    api->users = weir_calloc(count ? count : 1, sizeof(*api->users));
    for (uint32_t i = 0; i < count; i++) {
        struct sim_user *user = &api->users[i];
        user->id = sim_guid_of("systemuser", i);
        sim_guid_print(user->id, user->id_text);
        snprintf(user->name, sizeof(user->name), "app%u", i + 1);
        for (uint32_t j = 0; j < SIM_TABLES_MAX; j++)
            user->rights[j] = SIM_RIGHT_ALL;
    }
}

/* Everything that a reset begins anew. */
static void begin(struct sim_api *api)
{
    for (uint32_t i = 0; i < api->schema.table_count; i++) {
        sim_store_init(&api->stores[i], api->schema.tables[i]);
        sim_ledger_init(&api->ledgers[i]);
    }
    sim_txn_init(&api->txn, api->stores, api->ledgers);
    weir_rng_init(&api->rng, api->seed, ID_STREAM);
    api->row_version = 0;
    memset(api->extra_counts, 0, sizeof(api->extra_counts));
    sim_api_add_reference_rows(api);
}

static void end(struct sim_api *api)
{
    sim_txn_release(&api->txn);
    for (uint32_t i = 0; i < api->schema.table_count; i++) {
        sim_store_release(&api->stores[i]);
        sim_ledger_release(&api->ledgers[i]);
    }
}

enum weir_status sim_api_new(const struct sim_api_options *options, struct sim_api **ret,
                             struct weir_error *err)
{
    const char *file = options->scenario_file ? options->scenario_file : "scenario";
    struct sim_api *api = weir_calloc(1, sizeof(*api));
    enum weir_status status = sim_schema_init(&api->schema, options->scenario, file, err);
    if (status != WEIR_OK)
        goto fail;
    make_users(api, options->users);
    status = sim_api_read_users(api, options->scenario, file, err);
    if (status != WEIR_OK)
        goto fail;
    api->base_url = weir_strdup(options->base_url ? options->base_url : "http://localhost");
    api->switches = options->switches;
    if (!api->switches.duplicate_status)
        api->switches.duplicate_status = 412;
    api->seed = options->seed;
    api->organization = sim_guid_of("organization", 0);
    api->business_unit = sim_guid_of("businessunit", 0);
    api->record = weir_calloc(1, sizeof(*api->record));
    api->record->strict = api->switches.careless == SIM_CARELESS_REFUSE;
    begin(api);
    status = sim_api_read_seeds(api, options->scenario, file, err);
    if (status == WEIR_OK)
        status = sim_api_add_seeds(api, file, err);
    if (status != WEIR_OK)
        goto fail;
    *ret = api;
    return WEIR_OK;
fail:
    sim_api_free(api);
    return status;
}

void sim_api_free(struct sim_api *api)
{
    if (!api)
        return;
    end(api);
    sim_schema_release(&api->schema);
    if (api->record)
        sim_record_release(api->record);
    free(api->record);
    sim_api_release_users(api);
    sim_api_release_seeds(api);
    free(api->base_url);
    free(api->bad_column);
    free(api->bad_value);
    free(api);
}

void sim_api_reset(struct sim_api *api)
{
    end(api);
    begin(api);
    sim_api_add_seeds(api, "scenario", NULL); /* they have been there before: it cannot fail */
}

void sim_api_set_bad_row(struct sim_api *api, const char *column, const char *value)
{
    free(api->bad_column);
    free(api->bad_value);
    api->bad_column = column ? weir_strdup(column) : NULL;
    api->bad_value = column ? weir_strdup(value ? value : "") : NULL;
}

const char *sim_api_user_id(const struct sim_api *api, uint32_t user)
{
    return user < api->user_count ? api->users[user].id_text : "";
}

/* Rights. */

static bool has_right(const struct sim_api *api, uint32_t user, const struct sim_table *table,
                      enum sim_right right)
{
    return user == SIM_NO_USER || api->users[user].rights[table->place] >= right;
}

bool sim_api_may(const struct sim_api *api, const struct sim_call *call,
                 const struct sim_table *table, enum sim_right right, const char *verb,
                 struct sim_answer *answer)
{
    bool itself = has_right(api, call->user, table, right);
    if (itself && has_right(api, call->acting, table, right))
        return true;
    const char *lacking = api->users[itself ? call->acting : call->user].id_text;
    sim_answer_error(answer, 403, "0x80040220",
                     "Principal user (Id=%s, type=8, roleCount=1, privilegeCount=1, accessMode=4) "
                     "is missing prv%s%s privilege on OTC=%d for entity '%s'. context.Caller=%s",
                     lacking, verb, sim_privilege_noun(table), table->type_code, table->name,
                     lacking);
    return false;
}

bool sim_api_sees(const struct sim_api *api, const struct sim_call *call,
                  const struct sim_table *table, const struct sim_row *row)
{
    bool own = api->users[call->user].reads_own ||
               (call->acting != SIM_NO_USER && api->users[call->acting].reads_own);
    if (!own || table->owner == SIM_NO_COLUMN)
        return true;
    struct sim_value owner = sim_row_get(row, table->owner);
    return owner.kind == SIM_ID && sim_guid_equal(owner.id, call->caller);
}

static int shown(struct weir_str text)
{
    return (int)sim_text_cut(text, 200).len;
}

const struct sim_table *sim_api_set(const struct sim_api *api, struct weir_str set,
                                    struct sim_answer *answer)
{
    const struct sim_table *table = sim_schema_set(&api->schema, set);
    if (!table)
        sim_answer_error(answer, 404, "0x8006088a", "Resource not found for the segment '%.*s'.",
                         shown(set), set.ptr);
    return table;
}

/* Calls. */

static void who_am_i(const struct sim_api *api, const struct sim_call *call,
                     const struct sim_url *url, struct sim_answer *answer)
{
    char unit[SIM_GUID_TEXT];
    char user[SIM_GUID_TEXT];
    char organization[SIM_GUID_TEXT];
    if (!weir_str_equal(call->method, weir_str_from("GET"))) {
        sim_answer_error(answer, 404, "",
                         "No HTTP resource was found that matches the request URI "
                         "'%s/api/data/%.*s/%.*s'.",
                         api->base_url, (int)url->version.len, url->version.ptr, shown(url->path),
                         url->path.ptr);
        return;
    }
    answer->status = 200;
    sim_answer_header(answer, "Content-Type", "application/json; odata.metadata=minimal");
    weir_buf_printf(&answer->body,
                    "{\"@odata.context\":\"%s/api/data/%.*s/$metadata#Microsoft.Dynamics.CRM."
                    "WhoAmIResponse\",\"BusinessUnitId\":\"%s\",\"UserId\":\"%s\","
                    "\"OrganizationId\":\"%s\"}",
                    api->base_url, (int)url->version.len, url->version.ptr,
                    sim_guid_print(api->business_unit, unit), sim_guid_print(call->caller, user),
                    sim_guid_print(api->organization, organization));
}

/* The service document. */
static void list_sets(const struct sim_api *api, const struct sim_url *url,
                      struct sim_answer *answer)
{
    answer->status = 200;
    sim_answer_header(answer, "Content-Type", "application/json; odata.metadata=minimal");
    weir_buf_printf(&answer->body, "{\"@odata.context\":\"%s/api/data/%.*s/$metadata\",\"value\":[",
                    api->base_url, (int)url->version.len, url->version.ptr);
    for (uint32_t i = 0; i < api->schema.table_count; i++) {
        const char *set = api->schema.tables[i]->set;
        weir_buf_printf(&answer->body, "%s{\"name\":\"%s\",\"kind\":\"EntitySet\",\"url\":\"%s\"}",
                        i ? "," : "", set, set);
    }
    weir_buf_add_text(&answer->body, "]}");
}

static void unknown(const struct sim_url *url, struct sim_answer *answer)
{
    struct weir_str segment = url->action.len ? url->action : url->set.len ? url->set : url->path;
    sim_answer_error(answer, 404, "0x8006088a", "Resource not found for the segment '%.*s'.",
                     shown(segment), segment.len ? segment.ptr : "");
}

static void run_for(struct sim_api *api, const struct sim_call *call, const struct sim_url *url,
                    struct sim_answer *answer)
{
    bool get = weir_str_equal(call->method, weir_str_from("GET"));
    switch (url->kind) {
    case SIM_URL_WHOAMI:
        who_am_i(api, call, url, answer);
        break;
    case SIM_URL_SET:
    case SIM_URL_COUNT:
        if (get)
            sim_query_execute(api, call, url, answer);
        else
            sim_single_execute(api, call, url, answer);
        break;
    case SIM_URL_RECORD:
    case SIM_URL_PROPERTY:
        if (get && sim_api_is_roles(url))
            sim_api_list_roles(api, call, url, answer);
        else
            sim_single_execute(api, call, url, answer);
        break;
    case SIM_URL_ACTION:
        if (get && sim_privileges_is(url))
            sim_privileges_list(api, call, url, answer);
        else if (sim_multiple_is(url->action))
            sim_multiple_execute(api, call, url, answer);
        else
            unknown(url, answer);
        break;
    case SIM_URL_FUNCTION:
        if (get && weir_str_equal(url->action, weir_str_from("RetrieveTotalRecordCount")))
            sim_query_totals(api, url, answer);
        else
            unknown(url, answer);
        break;
    case SIM_URL_ROOT:
        list_sets(api, url, answer);
        break;
    case SIM_URL_METADATA:
        if (get)
            sim_metadata_execute(api, url, answer);
        else
            sim_answer_error(answer, 405, "0x80060888", "Definitions can only be read here.");
        break;
    default:
        unknown(url, answer);
    }
}

static void run(struct sim_api *api, const struct sim_call *call, const struct sim_url *url,
                struct sim_answer *answer)
{
    struct sim_call complete = *call;
    if (sim_optional_read(api, url, &complete, answer))
        run_for(api, &complete, url, answer);
}

/* Memory that one large body has needed is not kept for all that come after it. */
static void trim(struct sim_record *record)
{
    if (record->text_capacity > SCRATCH_MAX)
        sim_record_release(record);
}

void sim_api_dispatch(struct sim_api *api, const struct sim_call *call, struct sim_answer *answer)
{
    struct sim_url url;
    sim_answer_header(answer, "OData-Version", "4.0");
    if (sim_url_parse(call->target, &url))
        run(api, call, &url, answer);
    else
        sim_url_refuse(&url, answer);
    sim_url_release(&url);
    trim(api->record);
}

void sim_api_execute(struct sim_api *api, const struct sim_call *call, sim_part_gate *gate,
                     void *gate_ctx, struct sim_answer *answer)
{
    struct sim_url url;
    sim_answer_header(answer, "OData-Version", "4.0");
    if (!sim_url_parse(call->target, &url))
        sim_url_refuse(&url, answer);
    else if (!sim_url_check_outer(&url, call->target.len, answer))
        ; /* it has been answered */
    else if (url.kind == SIM_URL_BATCH)
        sim_batch_execute(api, call, gate, gate_ctx, answer);
    else
        run(api, call, &url, answer);
    sim_url_release(&url);
    trim(api->record);
}

struct sim_measure sim_api_measure(struct sim_api *api, const struct sim_call *call)
{
    struct sim_measure measure = { .rows = 1 };
    struct sim_url url;
    (void)api;
    struct weir_str operation = call->method;
    if (sim_url_parse(call->target, &url) && url.kind == SIM_URL_BATCH) {
        operation = weir_str_from("$batch");
        measure.rows = sim_batch_count(call);
    } else if (url.kind == SIM_URL_ACTION && sim_multiple_is(url.action)) {
        operation = url.action;
        measure.rows = sim_multiple_count(call->body);
    }
    if (!measure.rows)
        measure.rows = 1;
    snprintf(measure.operation, sizeof(measure.operation), "%.*s", (int)operation.len,
             operation.ptr);
    sim_url_release(&url);
    return measure;
}

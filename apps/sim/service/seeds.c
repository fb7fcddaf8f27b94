/* SPDX-License-Identifier: MIT */
/*
 * Rows that a scenario puts into the tables before the first request:
 *
 *     "rows": { "systemuser": [{ "fullname": "Eva Ek", "domainname": "eva@contoso.example" }],
 *               "account": [{ "accountnumber": "A1", "primarycontactid@odata.bind": "…" }] }
 *
 * Each is an object as the Web API takes it to create one, also for tables that can only be read.
 * They are added in the order of the file, so that one may refer to those before it.
 */
#include "base/error.h"
#include "base/mem.h"
#include "sim/service/record.h"

#define CREATED_US INT64_C(1704067200000000) /* 2024-01-01 */

struct sim_seed {
    const struct sim_table *table;
    char *body;      /* JSON */
    uint32_t number; /* among the rows of its table in the file */
};

/* The object as JSON again, without what only a scenario may have: comments, a last comma. */
static bool print_object(const struct weir_json_node *object, struct weir_buf *json)
{
    weir_buf_add_char(json, '{');
    for (const struct weir_json_node *node = object->first; node; node = node->next) {
        if (node->type == WEIR_JSON_OBJECT || node->type == WEIR_JSON_ARRAY)
            return false;
        if (node != object->first)
            weir_buf_add_char(json, ',');
        weir_buf_add_json_string(json, node->key);
        weir_buf_add_char(json, ':');
        if (node->type == WEIR_JSON_STRING)
            weir_buf_add_json_string(json, node->text);
        else
            weir_buf_add(json, node->text.ptr, node->text.len);
    }
    weir_buf_add_char(json, '}');
    return !json->overflow;
}

static enum weir_status read_seed(struct sim_api *api, const struct sim_table *table,
                                  const struct weir_json_node *node, uint32_t number,
                                  const char *file, struct weir_error *err)
{
    struct weir_buf json;
    if (api->seed_count == SIM_SEEDS_MAX)
        return weir_fail(err, WEIR_E_INVALID, "%s: rows has too many, allowed are %d", file,
                         SIM_SEEDS_MAX);
    weir_buf_init(&json, SIM_SEED_BYTES_MAX);
    if (node->type != WEIR_JSON_OBJECT || !print_object(node, &json)) {
        weir_buf_release(&json);
        return weir_fail(err, WEIR_E_INVALID,
                         "%s: rows.%s[%u] is wrong, allowed is a flat object of at most %d bytes",
                         file, table->name, number, SIM_SEED_BYTES_MAX);
    }
    api->seeds[api->seed_count++] =
        (struct sim_seed){ .table = table, .body = weir_buf_take(&json), .number = number };
    return WEIR_OK;
}

static enum weir_status read_table(struct sim_api *api, const struct weir_json_node *list,
                                   const char *file, struct weir_error *err)
{
    const struct sim_table *table = sim_schema_table(&api->schema, list->key);
    if (!table || list->type != WEIR_JSON_ARRAY)
        return weir_fail(err, WEIR_E_INVALID,
                         "%s: rows has \"%.*s\", allowed is the name of a table with an array",
                         file, (int)sim_text_cut(list->key, 60).len, list->key.ptr);
    api->seeds = weir_realloc(api->seeds, api->seed_count + list->count + 1, sizeof(*api->seeds));
    uint32_t number = 0;
    enum weir_status status = WEIR_OK;
    for (const struct weir_json_node *node = list->first; node && status == WEIR_OK;
         node = node->next)
        status = read_seed(api, table, node, number++, file, err);
    return status;
}

enum weir_status sim_api_read_seeds(struct sim_api *api, const struct weir_json *scenario,
                                    const char *file, struct weir_error *err)
{
    const struct weir_json_node *rows =
        scenario ? weir_json_find(weir_json_root(scenario), "rows") : NULL;
    if (!rows)
        return WEIR_OK;
    if (rows->type != WEIR_JSON_OBJECT)
        return weir_fail(err, WEIR_E_INVALID, "%s: rows is %s, allowed is an object", file,
                         weir_json_type_name(rows->type));
    enum weir_status status = WEIR_OK;
    for (const struct weir_json_node *list = rows->first; list && status == WEIR_OK;
         list = list->next)
        status = read_table(api, list, file, err);
    return status;
}

enum weir_status sim_api_add_seeds(struct sim_api *api, const char *file, struct weir_error *err)
{
    struct sim_call call = { .caller = api->users[0].id, .wall_us = CREATED_US };
    for (uint32_t i = 0; i < api->seed_count; i++) {
        const struct sim_seed *seed = &api->seeds[i];
        struct sim_rejection why;
        sim_record_reset(api->record, seed->table);
        if (!sim_record_read_body(api, api->record, weir_str_from(seed->body), &why) ||
            !sim_record_seed(api, &call, api->record, &why))
            return weir_fail(err, WEIR_E_INVALID, "%s: rows.%s[%u]: %s", file, seed->table->name,
                             seed->number, why.message);
    }
    return WEIR_OK;
}

void sim_api_release_seeds(struct sim_api *api)
{
    for (uint32_t i = 0; i < api->seed_count; i++)
        free(api->seeds[i].body);
    free(api->seeds);
}

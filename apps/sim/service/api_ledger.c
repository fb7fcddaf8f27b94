/* SPDX-License-Identifier: MIT */
/* The ledger and the counters of the Web API as JSON; see api.h. */
#include <inttypes.h>

#include "base/error.h"
#include "sim/service/api_internal.h"

static uint32_t column_of(const struct sim_table *table, struct weir_str name)
{
    const struct sim_property *property = sim_table_property(table, name);
    return property ? property->column : sim_table_column(table, name);
}

bool sim_api_ledger_json(struct sim_api *api, struct weir_str name, struct weir_str by,
                         struct weir_buf *json, struct weir_error *err)
{
    const struct sim_table *table = sim_schema_table(&api->schema, name);
    if (!table)
        table = sim_schema_set(&api->schema, name);
    if (!table) {
        weir_fail(err, WEIR_E_NOT_FOUND, "there is no table \"%.*s\"",
                  (int)sim_text_cut(name, 100).len, name.len ? name.ptr : "");
        return false;
    }
    uint32_t column = by.len ? column_of(table, by) : table->id;
    if (column == SIM_NO_COLUMN) {
        weir_fail(err, WEIR_E_NOT_FOUND, "table \"%s\" has no column \"%.*s\"", table->name,
                  (int)sim_text_cut(by, 100).len, by.ptr);
        return false;
    }
    const struct sim_store *store = &api->stores[table->place];
    const struct sim_ledger *ledger = &api->ledgers[table->place];
    uint32_t distinct = sim_store_distinct(store, column);
    weir_buf_printf(json,
                    "{\"table\":\"%s\",\"rows\":%u,\"distinct\":%u,\"duplicates\":%u,"
                    "\"writes\":%" PRIu64 ",\"max_writes_per_row\":%u,",
                    table->name, store->row_count, distinct, store->row_count - distinct,
                    ledger->writes, ledger->writes_max);
    weir_buf_printf(
        json,
        "\"rows_ever\":%u,\"creates\":%" PRIu64 ",\"updates\":%" PRIu64 ",\"upserts\":%" PRIu64
        ",\"deletes\":%" PRIu64 ",\"max_creates_per_row\":%u,\"plugin_runs\":%" PRIu64
        ",\"max_plugin_runs_per_row\":%u}",
        ledger->entry_count, ledger->events[SIM_EVENT_CREATE], ledger->events[SIM_EVENT_UPDATE],
        ledger->events[SIM_EVENT_UPSERT], ledger->events[SIM_EVENT_DELETE], ledger->creates_max,
        ledger->plugin_runs, ledger->plugin_runs_max);
    return true;
}

void sim_api_events_json(const struct sim_api *api, struct weir_buf *json)
{
    static const char *const names[SIM_EVENTS] = { "create", "update", "upsert", "delete" };
    for (uint32_t event = 0; event < SIM_EVENTS; event++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < api->schema.table_count; i++)
            sum += api->ledgers[i].events[event];
        weir_buf_printf(json, "%s\"%s\":%" PRIu64, event ? "," : "{", names[event], sum);
    }
    weir_buf_add_char(json, '}');
}

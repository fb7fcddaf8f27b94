/* SPDX-License-Identifier: MIT */
/* What the rest of the service wants to know of the tables; see tables.h. */
#include "sim/service/tables.h"

#include "sim/service/api_internal.h"

uint32_t sim_tables_count(const struct sim_api *api)
{
    return api->schema.table_count;
}

const char *sim_tables_name(const struct sim_api *api, uint32_t place)
{
    return api->schema.tables[place]->name;
}

const char *sim_tables_elastic_id(const struct sim_api *api, struct weir_str target)
{
    const char *id = NULL;
    struct sim_url url;
    if (sim_url_parse(target, &url) && url.kind == SIM_URL_ACTION &&
        weir_str_find_nocase(url.action, "Multiple") < url.action.len) {
        const struct sim_table *table = sim_schema_set(&api->schema, url.set);
        if (table && table->elastic && table->id != SIM_NO_COLUMN)
            id = table->columns[table->id].name;
    }
    sim_url_release(&url);
    return id;
}

/* SPDX-License-Identifier: MIT */
/* Rows as JSON, for single reads, queries and `return=representation`. */
#ifndef SIM_SERVICE_RENDER_H
#define SIM_SERVICE_RENDER_H

#include "sim/service/http.h"
#include "sim/service/store.h"

/* Which columns are wanted. */
struct sim_select {
    bool all;
    uint8_t columns[SIM_COLUMNS_MAX]; /* 1: wanted; the primary id always is */
};

/*
 * Read a $select (ptr NULL: everything). False: it names what is no property of the table, and the
 * answer is filled with the service's error.
 */
bool sim_select_parse(const struct sim_table *table, struct weir_str text, struct sim_select *ret,
                      struct sim_answer *answer);

struct sim_api; /* api_internal.h */

/* What the Prefer header of a call asks for. */
struct sim_prefer {
    bool formatted;     /* …FormattedValue annotations */
    bool lookup_names;  /* Microsoft.Dynamics.CRM.lookuplogicalname, associatednavigationproperty */
    bool error_details; /* Microsoft.PowerApps.CDS.ErrorDetails.* */
    bool representation; /* return=representation */
    bool continue_on_error;
    uint32_t page_size; /* odata.maxpagesize; 0: not given */
    struct weir_str
        annotations; /* what was given to odata.include-annotations; ptr NULL: nothing */
};

/* False: it is malformed, and the answer is filled (the flat shape, 0x80097303). */
bool sim_prefer_parse(const struct sim_header *headers, size_t count, struct sim_prefer *ret,
                      struct sim_answer *answer);

/*
 * A row as the members of a JSON object, without braces: "@odata.etag":"W/\"1\"","name":"x",…
 * Lookups are `_x_value`. Everything that is wanted is there, null if it has no value.
 */
void sim_render_row(const struct sim_api *api, const struct sim_table *table,
                    const struct sim_row *row, const struct sim_select *select,
                    const struct sim_prefer *prefer, struct weir_buf *json);

/* One value as JSON: "x", 5, 1.50, true, "2024-01-01T00:00:00Z", null. */
void sim_render_value(const struct sim_column *column, const struct sim_value *value,
                      struct weir_buf *json);

#endif

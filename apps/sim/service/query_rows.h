/* SPDX-License-Identifier: MIT */
/*
 * Which rows a query finds: filter, order, position and what the user may see; how they are written
 * is not known here. Pointers to rows are good until the next write.
 */
#ifndef SIM_SERVICE_QUERY_ROWS_H
#define SIM_SERVICE_QUERY_ROWS_H

#include "sim/service/api_internal.h"
#include "sim/service/cookie.h"
#include "sim/service/filter.h"

struct sim_order {
    uint32_t column;
    bool descending;
};

/* A row of the page with what it is sorted by. */
struct sim_query_row {
    uint32_t place;
    struct sim_value values[SIM_ORDER_COLUMNS_MAX];
};

struct sim_query_rows {
    const struct sim_api *api;
    const struct sim_call *call;
    const struct sim_table *table;
    const struct sim_store *store;
    struct sim_filter_names names;
    struct sim_filter *filter;
    struct weir_str partition; /* only rows of it; ptr NULL: any */
    struct sim_order orders[SIM_ORDER_COLUMNS_MAX];
    uint32_t order_count;
    uint32_t *candidates; /* places, ascending; NULL: all of the table */
    uint32_t candidate_count;
    struct sim_cookie cookie;
    bool has_cookie;
    struct sim_query_row *page;
    uint32_t page_count;
};

/* Reads $filter, $orderby and partitionId. False: the answer is filled. Close it in either case. */
bool sim_query_rows_open(struct sim_query_rows *rows, const struct sim_api *api,
                         const struct sim_call *call, const struct sim_table *table,
                         const struct sim_url *url, struct sim_answer *answer);
void sim_query_rows_close(struct sim_query_rows *rows);

/* Whether the cookie is one of this order. */
bool sim_query_rows_cookie(const struct sim_query_rows *rows);

/* How many rows match; not more than `max` are counted. */
uint32_t sim_query_rows_count(const struct sim_query_rows *rows, uint32_t max);

/* Fill the page with at most `max` rows. True: there are more behind it. */
bool sim_query_rows_pick(struct sim_query_rows *rows, uint32_t max);

const struct sim_row *sim_query_rows_at(const struct sim_query_rows *rows, uint32_t index);

/* The cookie for the page that follows. */
void sim_query_rows_last(const struct sim_query_rows *rows, struct sim_cookie *ret);

#endif

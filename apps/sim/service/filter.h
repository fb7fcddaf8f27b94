/* SPDX-License-Identifier: MIT */
/*
 * $filter: read once, asked for every row.
 *
 *     or      = and *( "or" and )
 *     and     = unary *( "and" unary )
 *     unary   = "not" unary / "(" or ")" / path op literal / function
 *     op      = eq / ne / gt / ge / lt / le
 *     literal = 'text' / number / guid / date / true / false / null / @alias
 *     function = contains(path,'x') / startswith(…) / endswith(…)
 *              / Microsoft.Dynamics.CRM.In(PropertyName='path',PropertyValues=['a','b']) /
 * …NotIn(…)
 *
 * What the paths mean is the caller's: rows of a table, definitions of tables, messages. Comparing
 * is the database's: texts without case. As the service has it, `ne` is also true for null.
 */
#ifndef SIM_SERVICE_FILTER_H
#define SIM_SERVICE_FILTER_H

#include "sim/service/http.h"
#include "sim/service/schema.h"
#include "sim/service/url.h"
#include "sim/service/value.h"

#define SIM_FILTER_CONDITIONS_MAX 500
#define SIM_FILTER_DEPTH_MAX      50

/* How the rows that are filtered look. `slot` is the caller's number for a path. */
struct sim_filter_names {
    /* The column that a path stands for, for its type; NULL: there is none. */
    const struct sim_column *(*find)(const void *ctx, struct weir_str path, uint32_t *ret_slot);
    struct sim_value (*get)(const void *ctx, const void *row, uint32_t slot);
    const void *ctx;
    const char *type; /* "account", for messages */
};

struct sim_filter;

/*
 * `url` has the aliases; it and `text` must outlive the filter, as must `names`. False: it cannot
 * be read, and the answer is filled (400). An empty text matches everything.
 */
bool sim_filter_parse(struct weir_str text, const struct sim_filter_names *names,
                      const struct sim_url *url, struct sim_filter **ret,
                      struct sim_answer *answer);
void sim_filter_free(struct sim_filter *filter);

bool sim_filter_match(const struct sim_filter *filter, const void *row);

/*
 * Whether every match has one of a few values in one slot (eq or In, alone or under `and`): then an
 * index may be asked first. The values are the filter's.
 */
bool sim_filter_values(const struct sim_filter *filter, uint32_t *ret_slot,
                       const struct sim_value **ret_values, uint32_t *ret_count, uint32_t nth);

#endif

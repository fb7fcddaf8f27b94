/* SPDX-License-Identifier: MIT */
/* Reading many rows: GET on an entity set and its /$count. */
#ifndef SIM_SERVICE_QUERY_H
#define SIM_SERVICE_QUERY_H

#include "sim/service/api.h"
#include "sim/service/url.h"

#define SIM_PAGE_ROWS_MAX         5000
#define SIM_PAGE_ROWS_MAX_ELASTIC 500

/* `url` is SIM_URL_SET or SIM_URL_COUNT; also the set sdkmessagefilters. */
void sim_query_execute(struct sim_api *api, const struct sim_call *call, const struct sim_url *url,
                       struct sim_answer *answer);

/* RetrieveTotalRecordCount(EntityNames=['account']): `url` is SIM_URL_FUNCTION. */
void sim_query_totals(const struct sim_api *api, const struct sim_url *url,
                      struct sim_answer *answer);

#endif

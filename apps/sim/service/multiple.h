/* SPDX-License-Identifier: MIT */
/* Many rows a request: CreateMultiple, UpdateMultiple, UpsertMultiple, DeleteMultiple. */
#ifndef SIM_SERVICE_MULTIPLE_H
#define SIM_SERVICE_MULTIPLE_H

#include "sim/service/api_internal.h"

/* Whether an action is one of the four. */
bool sim_multiple_is(struct weir_str action);

/* How many rows the body of a bulk message has; 0: none can be counted. */
uint32_t sim_multiple_count(struct weir_str body);

/* `url` is SIM_URL_ACTION. */
void sim_multiple_execute(struct sim_api *api, const struct sim_call *call,
                          const struct sim_url *url, struct sim_answer *answer);

#endif

/* SPDX-License-Identifier: MIT */
/* One row a request: create, read, update, upsert, delete. */
#ifndef SIM_SERVICE_SINGLE_H
#define SIM_SERVICE_SINGLE_H

#include "sim/service/api_internal.h"

/* `url` is SIM_URL_SET with POST, SIM_URL_RECORD, or SIM_URL_PROPERTY with GET. */
void sim_single_execute(struct sim_api *api, const struct sim_call *call, const struct sim_url *url,
                        struct sim_answer *answer);

#endif

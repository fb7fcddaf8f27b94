/* SPDX-License-Identifier: MIT */
/*
 * sdkmessagefilters: which messages each table supports, one row a pair. This is how a client finds
 * out whether a table has CreateMultiple and its like.
 */
#ifndef SIM_SERVICE_MESSAGES_H
#define SIM_SERVICE_MESSAGES_H

#include "sim/service/api.h"
#include "sim/service/url.h"

/* GET sdkmessagefilters with $filter, $select, $top and aliases; or its /$count. */
void sim_messages_query(const struct sim_api *api, const struct sim_url *url,
                        struct sim_answer *answer);

#endif

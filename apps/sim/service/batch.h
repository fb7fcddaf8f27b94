/* SPDX-License-Identifier: MIT */
/*
 * $batch: many requests in one. The whole body is read before anything of it is executed, so that a
 * body that breaks off executes nothing.
 *
 *     part         one request, or a change set
 *     change set   requests that are all carried out or none; they may refer to rows that requests
 * before them have made, as $1 for the one with `Content-ID: 1`
 */
#ifndef SIM_SERVICE_BATCH_H
#define SIM_SERVICE_BATCH_H

#include "sim/service/api.h"

#define SIM_BATCH_REQUESTS_MAX 1000

/* `gate` as in api.h; it is asked before every request, also those of a change set. */
void sim_batch_execute(struct sim_api *api, const struct sim_call *call, sim_part_gate *gate,
                       void *gate_ctx, struct sim_answer *answer);

/* How many requests a $batch holds; 1 if it cannot be read. */
uint32_t sim_batch_count(const struct sim_call *call);

#endif

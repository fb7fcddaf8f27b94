/* SPDX-License-Identifier: MIT */
/* What the rest of the service wants to know of the tables of the Web API. */
#ifndef SIM_SERVICE_TABLES_H
#define SIM_SERVICE_TABLES_H

#include "sim/service/api.h"

uint32_t sim_tables_count(const struct sim_api *api);
const char *sim_tables_name(const struct sim_api *api, uint32_t place);

/* The primary id column of the elastic table whose bulk message the target is; NULL: it is none. */
const char *sim_tables_elastic_id(const struct sim_api *api, struct weir_str target);

#endif

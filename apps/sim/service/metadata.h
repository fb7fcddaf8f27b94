/* SPDX-License-Identifier: MIT */
/*
 * Definitions of tables, read only: EntityDefinitions and what is below them, and
 * GlobalOptionSetDefinitions. Property names and shapes are the service's; what it has beyond these
 * is not there, and a $select of it is refused. Definitions are never paged and need no privilege.
 *
 *     metadata.c            paths and tables
 *     metadata_relation.c   keys and relationships
 *     metadata_attribute.c  columns
 *     metadata_options.c    option sets
 *     metadata_write.c      $select, $expand, labels, objects from tables of properties
 */
#ifndef SIM_SERVICE_METADATA_H
#define SIM_SERVICE_METADATA_H

#include "sim/service/api.h"
#include "sim/service/url.h"

/* `url` is SIM_URL_METADATA; the method is GET. */
void sim_metadata_execute(const struct sim_api *api, const struct sim_url *url,
                          struct sim_answer *answer);

#endif

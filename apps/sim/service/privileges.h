/* SPDX-License-Identifier: MIT */
/*
 * Privileges by name: "prv", what is done, and the noun of a table: its schema name, but for a few
 * that were named before they had one (prvReadNote of annotation, prvReadUser of systemuser).
 *
 *     right of the scenario   privileges
 *     read                    Read, AppendTo
 *     write                   Create, Write, Append, and Assign and Share of what users own, too
 *     all                     Delete, too
 *
 * Whatever a user is refused is not listed. Besides tables there are prvActOnBehalfOfAnotherUser,
 * prvBypassCustomBusinessLogic and prvOverrideCreatedOnCreatedBy.
 */
#ifndef SIM_SERVICE_PRIVILEGES_H
#define SIM_SERVICE_PRIVILEGES_H

#include "sim/service/api_internal.h"

#define SIM_PRIVILEGE_NAMES_MAX 512 /* in one question */

/* "Account", "Note". */
const char *sim_privilege_noun(const struct sim_table *table);

/* The property Privileges of a table's definition: [{"CanBeBasic":…,"Name":…},…] */
void sim_privileges_put(const struct sim_table *table, struct weir_buf *json);

/*
 * GET systemusers(id)/Microsoft.Dynamics.CRM.RetrieveUserSetOfPrivilegesByNames(PrivilegeNames=@p)
 * with @p=["prvReadAccount",…]: whether an address is one, and its answer. Those that the user
 * lacks are left out, as are names that nothing has.
 */
bool sim_privileges_is(const struct sim_url *url);
void sim_privileges_list(const struct sim_api *api, const struct sim_call *call,
                         const struct sim_url *url, struct sim_answer *answer);

#endif

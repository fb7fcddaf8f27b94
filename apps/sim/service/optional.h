/* SPDX-License-Identifier: MIT */
/*
 * What may be asked for along with a request, by headers and in the address:
 *
 *     MSCRM.BypassBusinessLogicExecution                CustomSync, CustomAsync, or both
 *     MSCRM.SuppressCallbackRegistrationExpanderJob     true: no flows
 *     MSCRM.SuppressDuplicateDetection                  false: duplicates are detected
 *     CallerObjectId, MSCRMCallerID                     act for somebody else
 *     ?tag=                                             for plug-ins to see
 *
 * A part of a $batch has its own; those of the $batch itself say nothing. All of them are counted,
 * because most change nothing that a client could see.
 */
#ifndef SIM_SERVICE_OPTIONAL_H
#define SIM_SERVICE_OPTIONAL_H

#include "sim/service/api.h"
#include "sim/service/url.h"

enum sim_extra {
    SIM_EXTRA_BYPASS_SYNC,
    SIM_EXTRA_BYPASS_ASYNC,
    SIM_EXTRA_BYPASS_FLOWS,
    SIM_EXTRA_DETECT_DUPLICATES,
    SIM_EXTRA_TAG,
    SIM_EXTRA_CALLER,
    SIM_EXTRAS,
};

#define SIM_NO_USER UINT32_MAX

static inline bool sim_call_has(const struct sim_call *call, enum sim_extra extra)
{
    return call->extras >> extra & 1;
}

/* Whether a call is made in the name of somebody else. */
static inline bool sim_call_impersonates(const struct sim_call *call)
{
    return call->acting != call->user;
}

/* Fill in the last members of a call, and count. False: refused, and the answer is filled. */
bool sim_optional_read(struct sim_api *api, const struct sim_url *url, struct sim_call *call,
                       struct sim_answer *answer);

#endif

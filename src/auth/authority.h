/* SPDX-License-Identifier: MIT */
/*
 * Where tokens come from: the login hosts of each cloud, the token endpoint of a tenant, and the
 * scope to ask for. Pure. Any thread.
 *
 *     Cloud       Dataverse lives at            logs in at
 *     Public      crm.dynamics.com, crm4 …      login.microsoftonline.com
 *     UsGov       crm9.dynamics.com             login.microsoftonline.com
 *     UsGovHigh   crm.microsoftdynamics.us      login.microsoftonline.us
 *     UsGovDod    crm.appsplatform.us           login.microsoftonline.us
 *     China       crm.dynamics.cn               login.partner.microsoftonline.cn
 *
 * A host has other names, which a challenge may use: a secret goes to the first one only.
 */
#ifndef WEIR_AUTH_AUTHORITY_H
#define WEIR_AUTH_AUTHORITY_H

#include "base/buf.h"
#include "weir/config.h"

/*
 * scheme://host[:port] of the login service: `Authority` if it is set, else the cloud's.
 * WEIR_E_INVALID: an authority that is no address, or not encrypted and not on this machine; a
 * cloud that does not exist. The caller frees *ret.
 */
enum weir_status weir_authority_origin(const struct weir_options *options, char **ret,
                                       struct weir_error *err);

/* Whether an origin is the authority, or one of the names of the cloud's login service. */
bool weir_authority_knows(const struct weir_options *options, struct weir_str origin);

/*
 * A tenant as a segment of a path: a GUID or a domain. `common`, `organizations` and `consumers`
 * are none: an application logs in to one tenant.
 */
bool weir_tenant_ok(struct weir_str tenant);

/* "/TENANT/oauth2/v2.0/token" */
void weir_authority_add_target(struct weir_buf *out, const char *tenant);

/* `Scope`, or the url followed by "/.default". */
void weir_authority_add_scope(struct weir_buf *out, const struct weir_options *options);

#endif

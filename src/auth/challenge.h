/* SPDX-License-Identifier: MIT */
/*
 * Reading the tenant off the challenge of an answer 401:
 *
 *     WWW-Authenticate: Bearer authorization_uri=https://login.microsoftonline.com/TENANT/oauth2/
 *                       authorize, resource_id=https://contoso.crm.dynamics.com/
 *
 * Whoever answers could name a login service of his own and collect secrets there. So only the
 * tenant is taken, and only if the host beside it is one of the cloud's, or the authority that was
 * configured. Pure. Any thread.
 */
#ifndef WEIR_AUTH_CHALLENGE_H
#define WEIR_AUTH_CHALLENGE_H

#include "base/str.h"
#include "weir/config.h"
#include "weir/verdict.h"

/*
 * The tenant that the challenges of an answer name; the caller frees it.
 *   WEIR_E_NOT_FOUND  none of them names one
 *   WEIR_E_REFUSED    the host is not known, or the tenant is none; the message says what was found
 */
enum weir_status weir_challenge_tenant(const struct weir_http_header *headers, size_t header_count,
                                       const struct weir_options *options, char **ret,
                                       struct weir_error *err);

/*
 * The authorization_uri of the first Bearer challenge in the value of one header, which may hold
 * several challenges, quoted or not. ptr NULL: there is none. Borrowed from `value`.
 */
struct weir_str weir_challenge_uri(struct weir_str value);

#endif

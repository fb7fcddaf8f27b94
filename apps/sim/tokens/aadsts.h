/* SPDX-License-Identifier: MIT */
/*
 * The errors of the login service, in the words of the real one: "AADSTS7000215: Invalid client
 * secret …". One table says for each number which HTTP status and which `error` go with it.
 */
#ifndef SIM_AADSTS_H
#define SIM_AADSTS_H

#include "sim/service/http.h"

enum sim_aadsts {
    SIM_AADSTS_JWT_MALFORMED = 50027,
    SIM_AADSTS_UNSUPPORTED_GRANT = 70003,
    SIM_AADSTS_BAD_SCOPE = 70011,
    SIM_AADSTS_TENANT_NOT_FOUND = 90002,
    SIM_AADSTS_MISSING_FIELD = 90014,
    SIM_AADSTS_RESOURCE_NOT_FOUND = 500011,
    SIM_AADSTS_APP_NOT_FOUND = 700016,
    SIM_AADSTS_ASSERTION_CLIENT = 700021,
    SIM_AADSTS_ASSERTION_AUDIENCE = 700023,
    SIM_AADSTS_ASSERTION_TIME = 700024,
    SIM_AADSTS_ASSERTION_KEY = 700027,
    SIM_AADSTS_WRONG_METHOD = 900561,
    SIM_AADSTS_SCOPE_NOT_DEFAULT = 1002012,
    SIM_AADSTS_APP_DISABLED = 7000112,
    SIM_AADSTS_BAD_SECRET = 7000215,
    SIM_AADSTS_NO_CREDENTIAL = 7000218,
    SIM_AADSTS_SECRET_EXPIRED = 7000222,
    SIM_AADSTS_DUPLICATE_FIELD = 9000411,
    SIM_AADSTS_MALFORMED_REQUEST = 9002313,
};

/* What every answer of the login service is marked with. */
struct sim_aadsts_marks {
    const char *base_url;
    char trace_id[37];
    char correlation_id[37];
    int64_t wall_us;
};

/* The text must be one line; a byte of it that is not printable ASCII becomes a question mark. */
void sim_aadsts_answer(struct sim_answer *answer, const struct sim_aadsts_marks *marks,
                       enum sim_aadsts code, const char *format, ...) WEIR_PRINTF(4, 5);

#endif

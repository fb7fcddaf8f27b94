/* SPDX-License-Identifier: MIT */
/*
 * References within a change set: `$1` stands for the address of the row that the request with
 * `Content-ID: 1` has made. They are read in addresses (PATCH $1, POST
 * $1/contact_customer_accounts) and in the values of members `…@odata.bind` and `@odata.id` of a
 * body.
 */
#ifndef SIM_SERVICE_BATCH_REFS_H
#define SIM_SERVICE_BATCH_REFS_H

#include "base/buf.h"
#include "sim/service/api.h"

struct sim_ref {
    struct weir_str id; /* borrowed from the body of the $batch */
    size_t at;          /* its address in `urls` */
    size_t len;
};

struct sim_refs {
    struct sim_ref *refs;
    uint32_t count;
    uint32_t capacity;
    struct weir_buf urls;
};

void sim_refs_init(struct sim_refs *refs);
void sim_refs_release(struct sim_refs *refs);

/* False: there is no id, or it is there already. The address is copied. */
bool sim_refs_add(struct sim_refs *refs, struct weir_str id, struct weir_str url);

/*
 * Put addresses for the references of a call. What had to change is written to `target` and `body`,
 * and the call points there then. False: one refers to nothing, and the answer is filled (400).
 */
bool sim_refs_resolve(const struct sim_refs *refs, struct sim_call *call, struct weir_buf *target,
                      struct weir_buf *body, struct sim_answer *answer);

#endif

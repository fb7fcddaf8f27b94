/* SPDX-License-Identifier: MIT */
/*
 * The request of a load: address, header lines and body, which borrows from its rows. Pure.
 *
 *     bulk        POST set/Microsoft.Dynamics.CRM.CreateMultiple
 *     singles     POST $batch: POST, PATCH or DELETE of each row; all parts run
 *     read back   POST $batch: GET set(id)?$select=<primary id>,createdon of each row
 */
#ifndef WEIR_BULK_REQUEST_H
#define WEIR_BULK_REQUEST_H

#include "bulk/load.h"
#include "bulk/plan.h"
#include "protocol/batch.h"
#include "protocol/bulk.h"

/* What all requests of a job have in common. Borrowed. */
struct weir_request_plan {
    enum weir_operation operation;
    const struct weir_table_names *table;
    struct weir_request_options options; /* continue_on_error is set where it belongs */
    size_t body_bytes_max;
};

/* Not to be moved: the body and the lines point inside. */
struct weir_load_request {
    struct weir_buf path; /* with its query */
    struct weir_request_lines lines;
    struct weir_gather bulk;         /* mode bulk */
    struct weir_batch_request batch; /* otherwise */
    const struct weir_gather *body;
};

/* The bulk message of an operation. */
enum weir_bulk_message weir_request_message(enum weir_operation operation);

/*
 * `boundary` of a $batch, as weir_batch_request_init() wants it. Only after WEIR_OK is there
 * something to release.
 *   WEIR_E_INVALID  a row is not named as the message needs it
 *   WEIR_E_TOO_BIG  more than body_bytes_max
 */
enum weir_status weir_load_request_init(struct weir_load_request *request,
                                        const struct weir_load *load,
                                        const struct weir_request_plan *plan,
                                        struct weir_str boundary, struct weir_error *err);
void weir_load_request_release(struct weir_load_request *request);

#endif

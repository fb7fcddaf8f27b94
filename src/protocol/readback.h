/* SPDX-License-Identifier: MIT */
/*
 * Is a row there, and since when? What a create that nobody saw the end of is followed by: a GET of
 * the row's id, as a part of a $batch.
 *
 *     accounts(0000…)?$select=accountid,createdon,overriddencreatedon
 *     {"@odata.etag":"…","accountid":"0000…","createdon":"2026-01-01T00:00:00Z",
 *      "overriddencreatedon":null}
 *
 * A row whose createdon was said by the input is really as old as its overriddencreatedon.
 *
 * That it is absent is said by the status (404) and is not read here. Pure; nothing is allocated
 * beside the buffer. Any thread.
 */
#ifndef WEIR_PROTOCOL_READBACK_H
#define WEIR_PROTOCOL_READBACK_H

#include "protocol/guid.h"
#include "protocol/target.h"

/*
 * Append the path, ready for a struct weir_batch_part that reads. The row goes by its id, and by
 * its partition if it has one.
 *   WEIR_E_INVALID  names that are none, no canonical id, a key, or a partition that cannot stand
 *                   in an address
 *   WEIR_E_TOO_BIG  over WEIR_PART_URL_BYTES_MAX or the buffer's maximum
 */
enum weir_status weir_readback_path(const struct weir_table_names *table,
                                    const struct weir_target *target, struct weir_buf *buf,
                                    struct weir_error *err);

struct weir_readback {
    struct weir_guid id;
    bool created_known; /* false: the column is not for us, or empty */
    int64_t created_us; /* since 1970, by the service's clock */
};

/*
 * Of a body that came with status 200. WEIR_E_INVALID: no complete document, no id in it, or a
 * createdon that is no moment.
 */
enum weir_status weir_readback_read(struct weir_str body, const struct weir_table_names *table,
                                    struct weir_readback *ret, struct weir_error *err);

#endif

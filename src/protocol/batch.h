/* SPDX-License-Identifier: MIT */
/*
 * Writing the body of a $batch: up to a thousand single requests in one, executed in their order.
 *
 *     --batch_5f…                                        a part each
 *     Content-Type: application/http
 *     Content-Transfer-Encoding: binary
 *
 *     PATCH /api/data/v9.2/accounts(0000…) HTTP/1.1      method and address by kind of part
 *     Content-Type: application/json                     headers do not come from the outer
 *     If-Match: *                                        request: every part has its own
 *
 *     {"name":"A"}
 *     --batch_5f…--                                      every line ends with CR LF, this one too
 *
 * There are no change sets: each part succeeds or fails by itself. A part whose boundary does not
 * match would silently not be executed, and a text that looks like the boundary would end a part
 * too early, so the boundary is the caller's to draw at random and is looked for in every part.
 *
 *     struct weir_batch_request batch;
 *     weir_batch_request_init(&batch, weir_str_from("batch_5f…"), &options, bytes_max, err);
 *     weir_batch_request_add(&batch, &part, err);  …
 *     weir_batch_request_finish(&batch, err);
 *     …                                            batch.body is to be POSTed to WEIR_BATCH_PATH,
 *     weir_batch_request_release(&batch);          with weir_request_lines_init_batch()
 *
 * The members of rows are borrowed, not copied. Pure. One thread at a time.
 */
#ifndef WEIR_PROTOCOL_BATCH_H
#define WEIR_PROTOCOL_BATCH_H

#include "protocol/gather.h"
#include "protocol/odata.h"
#include "protocol/request_options.h"
#include "protocol/target.h"

#define WEIR_BATCH_PATH WEIR_API_PATH "$batch"

/*
 * One request.
 *     create   POST   set        its id, if it has one, in the body
 *     update   PATCH  set(key)   If-Match: *
 *     upsert   PATCH  set(key)
 *     delete   DELETE set(key)   has no members
 *     read     GET    path       table and target play no part
 * A partition stands in the body of a create and in the address of all others:
 * weir_target_add_address().
 */
struct weir_batch_part {
    enum weir_request_kind kind;
    const struct weir_table_names *table;
    struct weir_target target; /* by its id or by a key */
    struct weir_str path;      /* behind WEIR_API_PATH, encoded: `accounts(…)?$select=name` */
};

struct weir_batch_request {
    struct weir_gather body;
    size_t part_count;
    struct weir_str boundary;                    /* a copy, in `memory` */
    struct weir_str tag;                         /* likewise */
    struct weir_buf memory;                      /* what is asked for once and said in every part */
    struct weir_buf headers[WEIR_REQUEST_KINDS]; /* of a part, by its kind */
    struct weir_buf head;                        /* scratch: up to the request line */
    struct weir_buf opening;                     /* scratch: what stands in front of the members */
};

/*
 * `boundary`: 1 to WEIR_BOUNDARY_BYTES_MAX letters, digits, hyphens and underscores. Nothing is
 * kept of the arguments. Only after WEIR_OK is there something to release.
 *   WEIR_E_INVALID  a boundary that is none or occurs in the headers; options that do not pass
 *                   weir_request_options_check()
 */
enum weir_status weir_batch_request_init(struct weir_batch_request *batch, struct weir_str boundary,
                                         const struct weir_request_options *options,
                                         size_t bytes_max, struct weir_error *err);

void weir_batch_request_release(struct weir_batch_request *batch);

/*
 * Add one request; its members must outlive the batch. If it fails, the batch is as it was before.
 *   WEIR_E_INVALID  not named as its kind needs it, a malformed path, a partition that cannot stand
 *                   in an address, members of a row to delete, or the boundary occurs in it
 *   WEIR_E_TOO_BIG  the part after WEIR_BATCH_PARTS_MAX, an address over WEIR_PART_URL_BYTES_MAX,
 *                   or more than the body's maximum, the last line included
 */
enum weir_status weir_batch_request_add(struct weir_batch_request *batch,
                                        const struct weir_batch_part *part, struct weir_error *err);

/* The last line, for which there is always room. WEIR_E_INVALID: there is no part. */
enum weir_status weir_batch_request_finish(struct weir_batch_request *batch,
                                           struct weir_error *err);

/*
 * What a body weighs, to the byte: the last line once, and each part that could be added. For
 * whoever cuts rows into bodies of at most so many bytes; a batch without parts will do as a scale.
 */
size_t weir_batch_close_bytes(const struct weir_batch_request *batch);
size_t weir_batch_part_bytes(const struct weir_batch_request *batch,
                             const struct weir_batch_part *part);

#endif

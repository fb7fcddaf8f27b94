/* SPDX-License-Identifier: MIT */
/*
 * The bulk messages of the Web API: CreateMultiple, UpdateMultiple, UpsertMultiple, DeleteMultiple.
 *
 *     POST /api/data/v9.2/accounts/Microsoft.Dynamics.CRM.CreateMultiple
 *     {"Targets":[{"@odata.type":"Microsoft.Dynamics.CRM.account","accountid":"…","name":"A"},…]}
 *
 *              a row goes by                             answer
 *     create   its id, or the service makes one          200 and Ids, in this order
 *     update   its id                                    204
 *     upsert   its id, or a key: "@odata.id":"set(key)"  204
 *     delete   its id; elastic tables only               204
 *
 * The partition of a row of an elastic table is a member of it, in each of the four.
 *
 * The members of a row are borrowed, not copied. Pure. Any thread.
 */
#ifndef WEIR_PROTOCOL_BULK_H
#define WEIR_PROTOCOL_BULK_H

#include "protocol/gather.h"
#include "protocol/request_options.h"
#include "protocol/target.h"

enum weir_bulk_message {
    WEIR_BULK_CREATE = 0,
    WEIR_BULK_UPDATE,
    WEIR_BULK_UPSERT,
    WEIR_BULK_DELETE,
    WEIR_BULK_MESSAGES
};

/* "CreateMultiple" and so on. */
const char *weir_bulk_name(enum weir_bulk_message message);

/* What stands around the rows of a body. */
#define WEIR_BULK_FRAME_BEGIN "{\"Targets\":["
#define WEIR_BULK_FRAME_END   "]}"

/* What a body weighs: this once, a comma between any two rows, and … */
#define WEIR_BULK_FRAME_BYTES (sizeof(WEIR_BULK_FRAME_BEGIN WEIR_BULK_FRAME_END) - 1)

/* … each row. For whoever cuts rows into bodies of at most so many bytes. */
size_t weir_bulk_target_bytes(const struct weir_table_names *table,
                              const struct weir_target *target);

/* Append path and query. WEIR_E_INVALID: names that are none; WEIR_E_TOO_BIG: over
 * WEIR_URL_BYTES_MAX or the buffer's maximum. */
enum weir_status weir_bulk_path(enum weir_bulk_message message,
                                const struct weir_table_names *table,
                                const struct weir_request_options *options, struct weir_buf *buf,
                                struct weir_error *err);

/*
 * Write the body for 1 to WEIR_TARGETS_MAX rows into `body`, which was just initialised; it borrows
 * from the rows.
 *   WEIR_E_INVALID  a row, by its place from 0, is not named as the message needs it
 *   WEIR_E_TOO_BIG  too many rows, or more than the body's maximum
 */
enum weir_status weir_bulk_body(enum weir_bulk_message message,
                                const struct weir_table_names *table,
                                const struct weir_target *targets, size_t count,
                                struct weir_gather *body, struct weir_error *err);

/*
 * Rows one by one, into memory of the caller's, just as weir_bulk_body() writes them: for whoever
 * has a row at hand long before its request is made.
 */
struct weir_bulk_writer {
    enum weir_bulk_message message;
    const struct weir_table_names *table; /* borrowed */
    struct weir_buf opening;              /* in front of an id; empty: names that are none */
};

void weir_bulk_writer_init(struct weir_bulk_writer *writer, enum weir_bulk_message message,
                           const struct weir_table_names *table);
void weir_bulk_writer_release(struct weir_bulk_writer *writer);

/*
 * Bytes of a row, and its id (zeros: it has none); 0: weir_bulk_body() would refuse it. `id`: the
 * one that target->id was made from; NULL: nobody knows what stands there.
 */
size_t weir_bulk_written_bytes(const struct weir_bulk_writer *writer,
                               const struct weir_target *target, const struct weir_guid *id,
                               struct weir_guid *ret_id);

/* Write a row of so many bytes; its id, key and members are from now on what was written. */
void weir_bulk_write(const struct weir_bulk_writer *writer, struct weir_target *target, char *to);

#endif

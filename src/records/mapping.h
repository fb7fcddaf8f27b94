/* SPDX-License-Identifier: MIT */
/*
 * From records to drafts: which column of the input goes where, and what its cells become.
 *
 *     name,accountnumber          {"name":"Contoso","accountnumber":"A1"}
 *     Contoso,A1            ──▶
 *
 * Columns go by the name in the header, which is the logical name of a column of the table. Cells
 * are texts and stay as they are; an empty one is left out.
 *
 * Every row gets its name here: the id that the input has or that is made of the row's number, or
 * the predicate of the alternate key.
 *
 * A mapping is constant once it is made: any thread.
 */
#ifndef WEIR_RECORDS_MAPPING_H
#define WEIR_RECORDS_MAPPING_H

#include "base/arena.h"
#include "protocol/metadata.h"
#include "records/draft.h"
#include "records/format.h"
#include "records/row_id.h"
#include "weir/bulk.h"

struct weir_mapping;

struct weir_mapping_options {
    const struct weir_table *table; /* borrowed as long as the mapping lives */
    enum weir_operation operation;
    const char *key;    /* columns of an alternate key, with commas; NULL: the primary id */
    const char *owner;  /* as in struct weir_job_options; NULL: not said */
    size_t connections; /* that rows are spread over */
    struct weir_columns columns; /* of the input; none: rows are JSON objects */
    struct weir_row_ids ids;     /* to make ids from */
};

/*
 * WEIR_E_INVALID: a column that the table has not (with the nearest one that it has), that cannot
 * be written by this operation, or that is there twice; an id or key column that is missing; an
 * alternate key that the table has not or whose index is not active; a create or upsert into a
 * table with owners by several connections without an owner; an operation that the rows' names do
 * not fit.
 */
enum weir_status weir_mapping_new(const struct weir_mapping_options *options,
                                  struct weir_mapping **ret, struct weir_error *err);
void weir_mapping_free(struct weir_mapping *mapping);

/* Rows may go by the bulk message, as far as their names allow it: not by an alternate key, unless
 * it is an upsert. */
bool weir_mapping_allows_bulk(const struct weir_mapping *mapping);

/* Ids may come from the input: all of them if it has a column for them, those that objects have. */
bool weir_mapping_takes_ids(const struct weir_mapping *mapping);

/*
 * The draft of a record, made in `arena`; what need not change is borrowed from the record. A
 * record with a problem, or with a cell that cannot be right, gives a draft with a refusal.
 * False: the arena is full; WEIR_DRAFT_BYTES_ENOUGH of it are enough for any draft.
 */
bool weir_mapping_record(const struct weir_mapping *mapping, const struct weir_record *record,
                         struct weir_arena *arena, struct weir_draft *ret);

/*
 * The same of a row that is a JSON object, as the Web API takes it: its members stay as they are,
 * but for those that name it, and are not looked at; the draft borrows from `json`. Strings name
 * rows, and what else is no object, array or null; members that name it twice, or that every
 * request has already (@odata.type, @odata.id), give a refusal, as does what is no object. An owner
 * of the options is added unless there is a member ownerid@odata.bind. `ret` has number, file,
 * offset, end and raw already.
 */
bool weir_mapping_object(const struct weir_mapping *mapping, struct weir_str json,
                         struct weir_arena *arena, struct weir_draft *ret);

#endif

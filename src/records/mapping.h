/* SPDX-License-Identifier: MIT */
/*
 * From records to drafts: which column of the input goes where, and what its cells become.
 *
 *     name,revenue,parentaccountid:account(accountnumber)
 *     Contoso,007.50,A1
 *         ──▶  {"name":"Contoso","revenue":7.50,
 *               "parentaccountid@odata.bind":"/accounts(accountnumber='A1')"}
 *
 * Columns go by the name in the header, which says where they go as column_target.h writes it, or
 * by what a mapping file says (spec.h). Cells become what the type of their column asks for
 * (cell_kinds.h), lookups become addresses (lookup.h).
 *
 * Every row gets its name here: the id that the input has, that is derived from its values
 * (derived_id.h) or made of the row's number, or the predicate of the alternate key.
 *
 * What cannot be written together with the rest waits for a pass of its own: a lookup to the table
 * itself may point at a row further down, and the service ignores the state of a row that it
 * creates. So a job is up to three runs over the same input, of which each writes some members:
 *
 *     rows       create, upsert     everything else
 *     lookups    update             lookups whose target is the table itself
 *     state      update             statecode and statuscode
 *
 * Cells of all passes are checked in the first: a row with a wrong one is never created.
 *
 * Making a mapping and asking it: any thread once it is made. Mapping rows: one thread at a time,
 * because names of members are remembered.
 */
#ifndef WEIR_RECORDS_MAPPING_H
#define WEIR_RECORDS_MAPPING_H

#include "base/arena.h"
#include "protocol/metadata.h"
#include "protocol/row_id.h"
#include "records/cell_kinds.h"
#include "records/draft.h"
#include "records/format.h"
#include "records/references.h"
#include "records/spec.h"
#include "weir/bulk.h"

struct weir_mapping;

enum weir_pass {
    WEIR_PASS_ROWS = 0,
    WEIR_PASS_LOOKUPS,
    WEIR_PASS_STATE,
    WEIR_PASSES
};

/* Tables, columns, zone, spec and the input's name are borrowed as long as the mapping lives. */
struct weir_mapping_options {
    const struct weir_table *table;
    const struct weir_table *const *others; /* that lookups point to: weir_mapping_tables() */
    size_t other_count;
    enum weir_operation operation;
    const char *key;          /* columns of an alternate key, with commas; NULL: the primary id */
    const char *id_from;      /* columns from which ids are derived, with commas; NULL: none */
    const char *owner;        /* as in struct weir_job_options; NULL: not said */
    const char *organisation; /* GUID, for derived ids; NULL: not known */
    const struct weir_spec *spec; /* NULL: none */
    enum weir_cell_empty empty;   /* of cells of which the spec does not say it */
    const struct weir_zone *zone; /* of dates that do not say theirs; NULL: none */
    bool raw;           /* rows are objects as the Web API takes them; so they are without columns
                           and names, too */
    bool named;         /* records have names of their own: JSON Lines */
    size_t connections; /* that rows are spread over */
    const char *input;  /* as messages call the file of the columns: its path, or "standard
                           input"; NULL: none, they speak of "the input" */
    struct weir_columns columns; /* of the input; if named: names that are known to come, of the
                                    first row for example, or none */
    struct weir_row_ids ids;     /* to make ids from */
};

/* Names of tables, owned. */
struct weir_table_list {
    char **names;
    char **columns; /* of the input, that lead to each; NULL: a mapping file or a constant does */
    uint32_t count;
};

/*
 * Which tables must be described besides `table`, so that lookups can point to them: those that the
 * columns or the spec name, and those to which plain lookup columns point. Whatever else is wrong
 * with the columns, as a target that cannot be read, is said by weir_mapping_new().
 *   WEIR_E_INVALID  more than WEIR_LOOKUP_TABLES_MAX tables
 */
enum weir_status weir_mapping_tables(const struct weir_table *table, struct weir_columns columns,
                                     const struct weir_spec *spec, struct weir_table_list *ret,
                                     struct weir_error *err);
void weir_table_list_release(struct weir_table_list *list); /* fine on zeroes */

/*
 * WEIR_E_INVALID: a column that the table has not (with the nearest one that it has), that cannot
 * be written by this operation, or that is there twice; a lookup that cannot point there; an id or
 * key column that is missing; an alternate key that the table has not or whose index is not active;
 * a create or upsert into a table with owners by several connections without an owner; a constant
 * that is wrong; a source of the spec that the input has not; an operation or an option that the
 * rows do not fit.
 */
enum weir_status weir_mapping_new(const struct weir_mapping_options *options,
                                  struct weir_mapping **ret, struct weir_error *err);
void weir_mapping_free(struct weir_mapping *mapping);

/* Whether any row may have something for this pass. That of the rows is always there. */
bool weir_mapping_has_pass(const struct weir_mapping *mapping, enum weir_pass pass);

/* What a pass does: that of the rows what the job does, the others update. */
enum weir_operation weir_mapping_operation(const struct weir_mapping *mapping, enum weir_pass pass);

/* Rows may go by the bulk message in this pass, as far as their names allow it: not by an alternate
 * key, unless it is an upsert. */
bool weir_mapping_allows_bulk(const struct weir_mapping *mapping, enum weir_pass pass);

/* Ids may come from the input: all of them if it has a column for them or they are derived, those
 * that objects have. */
bool weir_mapping_takes_ids(const struct weir_mapping *mapping);

/*
 * The lists of references that must be filled before rows are mapped: i = 0, 1, … until false.
 * `i` is the list of weir_references_add(); the value of a row is that of the column, its id that
 * of the table's primary id.
 */
bool weir_mapping_reference(const struct weir_mapping *mapping, uint32_t i,
                            const struct weir_table **ret_table,
                            const struct weir_column **ret_column);

/* Borrowed; constant from now on. */
void weir_mapping_set_references(struct weir_mapping *mapping,
                                 const struct weir_references *references);

/* Constants, and values of a mapping file, that can never be right: weir_mapping_new() looks at
 * them, and those that point by references want to be looked at when these are there.
 * WEIR_E_INVALID, with the place where the first was said. */
enum weir_status weir_mapping_check_said(const struct weir_mapping *mapping,
                                         struct weir_error *err);

/*
 * The draft of a record in a pass, made in `arena`; what need not change is borrowed from the
 * record. A record with a problem, or with a cell that cannot be right, gives a draft with a
 * refusal; one that has nothing for the pass an idle draft.
 * False: the arena is full; WEIR_DRAFT_BYTES_ENOUGH of it are enough for any draft.
 */
bool weir_mapping_record(const struct weir_mapping *mapping, enum weir_pass pass,
                         const struct weir_record *record, struct weir_arena *arena,
                         struct weir_draft *ret);

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

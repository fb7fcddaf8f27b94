/* SPDX-License-Identifier: MIT */
/*
 * How the input is to be understood beyond its header: a mapping file, --with, --ignore-columns.
 *
 *     { "table": "account",
 *       "columns": { "Firma": "name",
 *                    "Parent No": "parentaccountid:account(accountnumber)",
 *                    "Branche": { "to": "industrycode", "values": { "IT": "7" }, "empty": "null" },
 *                    "Notiz": null },                 // ignored
 *       "with": { "donotemail": true } }              // constants
 *
 * The file is JSON with comments and trailing commas. A column of the input that it does not name
 * goes by its own name. Plain data: everything is owned, zeroes are an empty one. One thread at a
 * time.
 */
#ifndef WEIR_RECORDS_SPEC_H
#define WEIR_RECORDS_SPEC_H

#include "base/buf.h"
#include "base/map.h"
#include "protocol/metadata.h"
#include "records/format.h"

/* Where in the mapping file something stands; line 0: an option of the command says it. */
struct weir_spec_place {
    uint32_t line;
    uint32_t column;
};

/* A cell of this text stands for a cell of that one; NULL: for null, which clears the column. */
struct weir_spec_value {
    const char *from;
    const char *to;
    struct weir_spec_place place;
};

struct weir_spec_column {
    const char *source; /* name in the input */
    const char *target; /* as in column_target.h; NULL: ignored */
    int empty;          /* enum weir_cell_empty; -1: as the options say */
    struct weir_spec_value *values;
    uint32_t value_count;
    struct weir_spec_place place;
};

struct weir_spec_with {
    const char *target; /* as in column_target.h */
    const char *value;  /* empty: the column is cleared */
    struct weir_spec_place place;
};

struct weir_spec {
    char *name;  /* what messages call the mapping file; NULL: there is none */
    char *table; /* logical name; NULL: not said */
    struct weir_spec_column *columns;
    uint32_t column_count;
    struct weir_spec_with *with;
    uint32_t with_count;
    struct weir_map map; /* source -> place in `columns` */
};

/*
 * Read a mapping file into a spec of zeroes; `name` is what messages call it.
 *   WEIR_E_INVALID  no JSON, an unknown key, a value of the wrong kind; with line and column
 *   WEIR_E_TOO_BIG  over WEIR_SPEC_BYTES_MAX, WEIR_FIELDS_MAX columns or WEIR_SPEC_VALUES_MAX
 */
enum weir_status weir_spec_read(struct weir_str text, const char *name, struct weir_spec *ret,
                                struct weir_error *err);

/* COL=VALUE. WEIR_E_INVALID: no sign, no column, or the column has a constant already. */
enum weir_status weir_spec_add_with(struct weir_spec *spec, struct weir_str text,
                                    struct weir_error *err);

/* Names in the input, with commas between them, and blanks around them; one that was mapped
 * otherwise is ignored from now on. WEIR_E_INVALID: an empty name. */
enum weir_status weir_spec_ignore(struct weir_spec *spec, struct weir_str columns,
                                  struct weir_error *err);

/* Fine on zeroes; leaves zeroes. */
void weir_spec_release(struct weir_spec *spec);

/* What is said of a column of the input; NULL: nothing. */
const struct weir_spec_column *weir_spec_find(const struct weir_spec *spec, struct weir_str source);

/*
 * A mapping file to edit: an entry for each column of the input, guessed by its name, with comments
 * that say type, length, choices, and what lookups point to. `others`: tables whose keys are to be
 * named, as far as they are known. Names as Dataverse itself writes them are understood without an
 * entry. `named`: they are members of objects, of which others may follow. The buffer's overflow is
 * the caller's to check.
 */
void weir_spec_template(struct weir_buf *buf, const struct weir_table *table,
                        struct weir_columns columns, const struct weir_table *const *others,
                        size_t other_count, bool named);

#endif

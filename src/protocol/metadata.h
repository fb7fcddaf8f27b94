/* SPDX-License-Identifier: MIT */
/*
 * What the service says of one table: names, columns, choices, lookups, keys, bulk messages.
 *
 * It is asked for in one request, a $batch of GETs that goes on after an error:
 *
 *     char *paths[WEIR_METADATA_PARTS];
 *     weir_metadata_paths("account", paths, err)   …   weir_metadata_paths_free(paths)
 *     struct weir_metadata_part parts[WEIR_METADATA_PARTS];     how each was answered, in order
 *     weir_metadata_read("account", parts, WEIR_METADATA_PARTS, &table, err)
 *     const struct weir_column *column = weir_table_column(table, name);
 *     weir_table_free(table)
 *
 * A table is constant once it is made, and owns everything in it: nothing is borrowed from the
 * bodies. Any thread may read it. Pure.
 */
#ifndef WEIR_PROTOCOL_METADATA_H
#define WEIR_PROTOCOL_METADATA_H

#include "base/map.h"
#include "protocol/bulk.h"
#include "protocol/odata.h"
#include "weir/verdict.h"

/* The definition, a list per kind of column, a query per bulk message, the table of a set name. */
#define WEIR_METADATA_PARTS 20

/* ---- what is known ---- */

enum weir_column_type {
    WEIR_COLUMN_OTHER = 0, /* virtual ones, calendar rules and the like: cannot be written */
    WEIR_COLUMN_STRING,
    WEIR_COLUMN_MEMO,
    WEIR_COLUMN_INTEGER,
    WEIR_COLUMN_BIGINT,
    WEIR_COLUMN_DECIMAL,
    WEIR_COLUMN_DOUBLE,
    WEIR_COLUMN_MONEY,
    WEIR_COLUMN_BOOLEAN,
    WEIR_COLUMN_PICKLIST,
    WEIR_COLUMN_MULTI_PICKLIST,
    WEIR_COLUMN_STATE,
    WEIR_COLUMN_STATUS,
    WEIR_COLUMN_DATETIME,
    WEIR_COLUMN_ID, /* a GUID that points nowhere */
    WEIR_COLUMN_LOOKUP,
    WEIR_COLUMN_CUSTOMER,
    WEIR_COLUMN_OWNER,
    WEIR_COLUMN_PARTY_LIST,
    WEIR_COLUMN_ENTITY_NAME, /* the table of a polymorphic lookup */
    WEIR_COLUMN_FILE,
    WEIR_COLUMN_IMAGE,
    WEIR_COLUMN_TYPES
};

enum weir_required {
    WEIR_REQUIRED_NONE = 0,
    WEIR_REQUIRED_RECOMMENDED,
    WEIR_REQUIRED_APPLICATION, /* by forms; the Web API does not insist */
    WEIR_REQUIRED_SYSTEM,
};

enum weir_date_behavior {
    WEIR_DATE_USER_LOCAL = 0,
    WEIR_DATE_ONLY,
    WEIR_DATE_ZONE_INDEPENDENT,
};

enum weir_table_type {
    WEIR_TABLE_STANDARD = 0,
    WEIR_TABLE_ELASTIC,
    WEIR_TABLE_VIRTUAL,
    WEIR_TABLE_OTHER, /* a type that is newer than this program */
};

enum weir_ownership {
    WEIR_OWNERSHIP_NONE = 0, /* not said, or nobody owns a row of it */
    WEIR_OWNERSHIP_USER,     /* users and teams */
    WEIR_OWNERSHIP_ORGANIZATION,
};

enum weir_key_status {
    WEIR_KEY_STATUS_OTHER = 0,
    WEIR_KEY_STATUS_PENDING,
    WEIR_KEY_STATUS_IN_PROGRESS,
    WEIR_KEY_STATUS_ACTIVE, /* only this one can be used */
    WEIR_KEY_STATUS_FAILED,
};

/* One choice of a choice column; of a boolean, value 0 and 1. */
struct weir_choice {
    int32_t value;
    int32_t state;     /* of a status: the state that it belongs to; otherwise -1 */
    const char *label; /* in the language of the user; NULL: it has none */
};

/* One table that a lookup may point to. */
struct weir_lookup_target {
    const char *table;
    const char *navigation; /* what `@odata.bind` is written behind; NULL: not known */
};

struct weir_column {
    const char *name;     /* logical */
    const char *label;    /* what people call it, in the language of the user; NULL: not known */
    const char *key_name; /* in the predicate of a key: `_name_value` of a lookup */
    enum weir_column_type type;
    bool for_create;
    bool for_update;
    bool for_read;
    enum weir_required required;
    const char *part_of;  /* the column that it only shows in another way; NULL: none */
    uint32_t length_max;  /* of texts, in UTF-16 units; 0: not known */
    const char *min;      /* of numbers, exactly as the service writes it; NULL: not known */
    const char *max;      /* likewise */
    int precision;        /* digits behind the point; -1: not known */
    bool shows_date_only; /* of dates: the format, not the behaviour */
    enum weir_date_behavior behavior;
    struct weir_choice *choices;
    uint32_t choice_count;
    struct weir_lookup_target *targets;
    uint32_t target_count;
};

struct weir_alternate_key {
    const char *name;
    const char **columns;
    uint32_t column_count;
    enum weir_key_status status;
};

struct weir_table_block;

struct weir_table {
    const char *name; /* logical */
    const char *set_name;
    const char *primary_id;
    const char *primary_name; /* NULL: it has none */
    enum weir_table_type type;
    enum weir_ownership ownership;
    struct weir_column *columns;
    uint32_t column_count;
    struct weir_alternate_key *keys;
    uint32_t key_count;
    bool bulk[WEIR_BULK_MESSAGES];
    bool bulk_known;            /* false: the service would not say, and all of bulk[] are false */
    struct weir_map column_map; /* name -> place */
    struct weir_table_block *blocks; /* of memory */
};

/* ---- asking ---- */

/*
 * The addresses of the parts, ready to be the path of a struct weir_batch_part; each is the
 * caller's until weir_metadata_paths_free(). WEIR_E_INVALID: no name of a table.
 */
enum weir_status weir_metadata_paths(const char *table, char *paths[WEIR_METADATA_PARTS],
                                     struct weir_error *err);

/* Leaves NULLs; fine on NULLs. */
void weir_metadata_paths_free(char *paths[WEIR_METADATA_PARTS]);

/* A part as it was answered: weir_batch_answer_read(), and weir_answer_read() of each. */
struct weir_metadata_part {
    int status; /* HTTP; 0: not answered */
    struct weir_str body;
    enum weir_class class_; /* of its verdict, which the code in the body decides. A failure that
                               is left as WEIR_CLASS_OK is judged by its status alone */
};

/*
 * Make a table of the answers, in the order of the paths. On failure http_status of `err` is that
 * of the part which is to blame.
 *   WEIR_E_NOT_FOUND  there is no such table; if the name is that of an entity set, the message
 *                     names the table that it belongs to
 *   WEIR_E_UNAVAILABLE, WEIR_E_CREDENTIALS, WEIR_E_REFUSED   the service would not tell: not now
 *                     (retryable), not to us, not at all. Of the bulk messages, 403 and 404 leave
 *                     `bulk_known` false instead
 *   WEIR_E_INVALID    parts are missing, or what was told makes no sense
 *   WEIR_E_TOO_BIG    over one of the bounds
 */
enum weir_status weir_metadata_read(const char *table, const struct weir_metadata_part *parts,
                                    size_t part_count, struct weir_table **ret,
                                    struct weir_error *err);

/*
 * For a table that is not there: where the names of all are asked for, and which of those in the
 * answer was probably meant. The name is copied, and cut to fit. False: none is near.
 */
#define WEIR_METADATA_NAMES_PATH "EntityDefinitions?$select=LogicalName"
bool weir_metadata_nearest(const char *table, struct weir_str body, char *ret, size_t ret_bytes);

/* ---- using ---- */

/* NULL is fine. */
void weir_table_free(struct weir_table *table);

/* By its logical name, exactly; NULL: there is none. */
const struct weir_column *weir_table_column(const struct weir_table *table, struct weir_str name);

/* NULL: there is none. */
const struct weir_alternate_key *weir_table_key(const struct weir_table *table,
                                                struct weir_str name);

/* The one of exactly these columns, in any order; NULL: there is none. */
const struct weir_alternate_key *weir_table_key_of(const struct weir_table *table,
                                                   const struct weir_str *columns, size_t count);

/* For requests; the names are the table's. */
struct weir_table_names weir_table_names_of(const struct weir_table *table);

/*
 * A value of the column as a part of a key, both borrowed. False: columns of its type cannot be in
 * a key.
 */
bool weir_column_key_part(const struct weir_column *column, struct weir_str value,
                          struct weir_key_part *ret);

/* By value; NULL: there is none. */
const struct weir_choice *weir_column_choice(const struct weir_column *column, int32_t value);

/* NULL: it cannot point there. */
const struct weir_lookup_target *weir_column_target(const struct weir_column *column,
                                                    struct weir_str table);

/* Lookup, customer or owner. */
bool weir_column_is_lookup(const struct weir_column *column);

/* For people: "text", "choice", "lookup", and "standard", "elastic". */
const char *weir_column_type_name(enum weir_column_type type);
const char *weir_table_type_name(enum weir_table_type type);
const char *weir_key_status_name(enum weir_key_status status);

#endif

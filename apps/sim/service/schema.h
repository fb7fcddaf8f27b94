/* SPDX-License-Identifier: MIT */
/*
 * The tables that the service knows: those built in (schema_tables.c) and those of the scenario
 * (schema_read.c). Made once, read-only afterwards. Tables and columns are known by their place.
 *
 * A *property* is a name that stands for a column in JSON and in queries:
 *
 *     name                           the column itself; not for lookups
 *     _parentaccountid_value         a lookup's id, read only
 *     parentaccountid                a navigation property, written as parentaccountid@odata.bind;
 * a lookup to several tables has one for each
 */
#ifndef SIM_SERVICE_SCHEMA_H
#define SIM_SERVICE_SCHEMA_H

#include "base/json.h"
#include "base/map.h"
#include "sim/service/wide.h"
#include "weir/error.h"

#define SIM_TABLES_MAX      64
#define SIM_COLUMNS_MAX     256
#define SIM_KEYS_MAX        10
#define SIM_KEY_COLUMNS_MAX 8
#define SIM_CHOICES_MAX     1000
#define SIM_TARGETS_MAX     8
#define SIM_LOGICAL_MAX     100     /* bytes of a table's or column's name */
#define SIM_MEMO_UNITS_MAX  1048576 /* UTF-16 units of a text */

#define SIM_NO_COLUMN UINT32_MAX

enum sim_type {
    SIM_TYPE_STRING,
    SIM_TYPE_MEMO,
    SIM_TYPE_INTEGER,
    SIM_TYPE_BIGINT,
    SIM_TYPE_DECIMAL,
    SIM_TYPE_MONEY,
    SIM_TYPE_DOUBLE,
    SIM_TYPE_BOOLEAN,
    SIM_TYPE_PICKLIST,
    SIM_TYPE_MULTI_PICKLIST,
    SIM_TYPE_STATE,
    SIM_TYPE_STATUS,
    SIM_TYPE_DATETIME,
    SIM_TYPE_UNIQUEIDENTIFIER, /* the primary id, or a plain one */
    SIM_TYPE_LOOKUP,
    SIM_TYPE_CUSTOMER, /* a lookup to account or contact */
    SIM_TYPE_OWNER,    /* a lookup to systemuser or team */
    SIM_TYPE_FILE,     /* these two are uploaded by messages of their own, which are not here */
    SIM_TYPE_IMAGE,
    SIM_TYPES,
};

enum sim_date_behavior {
    SIM_DATE_USER_LOCAL,
    SIM_DATE_ONLY,
    SIM_DATE_ZONE_INDEPENDENT,
};

enum sim_required {
    SIM_REQUIRED_NONE,
    SIM_REQUIRED_RECOMMENDED,
    SIM_REQUIRED_APPLICATION, /* asked for by forms; the service does not insist */
    SIM_REQUIRED_SYSTEM,
};

enum sim_key_status {
    SIM_KEY_ACTIVE,
    SIM_KEY_PENDING,
    SIM_KEY_FAILED,
};

struct sim_choice {
    int32_t value;
    int32_t state; /* of a status: the statecode it belongs to */
    const char *label;
};

struct sim_target {
    const char *table; /* logical name */
    const char *nav;   /* ReferencingEntityNavigationPropertyName, case-sensitive */
    uint32_t place;    /* of the table; filled in when the schema is complete */
};

struct sim_column {
    const char *name;   /* logical */
    const char *schema; /* SchemaName; NULL: as the logical name */
    enum sim_type type;
    uint32_t length_max; /* of texts, UTF-16 units */
    sim_wide min;        /* of numbers; decimals in whole units */
    sim_wide max;
    uint8_t precision; /* digits behind the point of decimals and money */
    enum sim_date_behavior behavior;
    enum sim_required required;
    bool no_create; /* not valid for create */
    bool no_update;
    bool no_read;
    const struct sim_choice *choices; /* of choices, states, statuses, booleans (0, 1) */
    uint32_t choice_count;
    const char *option_set; /* the name of a global choice; NULL: local */
    struct sim_target targets[SIM_TARGETS_MAX];
    uint32_t target_count;
    const char *attribute_of; /* a shadow of that column, known to definitions only; NULL: none */
};

struct sim_key {
    const char *name;
    uint32_t columns[SIM_KEY_COLUMNS_MAX];
    uint32_t column_count;
    enum sim_key_status status;
};

enum sim_property_kind {
    SIM_PROPERTY_COLUMN,
    SIM_PROPERTY_LOOKUP_VALUE,
    SIM_PROPERTY_NAVIGATION,
};

struct sim_property {
    enum sim_property_kind kind;
    uint32_t column;
    uint32_t target; /* of a navigation */
};

struct sim_table {
    uint32_t place;
    const char *name;   /* logical */
    const char *schema; /* SchemaName; NULL: as the logical name */
    const char *set;    /* EntitySetName */
    const char *label;  /* DisplayName; NULL: as the logical name */
    int32_t type_code;  /* ObjectTypeCode */
    bool elastic;
    bool user_owned;
    bool bulk; /* has CreateMultiple, UpdateMultiple, UpsertMultiple; elastic: DeleteMultiple too */
    bool read_only; /* a reference table: rows cannot be written */
    struct sim_column *columns;
    uint32_t column_count;
    uint32_t id; /* columns that have a meaning, or SIM_NO_COLUMN */
    uint32_t primary_name;
    uint32_t owner;
    uint32_t state;
    uint32_t status;
    uint32_t created_on;
    uint32_t modified_on;
    uint32_t overridden_created_on;
    uint32_t created_by;
    uint32_t modified_by;
    uint32_t on_behalf_of; /* createdonbehalfby */
    uint32_t partition;
    struct sim_key keys[SIM_KEYS_MAX];
    uint32_t key_count;
    struct sim_key rule; /* rows that are alike to the detection of duplicates; no columns: none */
    struct weir_map column_map;   /* logical name -> column */
    struct weir_map property_map; /* property -> properties[] */
    struct sim_property *properties;
    uint32_t property_count;
    char **texts; /* names that were made up here ("_x_value") or read from a scenario */
    uint32_t text_count;
};

struct sim_schema {
    struct sim_table *tables[SIM_TABLES_MAX];
    uint32_t table_count;
    struct weir_map name_map; /* logical name -> place */
    struct weir_map set_map;  /* entity set -> place */
};

/*
 * The built-in tables and those of `scenario` (NULL: none). A table of the scenario that has the
 * name of a built-in one replaces it. WEIR_E_INVALID: the message names file, key, value and what
 * is allowed.
 */
enum weir_status sim_schema_init(struct sim_schema *schema, const struct weir_json *scenario,
                                 const char *file, struct weir_error *err);
void sim_schema_release(struct sim_schema *schema);

/* NULL: there is none. */
const struct sim_table *sim_schema_table(const struct sim_schema *schema, struct weir_str name);
const struct sim_table *sim_schema_set(const struct sim_schema *schema, struct weir_str set);

/* SIM_NO_COLUMN: there is none. */
uint32_t sim_table_column(const struct sim_table *table, struct weir_str name);

/* NULL: there is none. */
const struct sim_property *sim_table_property(const struct sim_table *table, struct weir_str name);

/* NULL: there is none with exactly these columns, in any order. */
const struct sim_key *sim_table_key(const struct sim_table *table, const uint32_t *columns,
                                    uint32_t count);

/* The DisplayName of a column; NULL: it has none. */
const char *sim_label_of(const struct sim_table *table, const struct sim_column *column);

/* NULL: no choice of that value. */
const struct sim_choice *sim_column_choice(const struct sim_column *column, int64_t value);

static inline bool sim_type_is_lookup(enum sim_type type)
{
    return type == SIM_TYPE_LOOKUP || type == SIM_TYPE_CUSTOMER || type == SIM_TYPE_OWNER;
}

/* For the files that make tables: a new empty table that is part of the schema; NULL: too many. */
struct sim_table *sim_schema_add(struct sim_schema *schema, const char *name, const char *set);
struct sim_column *sim_table_add(struct sim_table *table, const char *name, enum sim_type type);
const char *sim_table_text(struct sim_table *table, struct weir_str text); /* owned copy */
void sim_schema_add_builtin(struct sim_schema *schema);
enum weir_status sim_schema_read(struct sim_schema *schema, const struct weir_json_node *tables,
                                 const char *file, struct weir_error *err);

#endif

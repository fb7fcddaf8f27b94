/* SPDX-License-Identifier: MIT */
/*
 * For the files that make a table: which part of the answer is which, the table's memory, and
 * members of JSON objects with a complaint that names them.
 */
#ifndef WEIR_PROTOCOL_METADATA_PARTS_H
#define WEIR_PROTOCOL_METADATA_PARTS_H

#include "base/json.h"
#include "protocol/metadata.h"

/* The places of the parts. Those of the casts are in the order of weir_metadata_casts[]. */
#define WEIR_METADATA_DEFINITION 0
#define WEIR_METADATA_CASTS      1
#define WEIR_METADATA_CAST_COUNT 14
#define WEIR_METADATA_MESSAGES   (WEIR_METADATA_CASTS + WEIR_METADATA_CAST_COUNT)
#define WEIR_METADATA_SET        (WEIR_METADATA_MESSAGES + WEIR_BULK_MESSAGES)

_Static_assert(WEIR_METADATA_SET + 1 == WEIR_METADATA_PARTS, "every part has a place");

/* What a reader of one part needs. */
struct weir_metadata_reader {
    const char *name; /* of the table that was asked for */
    struct weir_table *table;
    struct weir_error *err;
};

/* A kind of column whose own properties are asked for: a cast of the list of columns. */
struct weir_metadata_cast {
    const char *type;   /* "String", of Microsoft.Dynamics.CRM.StringAttributeMetadata */
    const char *select; /* beside LogicalName */
    const char *expand; /* NULL: nothing */
    enum weir_status (*read)(struct weir_metadata_reader *reader, struct weir_column *column,
                             const struct weir_json_node *node);
};

extern const struct weir_metadata_cast weir_metadata_casts[WEIR_METADATA_CAST_COUNT];

/* ---- readers, one per file ---- */

/* Table, columns, keys and lookups, of the definition's root. */
enum weir_status weir_metadata_read_definition(struct weir_metadata_reader *reader,
                                               const struct weir_json_node *root);

/*
 * What a cast tells of its columns; `value` is the list. Columns that are not there are skipped;
 * one that comes twice is WEIR_E_INVALID.
 */
enum weir_status weir_metadata_read_cast(struct weir_metadata_reader *reader,
                                         const struct weir_metadata_cast *cast,
                                         const struct weir_json_node *value);

/* ---- memory: lives as long as the table ---- */

/* Zeroed, for `count` objects of `size` bytes. */
void *weir_table_alloc(struct weir_table *table, size_t count, size_t size);
const char *weir_table_text(struct weir_table *table, struct weir_str text);

/* What a column with this name and type is called in a key. */
const char *weir_table_key_name(struct weir_table *table, const struct weir_column *column);

/* ---- members ---- */

/* The member is not there, or null. */
bool weir_metadata_is_absent(const struct weir_json_node *node);

/*
 * The member `key` of `node`, which is wanted as `type`. Missing or null: NULL, and WEIR_E_INVALID
 * only if it is `needed`. Any other type is WEIR_E_INVALID.
 */
enum weir_status weir_metadata_get(struct weir_metadata_reader *reader,
                                   const struct weir_json_node *node, const char *key,
                                   enum weir_json_type type, bool needed,
                                   const struct weir_json_node **ret);

/*
 * A copy of a text of the table's own. WEIR_E_INVALID, in the name of `key`, the member that it is
 * an element of: it is no text, or one that no C string can hold.
 */
enum weir_status weir_metadata_own_text(struct weir_metadata_reader *reader,
                                        const struct weir_json_node *node, const char *key,
                                        const char **ret);

/* A member that is a text, as the table's own copy. */
enum weir_status weir_metadata_get_text(struct weir_metadata_reader *reader,
                                        const struct weir_json_node *node, const char *key,
                                        bool needed, const char **ret);

/* The same for `{"Value": "text"}`; empty if it is not there. */
enum weir_status weir_metadata_get_value(struct weir_metadata_reader *reader,
                                         const struct weir_json_node *node, const char *key,
                                         struct weir_str *ret);

/* The same for a label: in the user's language, else in the first there is; NULL: in none. */
enum weir_status weir_metadata_get_label(struct weir_metadata_reader *reader,
                                         const struct weir_json_node *node, const char *key,
                                         const char **ret);

/* Missing is false. */
enum weir_status weir_metadata_get_bool(struct weir_metadata_reader *reader,
                                        const struct weir_json_node *node, const char *key,
                                        bool *ret);

/* A whole number from `min` to `max`; `absent` if it is missing. */
enum weir_status weir_metadata_get_int(struct weir_metadata_reader *reader,
                                       const struct weir_json_node *node, const char *key,
                                       int64_t min, int64_t max, int64_t absent, int64_t *ret);

/* The place of a text in a list of words that ends with NULL, or `otherwise`. */
int weir_metadata_word(struct weir_str text, const char *const *words, int otherwise);

#endif

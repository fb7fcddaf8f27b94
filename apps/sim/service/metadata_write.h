/* SPDX-License-Identifier: MIT */
/* What the parts of the metadata have in common: options of a level, properties, labels. */
#ifndef SIM_SERVICE_METADATA_WRITE_H
#define SIM_SERVICE_METADATA_WRITE_H

#include "base/buf.h"
#include "sim/service/api_internal.h"

/* $select, $filter and $expand of one level: of the address or of an item of $expand. */
struct sim_meta_options {
    struct weir_str select;
    struct weir_str filter;
    struct weir_str expand;
};

/* One definition: a table, and of it a column, key or target. */
struct sim_meta {
    const struct sim_api *api;
    const struct sim_url *url;
    const struct sim_table *table;
    uint32_t column;
    uint32_t key;
    uint32_t target;
};

/* A property of a definition: always the same JSON, or written for each. */
struct sim_meta_property {
    const char *name;
    const char *literal;
    void (*put)(const struct sim_meta *meta, struct weir_buf *json);
    uint32_t types; /* of columns that have it, as bits; 0: all */
};

struct sim_meta_type {
    const char *name; /* "EntityMetadata" */
    const struct sim_meta_property *properties;
    uint32_t property_count;
};

#define SIM_META_TYPE(type, list)                                                                  \
    {                                                                                              \
        (type), (list), sizeof(list) / sizeof(*(list))                                             \
    }

/* The options of a request. */
struct sim_meta_options sim_meta_options_of(const struct sim_url *url);

/*
 * The next item of an $expand, "Attributes($select=…;$filter=…)", taken off *expand. False: there
 * is none left, or it is malformed: then *expand is not empty.
 */
bool sim_meta_take_expand(struct weir_str *expand, struct weir_str *name,
                          struct sim_meta_options *options);

/* Whether a $select is only about properties that the type has (for `types`). False: the answer is
 * filled. */
bool sim_meta_check_select(const struct sim_meta_type *type, uint32_t types, struct weir_str select,
                           struct sim_answer *answer);

bool sim_meta_selects(struct weir_str select, const char *name);

/* The selected properties as members, without braces: "MetadataId":"…","LogicalName":"…" */
void sim_meta_put(const struct sim_meta_type *type, uint32_t types, const struct sim_meta *meta,
                  struct weir_str select, struct weir_buf *json);

/* {"LocalizedLabels":[…],"UserLocalizedLabel":{…}}; NULL: an empty label. */
void sim_meta_put_label(const char *text, struct weir_buf *json);

void sim_meta_put_text(const char *text, struct weir_buf *json); /* NULL: null */

/* {"Value":"…"} */
void sim_meta_put_value(const char *text, struct weir_buf *json);

/* A stable id for what has the names a and b. */
void sim_meta_put_id(const char *a, const char *b, struct weir_buf *json);

/* "@odata.context":"…$metadata#path(select)" */
void sim_meta_put_context(const struct sim_meta *meta, const char *member, const char *path,
                          struct weir_str select, const char *end, struct weir_buf *json);

/* 404 for a path or a definition that is not there. Always false. */
bool sim_meta_absent(struct sim_answer *answer, struct weir_str what);

/* 400 for an $expand that cannot be read. Always false. */
bool sim_meta_bad_expand(struct sim_answer *answer);

/* ---- metadata_attribute.c ---- */

/* A cast: "Microsoft.Dynamics.CRM.PicklistAttributeMetadata"; empty: none. */
struct sim_meta_cast {
    const char *name; /* "PicklistAttributeMetadata" */
    uint32_t types;
};

bool sim_meta_find_cast(struct weir_str text, struct sim_meta_cast *ret);

/* The elements of a JSON array. False: the answer is filled. */
bool sim_meta_put_attributes(const struct sim_meta *meta, const struct sim_meta_cast *cast,
                             const struct sim_meta_options *options, struct weir_buf *json,
                             struct sim_answer *answer);

/* One of them, as members of an object. */
bool sim_meta_put_attribute(const struct sim_meta *meta, const struct sim_meta_cast *cast,
                            const struct sim_meta_options *options, struct weir_buf *json,
                            struct sim_answer *answer);

/* ---- metadata_relation.c ---- */

/* The elements of a JSON array each. False: the answer is filled. */
bool sim_meta_put_keys(const struct sim_meta *meta, const struct sim_meta_options *options,
                       struct weir_buf *json, struct sim_answer *answer);
bool sim_meta_put_many_to_one(const struct sim_meta *meta, const struct sim_meta_options *options,
                              struct weir_buf *json, struct sim_answer *answer);
bool sim_meta_put_one_to_many(const struct sim_meta *meta, const struct sim_meta_options *options,
                              struct weir_buf *json, struct sim_answer *answer);

/* ---- metadata_options.c ---- */

#define SIM_META_CHOICE_TYPES                                                                      \
    (1u << SIM_TYPE_PICKLIST | 1u << SIM_TYPE_STATE | 1u << SIM_TYPE_STATUS |                      \
     1u << SIM_TYPE_MULTI_PICKLIST | 1u << SIM_TYPE_BOOLEAN)

/* The option set of a column as a JSON object. False: the $select is wrong, and the answer is
 * filled. */
bool sim_meta_put_option_set(const struct sim_meta *meta, struct weir_str select,
                             struct weir_buf *json, struct sim_answer *answer);

/* The column of that name among those that a filter may name, and its place. NULL: there is none.
 */
const struct sim_column *sim_meta_find_column(const struct sim_column *columns, size_t count,
                                              struct weir_str name, uint32_t *ret_slot);

#endif

/* SPDX-License-Identifier: MIT */
/* One row on its way out; see target.h. */
#include "protocol/target.h"

#include "base/error.h"
#include "protocol/guid.h"
#include "protocol/odata.h"

#define QUOTED_MAX 60

static int quoted(struct weir_str text)
{
    return text.len < QUOTED_MAX ? (int)text.len : QUOTED_MAX;
}

enum weir_status weir_table_names_check(const struct weir_table_names *table,
                                        struct weir_error *err)
{
    const struct weir_str names[] = { table->logical_name, table->set_name, table->primary_id };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!weir_odata_is_name(names[i]))
            return weir_fail(err, WEIR_E_INVALID,
                             "\"%.*s\" is no name of a table or column: it needs letters, digits "
                             "and underscores",
                             quoted(names[i]), names[i].ptr ? names[i].ptr : "");
    }
    return WEIR_OK;
}

/* The quotes around a JSON string and the parentheses of an address must stay ours. */
static bool is_predicate(struct weir_str key)
{
    return weir_odata_is_address(key) && !memchr(key.ptr, '"', key.len) &&
           !memchr(key.ptr, '\\', key.len) && !memchr(key.ptr, '/', key.len) &&
           !memchr(key.ptr, '?', key.len) && !memchr(key.ptr, '#', key.len) &&
           !memchr(key.ptr, '(', key.len) && !memchr(key.ptr, ')', key.len) &&
           memchr(key.ptr, '=', key.len);
}

static enum weir_status check_naming(const struct weir_target *target, enum weir_naming naming,
                                     struct weir_error *err)
{
    if (target->id.len && target->key.len)
        return weir_fail(err, WEIR_E_INVALID, "a row goes by its id or by a key, not by both");
    if (target->key.len && naming != WEIR_NAMING_ID_OR_KEY)
        return weir_fail(err, WEIR_E_INVALID,
                         "the request takes no alternate key; the row needs its id");
    if (!target->id.len && !target->key.len && naming != WEIR_NAMING_ID_OR_NONE)
        return weir_fail(err, WEIR_E_INVALID, "the row has neither an id nor a key");
    return WEIR_OK;
}

enum weir_status weir_target_check(const struct weir_target *target, enum weir_naming naming,
                                   struct weir_error *err)
{
    enum weir_status status = check_naming(target, naming, err);
    if (status != WEIR_OK)
        return status;
    if (target->id.len && !weir_guid_is_canonical(target->id))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is no id: it needs 32 digits in lower case in groups of "
                         "8-4-4-4-12",
                         quoted(target->id), target->id.ptr);
    if (target->key.len && !is_predicate(target->key))
        return weir_fail(err, WEIR_E_INVALID,
                         "\"%.*s\" is no key: it needs columns and values, percent-encoded",
                         quoted(target->key), target->key.ptr);
    return WEIR_OK;
}

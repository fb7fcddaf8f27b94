/* SPDX-License-Identifier: MIT */
/* One row on its way out; see target.h. */
#include "protocol/target.h"

#include "base/error.h"
#include "base/limits.h"
#include "protocol/odata.h"

#define QUOTED_MAX 60

static int quoted(struct weir_str text)
{
    return (int)weir_str_cut(text, QUOTED_MAX).len;
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
    struct weir_guid id;
    return weir_target_check_id(target, naming, &id, err);
}

enum weir_status weir_target_check_id(const struct weir_target *target, enum weir_naming naming,
                                      struct weir_guid *ret_id, struct weir_error *err)
{
    enum weir_status status = check_naming(target, naming, err);
    if (status != WEIR_OK)
        return status;
    if (target->id.len && !weir_guid_parse_canonical(target->id, ret_id))
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

/* ---- the address ---- */

static void add(struct weir_buf *buf, struct weir_str text)
{
    weir_buf_add(buf, text.ptr, text.len);
}

/* The key that every elastic table has: id and partition. */
static enum weir_status add_partitioned(struct weir_buf *buf, const struct weir_table_names *table,
                                        const struct weir_target *target, struct weir_error *err)
{
    struct weir_buf predicate;
    const struct weir_key_part parts[] = {
        { WEIR_KEY_PART_LITERAL, table->primary_id, target->id },
        { WEIR_KEY_PART_TEXT, weir_str_from(WEIR_PARTITION_COLUMN), target->partition },
    };
    if (!target->id.len || target->key.len)
        return weir_fail(err, WEIR_E_INVALID,
                         "a row in a partition goes by its id; a key names the partition itself");
    weir_buf_init(&predicate, WEIR_PART_URL_BYTES_MAX);
    enum weir_status status = weir_odata_add_predicate(&predicate, parts, 2, err);
    if (status == WEIR_OK) {
        add(buf, table->set_name);
        weir_buf_printf(buf, "(%s)", weir_buf_text(&predicate));
        buf->overflow |= predicate.overflow;
    }
    weir_buf_release(&predicate);
    return status;
}

enum weir_status weir_target_add_address(struct weir_buf *buf, const struct weir_table_names *table,
                                         const struct weir_target *target, struct weir_error *err)
{
    if (target->partition.len)
        return add_partitioned(buf, table, target, err);
    add(buf, table->set_name);
    weir_buf_add_char(buf, '(');
    add(buf, target->id.len ? target->id : target->key);
    weir_buf_add_char(buf, ')');
    return WEIR_OK;
}

/* A quote is written twice and as it is, not as the three bytes that it would be otherwise. */
static size_t quoted_bytes(struct weir_str text)
{
    size_t bytes = 2 + weir_odata_encoded_bytes(text);
    for (size_t i = 0; i < text.len; i++)
        bytes -= text.ptr[i] == '\'';
    return bytes;
}

size_t weir_target_address_bytes(const struct weir_table_names *table,
                                 const struct weir_target *target)
{
    size_t bytes = table->set_name.len + strlen("()");
    bytes += target->id.len ? target->id.len : target->key.len;
    if (target->partition.len)
        bytes += table->primary_id.len + strlen("=," WEIR_PARTITION_COLUMN "=") +
                 quoted_bytes(target->partition);
    return bytes;
}

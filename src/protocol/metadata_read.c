/* SPDX-License-Identifier: MIT */
/*
 * From the answers of the parts to a table: every part must be there, have been answered, and be
 * complete JSON; what stands in it is read elsewhere.
 *
 *     definition   404 → there is no such table: is it the name of an entity set?
 *     casts        each adds to columns that the definition has named
 *     messages     one that we may not read, 403 or 404, leaves bulk support unknown
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/fault.h"
#include "protocol/metadata_parts.h"

#define REASON_MAX 200 /* bytes of the service's own words in a message */

/* ---- parts that were refused ---- */

/* What the verdict says; of a failure without one, what its status says. */
static enum weir_class class_of(const struct weir_metadata_part *part)
{
    int status = part->status;
    if (part->class_ != WEIR_CLASS_OK || status == 200)
        return part->class_;
    if (status == 408 || status == 429 || status >= 500)
        return WEIR_CLASS_TRANSIENT;
    return status == 401 ? WEIR_CLASS_BAD_CREDENTIALS : WEIR_CLASS_OTHER;
}

static bool is_good(const struct weir_metadata_part *part)
{
    return part->status == 200 && class_of(part) == WEIR_CLASS_OK;
}

/* Which kind of no it is: not now, not to us, not at all. */
static enum weir_status refusal_of(const struct weir_metadata_part *part)
{
    switch (class_of(part)) {
    case WEIR_CLASS_THROTTLE:
    case WEIR_CLASS_TRANSIENT:
    case WEIR_CLASS_RACE:
    case WEIR_CLASS_UNSENT:
        return WEIR_E_UNAVAILABLE;
    case WEIR_CLASS_BAD_CREDENTIALS:
        return WEIR_E_CREDENTIALS;
    default:
        return part->status ? WEIR_E_REFUSED : WEIR_E_UNAVAILABLE;
    }
}

/* 403 and 404 and no more behind it: what is asked for is not for us, or not there. */
static bool is_withheld(const struct weir_metadata_part *part)
{
    return (part->status == 403 || part->status == 404) && refusal_of(part) == WEIR_E_REFUSED;
}

static enum weir_status refuse(struct weir_metadata_reader *reader,
                               const struct weir_metadata_part *part)
{
    enum weir_status status = refusal_of(part);
    struct weir_fault fault;
    weir_fault_read(part->body, &fault);
    struct weir_str reason = weir_str_cut(weir_str_from(fault.message), REASON_MAX);
    if (part->status == 0)
        weir_fail(reader->err, status,
                  "the service has not answered all questions about table \"%s\"", reader->name);
    else
        weir_fail(reader->err, status, "the service does not describe table \"%s\": HTTP %d%s%.*s",
                  reader->name, part->status, reason.len ? ": " : "", (int)reason.len, reason.ptr);
    if (reader->err)
        reader->err->retryable = status == WEIR_E_UNAVAILABLE;
    weir_fault_release(&fault);
    return status;
}

/* ---- one part ---- */

static enum weir_status parse(struct weir_metadata_reader *reader,
                              const struct weir_metadata_part *part, struct weir_json **ret)
{
    struct weir_error why;
    if (part->body.len > WEIR_METADATA_BYTES_MAX)
        return weir_fail(reader->err, WEIR_E_TOO_BIG,
                         "the metadata of \"%s\" has a part of more than %zu bytes", reader->name,
                         WEIR_METADATA_BYTES_MAX);
    enum weir_status status = weir_json_parse(part->body, ret, &why);
    if (status != WEIR_OK)
        return weir_fail(reader->err, status, "the metadata of \"%s\" cannot be read: %s",
                         reader->name, why.message);
    return WEIR_OK;
}

/* The list of a part that is one: `{"value": [...]}`. */
static enum weir_status find_list(struct weir_metadata_reader *reader, const struct weir_json *json,
                                  const struct weir_json_node **ret)
{
    return weir_metadata_get(reader, weir_json_root(json), "value", WEIR_JSON_ARRAY, true, ret);
}

static enum weir_status read_definition(struct weir_metadata_reader *reader,
                                        const struct weir_metadata_part *part)
{
    struct weir_json *json;
    enum weir_status status = parse(reader, part, &json);
    if (status != WEIR_OK)
        return status;
    status = weir_metadata_read_definition(reader, weir_json_root(json));
    weir_json_free(json);
    const struct weir_table *table = reader->table;
    if (status == WEIR_OK &&
        !weir_str_equal_nocase(weir_str_from(table->name), weir_str_from(reader->name)))
        return weir_fail(reader->err, WEIR_E_INVALID,
                         "\"%s\" was asked for and the service described \"%s\"", reader->name,
                         table->name);
    return status;
}

static enum weir_status read_cast(struct weir_metadata_reader *reader,
                                  const struct weir_metadata_part *part, size_t place)
{
    struct weir_json *json;
    const struct weir_json_node *value;
    enum weir_status status = parse(reader, part, &json);
    if (status != WEIR_OK)
        return status;
    status = find_list(reader, json, &value);
    if (status == WEIR_OK)
        status = weir_metadata_read_cast(reader, &weir_metadata_casts[place], value);
    weir_json_free(json);
    return status;
}

/* ---- bulk messages ---- */

static enum weir_status read_message(struct weir_metadata_reader *reader,
                                     const struct weir_metadata_part *part, bool *ret)
{
    struct weir_json *json;
    const struct weir_json_node *value;
    enum weir_status status = parse(reader, part, &json);
    if (status != WEIR_OK)
        return status;
    status = find_list(reader, json, &value);
    if (status == WEIR_OK)
        *ret = value->count > 0;
    weir_json_free(json);
    return status;
}

/*
 * A table that has the messages for create and update has the one for upsert. The one for delete is
 * listed for more tables than have it: only elastic ones do.
 */
static void settle_bulk(struct weir_table *table)
{
    bool *bulk = table->bulk;
    bulk[WEIR_BULK_UPSERT] |= bulk[WEIR_BULK_CREATE] && bulk[WEIR_BULK_UPDATE];
    bulk[WEIR_BULK_DELETE] &= table->type == WEIR_TABLE_ELASTIC;
    table->bulk_known = true;
}

/* Sets *ret_part to the part at hand. */
static enum weir_status read_messages(struct weir_metadata_reader *reader,
                                      const struct weir_metadata_part *parts, size_t *ret_part)
{
    bool bulk[WEIR_BULK_MESSAGES] = { false };
    for (size_t i = 0; i < WEIR_BULK_MESSAGES; i++) {
        const struct weir_metadata_part *part = &parts[WEIR_METADATA_MESSAGES + i];
        *ret_part = WEIR_METADATA_MESSAGES + i;
        if (is_withheld(part))
            return WEIR_OK; /* we may not know */
        if (!is_good(part))
            return refuse(reader, part);
        enum weir_status status = read_message(reader, part, &bulk[i]);
        if (status != WEIR_OK)
            return status;
    }
    memcpy(reader->table->bulk, bulk, sizeof(bulk));
    settle_bulk(reader->table);
    return WEIR_OK;
}

/* ---- a table that is not there ---- */

/* The table whose entity set has the name that was asked for; false: there is none. */
static bool find_owner_of_set(const struct weir_metadata_part *part, char *name, size_t name_bytes)
{
    struct weir_json *json;
    bool found = false;
    if (!is_good(part) || part->body.len > WEIR_METADATA_BYTES_MAX ||
        weir_json_parse(part->body, &json, NULL) != WEIR_OK)
        return false;
    const struct weir_json_node *value = weir_json_find(weir_json_root(json), "value");
    const struct weir_json_node *logical = value && value->type == WEIR_JSON_ARRAY
                                               ? weir_json_find(value->first, "LogicalName")
                                               : NULL;
    if (logical && logical->type == WEIR_JSON_STRING && logical->text.len < name_bytes) {
        memcpy(name, logical->text.ptr, logical->text.len);
        name[logical->text.len] = '\0';
        found = true;
    }
    weir_json_free(json);
    return found;
}

static enum weir_status not_found(struct weir_metadata_reader *reader,
                                  const struct weir_metadata_part *set)
{
    char table[WEIR_NAME_BYTES_MAX + 1];
    if (find_owner_of_set(set, table, sizeof(table)))
        return weir_fail(reader->err, WEIR_E_NOT_FOUND,
                         "no table \"%s\" in this environment; it is the entity set of table "
                         "\"%s\", whose logical name is wanted here",
                         reader->name, table);
    return weir_fail(reader->err, WEIR_E_NOT_FOUND, "no table \"%s\" in this environment",
                     reader->name);
}

/* ---- all parts ---- */

/* *ret_part is the part at hand. */
static enum weir_status read_parts(struct weir_metadata_reader *reader,
                                   const struct weir_metadata_part *parts, size_t *ret_part)
{
    *ret_part = WEIR_METADATA_DEFINITION;
    if (parts[WEIR_METADATA_DEFINITION].status == 404 &&
        is_withheld(&parts[WEIR_METADATA_DEFINITION]))
        return not_found(reader, &parts[WEIR_METADATA_SET]);
    for (size_t i = WEIR_METADATA_DEFINITION; i < WEIR_METADATA_MESSAGES; i++) {
        *ret_part = i;
        enum weir_status status;
        if (!is_good(&parts[i]))
            status = refuse(reader, &parts[i]);
        else if (i == WEIR_METADATA_DEFINITION)
            status = read_definition(reader, &parts[i]);
        else
            status = read_cast(reader, &parts[i], i - WEIR_METADATA_CASTS);
        if (status != WEIR_OK)
            return status;
    }
    return read_messages(reader, parts, ret_part);
}

enum weir_status weir_metadata_read(const char *table, const struct weir_metadata_part *parts,
                                    size_t part_count, struct weir_table **ret,
                                    struct weir_error *err)
{
    if (part_count != WEIR_METADATA_PARTS)
        return weir_fail(err, WEIR_E_INVALID,
                         "the service answered %zu of %d questions about table \"%s\"", part_count,
                         WEIR_METADATA_PARTS, table);
    struct weir_metadata_reader reader = { table, weir_calloc(1, sizeof(struct weir_table)), err };
    weir_map_init(&reader.table->column_map);
    size_t part;
    enum weir_status status = read_parts(&reader, parts, &part);
    if (status == WEIR_OK) {
        *ret = reader.table;
        return WEIR_OK;
    }
    weir_table_free(reader.table);
    if (err)
        err->http_status = parts[part].status;
    return status;
}

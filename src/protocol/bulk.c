/* SPDX-License-Identifier: MIT */
/*
 * The bulk messages; see bulk.h. A row is what stands in front of its members, which is short and
 * copied, and its members, which are neither:
 *
 *     {"@odata.type":"Microsoft.Dynamics.CRM.account","accountid":"…",  name and the rest  }
 *     ╰────────────────────────── own ──────────────────────────────╯ ╰──── borrowed ────╯ own
 */
#include "protocol/bulk.h"

#include "base/error.h"
#include "base/limits.h"
#include "protocol/odata.h"

#define NAMESPACE "Microsoft.Dynamics.CRM."
#define TYPE      "{\"@odata.type\":\"" NAMESPACE
#define ID        ",\"@odata.id\":\""
#define PARTITION ",\"" WEIR_PARTITION_COLUMN "\":"

static const struct {
    const char *name;
    enum weir_naming naming;
} messages[WEIR_BULK_MESSAGES] = {
    [WEIR_BULK_CREATE] = { "CreateMultiple", WEIR_NAMING_ID_OR_NONE },
    [WEIR_BULK_UPDATE] = { "UpdateMultiple", WEIR_NAMING_ID },
    [WEIR_BULK_UPSERT] = { "UpsertMultiple", WEIR_NAMING_ID_OR_KEY },
    [WEIR_BULK_DELETE] = { "DeleteMultiple", WEIR_NAMING_ID },
};

const char *weir_bulk_name(enum weir_bulk_message message)
{
    return messages[message].name;
}

size_t weir_bulk_target_bytes(const struct weir_table_names *table,
                              const struct weir_target *target)
{
    size_t bytes = strlen(TYPE "\"}") + table->logical_name.len;
    if (target->id.len)
        bytes += strlen(",\"\":\"\"") + table->primary_id.len + target->id.len;
    if (target->key.len)
        bytes += strlen(ID "()\"") + table->set_name.len + target->key.len;
    if (target->partition.len)
        bytes += strlen(PARTITION) + weir_buf_json_string_bytes(target->partition);
    if (target->members.len)
        bytes += 1 + target->members.len;
    return bytes;
}

enum weir_status weir_bulk_path(enum weir_bulk_message message,
                                const struct weir_table_names *table,
                                const struct weir_request_options *options, struct weir_buf *buf,
                                struct weir_error *err)
{
    enum weir_status status = weir_table_names_check(table, err);
    if (status != WEIR_OK)
        return status;
    weir_buf_add_text(buf, WEIR_API_PATH);
    weir_buf_add(buf, table->set_name.ptr, table->set_name.len);
    weir_buf_add_text(buf, "/" NAMESPACE);
    weir_buf_add_text(buf, messages[message].name);
    if (options->tag && options->tag[0])
        weir_odata_add_query(buf, "tag", weir_str_from(options->tag));
    if (buf->overflow || buf->len > WEIR_URL_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "the address of the %s is longer than %zu bytes",
                         messages[message].name, WEIR_URL_BYTES_MAX);
    return WEIR_OK;
}

static void add(struct weir_gather *body, struct weir_str text)
{
    weir_gather_own(body, text.ptr, text.len);
}

/* `{"@odata.type":"…account","accountid":"`: the same in front of every row, but for the id. */
static void write_opening(const struct weir_table_names *table, struct weir_buf *ret)
{
    weir_buf_printf(ret, TYPE "%.*s\",\"%.*s\":\"", (int)table->logical_name.len,
                    table->logical_name.ptr, (int)table->primary_id.len, table->primary_id.ptr);
}

static void add_id(struct weir_gather *body, const struct weir_buf *opening, struct weir_str id)
{
    char *to = weir_gather_take(body, opening->len + id.len + 1);
    if (!to)
        return;
    memcpy(to, opening->ptr, opening->len);
    memcpy(to + opening->len, id.ptr, id.len);
    to[opening->len + id.len] = '"';
}

static void add_target(struct weir_gather *body, const struct weir_table_names *table,
                       const struct weir_buf *opening, const struct weir_target *target)
{
    if (target->id.len) {
        add_id(body, opening, target->id);
    } else {
        weir_gather_own_text(body, TYPE);
        add(body, table->logical_name);
        weir_gather_own_text(body, "\"");
    }
    if (target->key.len) {
        weir_gather_own_text(body, ID);
        add(body, table->set_name);
        weir_gather_own_text(body, "(");
        add(body, target->key);
        weir_gather_own_text(body, ")\"");
    }
    if (target->partition.len) {
        weir_gather_own_text(body, PARTITION);
        weir_gather_own_json_string(body, target->partition);
    }
    if (target->members.len)
        weir_gather_own_text(body, ",");
    weir_gather_borrow(body, target->members);
    weir_gather_own_text(body, "}");
}

static enum weir_status check_all(enum weir_bulk_message message,
                                  const struct weir_table_names *table,
                                  const struct weir_target *targets, size_t count,
                                  struct weir_error *err)
{
    if (count == 0)
        return weir_fail(err, WEIR_E_INVALID, "a bulk message needs at least one row");
    if (count > WEIR_TARGETS_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "a bulk message takes %d rows at most, not %zu",
                         WEIR_TARGETS_MAX, count);
    enum weir_status status = weir_table_names_check(table, err);
    if (status != WEIR_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        struct weir_error why;
        status = weir_target_check(&targets[i], messages[message].naming, &why);
        if (status != WEIR_OK)
            return weir_fail(err, status, "row %zu of the %s: %s", i, messages[message].name,
                             why.message);
    }
    return WEIR_OK;
}

/* Of names that were checked. */
static size_t opening_max(const struct weir_table_names *table)
{
    return sizeof(TYPE) + 16 + table->logical_name.len + table->primary_id.len;
}

enum weir_status weir_bulk_body(enum weir_bulk_message message,
                                const struct weir_table_names *table,
                                const struct weir_target *targets, size_t count,
                                struct weir_gather *body, struct weir_error *err)
{
    enum weir_status status = check_all(message, table, targets, count, err);
    if (status != WEIR_OK)
        return status;
    struct weir_buf opening;
    weir_buf_init(&opening, opening_max(table));
    write_opening(table, &opening);
    weir_gather_own_text(body, WEIR_BULK_FRAME_BEGIN);
    for (size_t i = 0; i < count; i++) {
        if (i)
            weir_gather_own_text(body, ",");
        add_target(body, table, &opening, &targets[i]);
    }
    weir_gather_own_text(body, WEIR_BULK_FRAME_END);
    weir_buf_release(&opening);
    if (body->overflow)
        return weir_fail(err, WEIR_E_TOO_BIG, "the body of the %s is larger than %zu bytes",
                         messages[message].name, body->bytes_max);
    return WEIR_OK;
}

/* --- rows one by one -------------------------------------------------------------------------- */

void weir_bulk_writer_init(struct weir_bulk_writer *writer, enum weir_bulk_message message,
                           const struct weir_table_names *table)
{
    *writer = (struct weir_bulk_writer){ .message = message, .table = table };
    weir_buf_init(&writer->opening, opening_max(table));
    if (weir_table_names_check(table, NULL) == WEIR_OK)
        write_opening(table, &writer->opening);
}

void weir_bulk_writer_release(struct weir_bulk_writer *writer)
{
    weir_buf_release(&writer->opening);
}

/* What goes by an id that was made into its text needs no other name, and is fine by any message.
 */
size_t weir_bulk_written_bytes(const struct weir_bulk_writer *writer,
                               const struct weir_target *target, const struct weir_guid *id,
                               struct weir_guid *ret_id)
{
    enum weir_naming naming = messages[writer->message].naming;
    *ret_id = id ? *id : (struct weir_guid){ 0 };
    if (!writer->opening.len)
        return 0;
    if ((!id || target->key.len) && weir_target_check_id(target, naming, ret_id, NULL) != WEIR_OK)
        return 0;
    return weir_bulk_target_bytes(writer->table, target);
}

static char *put(char *to, const char *bytes, size_t len)
{
    memcpy(to, bytes, len);
    return to + len;
}

#define PUT(to, literal) put((to), (literal), sizeof(literal) - 1)

/* A text of the row, which is the one that was written from now on. */
static char *put_own(char *to, struct weir_str *text)
{
    char *end = put(to, text->ptr, text->len);
    text->ptr = to;
    return end;
}

static char *put_name(const struct weir_bulk_writer *writer, struct weir_target *target, char *to)
{
    const struct weir_table_names *table = writer->table;
    if (target->id.len) {
        to = put(to, writer->opening.ptr, writer->opening.len);
        to = put_own(to, &target->id);
    } else {
        to = PUT(to, TYPE);
        to = put(to, table->logical_name.ptr, table->logical_name.len);
    }
    to = PUT(to, "\"");
    if (!target->key.len)
        return to;
    to = PUT(to, ID);
    to = put(to, table->set_name.ptr, table->set_name.len);
    to = PUT(to, "(");
    to = put_own(to, &target->key);
    return PUT(to, ")\"");
}

static char *put_partition(struct weir_str partition, char *to)
{
    struct weir_buf string;
    if (!partition.len)
        return to;
    weir_buf_init(&string, weir_buf_json_string_bytes(partition));
    weir_buf_add_json_string(&string, partition);
    to = PUT(to, PARTITION);
    to = put(to, string.ptr, string.len);
    weir_buf_release(&string);
    return to;
}

void weir_bulk_write(const struct weir_bulk_writer *writer, struct weir_target *target, char *to)
{
    to = put_name(writer, target, to);
    to = put_partition(target->partition, to);
    if (target->members.len) {
        to = PUT(to, ",");
        to = put_own(to, &target->members);
    }
    PUT(to, "}");
}

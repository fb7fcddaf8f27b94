/* SPDX-License-Identifier: MIT */
/*
 * Writing the body of a $batch; see batch.h. A part is at most four slices:
 *
 *     --batch_… PATCH /api/… HTTP/1.1   headers          {"accountid":"…",   members    }
 *     ╰───────────── own ───────────╯ ╰─ the batch's ─╯ ╰───── own ──────╯ ╰ borrowed ╯ own
 *
 * No slice begins or ends with a character that a boundary is made of, unless it is our own, so
 * looking for the boundary in each of them by itself suffices.
 */
#include "protocol/batch.h"

#include "base/error.h"
#include "base/limits.h"

#define PART_HEAD    "\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
#define PART_VERSION " HTTP/1.1\r\n"
#define PARTITION    "\"" WEIR_PARTITION_COLUMN "\":"

/* Delimiter, fixed lines, address and request line; and of what stands in front of the members. */
#define HEAD_BYTES_MAX (2 * WEIR_PART_URL_BYTES_MAX)

static bool is_boundary(struct weir_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return text.len > 0 && text.len <= WEIR_BOUNDARY_BYTES_MAX;
}

static bool has_boundary(const struct weir_batch_request *batch, struct weir_str text)
{
    return text.len && memmem(text.ptr, text.len, batch->boundary.ptr, batch->boundary.len);
}

static enum weir_status fail_boundary(struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID,
                     "the boundary occurs in what it is to divide; another one is needed");
}

/* ---- before the first part ---- */

static void remember(struct weir_batch_request *batch, struct weir_str boundary,
                     const struct weir_request_options *options)
{
    struct weir_str tag = weir_str_from(options->tag);
    weir_buf_init(&batch->memory, boundary.len + tag.len);
    weir_buf_add(&batch->memory, boundary.ptr, boundary.len);
    weir_buf_add(&batch->memory, tag.ptr, tag.len);
    batch->boundary = weir_str(batch->memory.ptr, boundary.len);
    batch->tag = weir_str(batch->memory.ptr + boundary.len, tag.len);
}

enum weir_status weir_batch_request_init(struct weir_batch_request *batch, struct weir_str boundary,
                                         const struct weir_request_options *options,
                                         size_t bytes_max, struct weir_error *err)
{
    if (!is_boundary(boundary))
        return weir_fail(err, WEIR_E_INVALID,
                         "a boundary needs 1 to %d letters, digits, hyphens and underscores",
                         WEIR_BOUNDARY_BYTES_MAX);
    enum weir_status status = weir_request_options_check(options, err);
    if (status != WEIR_OK)
        return status;
    *batch = (struct weir_batch_request){ 0 };
    weir_gather_init(&batch->body, bytes_max);
    weir_buf_init(&batch->head, HEAD_BYTES_MAX);
    weir_buf_init(&batch->opening, HEAD_BYTES_MAX);
    remember(batch, boundary, options);
    for (int kind = 0; kind < WEIR_REQUEST_KINDS && status == WEIR_OK; kind++) {
        struct weir_buf *headers = &batch->headers[kind];
        weir_buf_init(headers, WEIR_REQUEST_HEADERS_BYTES);
        weir_request_add_part_headers(headers, options, (enum weir_request_kind)kind);
        if (has_boundary(batch, weir_str(headers->ptr, headers->len)))
            status = fail_boundary(err);
    }
    if (status != WEIR_OK)
        weir_batch_request_release(batch);
    return status;
}

void weir_batch_request_release(struct weir_batch_request *batch)
{
    weir_gather_release(&batch->body);
    weir_buf_release(&batch->memory);
    weir_buf_release(&batch->head);
    weir_buf_release(&batch->opening);
    for (int kind = 0; kind < WEIR_REQUEST_KINDS; kind++)
        weir_buf_release(&batch->headers[kind]);
}

/* ---- the address ---- */

static void add(struct weir_buf *buf, struct weir_str text)
{
    weir_buf_add(buf, text.ptr, text.len);
}

static enum weir_status add_address(struct weir_buf *buf, const struct weir_batch_part *part,
                                    struct weir_error *err)
{
    if (part->kind != WEIR_REQUEST_READ && part->kind != WEIR_REQUEST_CREATE)
        return weir_target_add_address(buf, part->table, &part->target, err);
    add(buf, part->kind == WEIR_REQUEST_READ ? part->path : part->table->set_name);
    return WEIR_OK;
}

static enum weir_status check_path(const struct weir_batch_request *batch,
                                   const struct weir_buf *path, struct weir_error *err)
{
    if (path->overflow)
        return weir_fail(err, WEIR_E_TOO_BIG,
                         "the address of a part of a batch is longer than %zu bytes",
                         WEIR_PART_URL_BYTES_MAX);
    return has_boundary(batch, weir_str(path->ptr, path->len)) ? fail_boundary(err) : WEIR_OK;
}

/* The address of a part at the end of the head; it is short enough and free of the boundary. */
static enum weir_status add_path(struct weir_batch_request *batch,
                                 const struct weir_batch_part *part, struct weir_error *err)
{
    struct weir_buf path;
    weir_buf_init(&path, WEIR_PART_URL_BYTES_MAX);
    weir_buf_add_text(&path, WEIR_API_PATH);
    enum weir_status status = add_address(&path, part, err);
    if (batch->tag.len)
        weir_odata_add_query(&path, "tag", batch->tag);
    if (status == WEIR_OK)
        status = check_path(batch, &path, err);
    if (status == WEIR_OK)
        weir_buf_add(&batch->head, path.ptr, path.len);
    weir_buf_release(&path);
    return status;
}

/* ---- a part ---- */

static bool has_body(const struct weir_batch_part *part)
{
    return part->kind != WEIR_REQUEST_READ && part->kind != WEIR_REQUEST_DELETE;
}

static enum weir_status check_target(const struct weir_batch_part *part, struct weir_error *err)
{
    enum weir_naming naming =
        part->kind == WEIR_REQUEST_CREATE ? WEIR_NAMING_ID_OR_NONE : WEIR_NAMING_ID_OR_KEY;
    enum weir_status status = weir_table_names_check(part->table, err);
    if (status == WEIR_OK)
        status = weir_target_check(&part->target, naming, err);
    if (status == WEIR_OK && part->kind == WEIR_REQUEST_DELETE && part->target.members.len)
        return weir_fail(err, WEIR_E_INVALID,
                         "a row to delete has values, which would be sent to nobody");
    return status;
}

static enum weir_status check_part(const struct weir_batch_request *batch,
                                   const struct weir_batch_part *part, struct weir_error *err)
{
    if (batch->part_count == WEIR_BATCH_PARTS_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "a batch takes %d requests at most",
                         WEIR_BATCH_PARTS_MAX);
    if (part->kind == WEIR_REQUEST_READ) {
        if (!weir_odata_is_address(part->path) || memchr(part->path.ptr, '#', part->path.len))
            return weir_fail(err, WEIR_E_INVALID, "the address to read is empty or not encoded");
        return WEIR_OK;
    }
    enum weir_status status = check_target(part, err);
    bool clash = has_boundary(batch, part->target.members);
    return status == WEIR_OK && clash ? fail_boundary(err) : status;
}

static enum weir_status make_head(struct weir_batch_request *batch,
                                  const struct weir_batch_part *part, struct weir_error *err)
{
    weir_buf_reset(&batch->head);
    weir_buf_add_text(&batch->head, "--");
    add(&batch->head, batch->boundary);
    weir_buf_printf(&batch->head, PART_HEAD "%s ", weir_request_method(part->kind));
    enum weir_status status = add_path(batch, part, err);
    weir_buf_add_text(&batch->head, PART_VERSION);
    return status;
}

/* What stands in front of the members: only a create names its row in the body. */
static enum weir_status make_opening(struct weir_batch_request *batch,
                                     const struct weir_batch_part *part, struct weir_error *err)
{
    struct weir_buf *opening = &batch->opening;
    const struct weir_target *target = &part->target;
    weir_buf_reset(opening);
    weir_buf_add_text(opening, "\r\n");
    if (!has_body(part))
        return WEIR_OK;
    const char *between = "{";
    if (part->kind == WEIR_REQUEST_CREATE && target->id.len) {
        weir_buf_printf(opening, "{\"%.*s\":\"%.*s\"", (int)part->table->primary_id.len,
                        part->table->primary_id.ptr, (int)target->id.len, target->id.ptr);
        between = ",";
    }
    if (part->kind == WEIR_REQUEST_CREATE && target->partition.len) {
        weir_buf_printf(opening, "%s" PARTITION, between);
        weir_buf_add_json_string(opening, target->partition);
        between = ",";
    }
    if (target->members.len || between[0] == '{')
        weir_buf_add_text(opening, between);
    if (opening->overflow)
        return weir_fail(err, WEIR_E_TOO_BIG, "the partition of a row is longer than %zu bytes",
                         HEAD_BYTES_MAX);
    return has_boundary(batch, weir_str(opening->ptr, opening->len)) ? fail_boundary(err) : WEIR_OK;
}

static void add_part(struct weir_batch_request *batch, const struct weir_batch_part *part)
{
    const struct weir_buf *headers = &batch->headers[part->kind];
    weir_gather_own(&batch->body, batch->head.ptr, batch->head.len);
    weir_gather_borrow(&batch->body, weir_str(headers->ptr, headers->len));
    weir_gather_own(&batch->body, batch->opening.ptr, batch->opening.len);
    if (has_body(part)) {
        weir_gather_borrow(&batch->body, part->target.members);
        weir_gather_own_text(&batch->body, "}");
    }
    weir_gather_own_text(&batch->body, "\r\n");
}

/* The last line has its place from the beginning, so that a batch can always be finished. */
static bool is_full(const struct weir_batch_request *batch)
{
    const struct weir_gather *body = &batch->body;
    return body->overflow || body->bytes_max - body->bytes < weir_batch_close_bytes(batch);
}

_Static_assert(5 * WEIR_BATCH_PARTS_MAX < WEIR_GATHER_SLICES_MAX, "slices never run out");

enum weir_status weir_batch_request_add(struct weir_batch_request *batch,
                                        const struct weir_batch_part *part, struct weir_error *err)
{
    enum weir_status status = check_part(batch, part, err);
    if (status == WEIR_OK)
        status = make_head(batch, part, err);
    if (status == WEIR_OK)
        status = make_opening(batch, part, err);
    if (status != WEIR_OK)
        return status;
    struct weir_gather_mark mark = weir_gather_mark(&batch->body);
    add_part(batch, part);
    if (is_full(batch)) {
        weir_gather_rewind(&batch->body, mark);
        return weir_fail(err, WEIR_E_TOO_BIG, "the batch would be larger than %zu bytes",
                         batch->body.bytes_max);
    }
    batch->part_count++;
    return WEIR_OK;
}

enum weir_status weir_batch_request_finish(struct weir_batch_request *batch, struct weir_error *err)
{
    if (batch->part_count == 0)
        return weir_fail(err, WEIR_E_INVALID, "a batch needs at least one request");
    weir_gather_own_text(&batch->body, "--");
    weir_gather_own(&batch->body, batch->boundary.ptr, batch->boundary.len);
    weir_gather_own_text(&batch->body, "--\r\n");
    return WEIR_OK;
}

/* ---- what it weighs ---- */

size_t weir_batch_close_bytes(const struct weir_batch_request *batch)
{
    return strlen("----\r\n") + batch->boundary.len;
}

static size_t path_bytes(const struct weir_batch_request *batch, const struct weir_batch_part *part)
{
    size_t bytes = strlen(WEIR_API_PATH);
    if (part->kind == WEIR_REQUEST_READ)
        bytes += part->path.len;
    else if (part->kind == WEIR_REQUEST_CREATE)
        bytes += part->table->set_name.len;
    else
        bytes += weir_target_address_bytes(part->table, &part->target);
    if (batch->tag.len)
        bytes += strlen("?tag=") + weir_odata_encoded_bytes(batch->tag);
    return bytes;
}

static size_t row_bytes(const struct weir_batch_part *part)
{
    const struct weir_target *target = &part->target;
    size_t members = target->members.len > 0;
    size_t bytes = strlen("{}") + target->members.len;
    if (part->kind == WEIR_REQUEST_CREATE && target->id.len) {
        bytes += strlen("\"\":\"\"") + part->table->primary_id.len + target->id.len;
        members++;
    }
    if (part->kind == WEIR_REQUEST_CREATE && target->partition.len) {
        bytes += strlen(PARTITION) + weir_buf_json_string_bytes(target->partition);
        members++;
    }
    return bytes + (members ? members - 1 : 0); /* and the commas */
}

size_t weir_batch_part_bytes(const struct weir_batch_request *batch,
                             const struct weir_batch_part *part)
{
    size_t head = strlen("--" PART_HEAD " " PART_VERSION) + batch->boundary.len +
                  strlen(weir_request_method(part->kind)) + path_bytes(batch, part);
    size_t body = has_body(part) ? row_bytes(part) : 0;
    return head + batch->headers[part->kind].len + strlen("\r\n\r\n") + body;
}

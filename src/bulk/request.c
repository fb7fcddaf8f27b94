/* SPDX-License-Identifier: MIT */
/* The request of a load; see request.h. */
#include "bulk/request.h"

#include "base/mem.h"
#include "protocol/readback.h"

enum weir_bulk_message weir_request_message(enum weir_operation operation)
{
    static const enum weir_bulk_message messages[] = {
        [WEIR_OPERATION_CREATE] = WEIR_BULK_CREATE,
        [WEIR_OPERATION_UPDATE] = WEIR_BULK_UPDATE,
        [WEIR_OPERATION_UPSERT] = WEIR_BULK_UPSERT,
        [WEIR_OPERATION_DELETE] = WEIR_BULK_DELETE,
    };
    return messages[operation];
}

static enum weir_request_kind kind_of(enum weir_operation operation)
{
    static const enum weir_request_kind kinds[] = {
        [WEIR_OPERATION_CREATE] = WEIR_REQUEST_CREATE,
        [WEIR_OPERATION_UPDATE] = WEIR_REQUEST_UPDATE,
        [WEIR_OPERATION_UPSERT] = WEIR_REQUEST_UPSERT,
        [WEIR_OPERATION_DELETE] = WEIR_REQUEST_DELETE,
    };
    return kinds[operation];
}

/* What the packer has written: the whole message, or rows of it that stand side by side. Empty: not
 * these. */
static struct weir_str written_rows(const struct weir_load *load)
{
    const struct weir_str *first = &weir_load_row(load, 0)->written;
    const char *end = first->ptr + first->len;
    for (uint32_t i = 1; first->len && i < load->row_count; i++) {
        const struct weir_str *next = &weir_load_row(load, i)->written;
        if (!next->len || next->ptr != end + 1)
            return weir_str("", 0);
        end = next->ptr + next->len;
    }
    return weir_str(first->ptr, first->len ? (size_t)(end - first->ptr) : 0);
}

/* False: it has to be written row by row. */
static bool borrow_written(const struct weir_load *load, struct weir_gather *body)
{
    const struct weir_batch *batch = load->batch;
    if (batch->message.len && load->row_count == batch->message_rows) {
        weir_gather_borrow(body, batch->message);
        return !body->overflow;
    }
    struct weir_str rows = written_rows(load);
    if (!batch->message.len || !rows.len)
        return false;
    weir_gather_own_text(body, WEIR_BULK_FRAME_BEGIN);
    weir_gather_borrow(body, rows);
    weir_gather_own_text(body, WEIR_BULK_FRAME_END);
    return !body->overflow;
}

static enum weir_status write_rows(const struct weir_load *load,
                                   const struct weir_request_plan *plan, struct weir_gather *body,
                                   struct weir_error *err)
{
    struct weir_target *targets = weir_realloc(NULL, load->row_count, sizeof(*targets));
    for (uint32_t i = 0; i < load->row_count; i++)
        targets[i] = weir_load_row(load, i)->target;
    enum weir_status status = weir_bulk_body(weir_request_message(plan->operation), plan->table,
                                             targets, load->row_count, body, err);
    free(targets);
    return status;
}

static enum weir_status fill_body(const struct weir_load *load,
                                  const struct weir_request_plan *plan, struct weir_gather *body,
                                  struct weir_error *err)
{
    weir_gather_init(body, plan->body_bytes_max);
    if (load->row_count && borrow_written(load, body))
        return WEIR_OK;
    weir_gather_release(body);
    return write_rows(load, plan, body, err);
}

static enum weir_status fill_bulk(struct weir_load_request *request, const struct weir_load *load,
                                  const struct weir_request_plan *plan, struct weir_error *err)
{
    enum weir_bulk_message message = weir_request_message(plan->operation);
    weir_buf_init(&request->path, WEIR_URL_BYTES_MAX);
    enum weir_status status = fill_body(load, plan, &request->bulk, err);
    if (!status)
        status = weir_bulk_path(message, plan->table, &plan->options, &request->path, err);
    if (status) {
        weir_buf_release(&request->path);
        weir_gather_release(&request->bulk);
        return status;
    }
    weir_request_lines_init(&request->lines, &plan->options, WEIR_REQUEST_CREATE);
    request->body = &request->bulk;
    return WEIR_OK;
}

/* accounts(id)?$select=accountid,createdon */
static enum weir_status add_read(struct weir_load_request *request, const struct weir_row *row,
                                 const struct weir_table_names *table, struct weir_error *err)
{
    struct weir_buf path;
    weir_buf_init(&path, WEIR_PART_URL_BYTES_MAX);
    enum weir_status status = weir_readback_path(table, &row->target, &path, err);
    struct weir_batch_part part = {
        .kind = WEIR_REQUEST_READ,
        .table = table,
        .path = weir_str(weir_buf_text(&path), path.len),
    };
    if (!status)
        status = weir_batch_request_add(&request->batch, &part, err);
    weir_buf_release(&path);
    return status;
}

static enum weir_status add_write(struct weir_load_request *request, const struct weir_row *row,
                                  const struct weir_request_plan *plan, struct weir_error *err)
{
    struct weir_batch_part part = {
        .kind = kind_of(plan->operation),
        .table = plan->table,
        .target = row->target,
    };
    return weir_batch_request_add(&request->batch, &part, err);
}

static enum weir_status fill_batch(struct weir_load_request *request, const struct weir_load *load,
                                   const struct weir_request_plan *plan, struct weir_str boundary,
                                   struct weir_error *err)
{
    struct weir_request_options options = plan->options;
    options.continue_on_error = true;
    enum weir_status status =
        weir_batch_request_init(&request->batch, boundary, &options, plan->body_bytes_max, err);
    if (status)
        return status;
    for (uint32_t i = 0; !status && i < load->row_count; i++) {
        const struct weir_row *row = weir_load_row(load, i);
        status = load->mode == WEIR_LOAD_READ_BACK ? add_read(request, row, plan->table, err)
                                                   : add_write(request, row, plan, err);
    }
    if (!status)
        status = weir_batch_request_finish(&request->batch, err);
    if (status) {
        weir_batch_request_release(&request->batch);
        return status;
    }
    weir_buf_init(&request->path, WEIR_URL_BYTES_MAX);
    weir_buf_add_text(&request->path, WEIR_BATCH_PATH);
    weir_request_lines_init_batch(&request->lines, &options, boundary);
    request->body = &request->batch.body;
    return WEIR_OK;
}

enum weir_status weir_load_request_init(struct weir_load_request *request,
                                        const struct weir_load *load,
                                        const struct weir_request_plan *plan,
                                        struct weir_str boundary, struct weir_error *err)
{
    *request = (struct weir_load_request){ 0 };
    if (load->mode == WEIR_LOAD_BULK)
        return fill_bulk(request, load, plan, err);
    return fill_batch(request, load, plan, boundary, err);
}

void weir_load_request_release(struct weir_load_request *request)
{
    if (!request->body)
        return;
    if (request->body == &request->bulk)
        weir_gather_release(&request->bulk);
    else
        weir_batch_request_release(&request->batch);
    weir_request_lines_release(&request->lines);
    weir_buf_release(&request->path);
    request->body = NULL;
}

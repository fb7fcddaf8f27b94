/* SPDX-License-Identifier: MIT */
/* One $batch of reads: the metadata of a table, and WhoAmI as its last part; see describe.h. */
#include "client/describe.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/rng.h"
#include "client/watchman.h"
#include "protocol/batch.h"
#include "protocol/batch_answer.h"
#include "protocol/item_answer.h"
#include "throttle/http_date.h"

#define PARTS (WEIR_METADATA_PARTS + 1)
#define WHO   WEIR_METADATA_PARTS

static const struct weir_request_options options = { .continue_on_error = true };

static enum weir_status write_batch(char *const *paths, struct weir_str boundary,
                                    struct weir_buf *ret, struct weir_error *err)
{
    struct weir_batch_request batch;
    enum weir_status status =
        weir_batch_request_init(&batch, boundary, &options, WEIR_BODY_BYTES_MAX, err);
    if (status)
        return status;
    for (size_t i = 0; !status && i < PARTS; i++) {
        struct weir_batch_part part = { .kind = WEIR_REQUEST_READ,
                                        .path = weir_str_from(i == WHO ? "WhoAmI" : paths[i]) };
        status = weir_batch_request_add(&batch, &part, err);
    }
    if (!status)
        status = weir_batch_request_finish(&batch, err);
    for (size_t i = 0; !status && i < batch.body.count; i++)
        weir_buf_add(ret, batch.body.slices[i].ptr, batch.body.slices[i].len);
    weir_batch_request_release(&batch);
    return status;
}

/* --- the answer ------------------------------------------------------------------------------- */

static struct weir_metadata_part judge(const struct weir_part_answer *part,
                                       const struct weir_response *outer)
{
    struct weir_item_answer item;
    struct weir_answer answer;
    weir_item_answer_init_part(&item, part, outer->headers, outer->header_count);
    weir_answer_read(&item.http, WEIR_US_PER_S, &answer);
    weir_item_answer_release(&item);
    return (struct weir_metadata_part){ part->status, part->body, answer.verdict.class_ };
}

static int64_t service_time_us(const struct weir_response *response)
{
    const char *date = weir_response_header(response, "Date");
    int64_t now_us = weir_clock_wall_us();
    int64_t seconds;
    return date && weir_http_date_parse(weir_str_from(date), now_us / WEIR_US_PER_S, &seconds)
               ? seconds * WEIR_US_PER_S
               : now_us;
}

static enum weir_status read_parts(const char *name, const struct weir_batch_answer *answer,
                                   const struct weir_response *response,
                                   struct weir_description *ret, struct weir_error *err)
{
    struct weir_metadata_part parts[PARTS];
    struct weir_table *table;
    for (size_t i = 0; i < PARTS; i++)
        parts[i] = judge(&answer->parts[i], response);
    enum weir_status status = weir_metadata_read(name, parts, WEIR_METADATA_PARTS, &table, err);
    if (status)
        return status;
    status = weir_answer_whoami(parts[WHO].body, &ret->who, err);
    if (status) {
        weir_table_free(table);
        return status;
    }
    ret->table = table;
    ret->service_wall_us = service_time_us(response);
    return WEIR_OK;
}

static enum weir_status read_answer(const char *name, const struct weir_response *response,
                                    struct weir_description *ret, struct weir_error *err)
{
    struct weir_batch_answer answer;
    struct weir_str body = weir_str(response->body, response->body_bytes);
    enum weir_status status = weir_batch_answer_read(
        body, weir_response_header(response, "Content-Type"), PARTS, &answer, err);
    if (status)
        return status;
    status = read_parts(name, &answer, response, ret, err);
    weir_batch_answer_release(&answer);
    return status;
}

/* --- the call --------------------------------------------------------------------------------- */

static enum weir_status send_batch(struct weir_client *client, const struct weir_buf *body,
                                   const char *boundary, uint64_t cancel_tag,
                                   struct weir_response *ret, struct weir_error *err)
{
    char type[sizeof("multipart/mixed;boundary=") + WEIR_BOUNDARY_BYTES_MAX];
    snprintf(type, sizeof(type), "multipart/mixed;boundary=%s", boundary);
    const struct weir_http_header headers[] = {
        { "Content-Type", type },
        { "Prefer", "odata.continue-on-error" },
        { "Accept", "multipart/mixed" },
    };
    struct weir_request request = {
        .method = "POST",
        .path = WEIR_BATCH_PATH,
        .headers = headers,
        .header_count = sizeof(headers) / sizeof(headers[0]),
        .body = body->ptr,
        .body_bytes = body->len,
        .repeatable = true, /* it only reads */
        .cancel_tag = cancel_tag,
    };
    return weir_execute(client, &request, ret, err);
}

/* A table that is not there: the names of all are asked for, once, and the one that was probably
 * meant is named, unless the message does already. */
static void suggest(struct weir_client *client, const char *table, uint64_t cancel_tag,
                    struct weir_error *err)
{
    struct weir_response response = { 0 };
    struct weir_request request = { .method = "GET",
                                    .path = WEIR_API_PATH WEIR_METADATA_NAMES_PATH,
                                    .repeatable = true,
                                    .cancel_tag = cancel_tag };
    char name[WEIR_NAME_BYTES_MAX + 1], quoted[sizeof(name) + 2];
    struct weir_error why = *err;
    if (weir_execute(client, &request, &response, NULL) == WEIR_OK &&
        weir_metadata_nearest(table, weir_str(response.body, response.body_bytes), name,
                              sizeof(name))) {
        snprintf(quoted, sizeof(quoted), "\"%s\"", name);
        if (!strstr(why.message, quoted))
            weir_fail(err, why.status, "%s; did you mean %s?", why.message, quoted);
        err->http_status = why.http_status;
    }
    weir_response_release(&response);
}

struct question {
    struct weir_client *client;
    const char *table;
    struct weir_description *ret;
};

static enum weir_status ask_once(void *ctx, uint64_t cancel_tag, struct weir_error *err)
{
    const struct question *it = ctx;
    char *paths[WEIR_METADATA_PARTS];
    char boundary[40];
    struct weir_buf body;
    struct weir_response response = { 0 };
    enum weir_status status = weir_metadata_paths(it->table, paths, err);
    if (status)
        return status;
    snprintf(boundary, sizeof(boundary), "batch_%016llx",
             (unsigned long long)weir_rng_system_seed());
    weir_buf_init(&body, WEIR_BODY_BYTES_MAX);
    status = write_batch(paths, weir_str_from(boundary), &body, err);
    if (!status)
        status = send_batch(it->client, &body, boundary, cancel_tag, &response, err);
    if (!status)
        status = read_answer(it->table, &response, it->ret, err);
    if (status == WEIR_E_NOT_FOUND && err && err->http_status == 404)
        suggest(it->client, it->table, cancel_tag, err);
    weir_response_release(&response);
    weir_buf_release(&body);
    weir_metadata_paths_free(paths);
    return status;
}

enum weir_status weir_client_describe(struct weir_client *client, const char *table,
                                      struct weir_patience patience, struct weir_description *ret,
                                      struct weir_error *err)
{
    struct question question = { client, table, ret };
    return weir_watchman_insist(client, patience, ask_once, &question, err);
}

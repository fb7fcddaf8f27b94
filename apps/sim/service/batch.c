/* SPDX-License-Identifier: MIT */
/*
 * $batch in two passes over the same body: the first reads everything and executes nothing, the
 * second executes and answers part by part. The parts of the answer are in the order of those of
 * the request:
 *
 *     --batchresponse_…            --batchresponse_…
 *     application/http             multipart/mixed; boundary=changesetresponse_…
 *                                      --changesetresponse_…     one each, or only the one that
 * failed
 */
#include "sim/service/batch.h"

#include "sim/service/api_internal.h"
#include "sim/service/batch_refs.h"
#include "sim/service/multipart.h"
#include "sim/service/render.h"

#define PAYLOAD_ERROR "0x80048d19"

struct batch {
    struct sim_api *api;
    const struct sim_call *call;
    sim_part_gate *gate; /* NULL: every request runs */
    void *gate_ctx;
    struct weir_str boundary;
    bool go_on; /* after a failure */
    char response[SIM_GUID_TEXT];
    struct sim_answer part; /* of the request that is being executed */
    struct weir_buf *body;  /* of the answer */
    int failed;             /* status of the first request that failed; 0: none */
};

/* ---- the first pass ---- */

static struct weir_str header(const struct sim_part *part, const char *name)
{
    return sim_http_header(part->headers, part->header_count, name);
}

static bool has_type(const struct sim_part *part, const char *type)
{
    struct weir_str value = header(part, "Content-Type");
    const char *end = value.ptr ? memchr(value.ptr, ';', value.len) : NULL;
    if (end)
        value.len = (size_t)(end - value.ptr);
    return weir_str_equal_nocase(weir_str_trim(value), weir_str_from(type));
}

static bool is_method(struct weir_str method, bool writes_only)
{
    static const char *const methods[] = { "GET", "POST", "PATCH", "PUT", "DELETE" };
    for (size_t i = writes_only; i < sizeof(methods) / sizeof(*methods); i++) {
        if (weir_str_equal(method, weir_str_from(methods[i])))
            return true;
    }
    return false;
}

/* Why a body is refused. */
enum flaw {
    FLAW_NONE,
    FLAW_UNREADABLE,
    FLAW_PART_TYPE,
    FLAW_ENCODING,
    FLAW_REQUEST,
    FLAW_METHOD,
    FLAW_CHANGE_SET_METHOD,
    FLAW_CONTENT_ID,
    FLAW_TOO_MANY,
};

static const char *const flaw_texts[] = {
    [FLAW_UNREADABLE] =
        "Error identified in Payload provided by the user for Entity :'', For more information on "
        "this error please follow this help link https://go.microsoft.com/fwlink/?linkid=2195293 "
        " ---->  InnerException : System.ArgumentException: Stream was not readable.",
    [FLAW_PART_TYPE] = "The content type of a batch part must be 'application/http' or "
                       "'multipart/mixed' with a boundary, and change sets must not be nested.",
    [FLAW_ENCODING] = "The header 'Content-Transfer-Encoding' of a batch part must be 'binary'.",
    [FLAW_REQUEST] = "The request line or a header of a batch part is invalid.",
    [FLAW_METHOD] = "The HTTP method of a batch part is invalid.",
    [FLAW_CHANGE_SET_METHOD] = "An invalid HTTP method was detected for a request in a change set. "
                               "Requests in change sets only support the HTTP methods 'POST', "
                               "'PUT', 'DELETE' and 'PATCH'.",
    [FLAW_CONTENT_ID] = "Each request in a change set must have a 'Content-ID' header with a value "
                        "that is unique within the change set.",
    [FLAW_TOO_MANY] = "The current batch message contains too many parts. A maximum number of "
                      "'1000' requests are allowed in a batch message.",
};

static struct weir_str content_id(const struct sim_part *part,
                                  const struct sim_part_request *request)
{
    struct weir_str id = header(part, "Content-ID");
    return id.ptr ? id : sim_http_header(request->headers, request->header_count, "Content-ID");
}

static enum flaw read_request(const struct sim_part *part, bool change_set,
                              struct sim_part_request *ret)
{
    if (!has_type(part, "application/http"))
        return FLAW_PART_TYPE;
    struct weir_str encoding = header(part, "Content-Transfer-Encoding");
    if (!weir_str_equal_nocase(encoding, weir_str_from("binary")))
        return FLAW_ENCODING;
    if (!sim_part_request_parse(part->content, ret))
        return FLAW_REQUEST;
    if (!is_method(ret->method, false))
        return FLAW_METHOD;
    return change_set && !is_method(ret->method, true) ? FLAW_CHANGE_SET_METHOD : FLAW_NONE;
}

static enum flaw check_change_set(const struct sim_part *outer, uint32_t *requests)
{
    struct weir_str boundary;
    if (!sim_multipart_boundary(header(outer, "Content-Type"), &boundary))
        return FLAW_PART_TYPE;
    struct sim_multipart inner;
    sim_multipart_init(&inner, outer->content, boundary, true);
    struct sim_refs seen;
    sim_refs_init(&seen);
    enum flaw flaw = FLAW_NONE;
    while (flaw == FLAW_NONE && !inner.ended) {
        struct sim_part part;
        struct sim_part_request request;
        enum sim_multipart_step step = sim_multipart_next(&inner, &part);
        if (step == SIM_MULTIPART_END)
            break;
        flaw = step == SIM_MULTIPART_BROKEN ? FLAW_UNREADABLE : read_request(&part, true, &request);
        if (flaw == FLAW_NONE && !sim_refs_add(&seen, content_id(&part, &request), weir_str("", 0)))
            flaw = FLAW_CONTENT_ID;
        if (flaw == FLAW_NONE && ++*requests > SIM_BATCH_REQUESTS_MAX)
            flaw = FLAW_TOO_MANY;
    }
    sim_refs_release(&seen);
    return flaw;
}

static enum flaw check(struct weir_str body, struct weir_str boundary, uint32_t *requests)
{
    struct sim_multipart outer;
    sim_multipart_init(&outer, body, boundary, false);
    for (;;) {
        struct sim_part part;
        struct sim_part_request request;
        enum sim_multipart_step step = sim_multipart_next(&outer, &part);
        if (step != SIM_MULTIPART_PART)
            return step == SIM_MULTIPART_END ? FLAW_NONE : FLAW_UNREADABLE;
        enum flaw flaw = FLAW_NONE;
        if (has_type(&part, "multipart/mixed"))
            flaw = check_change_set(&part, requests);
        else if (++*requests <= SIM_BATCH_REQUESTS_MAX)
            flaw = read_request(&part, false, &request);
        if (flaw == FLAW_NONE && *requests > SIM_BATCH_REQUESTS_MAX)
            flaw = FLAW_TOO_MANY;
        if (flaw != FLAW_NONE)
            return flaw;
    }
}

/* ---- answers ---- */

static struct weir_str answer_header(const struct sim_answer *answer, const char *name)
{
    struct weir_str rest = weir_str(answer->headers.ptr, answer->headers.len);
    size_t len = strlen(name);
    while (rest.len) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        size_t end = newline ? (size_t)(newline - rest.ptr) + 1 : rest.len;
        if (end > len && rest.ptr[len] == ':' && weir_str_starts_nocase(rest, name))
            return weir_str_trim(weir_str(rest.ptr + len + 1, end - len - 1));
        rest = weir_str(rest.ptr + end, rest.len - end);
    }
    return weir_str(NULL, 0);
}

static void put_response(struct batch *b, struct weir_buf *out, const char *kind, const char *guid,
                         struct weir_str id)
{
    const struct sim_answer *part = &b->part;
    weir_buf_printf(out, "--%s_%s\r\nContent-Type: application/http\r\n", kind, guid);
    weir_buf_add_text(out, "Content-Transfer-Encoding: binary\r\n");
    if (id.ptr)
        weir_buf_printf(out, "Content-ID: %.*s\r\n", (int)id.len, id.ptr);
    weir_buf_printf(out, "\r\nHTTP/1.1 %d %s\r\n", part->status, sim_http_reason(part->status));
    if (part->status >= 400 && !answer_header(part, "REQ_ID").ptr) {
        char request[SIM_GUID_TEXT];
        sim_guid_print(sim_guid_make(&b->api->rng), request);
        weir_buf_printf(out, "REQ_ID: %s\r\n", request);
    }
    weir_buf_add(out, part->headers.ptr, part->headers.len);
    weir_buf_add_text(out, "\r\n");
    weir_buf_add(out, part->body.ptr, part->body.len);
    weir_buf_add_text(out, "\r\n");
}

/* ---- the second pass ---- */

/* Execute one request; its answer is in b->part. False: it failed. */
static bool run_call(struct batch *b, const struct sim_call *call)
{
    struct sim_url url;
    bool nested = sim_url_parse(call->target, &url) && url.kind == SIM_URL_BATCH;
    sim_url_release(&url);
    if (nested)
        sim_answer_error(&b->part, 400, PAYLOAD_ERROR,
                         "A batch request cannot contain other batch requests.");
    else if (!b->gate || b->gate(b->gate_ctx, call, &b->part))
        sim_api_dispatch(b->api, call, &b->part);
    if (b->part.status >= 400 && !b->failed)
        b->failed = b->part.status;
    return b->part.status < 400;
}

static bool run_request(struct batch *b, const struct sim_part_request *request,
                        const struct sim_refs *refs)
{
    struct weir_buf target, body;
    weir_buf_init(&target, 2 * SIM_URL_BATCH_BYTES_MAX);
    weir_buf_init(&body, SIM_ANSWER_BYTES_MAX);
    struct sim_call call = { .method = request->method,
                             .target = request->target,
                             .headers = request->headers,
                             .header_count = request->header_count,
                             .body = request->body,
                             .user = b->call->user,
                             .wall_us = b->call->wall_us };
    sim_answer_reset(&b->part);
    bool ok = sim_refs_resolve(refs, &call, &target, &body, &b->part);
    if (ok)
        ok = run_call(b, &call);
    else if (!b->failed)
        b->failed = b->part.status;
    weir_buf_release(&target);
    weir_buf_release(&body);
    return ok;
}

/* The requests of a change set up to the first that fails. True: none did. */
static bool run_change_set_requests(struct batch *b, struct sim_multipart *inner, const char *guid,
                                    struct weir_buf *out)
{
    struct sim_refs refs;
    sim_refs_init(&refs);
    bool ok = true;
    struct sim_part part;
    while (ok && sim_multipart_next(inner, &part) == SIM_MULTIPART_PART) {
        struct sim_part_request request;
        read_request(&part, true, &request);
        struct weir_str id = content_id(&part, &request);
        ok = run_request(b, &request, &refs);
        if (!ok)
            weir_buf_reset(out);
        else if (answer_header(&b->part, "OData-EntityId").ptr)
            sim_refs_add(&refs, id, answer_header(&b->part, "OData-EntityId"));
        put_response(b, out, "changesetresponse", guid, id);
    }
    sim_refs_release(&refs);
    return ok;
}

static bool run_change_set(struct batch *b, const struct sim_part *part)
{
    char guid[SIM_GUID_TEXT];
    sim_guid_print(sim_guid_make(&b->api->rng), guid);
    struct weir_str boundary;
    struct sim_multipart inner;
    sim_multipart_boundary(header(part, "Content-Type"), &boundary);
    sim_multipart_init(&inner, part->content, boundary, true);
    struct weir_buf out;
    weir_buf_init(&out, SIM_ANSWER_BYTES_MAX);

    struct sim_savepoint savepoint = sim_txn_begin(&b->api->txn);
    bool ok = run_change_set_requests(b, &inner, guid, &out);
    if (ok)
        sim_txn_commit(&b->api->txn, savepoint);
    else
        sim_txn_rollback(&b->api->txn, savepoint);

    weir_buf_printf(b->body, "--batchresponse_%s\r\nContent-Type: multipart/mixed; ", b->response);
    weir_buf_printf(b->body, "boundary=changesetresponse_%s\r\n\r\n", guid);
    weir_buf_add(b->body, out.ptr, out.len);
    weir_buf_printf(b->body, "--changesetresponse_%s--\r\n", guid);
    weir_buf_release(&out);
    return ok;
}

static bool run_part(struct batch *b, const struct sim_part *part)
{
    if (has_type(part, "multipart/mixed"))
        return run_change_set(b, part);
    struct sim_part_request request;
    struct sim_refs none;
    sim_refs_init(&none);
    read_request(part, false, &request);
    bool ok = run_request(b, &request, &none);
    put_response(b, b->body, "batchresponse", b->response, weir_str(NULL, 0));
    sim_refs_release(&none);
    return ok;
}

static void run(struct batch *b)
{
    struct sim_multipart outer;
    sim_multipart_init(&outer, b->call->body, b->boundary, false);
    struct sim_part part;
    while (sim_multipart_next(&outer, &part) == SIM_MULTIPART_PART) {
        if (!run_part(b, &part) && !b->go_on)
            return;
    }
}

/* ---- the whole ---- */

static void answer_flaw(struct batch *b, enum flaw flaw, struct sim_answer *answer)
{
    if (flaw != FLAW_UNREADABLE) {
        sim_answer_error(answer, 400, PAYLOAD_ERROR, "%s", flaw_texts[flaw]);
        return;
    }
    /* The service finds out while it answers, hence inside of a part. */
    sim_answer_error(&b->part, 400, PAYLOAD_ERROR, "%s", flaw_texts[flaw]);
    b->failed = 400;
    put_response(b, b->body, "batchresponse", b->response, weir_str(NULL, 0));
}

static void finish(struct batch *b, struct sim_answer *answer)
{
    weir_buf_printf(b->body, "--batchresponse_%s--\r\n", b->response);
    if (b->body->overflow) {
        sim_answer_error(answer, 500, "0x80040216", "An unexpected error occurred.");
        return;
    }
    answer->status = b->failed && !b->go_on ? b->failed : 200;
    sim_answer_header(answer, "Content-Type", "multipart/mixed; boundary=batchresponse_%s",
                      b->response);
}

static bool open_batch(struct batch *b, struct sim_answer *answer)
{
    const struct sim_call *call = b->call;
    struct sim_prefer prefer;
    struct weir_str type = sim_http_header(call->headers, call->header_count, "Content-Type");
    if (!weir_str_equal(call->method, weir_str_from("POST"))) {
        sim_answer_error(answer, 405, "0x8006088a",
                         "The requested resource does not support http method '%.*s'.",
                         is_method(call->method, false) ? (int)call->method.len : 0,
                         call->method.ptr);
        return false;
    }
    if (!sim_prefer_parse(call->headers, call->header_count, &prefer, answer))
        return false;
    b->go_on = prefer.continue_on_error;
    if (!type.ptr || !sim_multipart_boundary(type, &b->boundary)) {
        sim_answer_error(answer, 400, PAYLOAD_ERROR,
                         "The batch request must have 'multipart/mixed' as the media type and a "
                         "boundary specification in the 'Content-Type' header.");
        return false;
    }
    if (!call->body.len) {
        sim_answer_error(answer, 400, PAYLOAD_ERROR,
                         "The 'Content' property on the batch request cannot be null.");
        return false;
    }
    return true;
}

void sim_batch_execute(struct sim_api *api, const struct sim_call *call, sim_part_gate *gate,
                       void *gate_ctx, struct sim_answer *answer)
{
    struct batch b = { .api = api,
                       .call = call,
                       .gate = api->switches.throttle_inside_batch ? gate : NULL,
                       .gate_ctx = gate_ctx,
                       .body = &answer->body };
    if (!open_batch(&b, answer))
        return;
    sim_guid_print(sim_guid_make(&api->rng), b.response);
    sim_answer_init(&b.part);
    uint32_t requests = 0;
    enum flaw flaw = check(call->body, b.boundary, &requests);
    if (flaw == FLAW_NONE)
        run(&b);
    else
        answer_flaw(&b, flaw, answer);
    if (flaw == FLAW_NONE || flaw == FLAW_UNREADABLE)
        finish(&b, answer);
    sim_answer_release(&b.part);
}

uint32_t sim_batch_count(const struct sim_call *call)
{
    struct weir_str type = sim_http_header(call->headers, call->header_count, "Content-Type");
    struct weir_str boundary;
    uint32_t requests = 0;
    if (!type.ptr || !call->body.len || !sim_multipart_boundary(type, &boundary) ||
        check(call->body, boundary, &requests) != FLAW_NONE)
        return 1;
    return requests ? requests : 1;
}

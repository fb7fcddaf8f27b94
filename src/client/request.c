/* SPDX-License-Identifier: MIT */
/*
 * Whether a request of the caller's can be sent, and the head that it gets. What can stand in a
 * request at all is the transport's to judge, and is asked of it before a lease is taken: a
 * caller's mistake must not look like a failure of the service. See weir/execute.h.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "protocol/odata.h"

/* Who sends, and how the answer is packed, is not the caller's to say. */
static bool is_ours(const char *name)
{
    static const char *const ours[] = { "Authorization", "Cookie", "Accept-Encoding" };
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        if (strcasecmp(name, ours[i]) == 0)
            return true;
    }
    return false;
}

/* What the head is made of must be there before it can be judged as a whole. */
static enum weir_status check_headers(const struct weir_request *request, struct weir_error *err)
{
    size_t bytes = 0;
    if (request->header_count > WEIR_REQUEST_OWN_HEADERS_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "%zu headers are too many; %d can be given",
                         request->header_count, WEIR_REQUEST_OWN_HEADERS_MAX);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct weir_http_header *header = &request->headers[i];
        if (!header->name || !header->value || is_ours(header->name))
            return weir_fail(err, WEIR_E_INVALID, "the header \"%s\" cannot be sent",
                             header->name ? header->name : "");
        bytes += strlen(header->name) + strlen(header->value) + 2;
    }
    if (bytes > WEIR_REQUEST_OWN_BYTES_MAX)
        return weir_fail(err, WEIR_E_TOO_BIG, "headers of %zu bytes are too much; %d can be sent",
                         bytes, WEIR_REQUEST_OWN_BYTES_MAX);
    return WEIR_OK;
}

enum weir_status weir_request_check(const struct weir_request *request, struct weir_error *err)
{
    if (!request->method || !request->path || !request->path[0])
        return weir_fail(err, WEIR_E_INVALID, "a request needs a method and a path");
    if (request->path[0] == '/' && request->path[1] == '/')
        return weir_fail(err, WEIR_E_INVALID, "the path \"%s\" begins like another host",
                         request->path);
    if (!request->body && request->body_bytes)
        return weir_fail(err, WEIR_E_INVALID, "the body of %zu bytes is NULL", request->body_bytes);
    return check_headers(request, err);
}

enum weir_status weir_request_head_check(const struct weir_request_head *head,
                                         const struct weir_request *request, struct weir_error *err)
{
    struct weir_exchange_request exchange = {
        .method = request->method,
        .target = head->target,
        .headers = head->lines,
        .header_count = head->line_count,
    };
    const char *problem = weir_exchange_problem(&exchange);
    if (!problem)
        return WEIR_OK;
    return weir_fail(err, WEIR_E_INVALID, "\"%s %s\" cannot be sent: %s", request->method,
                     request->path, problem);
}

/* --- the head --------------------------------------------------------------------------------- */

static enum weir_request_kind kind_of(const struct weir_request *request)
{
    if (strcmp(request->method, "GET") == 0)
        return WEIR_REQUEST_READ;
    if (strcmp(request->method, "DELETE") == 0)
        return WEIR_REQUEST_DELETE;
    return strcmp(request->method, "POST") == 0 ? WEIR_REQUEST_CREATE : WEIR_REQUEST_UPSERT;
}

static bool is_given(const struct weir_request *request, struct weir_str name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (weir_str_equal_nocase(weir_str_from(request->headers[i].name), name))
            return true;
    }
    return false;
}

/* The usual "If-None-Match: null" would contradict a condition of the caller's. */
static bool is_replaced(const struct weir_request *request, const char *line)
{
    struct weir_str name = weir_str(line, strcspn(line, ":"));
    bool conditional = weir_str_equal(name, weir_str_from("If-None-Match"));
    return is_given(request, name) || (conditional && is_given(request, weir_str_from("If-Match")));
}

/* The buffer moves while it grows: all lines are written first, and pointed to then. */
static void add_own(struct weir_request_head *head, const struct weir_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        weir_buf_printf(&head->own, "%s: %s", request->headers[i].name, request->headers[i].value);
        weir_buf_add_char(&head->own, '\0');
    }
    const char *end = weir_buf_text(&head->own) + head->own.len;
    for (const char *at = weir_buf_text(&head->own); at < end; at += strlen(at) + 1)
        head->lines[head->line_count++] = at;
}

void weir_request_head_init(struct weir_request_head *head, const struct weir_request *request)
{
    static const struct weir_request_options none;
    *head = (struct weir_request_head){ 0 };
    weir_request_lines_init(&head->usual, &none, kind_of(request));
    for (size_t i = 0; i < head->usual.count; i++) {
        if (!is_replaced(request, head->usual.lines[i]))
            head->lines[head->line_count++] = head->usual.lines[i];
    }
    weir_buf_init(&head->own, WEIR_REQUEST_HEAD_BYTES_MAX);
    add_own(head, request);
    const char *root = request->path[0] == '/' ? "" : WEIR_API_PATH;
    size_t bytes = strlen(root) + strlen(request->path) + 1;
    head->target = weir_calloc(bytes, 1);
    snprintf(head->target, bytes, "%s%s", root, request->path);
}

void weir_request_head_release(struct weir_request_head *head)
{
    weir_request_lines_release(&head->usual);
    weir_buf_release(&head->own);
    free(head->target);
}

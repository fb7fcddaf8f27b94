/* SPDX-License-Identifier: MIT */
/* One connection's way to the Web API; see link.h. */
#include "client/link.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/url.h"
#include "throttle/catalogue.h"

/* A token that follows on one that was refused gets one chance. */
#define SPURNED_MAX 2

enum weir_status weir_link_init(struct weir_link *link, struct weir_loop *loop,
                                const struct weir_options *options, size_t connection,
                                const struct weir_log_sink *sink, struct weir_error *err)
{
    *link = (struct weir_link){
        .loop = loop,
        .options = options,
        .sink = sink,
        .name = options->connections[connection].name,
    };
    const char *problem = weir_url_problem(weir_str_from(options->url));
    if (problem)
        return weir_fail(err, WEIR_E_INVALID, "the url is \"%s\"%s; it must be " WEIR_URL_RIGHT,
                         options->url ? options->url : "", problem);
    return weir_tokens_new(loop, options, connection, sink, &link->tokens, err);
}

void weir_link_release(struct weir_link *link)
{
    weir_transport_free(link->transport);
    weir_tokens_free(link->tokens);
    *link = (struct weir_link){ 0 };
}

/* --- heads ------------------------------------------------------------------------------------ */

struct weir_call {
    struct weir_link *link;
    struct weir_exchange *exchange;
    uint64_t token_serial;
    weir_call_done *done;
    void *ctx;
    char *authorization;  /* a line of its own, because it is wiped */
    struct weir_buf head; /* the lines that are made for this call, with a 0 after each */
    const char *lines[WEIR_REQUEST_HEADERS_MAX];
    size_t line_count;
};

/* What every request says unless it says otherwise. */
static const struct {
    const char *name;
    const char *line;
} usual[] = {
    { "Accept", "Accept: application/json" },
    { "OData-Version", "OData-Version: 4.0" },
    { "OData-MaxVersion", "OData-MaxVersion: 4.0" },
    { "If-None-Match", "If-None-Match: null" },
    { "Content-Type", "Content-Type: application/json" },
};

static bool is_given(const struct weir_call_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (weir_str_equal_nocase(weir_str_from(request->headers[i].name), weir_str_from(name)))
            return true;
    }
    return false;
}

/* "If-None-Match: null" would contradict a condition; a body that is not there has no type. */
static bool is_wanted(const struct weir_call_request *request, const char *name)
{
    if (strcmp(name, "If-None-Match") == 0 && is_given(request, "If-Match"))
        return false;
    if (strcmp(name, "Content-Type") == 0 && !request->body_count)
        return false;
    return !is_given(request, name);
}

static void add_line(struct weir_call *call, const char *line)
{
    assert(call->line_count < WEIR_REQUEST_HEADERS_MAX);
    call->lines[call->line_count++] = line;
}

/* The buffer moves while it grows: first all of its lines are written, then they are pointed to. */
static void write_lines(struct weir_call *call, const struct weir_call_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        weir_buf_printf(&call->head, "%s: %s", request->headers[i].name, request->headers[i].value);
        weir_buf_add_char(&call->head, '\0');
    }
    if (request->affinity) {
        weir_buf_printf(&call->head, "Cookie: ARRAffinity=%s", request->affinity);
        weir_buf_add_char(&call->head, '\0');
    }
    const char *end = weir_buf_text(&call->head) + call->head.len;
    for (const char *at = weir_buf_text(&call->head); at < end; at += strlen(at) + 1)
        add_line(call, at);
}

static void make_head(struct weir_call *call, const struct weir_token *token,
                      const struct weir_call_request *request)
{
    static const char bearer[] = "Authorization: Bearer ";
    size_t bytes = sizeof(bearer) + strlen(token->text);
    call->authorization = weir_calloc(bytes, 1);
    snprintf(call->authorization, bytes, "%s%s", bearer, token->text);
    add_line(call, call->authorization);
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        if (is_wanted(request, usual[i].name))
            add_line(call, usual[i].line);
    }
    weir_buf_init(&call->head, WEIR_REQUEST_HEAD_BYTES_MAX);
    write_lines(call, request);
}

/* --- answers ---------------------------------------------------------------------------------- */

static int64_t span_us(int64_t from_us, int64_t to_us)
{
    return from_us && to_us > from_us ? to_us - from_us : 0;
}

static void judge(const struct weir_exchange_answer *exchange, struct weir_call_answer *ret)
{
    bool is_error = exchange->ending == WEIR_ENDING_COMPLETE &&
                    (exchange->status < 200 || exchange->status > 299);
    if (is_error)
        weir_fault_read(exchange->body, &ret->fault);
    struct weir_http_answer http = {
        .status = exchange->status,
        .sent = exchange->sent,
        .headers = exchange->headers,
        .header_count = exchange->header_count,
        .duration_us = span_us(exchange->begun_us, exchange->done_us),
        .ttfb_us = span_us(exchange->sent_us, exchange->first_byte_us),
    };
    weir_fault_tell(&ret->fault, &http);
    weir_answer_read(&http, 0, &ret->answer);
    ret->exchange = exchange;
}

/* Tokens that were refused in a row; the same token is counted once, however many requests had it.
 */
static void learn_refusal(struct weir_link *link, uint64_t serial,
                          const struct weir_call_answer *answer)
{
    const struct weir_verdict *verdict = &answer->answer.verdict;
    if (verdict->http_status == 0)
        return;
    if (verdict->class_ != WEIR_CLASS_BAD_CREDENTIALS) {
        if (serial > link->spurned_serial)
            link->spurned_in_a_row = 0;
        return;
    }
    weir_tokens_spurned(link->tokens, serial);
    if (serial > link->spurned_serial) {
        link->spurned_serial = serial;
        link->spurned_in_a_row++;
    }
    bool is_user = weir_catalogue_kind(verdict->code, answer->fault.message) == WEIR_FAULT_USER;
    link->broken |= is_user || link->spurned_in_a_row >= SPURNED_MAX;
}

static void free_call(struct weir_call *call)
{
    explicit_bzero(call->authorization, strlen(call->authorization));
    free(call->authorization);
    weir_buf_release(&call->head);
    free(call);
}

static void on_answer(void *ctx, const struct weir_exchange_answer *exchange)
{
    struct weir_call *call = ctx;
    struct weir_call_answer answer = { 0 };
    judge(exchange, &answer);
    learn_refusal(call->link, call->token_serial, &answer);
    answer.broken = call->link->broken;
    weir_call_done *done = call->done;
    void *done_ctx = call->ctx;
    free_call(call);
    done(done_ctx, &answer);
    weir_fault_release(&answer.fault);
}

/* --- calls ------------------------------------------------------------------------------------ */

static struct weir_transport *transport_of(struct weir_link *link)
{
    if (link->transport)
        return link->transport;
    struct weir_transport_options options = {
        .origin = link->options->url,
        .connection_name = link->name,
        .proxy = link->options->proxy,
        .ca_file = link->options->ca_file,
        .http = link->options->http,
        .sink = link->sink,
    };
    weir_transport_new(link->loop, &options, &link->transport, NULL);
    assert(link->transport && "weir_link_init() has judged the address");
    return link->transport;
}

struct weir_call *weir_link_send(struct weir_link *link, const struct weir_token *token,
                                 const struct weir_call_request *request, weir_call_done *done,
                                 void *ctx)
{
    struct weir_call *call = weir_calloc(1, sizeof(*call));
    call->link = link;
    call->token_serial = token->serial;
    call->done = done;
    call->ctx = ctx;
    make_head(call, token, request);
    struct weir_exchange_request exchange = {
        .method = request->method,
        .target = request->target,
        .headers = call->lines,
        .header_count = call->line_count,
        .body = request->body,
        .body_count = request->body_count,
    };
    call->exchange = weir_transport_send(transport_of(link), &exchange, on_answer, call);
    return call;
}

void weir_call_cancel(struct weir_call *call)
{
    weir_exchange_cancel(call->exchange);
}

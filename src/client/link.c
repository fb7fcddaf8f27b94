/* SPDX-License-Identifier: MIT */
/* One connection's way to the Web API; see link.h. */
#include "client/link.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/origin.h"
#include "throttle/catalogue.h"
#include "throttle/signal.h"

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
    struct weir_str url = weir_str_from(options->url);
    link->origin = weir_strndup(url.ptr, url.len - (url.len && url.ptr[url.len - 1] == '/'));
    struct weir_origin origin;
    enum weir_status status = weir_origin_read(link->origin, false, &origin, err);
    return status ? status : weir_tokens_new(loop, options, connection, sink, &link->tokens, err);
}

void weir_link_release(struct weir_link *link)
{
    weir_transport_free(link->transport);
    weir_tokens_free(link->tokens);
    free(link->origin);
    *link = (struct weir_link){ 0 };
}

/* --- heads ------------------------------------------------------------------------------------ */

struct weir_call {
    struct weir_link *link;
    struct weir_exchange *exchange;
    uint64_t token_serial;
    bool has_body;
    weir_call_done *done;
    void *ctx;
    char *authorization; /* wiped after use */
    char *cookie;        /* NULL: none */
    const char *lines[WEIR_REQUEST_HEADERS_MAX];
    size_t line_count;
};

/* `name` and `value` one after the other, in memory of their own. */
static char *join(const char *name, const char *value)
{
    size_t bytes = strlen(name) + strlen(value) + 1;
    char *line = weir_calloc(bytes, 1);
    snprintf(line, bytes, "%s%s", name, value);
    return line;
}

static void make_head(struct weir_call *call, const struct weir_token *token,
                      const struct weir_call_request *request)
{
    const char *cookie = weir_servers_cookie(&call->link->servers, request->server_id);
    assert(request->line_count <= WEIR_CALL_LINES_MAX);
    call->authorization = join("Authorization: Bearer ", token->text);
    call->lines[call->line_count++] = call->authorization;
    if (cookie) {
        call->cookie = join("Cookie: ARRAffinity=", cookie);
        call->lines[call->line_count++] = call->cookie;
    }
    for (size_t i = 0; i < request->line_count; i++)
        call->lines[call->line_count++] = request->lines[i];
}

/* --- answers ---------------------------------------------------------------------------------- */

static int64_t span_us(int64_t from_us, int64_t to_us)
{
    return from_us && to_us > from_us ? to_us - from_us : 0;
}

/* Some of it may have been executed: rows or parts are told of one by one. */
static bool is_partial(const struct weir_exchange_answer *exchange, const struct weir_fault *fault)
{
    struct weir_str type =
        weir_signal_header(exchange->headers, exchange->header_count, "Content-Type");
    return fault->details != WEIR_FAULT_DETAILS_NONE || weir_str_starts_nocase(type, "multipart/");
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
    http.partial = is_error && is_partial(exchange, &ret->fault);
    weir_answer_read(&http, 0, &ret->answer);
    ret->exchange = exchange;
}

/* A token that was refused before counts once, however many requests had it. */
static void count_refusal(struct weir_link *link, uint64_t serial)
{
    weir_tokens_spurned(link->tokens, serial);
    if (serial <= link->spurned_serial)
        return;
    link->spurned_serial = serial;
    link->spurned_in_a_row++;
    link->broken |= link->spurned_in_a_row >= SPURNED_MAX;
}

/* The service speaks of a user: of ours, or of one that a row names? */
static bool is_ours(const struct weir_call *call, uint32_t code)
{
    return code == WEIR_CODE_NOT_A_MEMBER || !call->has_body;
}

static void learn(struct weir_call *call, const struct weir_call_answer *answer)
{
    struct weir_link *link = call->link;
    const struct weir_verdict *verdict = &answer->answer.verdict;
    if (verdict->http_status == 0)
        return;
    weir_servers_hear(
        &link->servers, answer->answer.budget.server_id,
        weir_signal_affinity(answer->exchange->headers, answer->exchange->header_count));
    if (verdict->class_ != WEIR_CLASS_BAD_CREDENTIALS) {
        if (call->token_serial > link->spurned_serial) {
            link->spurned_in_a_row = 0;
            link->broken = false;
        }
    } else if (weir_catalogue_kind(verdict->code, answer->fault.message) == WEIR_FAULT_USER) {
        link->broken |= is_ours(call, verdict->code);
    } else {
        count_refusal(link, call->token_serial);
    }
}

static void free_call(struct weir_call *call)
{
    explicit_bzero(call->authorization, strlen(call->authorization));
    free(call->authorization);
    free(call->cookie);
    free(call);
}

static void on_answer(void *ctx, const struct weir_exchange_answer *exchange)
{
    struct weir_call *call = ctx;
    struct weir_call_answer answer = { 0 };
    judge(exchange, &answer);
    learn(call, &answer);
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
        .origin = link->origin,
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
    call->has_body = request->body_count > 0;
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

/* SPDX-License-Identifier: MIT */
/* A transport and the exchanges of it; see transport.h and transport_parts.h. */
#include "net/transport.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/loop_parts.h"
#include "net/sigpipe.h"
#include "net/transport_parts.h"

#define TARGET_LOGGED_MAX 512

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *weir_ending_name(enum weir_ending ending)
{
    static const char *const names[] = {
        [WEIR_ENDING_COMPLETE] = "complete",
        [WEIR_ENDING_NO_CONNECTION] = "no connection",
        [WEIR_ENDING_TLS] = "tls",
        [WEIR_ENDING_BROKEN] = "broken",
        [WEIR_ENDING_TIMED_OUT] = "timed out",
        [WEIR_ENDING_TOO_BIG] = "too big",
        [WEIR_ENDING_CANCELLED] = "cancelled",
    };
    return (size_t)ending < COUNT(names) ? names[ending] : "unknown ending";
}

/* `done` may free the transport; whoever calls it stays between these two. */
static void enter(struct weir_transport *transport)
{
    transport->inside++;
}

static void leave(struct weir_transport *transport)
{
    if (--transport->inside == 0 && transport->freed)
        free(transport);
}

/* --- exchanges -------------------------------------------------------------------------------- */

static void on_timer(struct weir_timer *timer);

static struct weir_exchange *take_exchange(struct weir_transport *transport)
{
    struct weir_exchange *exchange = transport->kept;
    if (exchange) {
        transport->kept = exchange->next;
        transport->kept_count--;
    } else {
        exchange = weir_exchange_new(transport);
        weir_timer_init(&exchange->timer, transport->loop, on_timer);
    }
    exchange->previous = NULL;
    exchange->next = transport->first;
    if (exchange->next)
        exchange->next->previous = exchange;
    transport->first = exchange;
    return exchange;
}

static void unlink_exchange(struct weir_exchange *exchange)
{
    if (exchange->previous)
        exchange->previous->next = exchange->next;
    else
        exchange->transport->first = exchange->next;
    if (exchange->next)
        exchange->next->previous = exchange->previous;
}

static void keep_exchange(struct weir_exchange *exchange)
{
    struct weir_transport *transport = exchange->transport;
    if (transport->freed || transport->kept_count == WEIR_EXCHANGES_KEPT_MAX) {
        weir_exchange_free(exchange);
        return;
    }
    weir_exchange_reset(exchange);
    exchange->next = transport->kept;
    transport->kept = exchange;
    transport->kept_count++;
}

/* --- the end of an exchange ------------------------------------------------------------------- */

static void trace(const struct weir_exchange *exchange, const struct weir_exchange_answer *answer)
{
    const struct weir_transport *transport = exchange->transport;
    if (!weir_log_wants(transport->sink, WEIR_LOG_TRACE))
        return;
    char target[TARGET_LOGGED_MAX];
    /* What was not fit to be sent is not fit for a log. */
    const char *given = exchange->fit ? exchange->request.target : "";
    const char *method = exchange->fit ? exchange->request.method : "";
    snprintf(target, sizeof(target), "%.*s", (int)strcspn(given, "?"), given);
    int64_t first_us = answer->first_byte_us ? answer->first_byte_us - answer->begun_us : 0;
    const struct weir_log_field fields[] = {
        { .name = "Connection", .type = WEIR_LOG_TEXT, .text = transport->connection_name },
        { .name = "Method", .type = WEIR_LOG_TEXT, .text = method },
        { .name = "Target", .type = WEIR_LOG_TEXT, .text = target },
        { .name = "Status", .type = WEIR_LOG_INTEGER, .integer = answer->status },
        { .name = "Ending", .type = WEIR_LOG_TEXT, .text = weir_ending_name(answer->ending) },
        { .name = "Duration",
          .type = WEIR_LOG_DURATION_US,
          .integer = answer->done_us - answer->begun_us },
        { .name = "FirstByte", .type = WEIR_LOG_DURATION_US, .integer = first_us },
        { .name = "Reused", .type = WEIR_LOG_INTEGER, .integer = answer->reused },
        { .name = "BytesSent", .type = WEIR_LOG_INTEGER, .integer = (int64_t)exchange->bytes_sent },
        { .name = "BytesReceived",
          .type = WEIR_LOG_INTEGER,
          .integer = (int64_t)exchange->reply.bytes },
    };
    weir_log(transport->sink, WEIR_LOG_TRACE, "exchange", "a request and its answer", fields,
             COUNT(fields));
}

static struct weir_exchange_answer describe(struct weir_exchange *exchange, enum weir_ending ending)
{
    struct weir_transport *transport = exchange->transport;
    struct weir_exchange_answer answer = {
        .ending = ending,
        .sent = exchange->sent,
        .reused = exchange->reused,
        .body = weir_str("", 0),
        .detail = ending == WEIR_ENDING_COMPLETE ? "" : exchange->detail,
        .begun_us = exchange->begun_us,
        .sent_us = exchange->sent_us,
        .first_byte_us = exchange->first_byte_us,
        .done_us = weir_loop_now_us(transport->loop),
    };
    if (ending != WEIR_ENDING_COMPLETE)
        return answer;
    const struct weir_reply *reply = &exchange->reply;
    weir_head_list(&reply->head, transport->headers);
    answer.status = reply->head.status;
    answer.headers = transport->headers;
    answer.header_count = reply->head.count;
    answer.body = weir_str(weir_buf_text(&reply->body), reply->body.len);
    return answer;
}

/* The next exchange may have it, if `done` sends one already. */
static void give_wire_back(struct weir_exchange *exchange, enum weir_ending ending)
{
    struct weir_wire *wire = exchange->wire;
    exchange->wire = NULL;
    if (wire && ending == WEIR_ENDING_COMPLETE && weir_exchange_leaves_wire(exchange))
        weir_wire_rest(wire);
    else if (wire)
        weir_wire_close(wire);
}

/* Inside enter() and leave(); the exchange is gone afterwards. */
static void finish(struct weir_exchange *exchange, enum weir_ending ending)
{
    struct weir_transport *transport = exchange->transport;
    give_wire_back(exchange, ending);
    weir_timer_stop(&exchange->timer);
    weir_loop_await(transport->loop, -1);
    unlink_exchange(exchange);
    transport->stats.bytes_sent += exchange->bytes_sent;
    transport->stats.bytes_received += exchange->reply.bytes;
    transport->stats.complete += ending == WEIR_ENDING_COMPLETE;
    struct weir_exchange_answer answer = describe(exchange, ending);
    trace(exchange, &answer);
    exchange->done(exchange->ctx, &answer);
    keep_exchange(exchange);
}

static void finish_cancelled(struct weir_exchange *exchange)
{
    snprintf(exchange->detail, sizeof(exchange->detail), "cancelled");
    finish(exchange, WEIR_ENDING_CANCELLED);
}

/* --- wires ------------------------------------------------------------------------------------ */

void weir_transport_hear(struct weir_wire *wire, int events)
{
    struct weir_transport *transport = wire->transport;
    struct weir_exchange *exchange = wire->exchange;
    enum weir_ending ending;
    enter(transport);
    if (!exchange)
        weir_wire_heard_idle(wire);
    else if (exchange->cancelled || exchange->over)
        on_timer(&exchange->timer); /* it is about to end anyway */
    else if (((events & UV_WRITABLE) && weir_exchange_push(exchange, &ending)) ||
             ((events & UV_READABLE) && weir_exchange_pull(exchange, &ending)))
        finish(exchange, ending);
    leave(transport);
}

/* libcurl has made a connection. */
static void begin_on(struct weir_exchange *exchange)
{
    enum weir_ending ending = WEIR_ENDING_BROKEN;
    bool silent = weir_wire_opened(exchange->wire);
    if (!silent)
        snprintf(exchange->detail, sizeof(exchange->detail),
                 "the connection was closed, or spoke before it was asked");
    weir_exchange_connected(exchange);
    if (!silent || weir_exchange_push(exchange, &ending))
        finish(exchange, ending);
}

/* What libcurl has done with: connections that are made, or cannot be. */
static void settle(struct weir_transport *transport)
{
    int left;
    CURLMsg *message;
    while (!transport->freed && (message = curl_multi_info_read(transport->multi, &left))) {
        CURLcode code = message->data.result;
        char *private = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        struct weir_exchange *exchange = ((struct weir_wire *)(void *)private)->exchange;
        if (exchange->cancelled)
            finish_cancelled(exchange);
        else if (code == CURLE_OK)
            begin_on(exchange);
        else
            finish(exchange, weir_exchange_judge(exchange, code));
    }
}

void weir_transport_act(struct weir_transport *transport, curl_socket_t fd, int events)
{
    int running;
    enter(transport);
    curl_multi_socket_action(transport->multi, fd, events, &running);
    settle(transport);
    leave(transport);
}

static void on_curl_timer(struct weir_timer *timer)
{
    struct weir_transport *transport =
        (void *)((char *)timer - offsetof(struct weir_transport, timer));
    weir_transport_act(transport, CURL_SOCKET_TIMEOUT, 0);
}

/* A time-out, a cancellation, or a request that must not be sent. */
static void on_timer(struct weir_timer *timer)
{
    struct weir_exchange *exchange =
        (void *)((char *)timer - offsetof(struct weir_exchange, timer));
    struct weir_transport *transport = exchange->transport;
    enter(transport);
    if (exchange->cancelled)
        finish_cancelled(exchange);
    else if (exchange->over)
        finish(exchange, exchange->ending);
    else if (weir_exchange_late(exchange, weir_loop_now_us(transport->loop)))
        finish(exchange, WEIR_ENDING_TIMED_OUT);
    else
        weir_exchange_arm(exchange);
    leave(transport);
}

/* --- the face --------------------------------------------------------------------------------- */

static int64_t first_of(int64_t a, int64_t b)
{
    return a > 0 ? a : b;
}

static struct weir_http_options merge_http(struct weir_http_options a, struct weir_http_options b)
{
    return (struct weir_http_options){
        .connect_timeout_us = first_of(a.connect_timeout_us, b.connect_timeout_us),
        .first_byte_timeout_us = first_of(a.first_byte_timeout_us, b.first_byte_timeout_us),
        .request_timeout_us = first_of(a.request_timeout_us, b.request_timeout_us),
    };
}

static char *copy(const char *text)
{
    return text ? weir_strdup(text) : NULL;
}

/* host[:port] of an origin, without the port that its scheme has anyway. */
static char *host_of(const char *url, bool secure)
{
    const char *host = strstr(url, "://") + strlen("://");
    const char *usual = secure ? ":443" : ":80";
    size_t len = strlen(host);
    size_t more = strlen(usual);
    if (len > more && strcmp(host + len - more, usual) == 0)
        len -= more;
    return weir_strndup(host, len);
}

enum weir_status weir_transport_new(struct weir_loop *loop,
                                    const struct weir_transport_options *options,
                                    struct weir_transport **ret, struct weir_error *err)
{
    struct weir_origin origin;
    enum weir_status status = weir_origin_read(options->origin, options->link_local, &origin, err);
    if (status)
        return status;
    struct weir_options defaults;
    weir_options_defaults(&defaults);
    struct weir_transport *transport = weir_calloc(1, sizeof(*transport));
    transport->loop = loop;
    transport->origin = origin;
    transport->url = weir_strdup(options->origin);
    transport->host = host_of(options->origin, origin.secure);
    transport->connection_name = copy(options->connection_name);
    transport->proxy = copy(options->proxy);
    transport->ca_file = copy(options->ca_file);
    transport->http = merge_http(options->http, defaults.http);
    transport->answer_bytes_max =
        options->answer_bytes_max ? options->answer_bytes_max : WEIR_ANSWER_BYTES_MAX;
    transport->sink = options->sink;
    weir_timer_init(&transport->timer, loop, on_curl_timer);
    transport->inbox = weir_realloc(NULL, WEIR_INBOX_BYTES, 1);
    transport->sockets = weir_sockets_new(transport);
    weir_transport_setup(transport);
    *ret = transport;
    return WEIR_OK;
}

static void free_kept(struct weir_transport *transport)
{
    while (transport->kept) {
        struct weir_exchange *exchange = transport->kept;
        transport->kept = exchange->next;
        weir_exchange_free(exchange);
    }
}

static void release_curl(struct weir_transport *transport)
{
    weir_wire_close_idle(transport);
    curl_multi_cleanup(transport->multi);
    curl_share_cleanup(transport->share);
    weir_sockets_free(transport->sockets);
}

static void release_texts(struct weir_transport *transport)
{
    explicit_bzero(transport->inbox, WEIR_INBOX_BYTES);
    free(transport->inbox);
    if (transport->proxy) /* may have a password in it */
        explicit_bzero(transport->proxy, strlen(transport->proxy));
    free(transport->url);
    free(transport->host);
    free(transport->connection_name);
    free(transport->proxy);
    free(transport->ca_file);
}

void weir_transport_free(struct weir_transport *transport)
{
    if (!transport)
        return;
    /* Saying goodbye to whoever has gone already. */
    struct weir_sigpipe guard;
    weir_sigpipe_begin(&guard);
    enter(transport);
    transport->closing = true;
    while (transport->first)
        finish_cancelled(transport->first);
    free_kept(transport);
    release_curl(transport);
    weir_timer_release(&transport->timer);
    release_texts(transport);
    transport->freed = true;
    leave(transport);
    weir_sigpipe_end(&guard);
}

/* On a wire that is open if there is one; what goes wrong at once is told in a coming turn. */
static void begin(struct weir_exchange *exchange)
{
    exchange->wire = weir_wire_take(exchange->transport);
    exchange->reused = exchange->wire;
    if (!exchange->wire) {
        exchange->wire = weir_wire_dial(exchange, exchange->http.connect_timeout_us);
        weir_exchange_arm(exchange);
        return;
    }
    exchange->wire->exchange = exchange;
    weir_exchange_connected(exchange);
    exchange->over = weir_exchange_push(exchange, &exchange->ending);
}

/* Nobody may be inside the loop, which holds SIGPIPE back; a plain wire raises none. */
static void begin_guarded(struct weir_exchange *exchange)
{
    struct weir_sigpipe guard;
    weir_sigpipe_begin(&guard);
    begin(exchange);
    weir_sigpipe_end(&guard);
}

struct weir_exchange *weir_transport_send(struct weir_transport *transport,
                                          const struct weir_exchange_request *request,
                                          weir_exchange_done *done, void *ctx)
{
    struct weir_exchange *exchange = take_exchange(transport);
    exchange->request = *request;
    exchange->http = merge_http(request->http, transport->http);
    exchange->done = done;
    exchange->ctx = ctx;
    exchange->begun_us = weir_loop_now_us(transport->loop);
    transport->stats.requests++;
    weir_loop_await(transport->loop, 1);
    exchange->fit = weir_exchange_prepare(exchange);
    if (exchange->fit && !transport->closing) /* else it is about to be cancelled */
        (transport->origin.secure ? begin_guarded : begin)(exchange);
    if (exchange->over)
        weir_timer_set(&exchange->timer, exchange->begun_us);
    return exchange;
}

void weir_exchange_cancel(struct weir_exchange *exchange)
{
    exchange->cancelled = true;
    weir_timer_set(&exchange->timer, exchange->begun_us);
}

void weir_transport_stats(const struct weir_transport *transport, struct weir_transport_stats *ret)
{
    *ret = transport->stats;
}

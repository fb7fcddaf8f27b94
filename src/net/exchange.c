/* SPDX-License-Identifier: MIT */
/* One request and its answer; see transport_parts.h. */
#include <stdio.h>

#include "base/mem.h"
#include "net/transport_parts.h"

/* --- beginning and end ------------------------------------------------------------------------ */

struct weir_exchange *weir_exchange_new(struct weir_transport *transport)
{
    struct weir_exchange *exchange = weir_calloc(1, sizeof(*exchange));
    exchange->transport = transport;
    exchange->easy = weir_exchange_setup(exchange);
    weir_head_init(&exchange->head);
    weir_buf_init(&exchange->body, transport->answer_bytes_max);
    return exchange;
}

/* Answers hold tokens; freed memory is read by whoever gets it next. */
static void wipe(struct weir_buf *buf)
{
    if (buf->ptr)
        explicit_bzero(buf->ptr, buf->len);
}

/* What was borrowed and what was answered. */
static void forget(struct weir_exchange *exchange)
{
    if (exchange->joined)
        explicit_bzero(exchange->joined, (size_t)exchange->body_bytes);
    free(exchange->joined);
    exchange->joined = NULL;
    wipe(&exchange->body);
    wipe(&exchange->head.text);
}

void weir_exchange_free(struct weir_exchange *exchange)
{
    forget(exchange);
    curl_easy_cleanup(exchange->easy);
    weir_timer_release(&exchange->timer);
    weir_head_release(&exchange->head);
    weir_buf_release(&exchange->body);
    free(exchange);
}

void weir_exchange_reset(struct weir_exchange *exchange)
{
    forget(exchange);
    weir_head_reset(&exchange->head);
    exchange->chunks = (struct weir_chunks){ 0 };
    weir_buf_reset(&exchange->body);
    if (exchange->body.capacity > WEIR_EXCHANGE_BODY_KEPT_MAX)
        weir_buf_release(&exchange->body);
    if (exchange->excess)
        curl_easy_setopt(exchange->easy, CURLOPT_FORBID_REUSE, 0L);
    exchange->body_bytes = exchange->body_sent = 0;
    exchange->slice = exchange->slice_at = 0;
    exchange->connected_us = exchange->sent_us = exchange->first_byte_us = 0;
    exchange->added = exchange->opened = exchange->reused = exchange->connected = exchange->sent =
        exchange->at_once = false;
    exchange->again = exchange->excess = exchange->cancelled = false;
    exchange->ending = WEIR_ENDING_COMPLETE;
    exchange->detail[0] = exchange->curl_detail[0] = '\0';
}

/* --- time-outs -------------------------------------------------------------------------------- */

/* The phase's own time-out: until when, and what it is called. */
static int64_t phase_end(const struct weir_exchange *exchange, const char **ret_what,
                         int64_t *ret_span_us)
{
    if (!exchange->connected) {
        *ret_what = "no connection";
        *ret_span_us = exchange->http.connect_timeout_us;
        return weir_time_add(exchange->begun_us, *ret_span_us);
    }
    if (!exchange->first_byte_us) {
        *ret_what = "no byte of an answer";
        *ret_span_us = exchange->http.first_byte_timeout_us;
        return weir_time_add(exchange->connected_us, *ret_span_us);
    }
    return WEIR_FOREVER;
}

static int64_t request_end(const struct weir_exchange *exchange)
{
    return weir_time_add(exchange->begun_us, exchange->http.request_timeout_us);
}

void weir_exchange_arm(struct weir_exchange *exchange)
{
    const char *what;
    int64_t span_us;
    int64_t due_us = phase_end(exchange, &what, &span_us);
    int64_t whole_us = request_end(exchange);
    if (!exchange->cancelled)
        weir_timer_set(&exchange->timer, due_us < whole_us ? due_us : whole_us);
}

static void describe_late(struct weir_exchange *exchange, const char *what, int64_t span_us)
{
    snprintf(exchange->detail, sizeof(exchange->detail), "%s within %g s", what,
             (double)span_us / 1e6);
}

bool weir_exchange_late(struct weir_exchange *exchange, int64_t now_us)
{
    const char *what = "";
    int64_t span_us = 0;
    if (phase_end(exchange, &what, &span_us) <= now_us)
        describe_late(exchange, what, span_us);
    else if (request_end(exchange) <= now_us)
        describe_late(exchange, "no whole answer", exchange->http.request_timeout_us);
    else
        return false;
    return true;
}

/* --- the request ------------------------------------------------------------------------------ */

static void note_connection(struct weir_exchange *exchange)
{
    struct weir_transport *transport = exchange->transport;
    transport->stats.connections += exchange->opened;
    transport->stats.handshakes += exchange->opened && transport->origin.secure;
    transport->stats.reused += exchange->reused;
}

int weir_exchange_on_prereq(void *ctx, char *remote, char *local, int remote_port, int local_port)
{
    (void)remote, (void)local, (void)remote_port;
    struct weir_exchange *exchange = ctx;
    struct weir_transport *transport = exchange->transport;
    if (exchange->connected) {
        exchange->again = true;
        return CURL_PREREQFUNC_ABORT;
    }
    exchange->reused = !exchange->opened;
    if (exchange->reused && !weir_sockets_silent(transport->sockets, local_port)) {
        exchange->ending = WEIR_ENDING_BROKEN;
        snprintf(exchange->detail, sizeof(exchange->detail),
                 "the connection was closed, or spoke before it was asked");
        return CURL_PREREQFUNC_ABORT;
    }
    note_connection(exchange);
    exchange->connected = true;
    exchange->connected_us = weir_loop_now_us(transport->loop);
    /* Of what goes out in one piece nobody will be asked for a part. */
    if (exchange->body_bytes == 0 || exchange->at_once) {
        exchange->sent = true;
        exchange->sent_us = exchange->connected_us;
        exchange->body_sent = exchange->body_bytes;
    }
    weir_exchange_arm(exchange);
    return CURL_PREREQFUNC_OK;
}

size_t weir_exchange_on_read(char *to, size_t size, size_t count, void *ctx)
{
    struct weir_exchange *exchange = ctx;
    const struct weir_exchange_request *request = &exchange->request;
    size_t room = size * count;
    size_t len = 0;
    while (len < room && exchange->slice < request->body_count) {
        struct weir_str slice = request->body[exchange->slice];
        size_t rest = slice.len - exchange->slice_at;
        size_t part = rest < room - len ? rest : room - len;
        if (part)
            memcpy(to + len, slice.ptr + exchange->slice_at, part);
        len += part;
        exchange->slice_at += part;
        if (part == rest) {
            exchange->slice++;
            exchange->slice_at = 0;
        }
    }
    exchange->sent = exchange->sent || len > 0;
    exchange->body_sent += (int64_t)len;
    if (exchange->body_sent == exchange->body_bytes && !exchange->sent_us)
        exchange->sent_us = weir_loop_now_us(exchange->transport->loop);
    return len;
}

/* Going back would mean sending it again. */
int weir_exchange_on_seek(void *ctx, curl_off_t offset, int origin)
{
    (void)offset, (void)origin;
    struct weir_exchange *exchange = ctx;
    exchange->again = true;
    return CURL_SEEKFUNC_FAIL;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* What a callback returns to stop libcurl: fewer bytes than it was given. */
static size_t stop(struct weir_exchange *exchange, enum weir_ending ending, const char *detail)
{
    exchange->ending = ending;
    snprintf(exchange->detail, sizeof(exchange->detail), "%s", detail);
    return 0;
}

static const char body_too_big[] = "a body over its bound";

size_t weir_exchange_on_header(char *line, size_t size, size_t count, void *ctx)
{
    struct weir_exchange *exchange = ctx;
    struct weir_head *head = &exchange->head;
    enum weir_head_result result = weir_head_line(head, weir_str(line, size * count));
    if (result != WEIR_HEAD_GOOD)
        return stop(exchange,
                    result == WEIR_HEAD_TOO_BIG ? WEIR_ENDING_TOO_BIG : WEIR_ENDING_BROKEN,
                    head->problem);
    if (head->status >= 200 && !exchange->first_byte_us) {
        exchange->first_byte_us = weir_loop_now_us(exchange->transport->loop);
        weir_exchange_arm(exchange);
    }
    if (head->whole && head->framing == WEIR_FRAMING_LENGTH &&
        (uint64_t)head->length > exchange->transport->answer_bytes_max)
        return stop(exchange, WEIR_ENDING_TOO_BIG, body_too_big);
    return size * count;
}

/* What follows the last chunk is not ours, and must not be taken for the next answer. */
static bool read_chunks(struct weir_exchange *exchange, const char *bytes, size_t len)
{
    if (weir_chunks_read(&exchange->chunks, bytes, len, &exchange->body) < len) {
        exchange->excess = true;
        curl_easy_setopt(exchange->easy, CURLOPT_FORBID_REUSE, 1L);
    }
    if (exchange->chunks.state == WEIR_CHUNKS_WRONG)
        stop(exchange, WEIR_ENDING_BROKEN, "malformed chunks");
    if (exchange->chunks.state == WEIR_CHUNKS_TOO_BIG)
        stop(exchange, WEIR_ENDING_TOO_BIG, "trailers over their bound");
    return exchange->ending == WEIR_ENDING_COMPLETE;
}

size_t weir_exchange_on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    struct weir_exchange *exchange = ctx;
    if (!exchange->head.whole)
        return stop(exchange, WEIR_ENDING_BROKEN, "a body before the end of its head");
    if (exchange->head.framing != WEIR_FRAMING_CHUNKED)
        weir_buf_add(&exchange->body, bytes, size * count);
    else if (!read_chunks(exchange, bytes, size * count))
        return 0;
    if (exchange->body.overflow)
        return stop(exchange, WEIR_ENDING_TOO_BIG, body_too_big);
    return size * count;
}

/* --- how it ended ----------------------------------------------------------------------------- */

static bool is_whole(const struct weir_exchange *exchange)
{
    const struct weir_head *head = &exchange->head;
    if (head->framing == WEIR_FRAMING_CHUNKED)
        return head->whole && exchange->chunks.state == WEIR_CHUNKS_DONE;
    if (head->framing == WEIR_FRAMING_LENGTH)
        return head->whole && exchange->body.len == (uint64_t)head->length;
    return head->whole;
}

/* libcurl's words, if it has any, behind ours; they may quote the other side. */
static void describe(struct weir_exchange *exchange, CURLcode code, const char *what)
{
    const char *words = exchange->curl_detail[0] ? exchange->curl_detail : curl_easy_strerror(code);
    snprintf(exchange->detail, sizeof(exchange->detail), "%s%s", what, words);
    for (char *at = exchange->detail; *at; at++) {
        if (*at < 0x20 || *at > 0x7e)
            *at = '?';
    }
}

static enum weir_ending judge_connecting(struct weir_exchange *exchange, CURLcode code)
{
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        describe(exchange, code, "certificate: ");
        return WEIR_ENDING_TLS;
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_USE_SSL_FAILED:
        describe(exchange, code, "tls: ");
        return WEIR_ENDING_TLS;
    case CURLE_OPERATION_TIMEDOUT: /* ours came late: the loop was busy */
        describe_late(exchange, "no connection", exchange->http.connect_timeout_us);
        return WEIR_ENDING_TIMED_OUT;
    default:
        describe(exchange, code, "no connection: ");
        return WEIR_ENDING_NO_CONNECTION;
    }
}

static enum weir_ending judge_connected(struct weir_exchange *exchange, CURLcode code)
{
    if (exchange->again || code == CURLE_GOT_NOTHING) {
        snprintf(exchange->detail, sizeof(exchange->detail), "closed without a byte of an answer");
        return WEIR_ENDING_BROKEN;
    }
    /* What libcurl says of a header line that is longer than it bears. */
    if (code == CURLE_OUT_OF_MEMORY && !exchange->head.whole) {
        snprintf(exchange->detail, sizeof(exchange->detail), "a header line over its bound");
        return WEIR_ENDING_TOO_BIG;
    }
    if (code == CURLE_OK)
        snprintf(exchange->detail, sizeof(exchange->detail), "closed before the answer was whole");
    else
        describe(exchange, code, "");
    return WEIR_ENDING_BROKEN;
}

enum weir_ending weir_exchange_judge(struct weir_exchange *exchange, CURLcode code)
{
    if (exchange->ending != WEIR_ENDING_COMPLETE)
        return exchange->ending;
    if (code == CURLE_OK && exchange->connected && is_whole(exchange))
        return WEIR_ENDING_COMPLETE;
    return exchange->connected ? judge_connected(exchange, code) : judge_connecting(exchange, code);
}

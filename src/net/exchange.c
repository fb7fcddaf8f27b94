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
    weir_buf_init_secret(&exchange->head, WEIR_REQUEST_HEAD_BYTES_MAX + WEIR_URL_BYTES_MAX +
                                              WEIR_REQUEST_FRAME_BYTES_MAX);
    weir_reply_init(&exchange->reply, transport->answer_bytes_max);
    return exchange;
}

void weir_exchange_free(struct weir_exchange *exchange)
{
    weir_buf_release(&exchange->head);
    weir_reply_release(&exchange->reply);
    weir_timer_release(&exchange->timer);
    free(exchange);
}

void weir_exchange_reset(struct weir_exchange *exchange)
{
    weir_buf_reset(&exchange->head);
    if (exchange->head.capacity > WEIR_EXCHANGE_BODY_KEPT_MAX)
        weir_buf_release(&exchange->head);
    weir_reply_reset(&exchange->reply);
    exchange->piece = exchange->piece_at = 0;
    exchange->bytes_sent = 0;
    exchange->connected_us = exchange->sent_us = exchange->first_byte_us = 0;
    exchange->reused = exchange->connected = exchange->sent = false;
    exchange->cancelled = exchange->over = false;
    exchange->detail[0] = '\0';
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

void weir_exchange_connected(struct weir_exchange *exchange)
{
    struct weir_transport *transport = exchange->transport;
    transport->stats.connections += !exchange->reused;
    transport->stats.handshakes += !exchange->reused && transport->origin.secure;
    transport->stats.reused += exchange->reused;
    exchange->connected = true;
    exchange->connected_us = weir_loop_now_us(transport->loop);
    weir_exchange_arm(exchange);
}

static bool is_handed_out(const struct weir_exchange *exchange)
{
    return exchange->piece > exchange->request.body_count;
}

/* The head, then the slices of the body. */
static struct weir_str piece_of(const struct weir_exchange *exchange, size_t i)
{
    return i ? exchange->request.body[i - 1] : weir_str(exchange->head.ptr, exchange->head.len);
}

/* What is left, as many pieces as fit. */
static size_t list_pieces(const struct weir_exchange *exchange,
                          struct weir_str pieces[WEIR_PIECES_MAX])
{
    size_t count = 0;
    size_t skip = exchange->piece_at;
    for (size_t i = exchange->piece; i <= exchange->request.body_count; i++) {
        struct weir_str piece = piece_of(exchange, i);
        if (count == WEIR_PIECES_MAX)
            break;
        if (piece.len > skip)
            pieces[count++] = weir_str(piece.ptr + skip, piece.len - skip);
        skip = 0;
    }
    return count;
}

static void step_over(struct weir_exchange *exchange, size_t bytes)
{
    exchange->bytes_sent += bytes;
    while (!is_handed_out(exchange)) {
        size_t rest = piece_of(exchange, exchange->piece).len - exchange->piece_at;
        if (bytes < rest) {
            exchange->piece_at += bytes;
            break;
        }
        bytes -= rest;
        exchange->piece++;
        exchange->piece_at = 0;
    }
    if (exchange->bytes_sent > (exchange->body_bytes ? exchange->head.len : 0))
        exchange->sent = true;
    if (is_handed_out(exchange))
        exchange->sent_us = weir_loop_now_us(exchange->transport->loop);
}

/* --- how it ends ------------------------------------------------------------------------------ */

static bool over(struct weir_exchange *exchange, enum weir_ending ending, const char *detail,
                 enum weir_ending *ret_ending)
{
    snprintf(exchange->detail, sizeof(exchange->detail), "%s", detail);
    *ret_ending = ending;
    return true;
}

/* The system's or libcurl's words behind ours; they may quote the other side. */
static void describe(struct weir_exchange *exchange, const char *what, const char *words)
{
    snprintf(exchange->detail, sizeof(exchange->detail), "%s%s", what, words);
    for (char *at = exchange->detail; *at; at++) {
        if (*at < 0x20 || *at > 0x7e)
            *at = '?';
    }
}

/* The wire has ended, or failed. */
static bool lost(struct weir_exchange *exchange, enum weir_wire_result result,
                 enum weir_ending *ret_ending)
{
    const char *words = result == WEIR_WIRE_FAILED ? exchange->wire->detail : "";
    char what[64];
    snprintf(what, sizeof(what), "closed %s%s",
             exchange->reply.bytes ? "before the answer was whole" : "without a byte of an answer",
             words[0] ? ": " : "");
    describe(exchange, what, words);
    *ret_ending = WEIR_ENDING_BROKEN;
    return true;
}

/* Whoever has not heard all of the request cannot have done it. */
static bool answered(struct weir_exchange *exchange, enum weir_ending *ret_ending)
{
    if (!is_handed_out(exchange) && exchange->reply.head.status < 300)
        return over(exchange, WEIR_ENDING_BROKEN, "answered before all of it was sent", ret_ending);
    *ret_ending = WEIR_ENDING_COMPLETE;
    return true;
}

bool weir_exchange_leaves_wire(const struct weir_exchange *exchange)
{
    const struct weir_reply *reply = &exchange->reply;
    return is_handed_out(exchange) && !reply->excess && !reply->head.close && !reply->head.old;
}

/* --- taking in -------------------------------------------------------------------------------- */

static bool take_in(struct weir_exchange *exchange, size_t len, enum weir_ending *ret_ending)
{
    struct weir_reply *reply = &exchange->reply;
    enum weir_reply_result result = weir_reply_read(reply, exchange->transport->inbox, len);
    bool first = reply->head.status >= 200 && !exchange->first_byte_us;
    if (first)
        exchange->first_byte_us = weir_loop_now_us(exchange->transport->loop);
    switch (result) {
    case WEIR_REPLY_WHOLE:
        return answered(exchange, ret_ending);
    case WEIR_REPLY_BROKEN:
        return over(exchange, WEIR_ENDING_BROKEN, reply->problem, ret_ending);
    case WEIR_REPLY_TOO_BIG:
        return over(exchange, WEIR_ENDING_TOO_BIG, reply->problem, ret_ending);
    case WEIR_REPLY_MORE:
        break;
    }
    if (first)
        weir_exchange_arm(exchange);
    return false;
}

/* Of a plain socket the loop hears again while anything is left; libcurl may have more at hand. */
bool weir_exchange_pull(struct weir_exchange *exchange, enum weir_ending *ret_ending)
{
    struct weir_transport *transport = exchange->transport;
    for (;;) {
        size_t len = 0;
        enum weir_wire_result result =
            weir_wire_read(exchange->wire, transport->inbox, WEIR_INBOX_BYTES, &len);
        if (result == WEIR_WIRE_BLOCKED)
            return false;
        if (result != WEIR_WIRE_DONE)
            return lost(exchange, result, ret_ending);
        if (take_in(exchange, len, ret_ending))
            return true;
        if (!transport->origin.secure && len < WEIR_INBOX_BYTES)
            return false;
    }
}

/* --- handing out ------------------------------------------------------------------------------ */

/* The other side may have said why before it left. */
static bool push_failed(struct weir_exchange *exchange, enum weir_wire_result result,
                        enum weir_ending *ret_ending)
{
    return weir_exchange_pull(exchange, ret_ending) || lost(exchange, result, ret_ending);
}

bool weir_exchange_push(struct weir_exchange *exchange, enum weir_ending *ret_ending)
{
    struct weir_wire *wire = exchange->wire;
    while (!is_handed_out(exchange)) {
        struct weir_str pieces[WEIR_PIECES_MAX];
        size_t bytes = 0;
        /* Of a record that failed, nobody knows how much has left. */
        exchange->sent = exchange->sent || exchange->transport->origin.secure;
        enum weir_wire_result result =
            weir_wire_write(wire, pieces, list_pieces(exchange, pieces), &bytes);
        if (result == WEIR_WIRE_BLOCKED) {
            weir_wire_await_room(wire, true);
            return false;
        }
        if (result != WEIR_WIRE_DONE)
            return push_failed(exchange, result, ret_ending);
        step_over(exchange, bytes);
    }
    weir_wire_await_room(wire, false);
    return false;
}

/* --- no connection ---------------------------------------------------------------------------- */

enum weir_ending weir_exchange_judge(struct weir_exchange *exchange, CURLcode code)
{
    const char *detail = exchange->wire->detail;
    const char *words = detail[0] ? detail : curl_easy_strerror(code);
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        describe(exchange, "certificate: ", words);
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
        describe(exchange, "tls: ", words);
        return WEIR_ENDING_TLS;
    case CURLE_OPERATION_TIMEDOUT: /* ours came late: the loop was busy */
        describe_late(exchange, "no connection", exchange->http.connect_timeout_us);
        return WEIR_ENDING_TIMED_OUT;
    default:
        describe(exchange, "no connection: ", words);
        return WEIR_ENDING_NO_CONNECTION;
    }
}

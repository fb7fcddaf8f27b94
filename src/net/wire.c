/* SPDX-License-Identifier: MIT */
/* A connection to the transport's origin; see wire.h. */
#include "net/wire.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "net/loop_parts.h"
#include "net/transport_parts.h"

/* What a record of TLS holds. */
#define RECORD_BYTES ((size_t)16 * 1024)

static bool is_secure(const struct weir_wire *wire)
{
    return wire->transport->origin.secure;
}

/* --- made and ended --------------------------------------------------------------------------- */

/* libcurl divides it among the addresses of a host; ours, which is shorter, ends the attempt. */
static long connect_ms(int64_t connect_timeout_us)
{
    int64_t ms = connect_timeout_us / WEIR_US_PER_MS + 1000;
    return ms > INT32_MAX ? INT32_MAX : (long)ms;
}

struct weir_wire *weir_wire_dial(struct weir_exchange *exchange, int64_t connect_timeout_us)
{
    struct weir_wire *wire = weir_calloc(1, sizeof(*wire));
    wire->transport = exchange->transport;
    wire->exchange = exchange;
    wire->fd = -1;
    wire->easy = weir_wire_setup(wire);
    curl_easy_setopt(wire->easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms(connect_timeout_us));
    if (curl_multi_add_handle(wire->transport->multi, wire->easy) != CURLM_OK)
        abort();
    return wire;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void weir_wire_close(struct weir_wire *wire)
{
    struct weir_transport *transport = wire->transport;
    bool watched = wire->watched;
    if (watched) /* before its socket is closed: the number may be another's at once */
        uv_close((uv_handle_t *)&wire->poll, on_closed);
    weir_sockets_forget(transport->sockets, wire->easy);
    curl_multi_remove_handle(transport->multi, wire->easy);
    curl_easy_cleanup(wire->easy);
    if (wire->record)
        explicit_bzero(wire->record, RECORD_BYTES);
    free(wire->record);
    if (!watched)
        free(wire);
}

/* --- watched ---------------------------------------------------------------------------------- */

static void on_poll(uv_poll_t *poll, int status, int events);

static void watch_for(struct weir_wire *wire, int events)
{
    if (wire->events == events)
        return;
    wire->events = events;
    uv_poll_start(&wire->poll, events, on_poll);
}

/* libuv stops watching a socket that has failed; there may be something to be read before that. */
static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct weir_wire *wire = poll->data;
    weir_loop_wake(wire->transport->loop);
    if (status < 0) {
        events = wire->events;
        wire->events = 0;
        watch_for(wire, events);
    }
    weir_transport_hear(wire, events);
}

void weir_wire_await_room(struct weir_wire *wire, bool await)
{
    watch_for(wire, await ? UV_READABLE | UV_WRITABLE : UV_READABLE);
}

/*
 * Neither a byte nor an end has come. Under TLS something may have come that is for libcurl (a
 * ticket for the next session): it reads it, and then there is nothing. A byte that is read here is
 * lost, with the wire.
 */
static bool is_silent(struct weir_wire *wire)
{
    char byte;
    size_t len;
    if (is_secure(wire))
        return curl_easy_recv(wire->easy, &byte, 1, &len) == CURLE_AGAIN;
    return recv(wire->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/*
 * libcurl may end a connection that it takes for unused, when it makes another. From the first
 * reading on it counts as used.
 */
bool weir_wire_opened(struct weir_wire *wire)
{
    char byte;
    size_t len;
    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_easy_getinfo(wire->easy, CURLINFO_ACTIVESOCKET, &fd);
    wire->fd = fd;
    wire->poll.data = wire;
    wire->watched = uv_poll_init(weir_loop_uv(wire->transport->loop), &wire->poll, wire->fd) == 0;
    if (!wire->watched || curl_easy_recv(wire->easy, &byte, 1, &len) != CURLE_AGAIN)
        return false;
    watch_for(wire, UV_READABLE);
    return true;
}

/* --- idle ------------------------------------------------------------------------------------- */

void weir_wire_rest(struct weir_wire *wire)
{
    struct weir_transport *transport = wire->transport;
    wire->exchange = NULL;
    if (transport->idle_count == WEIR_WIRES_IDLE_MAX) {
        weir_wire_close(wire);
        return;
    }
    wire->rest_us = weir_loop_now_us(transport->loop);
    wire->next = transport->idle;
    transport->idle = wire;
    transport->idle_count++;
}

static void leave_idle(struct weir_wire *wire)
{
    struct weir_wire **at = &wire->transport->idle;
    while (*at != wire)
        at = &(*at)->next;
    *at = wire->next;
    wire->transport->idle_count--;
}

static bool is_fresh(struct weir_wire *wire)
{
    int64_t now_us = weir_loop_now_us(wire->transport->loop);
    return now_us - wire->rest_us < WEIR_WIRE_IDLE_US && is_silent(wire);
}

struct weir_wire *weir_wire_take(struct weir_transport *transport)
{
    while (transport->idle) {
        struct weir_wire *wire = transport->idle;
        leave_idle(wire);
        if (is_fresh(wire))
            return wire;
        weir_wire_close(wire);
    }
    return NULL;
}

void weir_wire_close_idle(struct weir_transport *transport)
{
    while (transport->idle) {
        struct weir_wire *wire = transport->idle;
        leave_idle(wire);
        weir_wire_close(wire);
    }
}

void weir_wire_heard_idle(struct weir_wire *wire)
{
    if (is_silent(wire))
        return;
    leave_idle(wire);
    weir_wire_close(wire);
}

/* --- written and read ------------------------------------------------------------------------- */

static enum weir_wire_result failed(struct weir_wire *wire, int error)
{
    if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR)
        return WEIR_WIRE_BLOCKED;
    snprintf(wire->detail, sizeof(wire->detail), "%s", strerror(error));
    return WEIR_WIRE_FAILED;
}

static enum weir_wire_result write_plain(struct weir_wire *wire, const struct weir_str *pieces,
                                         size_t count, size_t *ret_bytes)
{
    struct iovec vectors[WEIR_PIECES_MAX];
    struct msghdr message = { .msg_iov = vectors };
    for (; message.msg_iovlen < count && message.msg_iovlen < WEIR_PIECES_MAX; message.msg_iovlen++)
        vectors[message.msg_iovlen] =
            (struct iovec){ (void *)(uintptr_t)pieces[message.msg_iovlen].ptr,
                            pieces[message.msg_iovlen].len };
    ssize_t sent = sendmsg(wire->fd, &message, MSG_NOSIGNAL);
    if (sent < 0)
        return failed(wire, errno);
    *ret_bytes = (size_t)sent;
    return WEIR_WIRE_DONE;
}

/* What could not be written is to be written again as it was, so it stays in the record. */
static void fill_record(struct weir_wire *wire, const struct weir_str *pieces, size_t count)
{
    if (!wire->record)
        wire->record = weir_realloc(NULL, RECORD_BYTES, 1);
    for (size_t i = 0; i < count && wire->record_len < RECORD_BYTES; i++) {
        size_t room = RECORD_BYTES - wire->record_len;
        size_t len = pieces[i].len < room ? pieces[i].len : room;
        if (len)
            memcpy(wire->record + wire->record_len, pieces[i].ptr, len);
        wire->record_len += len;
    }
}

static enum weir_wire_result write_secure(struct weir_wire *wire, const struct weir_str *pieces,
                                          size_t count, size_t *ret_bytes)
{
    size_t sent = 0;
    if (!wire->record_len)
        fill_record(wire, pieces, count);
    CURLcode code = curl_easy_send(wire->easy, wire->record, wire->record_len, &sent);
    if (code != CURLE_OK)
        return code == CURLE_AGAIN ? WEIR_WIRE_BLOCKED : WEIR_WIRE_FAILED;
    wire->record_len -= sent;
    memmove(wire->record, wire->record + sent, wire->record_len);
    explicit_bzero(wire->record + wire->record_len, sent);
    *ret_bytes = sent;
    return WEIR_WIRE_DONE;
}

enum weir_wire_result weir_wire_write(struct weir_wire *wire, const struct weir_str *pieces,
                                      size_t count, size_t *ret_bytes)
{
    return is_secure(wire) ? write_secure(wire, pieces, count, ret_bytes)
                           : write_plain(wire, pieces, count, ret_bytes);
}

static enum weir_wire_result read_plain(struct weir_wire *wire, char *to, size_t room,
                                        size_t *ret_bytes)
{
    ssize_t len = recv(wire->fd, to, room, MSG_DONTWAIT);
    if (len < 0)
        return failed(wire, errno);
    *ret_bytes = (size_t)len;
    return len ? WEIR_WIRE_DONE : WEIR_WIRE_ENDED;
}

static enum weir_wire_result read_secure(struct weir_wire *wire, char *to, size_t room,
                                         size_t *ret_bytes)
{
    size_t len = 0;
    CURLcode code = curl_easy_recv(wire->easy, to, room, &len);
    if (code != CURLE_OK)
        return code == CURLE_AGAIN ? WEIR_WIRE_BLOCKED : WEIR_WIRE_FAILED;
    *ret_bytes = len;
    return len ? WEIR_WIRE_DONE : WEIR_WIRE_ENDED;
}

enum weir_wire_result weir_wire_read(struct weir_wire *wire, char *to, size_t room,
                                     size_t *ret_bytes)
{
    return is_secure(wire) ? read_secure(wire, to, room, ret_bytes)
                           : read_plain(wire, to, room, ret_bytes);
}

/* SPDX-License-Identifier: MIT */
/*
 * Between libcurl's sockets and libuv's watchers.
 *
 * Starting and stopping a watcher costs system calls, so a watcher lives as long as its socket and
 * goes on watching for reading while the connection is idle. What makes itself heard there is not
 * for us: the other side has closed it, or sends what nobody asked for, which the next request
 * would take for its answer. Such a connection is shut down; libcurl then finds it dead and opens
 * another.
 *
 *     connecting ──▶ watching (what libcurl wants) ◀──▶ idle (reading) ──heard──▶ shut ──▶ on_close
 *
 * Sockets that libcurl opens for itself (its resolver has a pair), and those on which it gives up
 * while they are still connecting, it closes without on_close: their watchers end when libcurl says
 * "remove". A watcher that outlived its socket would keep the next one of that number from being
 * watched at all.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "net/loop_parts.h"
#include "net/transport_parts.h"

struct watch {
    uv_poll_t poll;
    struct weir_sockets *sockets; /* NULL: closed, only libuv still has it */
    int fd;
    int events;     /* libuv watches for these */
    int port;       /* of ours; 0: not asked for yet */
    bool ours;      /* to a service; else libcurl's own */
    bool started;   /* libuv knows it */
    bool idle;      /* no exchange has it */
    bool connected; /* it was, once */
    struct watch *next;
};

struct weir_sockets {
    struct weir_transport *transport;
    struct watch *first;
};

struct weir_sockets *weir_sockets_new(struct weir_transport *transport)
{
    struct weir_sockets *sockets = weir_calloc(1, sizeof(*sockets));
    sockets->transport = transport;
    return sockets;
}

static struct watch *find(const struct weir_sockets *sockets, int fd)
{
    struct watch *watch = sockets->first;
    while (watch && watch->fd != fd)
        watch = watch->next;
    return watch;
}

static bool is_to_a_service(int fd)
{
    int family = 0;
    socklen_t len = sizeof(family);
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len) == 0 &&
           (family == AF_INET || family == AF_INET6);
}

static struct watch *add(struct weir_sockets *sockets, int fd)
{
    struct watch *watch = weir_calloc(1, sizeof(*watch));
    watch->sockets = sockets;
    watch->fd = fd;
    watch->ours = is_to_a_service(fd);
    watch->next = sockets->first;
    sockets->first = watch;
    return watch;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* Before its socket is closed: the number may be another's at once. */
static void drop(struct watch *watch)
{
    struct watch **at = &watch->sockets->first;
    while (*at != watch)
        at = &(*at)->next;
    *at = watch->next;
    watch->sockets = NULL;
    if (watch->started)
        uv_close((uv_handle_t *)&watch->poll, on_closed);
    else
        free(watch);
}

void weir_sockets_free(struct weir_sockets *sockets)
{
    if (!sockets)
        return;
    while (sockets->first)
        drop(sockets->first);
    free(sockets);
}

/* Looked at whenever it makes itself heard: one that is reset no longer has a peer. */
static bool was_connected(struct watch *watch)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);
    if (!watch->connected)
        watch->connected = getpeername(watch->fd, (struct sockaddr *)&peer, &len) == 0;
    return watch->connected;
}

static int local_port(struct watch *watch)
{
    struct sockaddr_storage address = { 0 };
    socklen_t len = sizeof(address);
    if (watch->port || getsockname(watch->fd, (struct sockaddr *)&address, &len))
        return watch->port;
    if (address.ss_family == AF_INET)
        watch->port = ntohs(((struct sockaddr_in *)&address)->sin_port);
    else if (address.ss_family == AF_INET6)
        watch->port = ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return watch->port;
}

/* Neither a byte nor an end has come. */
static bool is_silent(const struct watch *watch)
{
    char byte;
    return recv(watch->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

bool weir_sockets_silent(struct weir_sockets *sockets, int port)
{
    for (struct watch *watch = sockets->first; watch; watch = watch->next) {
        if (watch->ours && watch->idle && local_port(watch) == port && !is_silent(watch))
            return false;
    }
    return true;
}

/* --- libuv calls ------------------------------------------------------------------------------ */

static void on_poll(uv_poll_t *poll, int status, int events);

static void watch_for(struct watch *watch, int events)
{
    struct weir_loop *loop = watch->sockets->transport->loop;
    if (!watch->started) {
        watch->started = uv_poll_init(weir_loop_uv(loop), &watch->poll, watch->fd) == 0;
        watch->poll.data = watch;
    }
    if (!watch->started || watch->events == events)
        return;
    watch->events = events;
    if (events)
        uv_poll_start(&watch->poll, events, on_poll);
    else
        uv_poll_stop(&watch->poll);
}

/*
 * Nobody has asked for anything on this connection. Or libcurl has read what this is about already,
 * while it was busy with another one.
 */
static void heard_idle(struct watch *watch)
{
    if (is_silent(watch)) {
        watch_for(watch, UV_READABLE);
        return;
    }
    watch_for(watch, 0);
    /* From here on the kernel takes nothing more in; libcurl looks whether anything is left. */
    shutdown(watch->fd, SHUT_RDWR);
    char bytes[4096];
    while (recv(watch->fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        ;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    if (!watch->sockets)
        return;
    struct weir_transport *transport = watch->sockets->transport;
    was_connected(watch);
    weir_loop_wake(transport->loop);
    if (watch->idle) {
        heard_idle(watch);
        return;
    }
    int heard = (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
                (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0) | (status ? CURL_CSELECT_ERR : 0);
    weir_transport_act(transport, watch->fd, heard);
}

/* --- libcurl calls ---------------------------------------------------------------------------- */

curl_socket_t weir_sockets_on_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)purpose;
    struct weir_exchange *exchange = ctx;
    /* libcurl has lost the connection and looks for another to send again. */
    if (exchange->connected) {
        exchange->again = true;
        return CURL_SOCKET_BAD;
    }
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    exchange->opened = true;
    return fd;
}

int weir_sockets_on_close(void *ctx, curl_socket_t fd)
{
    struct weir_sockets *sockets = ctx;
    struct watch *watch = find(sockets, fd);
    if (watch)
        drop(watch);
    return close(fd);
}

int weir_sockets_on_change(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
{
    (void)easy;
    (void)of_socket;
    struct weir_sockets *sockets = ctx;
    struct watch *watch = find(sockets, fd);
    if (what == CURL_POLL_REMOVE) {
        if (watch && watch->ours && was_connected(watch))
            watch->idle = true;
        else if (watch)
            drop(watch);
        return 0;
    }
    if (!watch)
        watch = add(sockets, fd);
    watch->idle = false;
    watch_for(watch,
              (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0));
    return 0;
}

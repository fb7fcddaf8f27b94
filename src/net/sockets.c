/* SPDX-License-Identifier: MIT */
/*
 * Between libcurl's sockets and libuv's watchers, while libcurl makes a connection: those that it
 * tries, and the pair of its resolver. Once it is made, its socket is the wire's to watch.
 *
 * A watcher must not outlive its socket: it would keep the next one of that number from being
 * watched at all. libcurl closes some without on_close, and says "remove" afterwards, so the
 * watchers of a connection that is given up end before libcurl hears of it.
 */
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "net/loop_parts.h"
#include "net/transport_parts.h"

struct watch {
    uv_poll_t poll;
    struct weir_sockets *sockets; /* NULL: closed, only libuv still has it */
    const CURL *easy;             /* for whose connection */
    int fd;
    bool started; /* libuv knows it */
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

static struct watch *add(struct weir_sockets *sockets, const CURL *easy, int fd)
{
    struct watch *watch = weir_calloc(1, sizeof(*watch));
    watch->sockets = sockets;
    watch->easy = easy;
    watch->fd = fd;
    watch->poll.data = watch;
    watch->started = uv_poll_init(weir_loop_uv(sockets->transport->loop), &watch->poll, fd) == 0;
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

void weir_sockets_forget(struct weir_sockets *sockets, const CURL *easy)
{
    for (struct watch *watch = sockets->first, *next; watch; watch = next) {
        next = watch->next;
        if (watch->easy == easy)
            drop(watch);
    }
}

void weir_sockets_free(struct weir_sockets *sockets)
{
    if (!sockets)
        return;
    while (sockets->first)
        drop(sockets->first);
    free(sockets);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    if (!watch->sockets)
        return;
    struct weir_transport *transport = watch->sockets->transport;
    weir_loop_wake(transport->loop);
    int heard = (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
                (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0) | (status ? CURL_CSELECT_ERR : 0);
    weir_transport_act(transport, watch->fd, heard);
}

/* --- libcurl calls ---------------------------------------------------------------------------- */

curl_socket_t weir_sockets_on_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)ctx, (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                  address->protocol);
}

int weir_sockets_on_close(void *ctx, curl_socket_t fd)
{
    struct watch *watch = find(ctx, fd);
    if (watch)
        drop(watch);
    return close(fd);
}

int weir_sockets_on_change(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
{
    (void)of_socket;
    struct weir_sockets *sockets = ctx;
    struct watch *watch = find(sockets, fd);
    if (what == CURL_POLL_REMOVE) {
        if (watch)
            drop(watch);
        return 0;
    }
    if (!watch)
        watch = add(sockets, easy, fd);
    if (watch->started)
        uv_poll_start(&watch->poll,
                      (what & CURL_POLL_IN ? UV_READABLE : 0) |
                          (what & CURL_POLL_OUT ? UV_WRITABLE : 0),
                      on_poll);
    return 0;
}

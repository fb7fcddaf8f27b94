/* SPDX-License-Identifier: MIT */
/* A server that costs next to nothing; see null.h. */
#include "null.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define FDS_MAX       1024
#define HEAD_BYTES    8192
#define REQUEST_BYTES ((size_t)16 * 1024 * 1024)
#define IDS_MAX       1000
#define ID_CHARS      36
#define ANSWER_BYTES  (512 + IDS_MAX * (ID_CHARS + 3))
#define PAUSE_NS      INT64_C(250000000)

static const char id_mark[] = "id\":\"";
static const char any_id[] = "00000000-0000-0000-0000-000000000001";

/* A request, as far as it has come. */
struct peer {
    char *bytes;
    size_t room;
    size_t len;
    size_t whole; /* its length; 0: the head is not complete */
    size_t head;  /* bytes of the head */
};

static struct peer peers[FDS_MAX];
static const struct null_options *options;
static bool kept;

static void fail(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t done = write(fd, bytes, len);
        if (done < 0)
            return; /* it has left; its socket will say so */
        bytes += done;
        len -= (size_t)done;
    }
}

/* --- bulk messages ---------------------------------------------------------------------------- */

static bool is_id(const char *at, const char *end)
{
    return end - at > ID_CHARS && at[ID_CHARS] == '"' && at[8] == '-' && at[23] == '-';
}

/* `[{"…id":"GUID"…`: the first id behind every `{`; without one, any. */
static size_t write_ids(char *to, const char *body, const char *end)
{
    char *begun = to;
    size_t count = 0;
    const char *at = body;
    while (count < IDS_MAX && (at = memmem(at, (size_t)(end - at), id_mark, sizeof(id_mark) - 1))) {
        at += sizeof(id_mark) - 1;
        if (!is_id(at, end))
            continue;
        to += sprintf(to, "%s\"%.*s\"", count++ ? "," : "", ID_CHARS, at);
        const char *next = memchr(at, '{', (size_t)(end - at));
        at = next ? next : end;
    }
    if (count == 0)
        to += sprintf(to, "\"%s\"", any_id);
    return (size_t)(to - begun);
}

static void stamp(void)
{
    static int64_t last_ns;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    if (options->upstream_port && now_ns - last_ns > PAUSE_NS) {
        printf("bulk %lld\n", (long long)now_ns);
        fflush(stdout);
    }
    last_ns = now_ns;
}

static void keep(const char *body, size_t len)
{
    int fd = open(options->keep_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        fail(options->keep_path);
    write_all(fd, body, len);
    close(fd);
    kept = true;
}

static void answer_bulk(int fd, const struct peer *peer)
{
    static char ids[ANSWER_BYTES];
    static char answer[ANSWER_BYTES + 512];
    const char *body = peer->bytes + peer->head;
    stamp();
    size_t ids_len = write_ids(ids, body, peer->bytes + peer->whole);
    int len =
        snprintf(answer, sizeof(answer),
                 "HTTP/1.1 200 OK\r\nContent-Type: application/json; odata.metadata=minimal\r\n"
                 "OData-Version: 4.0\r\nx-ms-dop-hint: 8\r\nContent-Length: %zu\r\n\r\n"
                 "{\"Ids\":[%.*s]}",
                 ids_len + 10, (int)ids_len, ids);
    if (options->keep_path && !kept)
        keep(body, peer->whole - peer->head);
    write_all(fd, answer, (size_t)len);
}

/* --- anything else ---------------------------------------------------------------------------- */

static int connect_upstream(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(options->upstream_port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
        fail("the server behind the null server");
    return fd;
}

/* The head, with a line more, and the body go there; what comes back is the answer. */
static void pass_on(int fd, const struct peer *peer)
{
    static const char line[] = "Connection: close\r\n";
    char piece[65536];
    ssize_t len;
    int upstream = connect_upstream();
    size_t before = peer->head - 2;
    write_all(upstream, peer->bytes, before);
    write_all(upstream, line, sizeof(line) - 1);
    write_all(upstream, peer->bytes + before, peer->whole - before);
    while ((len = read(upstream, piece, sizeof(piece))) > 0)
        write_all(fd, piece, (size_t)len);
    close(upstream);
    shutdown(fd, SHUT_WR);
}

/* --- requests --------------------------------------------------------------------------------- */

static bool is_bulk(const struct peer *peer)
{
    const char *end = memchr(peer->bytes, '\n', peer->head);
    return !options->upstream_port ||
           memmem(peer->bytes, (size_t)(end - peer->bytes), "Multiple", 8);
}

static void look_for_head(struct peer *peer)
{
    const char *end = memmem(peer->bytes, peer->len, "\r\n\r\n", 4);
    if (!end)
        return;
    char head[HEAD_BYTES];
    peer->head = (size_t)(end - peer->bytes) + 4;
    snprintf(head, sizeof(head), "%.*s", (int)peer->head, peer->bytes);
    const char *length = strcasestr(head, "\r\nContent-Length:");
    peer->whole = peer->head + (length ? strtoul(length + 17, NULL, 10) : 0);
}

static void make_room(struct peer *peer)
{
    size_t wanted = peer->whole > peer->len ? peer->whole : peer->len + HEAD_BYTES;
    if (wanted > REQUEST_BYTES)
        exit(EXIT_FAILURE);
    if (peer->room >= wanted)
        return;
    peer->room = wanted * 2;
    peer->bytes = realloc(peer->bytes, peer->room);
    if (!peer->bytes)
        fail("memory");
}

static void forget(int fd)
{
    free(peers[fd].bytes);
    peers[fd] = (struct peer){ 0 };
    close(fd);
}

/* Nobody sends a second request before the first is answered. */
static void hear(int fd)
{
    struct peer *peer = &peers[fd];
    make_room(peer);
    ssize_t len = read(fd, peer->bytes + peer->len, peer->room - peer->len);
    if (len <= 0) {
        forget(fd);
        return;
    }
    peer->len += (size_t)len;
    if (!peer->whole)
        look_for_head(peer);
    if (!peer->whole || peer->len < peer->whole)
        return;
    if (is_bulk(peer))
        answer_bulk(fd, peer);
    else
        pass_on(fd, peer);
    peer->len = peer->whole = peer->head = 0;
}

static void welcome(int poll, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 || fd >= FDS_MAX)
        fail("accept");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = EPOLLIN, .data.fd = fd });
}

int null_listen(in_port_t *ret_port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 128) ||
        getsockname(listener, (struct sockaddr *)&address, &len))
        fail("listen");
    *ret_port = ntohs(address.sin_port);
    return listener;
}

void null_serve(int listener, const struct null_options *wanted)
{
    struct epoll_event events[64];
    int poll = epoll_create1(EPOLL_CLOEXEC);
    options = wanted;
    epoll_ctl(poll, EPOLL_CTL_ADD, listener,
              &(struct epoll_event){ .events = EPOLLIN, .data.fd = listener });
    for (;;) {
        int count = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener)
                welcome(poll, listener);
            else
                hear(events[i].data.fd);
        }
    }
}

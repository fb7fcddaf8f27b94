/* SPDX-License-Identifier: MIT */
/*
 * A web server that says what the test wants it to say, in the thread of the test: the test takes
 * turns with it (scripted_turn()), so nothing is concurrent and nothing sleeps. It keeps all that
 * it was sent.
 */
#ifndef WEIR_TESTS_SCRIPTED_SERVER_H
#define WEIR_TESTS_SCRIPTED_SERVER_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "support/suite.h"

#define SCRIPTED_CONNECTIONS_MAX 64
#define SCRIPTED_BYTES_MAX       ((size_t)8 * 1024 * 1024)

struct scripted_connection {
    int fd; /* -1: free */
    bool answered;
    struct weir_buf in;
    struct weir_buf out;
    size_t sent;
};

struct scripted_server {
    int listener;
    char url[64];
    int connections;    /* ever */
    int requests;       /* ever */
    const char *answer; /* raw bytes; NULL: silence */
    size_t answer_len;  /* 0: all of the text */
    bool echo;          /* the body of the answer is the body of the request, in a JSON text */
    struct weir_buf heard;
    struct scripted_connection all[SCRIPTED_CONNECTIONS_MAX];
};

static inline void scripted_start(struct scripted_server *server)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(address);
    *server = (struct scripted_server){ 0 };
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_int_eq(bind(server->listener, (struct sockaddr *)&address, len), 0);
    ck_assert_int_eq(listen(server->listener, 128), 0);
    ck_assert_int_eq(getsockname(server->listener, (struct sockaddr *)&address, &len), 0);
    snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%u", ntohs(address.sin_port));
    weir_buf_init(&server->heard, SCRIPTED_BYTES_MAX);
    for (int i = 0; i < SCRIPTED_CONNECTIONS_MAX; i++)
        server->all[i].fd = -1;
}

static inline void scripted_close(struct scripted_connection *it)
{
    if (it->fd >= 0)
        close(it->fd);
    weir_buf_release(&it->in);
    weir_buf_release(&it->out);
    *it = (struct scripted_connection){ .fd = -1 };
}

static inline void scripted_stop(struct scripted_server *server)
{
    for (int i = 0; i < SCRIPTED_CONNECTIONS_MAX; i++)
        scripted_close(&server->all[i]);
    close(server->listener);
    weir_buf_release(&server->heard);
}

static inline void scripted_accept(struct scripted_server *server)
{
    for (int i = 0; i < SCRIPTED_CONNECTIONS_MAX; i++) {
        struct scripted_connection *it = &server->all[i];
        if (it->fd >= 0)
            continue;
        it->fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (it->fd < 0)
            return;
        server->connections++;
        weir_buf_init(&it->in, SCRIPTED_BYTES_MAX);
        weir_buf_init(&it->out, SCRIPTED_BYTES_MAX);
    }
}

/* Whether the request is there whole; where its body begins. */
static inline const char *scripted_body(const struct scripted_connection *it)
{
    const char *text = weir_buf_text(&it->in);
    const char *blank = strstr(text, "\r\n\r\n");
    const char *length = strcasestr(text, "\r\nContent-Length:");
    if (!blank)
        return NULL;
    size_t body = length && length < blank ? (size_t)strtol(length + 17, NULL, 10) : 0;
    return (size_t)(blank + 4 - text) + body <= it->in.len ? blank + 4 : NULL;
}

static inline void scripted_reply(struct scripted_server *server, struct scripted_connection *it)
{
    const char *body = scripted_body(it);
    if (!body || it->answered)
        return;
    it->answered = true;
    server->requests++;
    if (server->echo) {
        struct weir_buf json;
        weir_buf_init(&json, SCRIPTED_BYTES_MAX);
        weir_buf_add_text(&json, "{\"error\":\"invalid_client\",\"error_description\":");
        weir_buf_add_json_string(&json, weir_str_from(body));
        weir_buf_add_text(&json, "}");
        weir_buf_printf(&it->out, "HTTP/1.1 401 No\r\nContent-Length: %zu\r\n\r\n%s", json.len,
                        json.ptr);
        weir_buf_release(&json);
    } else if (server->answer) {
        weir_buf_add(&it->out, server->answer,
                     server->answer_len ? server->answer_len : strlen(server->answer));
    }
}

static inline void scripted_serve(struct scripted_server *server, struct scripted_connection *it)
{
    char chunk[16384];
    ssize_t len = recv(it->fd, chunk, sizeof(chunk), 0);
    if (len > 0) {
        weir_buf_add(&it->in, chunk, (size_t)len);
        weir_buf_add(&server->heard, chunk, (size_t)len);
    } else if (len == 0 || (errno != EAGAIN && errno != EINTR)) {
        scripted_close(it);
        return;
    }
    scripted_reply(server, it);
    if (it->sent < it->out.len) {
        len = send(it->fd, it->out.ptr + it->sent, it->out.len - it->sent, MSG_NOSIGNAL);
        it->sent += len > 0 ? (size_t)len : 0;
    }
    if (it->out.len && it->sent == it->out.len)
        scripted_close(it);
}

/* Whatever can be done now. After an answer the connection is closed. */
static inline void scripted_turn(struct scripted_server *server)
{
    scripted_accept(server);
    for (int i = 0; i < SCRIPTED_CONNECTIONS_MAX; i++) {
        if (server->all[i].fd >= 0)
            scripted_serve(server, &server->all[i]);
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* Metrics over HTTP; see metrics_server.h. */
#include "metrics_server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "metrics_text.h"

#define CONNECTIONS_MAX 16
#define TIMEOUT_S       10
#define BACKLOG         16
#define CONTENT_TYPE    "text/plain; version=0.0.4; charset=utf-8"

struct metrics_server {
    int listener; /* -1: the daemon has it */
    struct MHD_Daemon *daemon;
    struct weir_job *job;
    char url[NI_MAXHOST + 32];
};

/* --- the address ------------------------------------------------------------------------------ */

struct address {
    char host[256]; /* "": this machine */
    char port[8];
};

static enum weir_status refuse(const char *text, const char *why, struct weir_error *err)
{
    return weir_fail(err, WEIR_E_INVALID, "--metrics-listen is \"%.300s\"%s", text, why);
}

/* Without the brackets that an address with colons needs. */
static bool split(const char *text, struct address *ret)
{
    const char *colon = strrchr(text, ':');
    const char *port = colon ? colon + 1 : text;
    struct weir_str host = weir_str(text, colon ? (size_t)(colon - text) : 0);
    int64_t number;
    if (!weir_str_to_int64(weir_str_from(port), &number) || number < 0 || number > 65535)
        return false;
    if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
        host = weir_str(host.ptr + 1, host.len - 2);
    else if (memchr(host.ptr, ':', host.len))
        return false;
    if (host.len >= sizeof(ret->host))
        return false;
    snprintf(ret->host, sizeof(ret->host), "%.*s", (int)host.len, host.ptr);
    snprintf(ret->port, sizeof(ret->port), "%d", (int)number);
    return true;
}

static enum weir_status take_port(const char *text, const struct addrinfo *at, int *ret,
                                  struct weir_error *err)
{
    int on = 1;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        char why[128];
        snprintf(why, sizeof(why), ", which cannot be listened on: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return refuse(text, why, err);
    }
    *ret = fd;
    return WEIR_OK;
}

static enum weir_status listen_at(struct metrics_server *server, const char *text,
                                  struct weir_error *err)
{
    static const char right[] = "; it must be a port, or an address and a port, such as 9100, "
                                "127.0.0.1:9100 or [::]:9100";
    struct address address;
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    struct addrinfo *found = NULL;
    if (!split(text, &address))
        return refuse(text, right, err);
    if (getaddrinfo(address.host[0] ? address.host : "127.0.0.1", address.port, &hints, &found))
        return refuse(text, right, err);
    enum weir_status status = take_port(text, found, &server->listener, err);
    freeaddrinfo(found);
    return status;
}

static void note_url(struct metrics_server *server)
{
    struct sockaddr_storage bound;
    socklen_t bytes = sizeof(bound);
    char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
    if (getsockname(server->listener, (struct sockaddr *)&bound, &bytes) == 0)
        getnameinfo((struct sockaddr *)&bound, bytes, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV);
    bool colons = strchr(host, ':') != NULL;
    snprintf(server->url, sizeof(server->url), "http://%s%s%s:%.8s/metrics", colons ? "[" : "",
             host, colons ? "]" : "", port);
}

/* --- answers ---------------------------------------------------------------------------------- */

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status, char *text)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(text);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, CONTENT_TYPE);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static char *draw(struct weir_job *job)
{
    struct progress_snapshot snapshot = { 0 };
    struct weir_buf text;
    progress_snapshot_take(&snapshot, job);
    weir_buf_init(&text, METRICS_TEXT_MAX(snapshot.connection_count));
    metrics_text_draw(&snapshot, &text);
    progress_snapshot_release(&snapshot);
    return weir_buf_take(&text);
}

static enum MHD_Result answer(void *ctx, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *body,
                              size_t *body_bytes, void **state)
{
    struct metrics_server *server = ctx;
    (void)version, (void)body, (void)state;
    *body_bytes = 0;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return queue(connection, MHD_HTTP_METHOD_NOT_ALLOWED, weir_strdup("only GET\n"));
    if (strcmp(url, "/metrics") != 0)
        return queue(connection, MHD_HTTP_NOT_FOUND, weir_strdup("see /metrics\n"));
    return queue(connection, MHD_HTTP_OK, draw(server->job));
}

/* --- its life --------------------------------------------------------------------------------- */

enum weir_status metrics_server_new(const char *text, struct metrics_server **ret,
                                    struct weir_error *err)
{
    struct metrics_server *server = weir_calloc(1, sizeof(*server));
    server->listener = -1;
    enum weir_status status = listen_at(server, text, err);
    if (status) {
        metrics_server_free(server);
        return status;
    }
    note_url(server);
    *ret = server;
    return WEIR_OK;
}

enum weir_status metrics_server_start(struct metrics_server *server, struct weir_job *job,
                                      struct weir_error *err)
{
    server->job = job;
    server->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC,
                                      0, NULL, NULL, answer, server, MHD_OPTION_LISTEN_SOCKET,
                                      server->listener, MHD_OPTION_CONNECTION_LIMIT,
                                      CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S,
                                      MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
    if (!server->daemon)
        return weir_fail(err, WEIR_E_IO, "metrics cannot be served at %s", server->url);
    server->listener = -1;
    return WEIR_OK;
}

const char *metrics_server_url(const struct metrics_server *server)
{
    return server->url;
}

void metrics_server_free(struct metrics_server *server)
{
    if (!server)
        return;
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    if (server->listener >= 0)
        close(server->listener);
    free(server);
}

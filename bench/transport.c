/* SPDX-License-Identifier: MIT */
/*
 * What a request costs: processor time (user and system, of this process) per POST of 17 KB, eight
 * in flight, by weir_transport and by the barest loop of libuv and libcurl that a careful person
 * would write, against the same server, which is a process of its own. Rounds alternate; medians
 * are compared.
 *
 *     build/release/bench/bench_transport [ratio-max]     1: the median ratio is above ratio-max
 */
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/transport.h"

#define BODY_BYTES  17000
#define IN_FLIGHT   8
#define REQUESTS    2000
#define ROUNDS      41
#define FDS_MAX     1024
#define TARGET      "/api/data/v9.2/accounts/Microsoft.Dynamics.CRM.CreateMultiple"
#define HEADER_LINE "Content-Type: application/json"

static char body[BODY_BYTES];
static char origin[64];

/* --- the server ------------------------------------------------------------------------------- */

/* A request is a head, kept whole, and a body, only counted. */
struct peer {
    char head[4096];
    size_t head_len;
    size_t body_left;
    bool in_body;
};

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                             "x-ms-dop-hint: 8\r\nContent-Length: 48\r\n\r\n"
                             "{\"Ids\":[\"00000000-0000-0000-0000-000000000001\"]}";

static void answer_when_whole(int fd, struct peer *peer)
{
    if (!peer->in_body || peer->body_left)
        return;
    peer->in_body = false;
    if (write(fd, answer, sizeof(answer) - 1) < 0)
        _exit(1);
}

/* Returns how many of the bytes belong to the head, having looked for its end. */
static size_t take_head(struct peer *peer, const char *bytes, size_t len)
{
    size_t room = sizeof(peer->head) - 1 - peer->head_len;
    size_t part = len < room ? len : room;
    memcpy(peer->head + peer->head_len, bytes, part);
    peer->head[peer->head_len + part] = '\0';
    const char *end = strstr(peer->head, "\r\n\r\n");
    if (!end) {
        peer->head_len += part;
        return part;
    }
    const char *length = strcasestr(peer->head, "\r\nContent-Length:");
    peer->body_left = length ? strtoul(length + 17, NULL, 10) : 0;
    peer->in_body = true;
    size_t used = (size_t)(end - peer->head) + 4 - peer->head_len;
    peer->head_len = 0;
    return used;
}

static void take(int fd, struct peer *peer, const char *bytes, size_t len)
{
    while (len) {
        size_t used;
        if (peer->in_body) {
            used = len < peer->body_left ? len : peer->body_left;
            peer->body_left -= used;
        } else {
            used = take_head(peer, bytes, len);
        }
        bytes += used;
        len -= used;
        answer_when_whole(fd, peer);
    }
}

static void welcome(int poll, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0 || fd >= FDS_MAX)
        _exit(1);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = EPOLLIN, .data.fd = fd });
}

static void serve(int listener)
{
    static struct peer peers[FDS_MAX];
    static char bytes[65536];
    struct epoll_event events[64];
    int poll = epoll_create1(0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    epoll_ctl(poll, EPOLL_CTL_ADD, listener,
              &(struct epoll_event){ .events = EPOLLIN, .data.fd = listener });
    for (;;) {
        int count = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                welcome(poll, listener);
                continue;
            }
            ssize_t len = read(fd, bytes, sizeof(bytes));
            if (len > 0)
                take(fd, &peers[fd], bytes, (size_t)len);
            else if (len == 0)
                close(fd), memset(&peers[fd], 0, sizeof(peers[fd]));
        }
    }
}

static pid_t start_server(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 64) ||
        getsockname(listener, (struct sockaddr *)&address, &len))
        abort();
    snprintf(origin, sizeof(origin), "http://127.0.0.1:%d", ntohs(address.sin_port));
    pid_t pid = fork();
    if (pid == 0)
        serve(listener);
    close(listener);
    return pid;
}

/* --- the barest loop -------------------------------------------------------------------------- */

static struct {
    uv_loop_t loop;
    uv_timer_t timer;
    CURLM *multi;
    uv_poll_t *watches[FDS_MAX];
    int watching[FDS_MAX];
    long left;
    long good;
} bare;

static void bare_settle(void)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(bare.multi, &left))) {
        CURL *easy = message->easy_handle;
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        bare.good += message->data.result == CURLE_OK && status == 200;
        curl_multi_remove_handle(bare.multi, easy);
        if (bare.left > 0) {
            bare.left--;
            curl_multi_add_handle(bare.multi, easy);
        } else {
            curl_easy_cleanup(easy);
        }
    }
}

static void bare_poll(uv_poll_t *poll, int status, int events)
{
    int running;
    int fd = (int)(intptr_t)poll->data;
    curl_multi_socket_action(bare.multi, fd,
                             (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
                                 (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0) |
                                 (status ? CURL_CSELECT_ERR : 0),
                             &running);
    bare_settle();
}

static int bare_change(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
{
    (void)easy, (void)ctx, (void)of_socket;
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    if (what == CURL_POLL_REMOVE)
        return 0;
    if (!bare.watches[fd]) {
        bare.watches[fd] = weir_calloc(1, sizeof(uv_poll_t));
        uv_poll_init(&bare.loop, bare.watches[fd], fd);
        bare.watches[fd]->data = (void *)(intptr_t)fd;
    }
    if (bare.watching[fd] != events)
        uv_poll_start(bare.watches[fd], events, bare_poll);
    bare.watching[fd] = events;
    return 0;
}

static void bare_freed(uv_handle_t *handle)
{
    free(handle);
}

static int bare_close(void *ctx, curl_socket_t fd)
{
    (void)ctx;
    if (bare.watches[fd])
        uv_close((uv_handle_t *)bare.watches[fd], bare_freed);
    bare.watches[fd] = NULL;
    bare.watching[fd] = 0;
    return close(fd);
}

static void bare_due(uv_timer_t *timer)
{
    (void)timer;
    int running;
    curl_multi_socket_action(bare.multi, CURL_SOCKET_TIMEOUT, 0, &running);
    bare_settle();
}

static int bare_timer(CURLM *multi, long timeout_ms, void *ctx)
{
    (void)multi, (void)ctx;
    if (timeout_ms < 0)
        uv_timer_stop(&bare.timer);
    else
        uv_timer_start(&bare.timer, bare_due, (uint64_t)timeout_ms, 0);
    return 0;
}

static size_t bare_body(char *bytes, size_t size, size_t count, void *ctx)
{
    (void)bytes, (void)ctx;
    return size * count;
}

static CURL *bare_easy(struct curl_slist *lines)
{
    char url[256];
    snprintf(url, sizeof(url), "%s%s", origin, TARGET);
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)BODY_BYTES);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, bare_body);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, bare_close);
    return easy;
}

static void run_bare(long requests)
{
    struct curl_slist *lines = curl_slist_append(NULL, HEADER_LINE);
    lines = curl_slist_append(lines, "Expect:");
    uv_loop_init(&bare.loop);
    uv_timer_init(&bare.loop, &bare.timer);
    bare.multi = curl_multi_init();
    curl_multi_setopt(bare.multi, CURLMOPT_SOCKETFUNCTION, bare_change);
    curl_multi_setopt(bare.multi, CURLMOPT_TIMERFUNCTION, bare_timer);
    bare.left = requests - IN_FLIGHT;
    bare.good = 0;
    for (int i = 0; i < IN_FLIGHT; i++)
        curl_multi_add_handle(bare.multi, bare_easy(lines));
    while (bare.good < requests)
        uv_run(&bare.loop, UV_RUN_ONCE);
    curl_multi_cleanup(bare.multi);
    uv_close((uv_handle_t *)&bare.timer, NULL);
    uv_run(&bare.loop, UV_RUN_DEFAULT);
    uv_loop_close(&bare.loop);
    curl_slist_free_all(lines);
}

/* --- weir_transport --------------------------------------------------------------------------- */

static struct {
    struct weir_loop *loop;
    struct weir_transport *transport;
    long left;
    long good;
    long wanted;
} ours;

static void ours_done(void *ctx, const struct weir_exchange_answer *got);

static void ours_send(void)
{
    static const char *const headers[] = { HEADER_LINE };
    static const struct weir_str slices[] = { { body, BODY_BYTES } };
    const struct weir_exchange_request request = {
        .method = "POST",
        .target = TARGET,
        .headers = headers,
        .header_count = 1,
        .body = slices,
        .body_count = 1,
    };
    weir_transport_send(ours.transport, &request, ours_done, NULL);
}

static void ours_done(void *ctx, const struct weir_exchange_answer *got)
{
    (void)ctx;
    ours.good += got->ending == WEIR_ENDING_COMPLETE && got->status == 200;
    if (ours.left > 0) {
        ours.left--;
        ours_send();
    }
    if (ours.good == ours.wanted)
        weir_loop_stop(ours.loop);
}

static void run_ours(long requests)
{
    ours.left = requests - IN_FLIGHT;
    ours.good = 0;
    ours.wanted = requests;
    if (weir_loop_new(&ours.loop, NULL) ||
        weir_transport_new(ours.loop, &(struct weir_transport_options){ .origin = origin },
                           &ours.transport, NULL))
        abort();
    for (int i = 0; i < IN_FLIGHT; i++)
        ours_send();
    weir_loop_run(ours.loop);
    weir_transport_free(ours.transport);
    weir_loop_free(ours.loop);
}

/* --- comparing -------------------------------------------------------------------------------- */

static double cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double measure(void (*run)(long requests))
{
    double before_us = cpu_us();
    run(REQUESTS);
    return (cpu_us() - before_us) / REQUESTS;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), compare);
    return values[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    double bare_us[ROUNDS], ours_us[ROUNDS], ratios[ROUNDS];
    memset(body, 'x', sizeof(body));
    signal(SIGPIPE, SIG_IGN);
    pid_t server = start_server();
    measure(run_bare);
    measure(run_ours);
    for (int i = 0; i < ROUNDS; i++) {
        bare_us[i] = measure(run_bare);
        ours_us[i] = measure(run_ours);
        ratios[i] = ours_us[i] / bare_us[i];
    }
    kill(server, SIGKILL);
    double ratio = median(ratios);
    printf("POST of %d bytes, %d in flight, processor time per request, medians of %d rounds\n",
           BODY_BYTES, IN_FLIGHT, ROUNDS);
    printf("bare libcurl loop  %6.2f us\n", median(bare_us));
    printf("weir_transport     %6.2f us\n", median(ours_us));
    printf("ratio              %6.2f\n", ratio);
    return argc > 1 && ratio > strtod(argv[1], NULL);
}

/* SPDX-License-Identifier: MIT */
/* The barest loop of libuv and libcurl; see bare.h. */
#include "bare.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"

#define FDS_MAX 1024

static struct {
    uv_loop_t loop;
    uv_timer_t timer;
    CURLM *multi;
    uv_poll_t *watches[FDS_MAX];
    int watching[FDS_MAX];
    long left;
    long good;
} bare;

static void must_be_good(CURL *easy, CURLcode result)
{
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (result == CURLE_OK && status == 200)
        return;
    fprintf(stderr, "bare loop: %s, status %ld\n", curl_easy_strerror(result), status);
    exit(EXIT_FAILURE);
}

static void settle(void)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(bare.multi, &left))) {
        CURL *easy = message->easy_handle;
        must_be_good(easy, message->data.result);
        bare.good++;
        curl_multi_remove_handle(bare.multi, easy);
        if (bare.left > 0) {
            bare.left--;
            curl_multi_add_handle(bare.multi, easy);
        } else {
            curl_easy_cleanup(easy);
        }
    }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    int running;
    int fd = (int)(intptr_t)poll->data;
    curl_multi_socket_action(bare.multi, fd,
                             (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
                                 (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0) |
                                 (status ? CURL_CSELECT_ERR : 0),
                             &running);
    settle();
}

static int on_change(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
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
        uv_poll_start(bare.watches[fd], events, on_poll);
    bare.watching[fd] = events;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static int on_close_socket(void *ctx, curl_socket_t fd)
{
    (void)ctx;
    if (bare.watches[fd])
        uv_close((uv_handle_t *)bare.watches[fd], on_closed);
    bare.watches[fd] = NULL;
    bare.watching[fd] = 0;
    return close(fd);
}

static void on_due(uv_timer_t *timer)
{
    (void)timer;
    int running;
    curl_multi_socket_action(bare.multi, CURL_SOCKET_TIMEOUT, 0, &running);
    settle();
}

static int on_timer(CURLM *multi, long timeout_ms, void *ctx)
{
    (void)multi, (void)ctx;
    if (timeout_ms < 0)
        uv_timer_stop(&bare.timer);
    else
        uv_timer_start(&bare.timer, on_due, (uint64_t)timeout_ms, 0);
    return 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    (void)bytes, (void)ctx;
    return size * count;
}

static CURL *make_easy(const struct bare_work *work, struct curl_slist *lines)
{
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, work->url);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, work->body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)work->body_bytes);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
    return easy;
}

void bare_run(const struct bare_work *work)
{
    struct curl_slist *lines = curl_slist_append(NULL, "Expect:");
    for (const char *const *line = work->lines; *line; line++)
        lines = curl_slist_append(lines, *line);
    uv_loop_init(&bare.loop);
    uv_timer_init(&bare.loop, &bare.timer);
    bare.multi = curl_multi_init();
    curl_multi_setopt(bare.multi, CURLMOPT_SOCKETFUNCTION, on_change);
    curl_multi_setopt(bare.multi, CURLMOPT_TIMERFUNCTION, on_timer);
    bare.left = work->requests - work->in_flight;
    bare.good = 0;
    for (int i = 0; i < work->in_flight; i++)
        curl_multi_add_handle(bare.multi, make_easy(work, lines));
    while (bare.good < work->requests)
        uv_run(&bare.loop, UV_RUN_ONCE);
    curl_multi_cleanup(bare.multi);
    uv_close((uv_handle_t *)&bare.timer, NULL);
    uv_run(&bare.loop, UV_RUN_DEFAULT);
    uv_loop_close(&bare.loop);
    curl_slist_free_all(lines);
}

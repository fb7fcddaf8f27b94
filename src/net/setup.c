/* SPDX-License-Identifier: MIT */
/*
 * The options of libcurl's handles. Each says why; what libcurl does by default is not repeated
 * unless something rests on it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/wiping.h"
#include "net/transport_parts.h"
#include "weir/weir.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * What a proxy asks for passes through libcurl's buffers, so what it frees is wiped; unless the
 * program has set libcurl up before us, then its choice stands. Never undone: other parts of the
 * program may use libcurl too.
 */
static void init_curl(void)
{
    curl_global_init_mem(CURL_GLOBAL_DEFAULT, weir_wiping_malloc, weir_wiping_free,
                         weir_wiping_realloc, weir_wiping_strdup, weir_wiping_calloc);
}

static void set_safety(CURL *easy, const struct weir_transport *transport)
{
    curl_easy_setopt(easy, CURLOPT_URL, transport->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, transport->origin.secure ? "https" : "http");
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (transport->ca_file) {
        /* Instead of the system's, not besides. */
        curl_easy_setopt(easy, CURLOPT_CAINFO, transport->ca_file);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
}

static void set_proxy(CURL *easy, const struct weir_transport *transport)
{
    /* "" also keeps libcurl from asking the environment. */
    if (transport->origin.loopback || transport->origin.link_local) {
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    } else if (transport->proxy) {
        curl_easy_setopt(easy, CURLOPT_PROXY, transport->proxy);
    }
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, transport->agent);
}

static void set_connecting(CURL *easy)
{
    /* The connection is made and left to us. */
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    /* What both sides agree on at the start of TLS. */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* A thread that looks a name up and hangs is left behind; the loop would wait for it. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 1L);
}

CURL *weir_wire_setup(struct weir_wire *wire)
{
    struct weir_transport *transport = wire->transport;
    CURL *easy = curl_easy_init();
    if (!easy)
        abort();
    set_safety(easy, transport);
    set_proxy(easy, transport);
    set_connecting(easy);
    curl_easy_setopt(easy, CURLOPT_SHARE, transport->share);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, wire);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, wire->detail);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, weir_sockets_on_open);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, weir_sockets_on_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, transport->sockets);
    return easy;
}

static int on_timer(CURLM *multi, long timeout_ms, void *ctx)
{
    (void)multi;
    struct weir_transport *transport = ctx;
    if (timeout_ms < 0)
        weir_timer_stop(&transport->timer);
    else
        weir_timer_set(&transport->timer,
                       weir_loop_now_us(transport->loop) + timeout_ms * WEIR_US_PER_MS);
    return 0;
}

void weir_transport_setup(struct weir_transport *transport)
{
    pthread_once(&once, init_curl);
    transport->multi = curl_multi_init();
    transport->share = curl_share_init();
    if (!transport->multi || !transport->share)
        abort();
    snprintf(transport->agent, sizeof(transport->agent), "weir/%s", weir_version());
    curl_multi_setopt(transport->multi, CURLMOPT_SOCKETFUNCTION, weir_sockets_on_change);
    curl_multi_setopt(transport->multi, CURLMOPT_SOCKETDATA, transport->sockets);
    curl_multi_setopt(transport->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(transport->multi, CURLMOPT_TIMERDATA, transport);
    /* Sessions of TLS outlive the connection that began them. */
    curl_share_setopt(transport->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}

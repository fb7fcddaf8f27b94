/* SPDX-License-Identifier: MIT */
/*
 * The options of libcurl's handles that never change. Each says why; what libcurl does by default
 * is not repeated unless something rests on it.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/wiping.h"
#include "net/transport_parts.h"
#include "weir/weir.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * Secrets and tokens pass through libcurl's buffers, so what it frees is wiped; unless the program
 * has set libcurl up before us, then its choice stands. Never undone: other parts of the program
 * may use libcurl too.
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
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
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
    /* "" also keeps libcurl from asking the environment, which it would do for every request. */
    if (transport->origin.loopback || transport->origin.link_local) {
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    } else if (transport->proxy) {
        curl_easy_setopt(easy, CURLOPT_PROXY, transport->proxy);
    }
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
}

static void set_protocol(CURL *easy)
{
    char agent[64];
    snprintf(agent, sizeof(agent), "weir/%s", weir_version());
    curl_easy_setopt(easy, CURLOPT_USERAGENT, agent);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    /* Chunks come as they are: our own reader of them is the stricter one. */
    curl_easy_setopt(easy, CURLOPT_HTTP_TRANSFER_DECODING, 0L);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 1L);
}

static void set_callbacks(CURL *easy, struct weir_exchange *exchange)
{
    curl_easy_setopt(easy, CURLOPT_PRIVATE, exchange);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->curl_detail);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, weir_exchange_on_prereq);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, weir_exchange_on_read);
    curl_easy_setopt(easy, CURLOPT_READDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, weir_exchange_on_seek);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, weir_exchange_on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, weir_exchange_on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, weir_sockets_on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, exchange);
    /* A connection keeps this from its birth, and outlives the exchange: not the exchange. */
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, weir_sockets_on_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, exchange->transport->sockets);
}

CURL *weir_exchange_setup(struct weir_exchange *exchange)
{
    CURL *easy = curl_easy_init();
    if (!easy)
        abort();
    set_safety(easy, exchange->transport);
    set_proxy(easy, exchange->transport);
    set_protocol(easy);
    set_callbacks(easy, exchange);
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

CURLM *weir_transport_setup(struct weir_transport *transport)
{
    pthread_once(&once, init_curl);
    CURLM *multi = curl_multi_init();
    if (!multi)
        abort();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, weir_sockets_on_change);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, transport->sockets);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, transport);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)WEIR_SOCKETS_KEPT_MAX);
    return multi;
}

/* SPDX-License-Identifier: MIT */
/*
 * What an origin is; see origin.h.
 *
 * libcurl itself takes it apart, so that nobody can read it in two ways: what libcurl understood is
 * put together again and must be what was given.
 */
#include "net/origin.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

#define ORIGIN_BYTES_MAX 512

struct parts {
    char *scheme;
    char *host;
    char *port;
};

static void release(struct parts *parts)
{
    curl_free(parts->scheme);
    curl_free(parts->host);
    curl_free(parts->port);
}

static bool split(const char *text, struct parts *parts)
{
    CURLU *url = curl_url();
    bool good = url && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_SCHEME, &parts->scheme, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_HOST, &parts->host, 0) == CURLUE_OK;
    if (good)
        curl_url_get(url, CURLUPART_PORT, &parts->port, 0);
    curl_url_cleanup(url);
    return good;
}

static bool is_same(const char *text, const struct parts *parts)
{
    char again[ORIGIN_BYTES_MAX];
    int len = snprintf(again, sizeof(again), "%s://%s%s%s", parts->scheme, parts->host,
                       parts->port ? ":" : "", parts->port ? parts->port : "");
    return len > 0 && (size_t)len < sizeof(again) && strcasecmp(again, text) == 0;
}

static bool is_host(const char *host)
{
    if (host[0] == '[')
        return true;
    for (; *host; host++) {
        bool good = (*host >= '0' && *host <= '9') || (*host >= 'a' && *host <= 'z') ||
                    (*host >= 'A' && *host <= 'Z') || strchr("-._", *host);
        if (!good)
            return false;
    }
    return true;
}

static void place(const char *host, struct weir_origin *origin)
{
    struct in_addr v4;
    origin->loopback = strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0;
    if (inet_pton(AF_INET, host, &v4) != 1)
        return;
    origin->loopback = ntohl(v4.s_addr) >> 24 == 127;
    origin->link_local = ntohl(v4.s_addr) >> 16 == 0xa9fe;
}

enum weir_status weir_origin_read(const char *text, bool link_local, struct weir_origin *ret,
                                  struct weir_error *err)
{
    struct parts parts = { 0 };
    struct weir_origin origin = { 0 };
    bool good = text && strlen(text) < ORIGIN_BYTES_MAX && split(text, &parts) &&
                is_same(text, &parts) && is_host(parts.host);
    if (good) {
        origin.secure = strcasecmp(parts.scheme, "https") == 0;
        good = origin.secure || strcasecmp(parts.scheme, "http") == 0;
        place(parts.host, &origin);
    }
    release(&parts);
    if (text && strchr(text, '@'))
        return weir_fail(err, WEIR_E_INVALID, "the origin names a user; it must not");
    if (!good)
        return weir_fail(err, WEIR_E_INVALID,
                         "origin \"%s\" is none; it is scheme://host[:port], nothing after it",
                         text ? text : "");
    if (!origin.secure && !origin.loopback && !(link_local && origin.link_local))
        return weir_fail(err, WEIR_E_INVALID,
                         "origin \"%s\" is not encrypted and not on this machine; use https://",
                         text);
    *ret = origin;
    return WEIR_OK;
}

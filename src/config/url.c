/* SPDX-License-Identifier: MIT */
/* The address of an environment; see url.h. */
#include "config/url.h"

#include <arpa/inet.h>

struct url {
    bool secure;
    struct weir_str host; /* with the brackets of an IPv6 address */
    struct weir_str port; /* ptr NULL: none */
    struct weir_str tail; /* path, query, fragment */
    bool user;
};

static struct weir_str after(struct weir_str text, size_t len)
{
    return weir_str(text.ptr + len, text.len - len);
}

/* How many bytes of `text` come before the first of `stops`. */
static size_t span_to(struct weir_str text, const char *stops)
{
    size_t len = 0;
    while (len < text.len && text.ptr[len] && !strchr(stops, text.ptr[len]))
        len++;
    return len;
}

static bool split(struct weir_str text, struct url *url)
{
    url->secure = weir_str_starts_nocase(text, "https://");
    if (!url->secure && !weir_str_starts_nocase(text, "http://"))
        return false;
    text = after(text, url->secure ? 8 : 7);
    struct weir_str authority = weir_str(text.ptr, span_to(text, "/?#"));
    url->tail = after(text, authority.len);
    url->user = memchr(authority.ptr, '@', authority.len) != NULL;
    size_t host = span_to(authority, "]");
    bool bracket = authority.len && authority.ptr[0] == '[' && host < authority.len;
    host = bracket ? host + 1 : span_to(authority, ":");
    url->host = weir_str(authority.ptr, host);
    url->port = host < authority.len ? after(authority, host) : weir_str(NULL, 0);
    return true;
}

static bool port_ok(struct weir_str port)
{
    int64_t number;
    return !port.ptr ||
           (port.len > 1 && port.len <= 6 && port.ptr[0] == ':' && port.ptr[1] >= '0' &&
            port.ptr[1] <= '9' && weir_str_to_int64(after(port, 1), &number) && number >= 1 &&
            number <= 65535);
}

/* The address between the brackets, or false. */
static bool to_ipv6(struct weir_str host, struct in6_addr *ret)
{
    char text[INET6_ADDRSTRLEN];
    if (host.len < 3 || host.ptr[0] != '[' || host.len - 2 >= sizeof(text))
        return false;
    memcpy(text, host.ptr + 1, host.len - 2);
    text[host.len - 2] = '\0';
    return inet_pton(AF_INET6, text, ret) == 1;
}

static bool host_ok(struct weir_str host)
{
    struct in6_addr address;
    if (host.len && host.ptr[0] == '[')
        return to_ipv6(host, &address);
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              c == '-' || c == '.' || c == '_'))
            return false;
    }
    return host.len > 0;
}

static bool is_loopback(struct weir_str host)
{
    struct in6_addr v6;
    if (weir_str_equal_nocase(host, weir_str_from("localhost")))
        return true;
    if (to_ipv6(host, &v6))
        return IN6_IS_ADDR_LOOPBACK(&v6);
    char text[INET_ADDRSTRLEN];
    if (host.len >= sizeof(text))
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    struct in_addr v4;
    return inet_pton(AF_INET, text, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

const char *weir_url_problem(struct weir_str text)
{
    struct url url;
    if (!split(text, &url))
        return ", which does not begin with https://";
    if (url.user)
        return ", which names a user";
    if (!host_ok(url.host) || !port_ok(url.port))
        return ", which has no proper host or port";
    if (url.tail.len && !weir_str_equal(url.tail, weir_str("/", 1)))
        return ", which goes on after the host";
    if (!url.secure && !is_loopback(url.host))
        return ", which is not encrypted and not on this machine";
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* Links in answers; see same_origin.h. */
#include "protocol/same_origin.h"

/* An origin taken apart; the host may be an IPv6 address in brackets. */
struct origin {
    struct weir_str scheme;
    struct weir_str host;
    int64_t port;
};

static int64_t default_port(struct weir_str scheme)
{
    return weir_str_equal_nocase(scheme, weir_str_from("https")) ? 443 : 80;
}

/* Where the port's colon stands in host[:port], or its length. */
static size_t host_len(struct weir_str authority)
{
    const char *bracket = authority.len ? memrchr(authority.ptr, ']', authority.len) : NULL;
    size_t from = bracket ? (size_t)(bracket - authority.ptr) : 0;
    const char *colon =
        authority.len ? memchr(authority.ptr + from, ':', authority.len - from) : NULL;
    return colon ? (size_t)(colon - authority.ptr) : authority.len;
}

/* Digits and nothing else: no sign, no blank. */
static bool read_port(struct weir_str text, int64_t *ret)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    }
    return weir_str_to_int64(text, ret) && *ret <= UINT16_MAX;
}

/* scheme://host[:port], then the rest. False: it does not begin so. */
static bool take_origin(struct weir_str *text, struct origin *ret)
{
    const char *colon = text->len ? memmem(text->ptr, text->len, "://", 3) : NULL;
    if (!colon)
        return false;
    ret->scheme = weir_str(text->ptr, (size_t)(colon - text->ptr));
    struct weir_str rest = weir_str(colon + 3, text->len - ret->scheme.len - 3);
    size_t len = 0;
    while (len < rest.len && rest.ptr[len] != '/' && rest.ptr[len] != '?')
        len++;
    struct weir_str authority = weir_str(rest.ptr, len);
    ret->host = weir_str(authority.ptr, host_len(authority));
    ret->port = default_port(ret->scheme);
    *text = weir_str(rest.ptr + len, rest.len - len);
    size_t behind = ret->host.len + 1;
    if (ret->host.len == authority.len)
        return ret->host.len > 0;
    return ret->host.len > 0 && authority.ptr[behind - 1] == ':' &&
           read_port(weir_str(authority.ptr + behind, authority.len - behind), &ret->port);
}

static bool is_same(const struct origin *a, const struct origin *b)
{
    return weir_str_equal_nocase(a->scheme, b->scheme) && weir_str_equal_nocase(a->host, b->host) &&
           a->port == b->port;
}

/* Nothing that two readers of an address might read in two ways. */
static bool is_plain(struct weir_str link)
{
    for (size_t i = 0; i < link.len; i++) {
        unsigned char c = (unsigned char)link.ptr[i];
        if (c <= ' ' || c >= 0x7f || c == '\\' || c == '#')
            return false;
    }
    return true;
}

bool weir_same_origin_path(const char *origin, struct weir_str link, struct weir_str *ret_path)
{
    struct weir_str own_text = weir_str_from(origin);
    struct origin own, other;
    if (!is_plain(link) || link.len == 0)
        return false;
    if (link.ptr[0] != '/') {
        if (!take_origin(&own_text, &own) || !take_origin(&link, &other) || !is_same(&own, &other))
            return false;
    }
    bool path = link.len && link.ptr[0] == '/' && !(link.len > 1 && link.ptr[1] == '/');
    if (path)
        *ret_path = link;
    return path;
}

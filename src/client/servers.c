/* SPDX-License-Identifier: MIT */
/* Web servers and the cookies that lead to them; see servers.h. */
#include "client/servers.h"

#include <stdbool.h>
#include <string.h>

/* The octets of a cookie's value in RFC 6265: no blank, quote, comma, semicolon or backslash. */
static bool is_cookie_octet(unsigned char c)
{
    return c > ' ' && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
}

static bool is_usable(struct weir_str cookie)
{
    if (cookie.len == 0 || cookie.len > WEIR_COOKIE_BYTES_MAX)
        return false;
    for (size_t i = 0; i < cookie.len; i++) {
        if (!is_cookie_octet((unsigned char)cookie.ptr[i]))
            return false;
    }
    return true;
}

static struct weir_server *find(struct weir_servers *servers, uint64_t id)
{
    for (size_t i = 0; i < WEIR_LANES_MAX; i++) {
        if (servers->of[i].id == id)
            return &servers->of[i];
    }
    return NULL;
}

static struct weir_server *oldest(struct weir_servers *servers)
{
    struct weir_server *ret = &servers->of[0];
    for (size_t i = 1; i < WEIR_LANES_MAX; i++) {
        if (servers->of[i].age < ret->age)
            ret = &servers->of[i];
    }
    return ret;
}

void weir_servers_hear(struct weir_servers *servers, uint64_t id, struct weir_str cookie)
{
    if (id == 0 || !is_usable(cookie))
        return;
    struct weir_server *it = find(servers, id);
    if (!it)
        it = oldest(servers);
    it->id = id;
    it->age = ++servers->clock;
    memcpy(it->cookie, cookie.ptr, cookie.len);
    it->cookie[cookie.len] = '\0';
}

const char *weir_servers_cookie(struct weir_servers *servers, uint64_t id)
{
    struct weir_server *it = id ? find(servers, id) : NULL;
    if (!it)
        return NULL;
    it->age = ++servers->clock;
    return it->cookie;
}

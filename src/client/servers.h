/* SPDX-License-Identifier: MIT */
/*
 * The web servers that have answered a link, and the cookie that leads to each of them again: the
 * WEIR_LANES_MAX that were heard or asked for last. Cookies are the service's words: one that is
 * too long, or that could not stand in a header, is not kept, and its server cannot be asked for.
 * Pure. One thread at a time.
 */
#ifndef WEIR_CLIENT_SERVERS_H
#define WEIR_CLIENT_SERVERS_H

#include "base/limits.h"
#include "base/str.h"

struct weir_server {
    uint64_t id;  /* 0: free */
    uint64_t age; /* when it was heard or asked for: the larger, the later */
    char cookie[WEIR_COOKIE_BYTES_MAX + 1];
};

/* Zeroed: nothing is known. */
struct weir_servers {
    uint64_t clock;
    struct weir_server of[WEIR_LANES_MAX];
};

/* An answer of a server, with the value of its cookie; an id of 0 or an empty value says nothing.
 */
void weir_servers_hear(struct weir_servers *servers, uint64_t id, struct weir_str cookie);

/* The value of the cookie that leads there; NULL: not known, or 0. Valid until the next answer. */
const char *weir_servers_cookie(struct weir_servers *servers, uint64_t id);

#endif

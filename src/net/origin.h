/* SPDX-License-Identifier: MIT */
/*
 * An origin: scheme://host[:port] and nothing behind it. https goes anywhere; plain http stays on
 * this machine (localhost, 127.0.0.0/8, [::1]) or, if allowed, on its link (169.254.0.0/16). Any
 * thread.
 */
#ifndef WEIR_NET_ORIGIN_H
#define WEIR_NET_ORIGIN_H

#include <stdbool.h>

#include "weir/error.h"

struct weir_origin {
    bool secure;     /* https */
    bool loopback;   /* on this machine, as its name says */
    bool link_local; /* 169.254.0.0/16 */
};

/* WEIR_E_INVALID: it is none. */
enum weir_status weir_origin_read(const char *text, bool link_local, struct weir_origin *ret,
                                  struct weir_error *err);

#endif

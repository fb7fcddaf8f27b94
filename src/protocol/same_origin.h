/* SPDX-License-Identifier: MIT */
/* Links in answers: where they lead. Pure; nothing is allocated. Any thread. */
#ifndef WEIR_PROTOCOL_SAME_ORIGIN_H
#define WEIR_PROTOCOL_SAME_ORIGIN_H

#include "base/str.h"

/*
 * May a link that an answer holds (`@odata.nextLink`, `Location`) be followed? Only to `origin`
 * (scheme://host[:port]) itself: same scheme, host and port, no user in it, nothing but printable
 * ASCII. True: `ret_path` is its path and query, in `link`, beginning with "/". A link that has no
 * origin of its own must begin with a single "/".
 */
bool weir_same_origin_path(const char *origin, struct weir_str link, struct weir_str *ret_path);

#endif

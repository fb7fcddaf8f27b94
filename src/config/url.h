/* SPDX-License-Identifier: MIT */
/*
 * The address of an environment: `https://host[:port]`, with at most a slash after it. `http://` is
 * for this machine only: localhost, 127.0.0.0/8, [::1]. Any thread.
 */
#ifndef WEIR_CONFIG_URL_H
#define WEIR_CONFIG_URL_H

#include "base/str.h"

/* What a good one looks like, as the end of a sentence. */
#define WEIR_URL_RIGHT "https://host[:port] (http:// for this machine only), nothing after it"

/* NULL: it is one. Otherwise what is wrong, as in ", which names a user". */
const char *weir_url_problem(struct weir_str text);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Moments as others write them. Any thread; only the local form reads the time zone.
 *
 *     2026-01-01T00:00:00.123Z       ISO 8601; an offset instead of the Z is fine, neither is UTC
 *     1767225600                     seconds since 1970
 *     2026-01-01 01:00:00.123456     local time: what `az account get-access-token` calls expiresOn
 */
#ifndef WEIR_BASE_MOMENT_H
#define WEIR_BASE_MOMENT_H

#include "base/str.h"

/* The first form, the whole of `text`: microseconds since 1970, further digits dropped. */
bool weir_moment_parse_iso(struct weir_str text, int64_t *ret_us);

/* Any of the three, blanks around it: seconds since 1970, fractions dropped. False: it is none. */
bool weir_moment_parse(struct weir_str text, int64_t *ret_s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Moments as token answers write them. Any thread (the last form reads the time zone).
 *
 *     1767225600                     seconds since 1970
 *     2026-01-01T00:00:00.123Z       ISO 8601; an offset instead of the Z is fine, neither is UTC
 *     2026-01-01 01:00:00.123456     local time: what `az account get-access-token` calls expiresOn
 */
#ifndef WEIR_AUTH_MOMENT_H
#define WEIR_AUTH_MOMENT_H

#include "base/str.h"

/* The whole of `text` as seconds since 1970, fractions dropped. False: it is no moment. */
bool weir_moment_parse(struct weir_str text, int64_t *ret_s);

#endif

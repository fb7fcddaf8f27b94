/* SPDX-License-Identifier: MIT */
/*
 * base64url as JWTs use it: the alphabet of URLs, no padding. Reading is strict: a bit of the last
 * letter that carries nothing must be 0, so that no two texts mean the same bytes.
 */
#ifndef SIM_BASE64URL_H
#define SIM_BASE64URL_H

#include "base/buf.h"
#include "base/str.h"

void sim_base64url_add(struct weir_buf *out, const void *bytes, size_t len);

/* False: not base64url, or more than `bytes_max` bytes; the outputs are then unspecified. */
bool sim_base64url_decode(struct weir_str text, uint8_t *bytes, size_t bytes_max, size_t *ret_len);

#endif

/* SPDX-License-Identifier: MIT */
/* base64url without padding, as JWTs are written. Any thread. */
#ifndef WEIR_BASE_BASE64URL_H
#define WEIR_BASE_BASE64URL_H

#include "base/buf.h"
#include "base/str.h"

void weir_base64url_add(struct weir_buf *out, const void *bytes, size_t len);

/* Append what `text` stands for; false, and `out` is not to be used: it is not base64url. */
bool weir_base64url_decode(struct weir_buf *out, struct weir_str text);

#endif

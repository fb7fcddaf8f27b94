/* SPDX-License-Identifier: MIT */
/*
 * Text that must not outlive its use: client secrets, assertions, tokens, and the forms that carry
 * them. Whatever is released or replaced here is overwritten first. Any thread.
 */
#ifndef WEIR_AUTH_SECRET_H
#define WEIR_AUTH_SECRET_H

#include "base/buf.h"
#include "base/str.h"

/* Owned and terminated; zeroed: empty, `text` NULL. */
struct weir_secret {
    char *text;
    size_t len;
};

/* Keep a copy of `text` instead of what was there. `text` may not be a part of it. */
void weir_secret_set(struct weir_secret *secret, struct weir_str text);

/* Wiped and freed. Fine on a zeroed one. */
void weir_secret_release(struct weir_secret *secret);

/* The contents move to the caller; `secret` is left empty. */
struct weir_secret weir_secret_take(struct weir_secret *secret);

/* Borrowed, never with a NULL pointer. */
struct weir_str weir_secret_str(const struct weir_secret *secret);

/*
 * A buffer whose contents are secret. All of its memory is there from the beginning, because a
 * buffer that grows leaves copies behind; so append only, and release it with the function here.
 */
void weir_secret_buf_init(struct weir_buf *buf, size_t bytes_max);
void weir_secret_buf_release(struct weir_buf *buf);

/* Whether `text` repeats the secret, plainly or as a form would write it. False if it is empty. */
bool weir_secret_occurs(struct weir_str secret, struct weir_str text);

#endif

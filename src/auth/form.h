/* SPDX-License-Identifier: MIT */
/*
 * Forms as token endpoints take them (application/x-www-form-urlencoded), and queries, which are
 * written alike. Every byte but letters, digits and -._~ is escaped. Any thread.
 */
#ifndef WEIR_AUTH_FORM_H
#define WEIR_AUTH_FORM_H

#include "base/buf.h"
#include "base/str.h"

/* `name=value`, after an ampersand unless it is the first. The name is plain. */
void weir_form_add(struct weir_buf *form, const char *name, struct weir_str value);

/* The value alone. */
void weir_form_encode(struct weir_buf *form, struct weir_str value);

#endif

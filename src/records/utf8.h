/* SPDX-License-Identifier: MIT */
/* Whether bytes are text. Any thread. */
#ifndef WEIR_RECORDS_UTF8_H
#define WEIR_RECORDS_UTF8_H

#include "base/str.h"

/*
 * Index of the first byte that is NUL or does not belong to well-formed UTF-8 (no overlong forms,
 * no surrogates, nothing above U+10FFFF); text.len: there is none. What is ASCII is passed over
 * eight bytes at a time.
 */
size_t weir_utf8_check(struct weir_str text);

#endif

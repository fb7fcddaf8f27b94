/* SPDX-License-Identifier: MIT */
/*
 * Names as JSON: of files, directories, connections. On disk and in the environment a name is any
 * bytes; JSON takes UTF-8 only. Any thread.
 */
#ifndef WEIR_BASE_JSON_TEXT_H
#define WEIR_BASE_JSON_TEXT_H

#include "base/buf.h"

/*
 * `text` as a JSON string with its quotes; each byte that is no part of well-formed UTF-8 becomes
 * U+FFFD. At most six bytes for one.
 */
void weir_json_text_add(struct weir_buf *buf, struct weir_str text);

#endif

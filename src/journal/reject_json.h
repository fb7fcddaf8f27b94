/* SPDX-License-Identifier: MIT */
/*
 * A rejected row as members of a JSON object: errors.jsonl and whoever shows it elsewhere say the
 * same. What is not known is null. Pure. Any thread.
 */
#ifndef WEIR_JOURNAL_REJECT_JSON_H
#define WEIR_JOURNAL_REJECT_JSON_H

#include "base/buf.h"
#include "journal/entry.h"

/* `,"key":"text"`; null if there is none. */
void weir_reject_json_text(struct weir_buf *line, const char *key, struct weir_str text);

/* Why it was rejected: column, class, http_status (null: it was never sent), service_code, message,
 * request_id; a comma before each. */
void weir_reject_json_reason(struct weir_buf *line, const struct weir_reject *reject);

#endif

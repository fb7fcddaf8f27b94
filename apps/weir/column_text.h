/* SPDX-License-Identifier: MIT */
/* What a column holds, in words. Pure. */
#ifndef WEIR_APP_COLUMN_TEXT_H
#define WEIR_APP_COLUMN_TEXT_H

#include "base/buf.h"
#include "protocol/metadata.h"

/*
 * "text, 160 characters", "decimal, 0 to 100000, 10 decimals", "date, YYYY-MM-DD": type and
 * bounds, without choices and targets.
 */
void column_text_type(struct weir_buf *buf, const struct weir_column *column);

/* One choice: "7 = Consulting", of a status with the state that it belongs to. */
void column_text_choice(struct weir_buf *buf, const struct weir_choice *choice);

/* One table that a lookup may point to, and what it is bound by: "account (parentaccountid)". */
void column_text_target(struct weir_buf *buf, const struct weir_lookup_target *target);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Which rows a row refers to by alternate keys: the service says only that one of them is not
 * there. Pure.
 */
#ifndef WEIR_BULK_KEY_REFERENCE_H
#define WEIR_BULK_KEY_REFERENCE_H

#include "base/buf.h"

/* "A record with the specified key values does not exist" */
#define WEIR_KEY_NOT_THERE_CODE 0x80060891u

/*
 * Of the members of a target (protocol/target.h): `column: table(key='value')`, the next one behind
 * a comma. Adds nothing if there are none.
 */
void weir_key_references_add(struct weir_buf *text, struct weir_str members);

#endif

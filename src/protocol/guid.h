/* SPDX-License-Identifier: MIT */
/* GUIDs: sixteen bytes in the order in which they are written. Pure. Any thread. */
#ifndef WEIR_PROTOCOL_GUID_H
#define WEIR_PROTOCOL_GUID_H

#include "base/str.h"

#define WEIR_GUID_CHARS 36
#define WEIR_GUID_TEXT  (WEIR_GUID_CHARS + 1) /* with its terminator */

struct weir_guid {
    uint8_t bytes[16];
};

/* The whole of `text`, in groups of 8-4-4-4-12 digits of any case, with or without braces. */
bool weir_guid_parse(struct weir_str text, struct weir_guid *ret);

/* The canonical form: lower case, no braces. Returns `text`. */
const char *weir_guid_print(const struct weir_guid *guid, char text[WEIR_GUID_TEXT]);

/* `text` is the canonical form of some GUID. */
bool weir_guid_is_canonical(struct weir_str text);

/* That, and which one. */
bool weir_guid_parse_canonical(struct weir_str text, struct weir_guid *ret);

static inline bool weir_guid_equal(const struct weir_guid *a, const struct weir_guid *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

#endif

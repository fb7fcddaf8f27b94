/* SPDX-License-Identifier: MIT */
/*
 * Addresses of the Web API.
 *
 *     /api/data/v9.2/accounts(accountnumber='O''Brien',region=5)?tag=nightly
 *     ────────────── ──────── ───────────────────────────────── ───────────
 *     WEIR_API_PATH  set      predicate                         query
 *
 * Everything is written percent-encoded, ready for a request line. Texts are appended to a buffer
 * whose maximum is the caller's; its overflow is sticky. Pure. Any thread.
 */
#ifndef WEIR_PROTOCOL_ODATA_H
#define WEIR_PROTOCOL_ODATA_H

#include "base/buf.h"

#define WEIR_API_PATH "/api/data/v9.2/"

/* Letters, digits and - . _ ~ as they are, everything else as %XX. */
void weir_odata_add_encoded(struct weir_buf *buf, struct weir_str text);

/* How many bytes that appends. */
size_t weir_odata_encoded_bytes(struct weir_str text);

/* `?name=value`, or `&name=value` if the buffer has a query already. The name goes as it is. */
void weir_odata_add_query(struct weir_buf *buf, const char *name, struct weir_str value);

enum weir_key_part_type {
    WEIR_KEY_PART_TEXT,    /* in quotes, its own quotes doubled */
    WEIR_KEY_PART_LITERAL, /* a number, true or false, a GUID, a date: letters, digits and . _ - */
};

/* One column of an alternate key. A lookup goes by the name `_column_value`, as a literal. */
struct weir_key_part {
    enum weir_key_part_type type;
    struct weir_str name;
    struct weir_str value;
};

/*
 * The first byte of a value that the service does not take in a key, encoded or not: one of
 * / < > * % & : \ ? + or a control character. value.len: there is none.
 */
size_t weir_odata_key_obstacle(struct weir_str value);

/*
 * What stands between the parentheses: `accountnumber='A1',region=5`.
 *   WEIR_E_INVALID  no part or more than WEIR_KEY_PARTS_MAX, an empty value, a name that is none,
 *                   or a value with an obstacle or that is no literal; nothing was appended
 */
enum weir_status weir_odata_add_predicate(struct weir_buf *buf, const struct weir_key_part *parts,
                                          size_t count, struct weir_error *err);

/* A name of the schema: letters, digits and underscores, at least one. */
bool weir_odata_is_name(struct weir_str name);

/* Printable ASCII without blanks and at least one byte: it can stand in a request line. */
bool weir_odata_is_address(struct weir_str text);

#endif

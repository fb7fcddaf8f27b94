/* SPDX-License-Identifier: MIT */
/*
 * Who a row belongs to: `systemuser:ID` or `team:ID`, in an option or in a cell, and the address
 * that stands for it in a row.
 *
 *     team:4f3c…   ──▶   "ownerid@odata.bind":"/teams(4f3c…)"
 *
 * Pure. Any thread.
 */
#ifndef WEIR_RECORDS_OWNER_H
#define WEIR_RECORDS_OWNER_H

#include "protocol/guid.h"

struct weir_owner {
    struct weir_str set; /* systemusers, teams */
    struct weir_guid id;
};

/* False: neither of the two. */
bool weir_owner_parse(struct weir_str text, struct weir_owner *ret);

/* The address as a JSON string: its bytes; writing them, which returns the byte behind. */
size_t weir_owner_bytes(const struct weir_owner *owner);
char *weir_owner_write(const struct weir_owner *owner, char *to);

#endif

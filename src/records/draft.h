/* SPDX-License-Identifier: MIT */
/*
 * A draft: a record of the input as the row that it is to become, before it has a place in a batch.
 * Or why it cannot become one. Everything is borrowed, from the arena that it was made in.
 */
#ifndef WEIR_RECORDS_DRAFT_H
#define WEIR_RECORDS_DRAFT_H

#include "base/arena.h"
#include "protocol/target.h"

struct weir_draft {
    uint64_t number; /* from 1, over all files */
    uint32_t file;
    uint64_t offset;     /* of its first byte, and … */
    uint64_t end;        /* … of the byte behind it */
    struct weir_str raw; /* as it was read */

    struct weir_target target;
    struct weir_guid id; /* the one whose text is target.id … */
    bool id_known;       /* … if that was made from it */
    bool named_by_input; /* its id is of the input, or derived from it: fed in again it is the same
                            row */
    uint64_t key_hash; /* rows with the same one are sent in the order of the input; 0: no other row
                          can have the same key */
    uint64_t shape;    /* rows with different ones never share a request */

    bool idle; /* in this pass there is nothing to do for the row: it is finished without a request
                */

    /* A row that will not be sent. */
    struct weir_str refusal; /* the reason, one sentence; empty: it is fine */
    struct weir_str column;  /* to blame for that, or if the service refuses it; empty: the row */
};

/*
 * This row will not be sent, for this reason, which is copied into the arena; `column` is borrowed.
 * False: the arena is full.
 */
bool weir_draft_refuse(struct weir_draft *draft, struct weir_arena *arena, struct weir_str column,
                       const char *format, ...) WEIR_PRINTF(4, 5);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A body in slices: the texts of rows stay where they are, what stands between them is the
 * gatherer's own. The transport sends the slices one after the other, so that a row's text is
 * copied once, into the socket's buffer, and the size is known before the first byte leaves.
 *
 *     weir_gather_own(&gather, "{\"Targets\":[{", …)   copied; pieces that touch become one slice
 *     weir_gather_borrow(&gather, row->members)         must outlive the gatherer
 *
 * What would exceed a maximum is not added and sets `overflow`, which stays: check it once, at the
 * end. One thread at a time.
 */
#ifndef WEIR_PROTOCOL_GATHER_H
#define WEIR_PROTOCOL_GATHER_H

#include "base/str.h"

struct weir_gather_block;

struct weir_gather {
    struct weir_str *slices; /* none is empty */
    size_t count;
    size_t capacity;
    size_t bytes; /* of all slices together */
    size_t bytes_max;
    bool overflow;                    /* over bytes_max or WEIR_GATHER_SLICES_MAX */
    struct weir_gather_block *blocks; /* of what is owned; the newest first */
};

void weir_gather_init(struct weir_gather *gather, size_t bytes_max);
void weir_gather_release(struct weir_gather *gather);

/* Add bytes that live on elsewhere; empty ones add nothing. */
void weir_gather_borrow(struct weir_gather *gather, struct weir_str text);

/* Add so many bytes, which the caller writes. NULL: they are none, or too many. */
char *weir_gather_take(struct weir_gather *gather, size_t len);

/* Add a copy. */
void weir_gather_own(struct weir_gather *gather, const void *bytes, size_t len);
void weir_gather_own_text(struct weir_gather *gather, const char *text);

/* Add `text` as a JSON string, quotes and all. */
void weir_gather_own_json_string(struct weir_gather *gather, struct weir_str text);

/* A place to go back to: what was added behind it is taken off, and `overflow` with it. */
struct weir_gather_mark {
    size_t count;
    size_t bytes;
    size_t last_len; /* of the last slice, which may have grown since */
    bool overflow;
};

struct weir_gather_mark weir_gather_mark(const struct weir_gather *gather);
void weir_gather_rewind(struct weir_gather *gather, struct weir_gather_mark mark);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What a dry run sees in the members of the rows that would be sent: to which tables they point,
 * whether they say when they were created, and the values of the table's alternate keys.
 *
 *     struct weir_check_view view;
 *     weir_check_view_init(&view, table, true);
 *     weir_check_view_row(&view, draft.target.members, arena);    for each row
 *     view.hashes[0 … view.key_count]                             of that row
 *     weir_check_view_release(&view);
 *
 * Pure. One thread at a time.
 */
#ifndef WEIR_BULK_CHECK_ROW_H
#define WEIR_BULK_CHECK_ROW_H

#include "base/arena.h"
#include "base/limits.h"
#include "protocol/metadata.h"

/* Rows are bound to rows of another table, or of their own. */
struct weir_check_link {
    char *member; /* by which: "primarycontactid" */
    char *set;    /* "contacts" */
};

struct weir_check_view {
    struct weir_check_link links[WEIR_CHECK_LINKS_MAX]; /* each once, in the order of the rows */
    uint32_t link_count;
    bool links_forgotten; /* there were too many */
    bool overrides;       /* a row says when it was created */

    /* Alternate keys that no two rows may share, and their values in the last row. */
    const struct weir_alternate_key **keys; /* the table's */
    uint64_t *hashes;                       /* of each; 0: the row has no value for a part of it */
    uint32_t key_count;
    struct weir_check_part *parts; /* of all keys */
    uint32_t part_count;
};

/* The table is borrowed. `with_keys`: its active alternate keys are looked at. */
void weir_check_view_init(struct weir_check_view *view, const struct weir_table *table,
                          bool with_keys);
void weir_check_view_release(struct weir_check_view *view); /* fine on zeroes */

/* The members as in struct weir_target. The arena is for texts that are looked at. */
void weir_check_view_row(struct weir_check_view *view, struct weir_str members,
                         struct weir_arena *arena);

#endif

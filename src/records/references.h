/* SPDX-License-Identifier: MIT */
/*
 * Rows of other tables by the values of one of their columns: users by their mail addresses,
 * currencies by their codes. They are read once, before the first row is mapped.
 *
 *     weir_references_add(references, list, value, &id, err)   …   of every row of every list
 *     weir_references_find(references, list, value, &id)  ──▶  missing, found, or ambiguous
 *
 * A list is one column of one table; which ones there must be is the mapping's to say
 * (weir_mapping_reference()). Values are compared as the database does: see fold.h; blanks at the
 * end do not count, ids are equal in any form.
 *
 * Filled by one thread; constant from then on: any thread.
 */
#ifndef WEIR_RECORDS_REFERENCES_H
#define WEIR_RECORDS_REFERENCES_H

#include "protocol/guid.h"
#include "weir/error.h"

enum weir_reference {
    WEIR_REFERENCE_MISSING = 0,
    WEIR_REFERENCE_FOUND,
    WEIR_REFERENCE_AMBIGUOUS, /* several rows have this value */
};

struct weir_references;

/* Never NULL. */
struct weir_references *weir_references_new(void);
void weir_references_free(struct weir_references *references); /* NULL is fine */

/*
 * One row; its value is copied. A row without a value can be left out or added with an empty one,
 * which nothing will find.
 *   WEIR_E_TOO_BIG  more than WEIR_REFERENCES_MAX rows, or than WEIR_REFERENCES_BYTES_MAX of values
 */
enum weir_status weir_references_add(struct weir_references *references, uint32_t list,
                                     struct weir_str value, const struct weir_guid *id,
                                     struct weir_error *err);

/* *ret is set if it was found. */
enum weir_reference weir_references_find(const struct weir_references *references, uint32_t list,
                                         struct weir_str value, struct weir_guid *ret);

#endif

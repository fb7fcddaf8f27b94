/* SPDX-License-Identifier: MIT */
/*
 * What a cell becomes in its row. A kind is a way of writing cells: it is chosen once for a column,
 * by what the table says of it, and then used for every row: measured first, so that a row can be
 * refused before there is memory for it, then written.
 *
 *     text    Contoso        "name":"Contoso"                            every other column
 *     owner   team:4f3c…     "ownerid@odata.bind":"/teams(4f3c…)"        columns of that type
 *
 * Empty cells are left out by whoever calls. Kinds are constant and pure: any thread.
 */
#ifndef WEIR_RECORDS_CELL_H
#define WEIR_RECORDS_CELL_H

#include "protocol/metadata.h"

struct weir_cell_kind {
    const char *suffix; /* of the member's name, behind that of the column */

    /* How many bytes the value will have. WEIR_E_INVALID: it cannot be right. */
    enum weir_status (*measure)(const struct weir_column *column, struct weir_str cell,
                                size_t *ret_bytes, struct weir_error *err);

    /* Write a value that was measured. Returns the byte behind it. */
    char *(*write)(const struct weir_column *column, struct weir_str cell, char *to);
};

/* Never NULL. */
const struct weir_cell_kind *weir_cell_kind_of(const struct weir_column *column);

#endif

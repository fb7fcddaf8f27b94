/* SPDX-License-Identifier: MIT */
/*
 * Some columns of all rows of a table, page by page: what lookups by a column need to know of a
 * table of users, currencies or teams before rows can refer to it. Blocks; any thread.
 *
 *     static const char *const columns[] = { "systemuserid", "domainname" };
 *     struct weir_listing listing = { .set = "systemusers", .columns = columns, .column_count = 2,
 *                                     .rows_max = 100000, .patience = { WEIR_FIRST_CONTACT_US,
 * WEIR_FOREVER }, .on_row = add_user, .ctx = users }; weir_client_list(client, &listing, err)
 *
 * It is all rows, or an error: an answer that is cut or makes no sense, a link to the next page
 * that leads elsewhere or back, and more rows than were asked for never end in a shorter list.
 */
#ifndef WEIR_CLIENT_LISTING_H
#define WEIR_CLIENT_LISTING_H

#include "base/str.h"
#include "client/watchman.h"
#include "weir/execute.h"

/*
 * One row: a value for each column, in their order, borrowed until it returns. Texts are without
 * escapes, numbers and the like as they are written; null: ptr is NULL. What it returns but WEIR_OK
 * ends the listing.
 */
typedef enum weir_status weir_listing_row(void *ctx, const struct weir_str *values,
                                          struct weir_error *err);

struct weir_listing {
    const char *set;               /* of the table: "systemusers" */
    const char *const *columns;    /* as the Web API reads them: `_ownerid_value` for a lookup */
    size_t column_count;           /* 1 to WEIR_LISTING_COLUMNS_MAX */
    uint64_t rows_max;             /* of the table; more are an error */
    uint32_t page_rows;            /* asked for at once; 0: WEIR_LISTING_PAGE_ROWS */
    struct weir_patience patience; /* for each page, as in weir_client_describe() */
    weir_listing_row *on_row;      /* on the thread of the caller */
    void *ctx;
};

/*
 * Rows have been handed out when it fails, and are worth nothing then.
 *   WEIR_E_TOO_BIG      more than rows_max rows, or one of the bounds
 *   WEIR_E_INVALID      no name of a set or column, or an answer that makes no sense
 *   what on_row returned, and what weir_client_describe() fails with
 */
enum weir_status weir_client_list(struct weir_client *client, const struct weir_listing *listing,
                                  struct weir_error *err);

#endif

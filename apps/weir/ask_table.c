/* SPDX-License-Identifier: MIT */
/* What the service says of a table; see ask_table.h. */
#include "ask_table.h"

#include "client/describe.h"

enum weir_status ask_table(struct weir_client *client, const char *table, struct weir_table **ret,
                           struct weir_error *err)
{
    struct weir_description description;
    enum weir_status status = weir_client_describe(
        client, table, (struct weir_patience){ WEIR_FIRST_CONTACT_US, WEIR_FOREVER }, &description,
        err);
    if (!status)
        *ret = description.table;
    return status;
}

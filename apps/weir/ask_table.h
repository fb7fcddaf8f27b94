/* SPDX-License-Identifier: MIT */
/* What the service says of a table, for commands that need no job. */
#ifndef WEIR_APP_ASK_TABLE_H
#define WEIR_APP_ASK_TABLE_H

#include "protocol/metadata.h"
#include "weir/execute.h"

/* The caller frees *ret. Fails as weir_client_describe() does. */
enum weir_status ask_table(struct weir_client *client, const char *table, struct weir_table **ret,
                           struct weir_error *err);

#endif

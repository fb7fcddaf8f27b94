/* SPDX-License-Identifier: MIT */
/*
 * The shape of journal.db; docs/journal.md explains it. The texts below are compared letter by
 * letter with what a file says of itself: a schema that differs is another program's, or damaged.
 */
#ifndef WEIR_JOURNAL_SCHEMA_H
#define WEIR_JOURNAL_SCHEMA_H

#include "journal/sql.h"

/*
 *   1  ranges of created rows have all their ids
 *   2  ids that weir has made are not written down; else the same: whoever opens 1 makes it 2
 */
#define WEIR_SCHEMA_VERSION 2
#define WEIR_SCHEMA_APP_ID  0x77656972 /* "weir" */

/* Make it, in an empty database, within the caller's transaction. */
enum weir_status weir_schema_make(sqlite3 *db, struct weir_error *err);

/*
 * It is ours, of this version or an older one, and as it was made.
 *   WEIR_E_INVALID  another program's, a newer version's, or damaged
 */
enum weir_status weir_schema_check(sqlite3 *db, struct weir_error *err);

/* Of this version from now on, within the caller's transaction: older programs refuse it. */
enum weir_status weir_schema_renew(sqlite3 *db, struct weir_error *err);

#endif

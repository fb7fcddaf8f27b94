/* SPDX-License-Identifier: MIT */
/*
 * What a job has to know before it begins, in one request: the table, who we are, and what time it
 * is where the rows are going. Blocks; any thread.
 */
#ifndef WEIR_CLIENT_DESCRIBE_H
#define WEIR_CLIENT_DESCRIBE_H

#include "base/clock.h"
#include "client/watchman.h"
#include "protocol/answer.h"
#include "protocol/metadata.h"
#include "weir/execute.h"

struct weir_description {
    struct weir_table *table; /* the caller's: weir_table_free() */
    struct weir_whoami who;
    int64_t service_wall_us; /* by the service's clock; ours if it did not say */
};

/* A service that does not answer at first is given so long. */
#define WEIR_FIRST_CONTACT_US (15 * WEIR_US_PER_S)

/*
 * Tried again until patience.span_us have passed without a word of use; time in which all
 * connections are throttled does not count. Fails as weir_execute() and weir_metadata_read() do.
 */
enum weir_status weir_client_describe(struct weir_client *client, const char *table,
                                      struct weir_patience patience, struct weir_description *ret,
                                      struct weir_error *err);

#endif

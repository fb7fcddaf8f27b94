/* SPDX-License-Identifier: MIT */
/*
 * Ids that are made for rows: UUIDs of version 8, ten random bytes of the job and six that count.
 *
 *     xxxxxxxx-xxxx-8xxx-Yxxx-cccccccccccc     c = (start of the job in seconds << 16) + row
 *
 * The row can be read off, a resumed job makes the same ones, and they ascend in the order in which
 * SQL Server compares them (the last six bytes first), so that inserts stay at the end of the
 * index. Pure. Any thread.
 */
#ifndef WEIR_PROTOCOL_ROW_ID_H
#define WEIR_PROTOCOL_ROW_ID_H

#include "protocol/guid.h"

#define WEIR_ROW_ID_JOB_BYTES 10

struct weir_row_ids {
    uint8_t job[WEIR_ROW_ID_JOB_BYTES];
    int64_t started_s; /* wall clock */
};

struct weir_guid weir_row_ids_make(const struct weir_row_ids *ids, uint64_t row);

#endif

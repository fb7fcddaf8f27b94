/* SPDX-License-Identifier: MIT */
/* Ids that are made for rows; see row_id.h. */
#include "records/row_id.h"

#define COUNT_BYTES 6

_Static_assert(WEIR_ROW_ID_JOB_BYTES + COUNT_BYTES == sizeof(struct weir_guid), "all of an id");

struct weir_guid weir_row_ids_make(const struct weir_row_ids *ids, uint64_t row)
{
    struct weir_guid id;
    memcpy(id.bytes, ids->job, sizeof(ids->job));
    id.bytes[6] = (uint8_t)((id.bytes[6] & 0x0f) | 0x80); /* version 8 */
    id.bytes[8] = (uint8_t)((id.bytes[8] & 0x3f) | 0x80); /* the variant of RFC 9562 */
    uint64_t count = ((uint64_t)ids->started_s << 16) + row;
    for (int i = 0; i < COUNT_BYTES; i++)
        id.bytes[15 - i] = (uint8_t)(count >> (8 * i));
    return id;
}

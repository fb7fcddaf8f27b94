/* SPDX-License-Identifier: MIT */
/* Ids that are made for rows; see row_id.h. */
#include "protocol/row_id.h"

#include <endian.h>

#define COUNT_BITS 48

_Static_assert(WEIR_ROW_ID_JOB_BYTES + COUNT_BITS / 8 == sizeof(struct weir_guid), "all of an id");

/* In two words, so that whoever prints it at once does not wait for single bytes. */
struct weir_guid weir_row_ids_make(const struct weir_row_ids *ids, uint64_t row)
{
    struct weir_guid id;
    uint64_t count = ((uint64_t)ids->started_s << 16) + row;
    uint64_t head;
    memcpy(&head, ids->job, sizeof(head));
    head = (be64toh(head) & ~UINT64_C(0xf000)) | UINT64_C(0x8000); /* version 8 */
    uint64_t tail = (uint64_t)((ids->job[8] & 0x3f) | 0x80) << 56; /* the variant of RFC 9562 */
    tail |= (uint64_t)ids->job[9] << COUNT_BITS | (count & ((UINT64_C(1) << COUNT_BITS) - 1));
    head = htobe64(head);
    tail = htobe64(tail);
    memcpy(id.bytes, &head, sizeof(head));
    memcpy(id.bytes + 8, &tail, sizeof(tail));
    return id;
}

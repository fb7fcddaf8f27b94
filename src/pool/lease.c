/* SPDX-License-Identifier: MIT */
/* The leases that are out; see lease.h. */
#include "pool/lease.h"

#include "base/mem.h"

#define FIRST_CAPACITY 64

void weir_leases_init(struct weir_leases *leases)
{
    *leases = (struct weir_leases){ .first_free = UINT32_MAX };
}

void weir_leases_release(struct weir_leases *leases)
{
    free(leases->records);
    weir_leases_init(leases);
}

static void grow(struct weir_leases *leases)
{
    uint32_t capacity = leases->capacity ? leases->capacity * 2 : FIRST_CAPACITY;
    leases->records = weir_realloc(leases->records, capacity, sizeof(*leases->records));
    for (uint32_t slot = capacity; slot-- > leases->capacity;) {
        leases->records[slot] = (struct weir_lease_record){ .next_free = leases->first_free };
        leases->first_free = slot;
    }
    leases->capacity = capacity;
}

struct weir_lease_record *weir_leases_take(struct weir_leases *leases)
{
    if (leases->first_free == UINT32_MAX)
        grow(leases);
    uint32_t slot = leases->first_free;
    struct weir_lease_record *record = &leases->records[slot];
    leases->first_free = record->next_free;
    *record =
        (struct weir_lease_record){ .lease = { .slot = slot, .serial = ++leases->last_serial } };
    leases->count++;
    return record;
}

struct weir_lease_record *weir_leases_find(struct weir_leases *leases,
                                           const struct weir_lease *lease)
{
    if (lease->slot >= leases->capacity || lease->serial == 0)
        return NULL;
    struct weir_lease_record *record = &leases->records[lease->slot];
    return record->lease.serial == lease->serial ? record : NULL;
}

void weir_leases_give(struct weir_leases *leases, uint32_t slot)
{
    leases->records[slot] = (struct weir_lease_record){ .next_free = leases->first_free };
    leases->first_free = slot;
    leases->count--;
}

/* SPDX-License-Identifier: MIT */
/*
 * The leases that are out: a slab of records that are used again. A lease is named by its slot and
 * its serial number, so that one that was given back twice, or never granted, is recognised.
 */
#ifndef WEIR_POOL_LEASE_H
#define WEIR_POOL_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "throttle/policy.h"
#include "weir/pool.h"

struct weir_lease_record {
    struct weir_policy_lease lease; /* serial 0: free */
    uint64_t generation;            /* of its lane when it was granted; see connection.h */
    uint32_t connection;
    int attempt;
    int attempt_max;
    uint32_t next_free; /* when free; UINT32_MAX: the last */
};

struct weir_leases {
    struct weir_lease_record *records;
    uint32_t capacity;
    uint32_t first_free; /* UINT32_MAX: none */
    uint32_t count;      /* out now */
    uint64_t last_serial;
};

void weir_leases_init(struct weir_leases *leases);
void weir_leases_release(struct weir_leases *leases);

/* A new record with its slot and the next serial number; valid until the next take. */
struct weir_lease_record *weir_leases_take(struct weir_leases *leases);

/* The record of a lease that is out; NULL if it is not. */
struct weir_lease_record *weir_leases_find(struct weir_leases *leases,
                                           const struct weir_lease *lease);

/* The lease came home. */
void weir_leases_give(struct weir_leases *leases, uint32_t slot);

#endif

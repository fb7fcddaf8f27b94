/* SPDX-License-Identifier: MIT */
/*
 * A fast 64-bit hash of bytes, to notice that they have changed. Good against accidents only:
 * whoever wants a collision can make one. The value is the same on every machine. Any thread.
 */
#ifndef WEIR_RECORDS_HASH_H
#define WEIR_RECORDS_HASH_H

#include <stddef.h>
#include <stdint.h>

#define WEIR_HASH_LANES 4

uint64_t weir_hash64(const void *bytes, size_t len);

/* The same of bytes that become more, without looking at those again that were there before. */
struct weir_hash_run {
    uint64_t lanes[WEIR_HASH_LANES];
    size_t taken; /* bytes, whole stripes */
};

void weir_hash_run_init(struct weir_hash_run *run);

/* Of all of them: `bytes` begins with what it began with before, and `len` has not become less. */
uint64_t weir_hash_run_to(struct weir_hash_run *run, const void *bytes, size_t len);

#endif

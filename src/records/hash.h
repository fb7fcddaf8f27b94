/* SPDX-License-Identifier: MIT */
/*
 * A fast 64-bit hash of bytes, to notice that they have changed. Good against accidents only:
 * whoever wants a collision can make one. The value is the same on every machine. Any thread.
 */
#ifndef WEIR_RECORDS_HASH_H
#define WEIR_RECORDS_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t weir_hash64(const void *bytes, size_t len);

#endif

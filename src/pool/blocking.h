/* SPDX-License-Identifier: MIT */
/* What the blocking face of the pool (weir/pool.h) offers within the library. Any thread. */
#ifndef WEIR_POOL_BLOCKING_H
#define WEIR_POOL_BLOCKING_H

#include "pool/core.h"
#include "weir/pool.h"

/*
 * weir_pool_acquire(), or WEIR_E_CANCELLED if *cancelled. The flag is looked at (atomically) under
 * the pool's lock before the wait begins: whoever sets it first and calls weir_pool_cancel() then
 * misses nobody. NULL: no flag.
 */
enum weir_status weir_pool_acquire_unless(struct weir_pool *pool, const struct weir_ask *ask,
                                          const bool *cancelled, struct weir_lease *ret,
                                          struct weir_error *err);

/* weir_core_any_open() of the pool now. */
bool weir_pool_any_open(struct weir_pool *pool, int64_t *ret_reopening_us);

/* How often connections were throttled so far: one for each, in the order of the settings. */
void weir_pool_throttles(struct weir_pool *pool, struct weir_throttle_counts *ret);

/* weir_core_inherit() of a core that begins beside the pool's. */
void weir_pool_bequeath(struct weir_pool *pool, const struct weir_throttle_counts *before,
                        struct weir_core *heir);

#endif

/* SPDX-License-Identifier: MIT */
/* What the blocking face of the pool (weir/pool.h) offers within the library. Any thread. */
#ifndef WEIR_POOL_BLOCKING_H
#define WEIR_POOL_BLOCKING_H

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

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Every bound in one place. Whatever a file, a server or a caller can make large stops here; each
 * bound has a test that hits it.
 */
#ifndef WEIR_BASE_LIMITS_H
#define WEIR_BASE_LIMITS_H

#include "base/clock.h"

/* Configuration. */
#define WEIR_CONFIG_BYTES_MAX (1024 * 1024) /* of an appsettings.json */
#define WEIR_CONFIG_TEXT_MAX  4096          /* of one value */
#define WEIR_JSON_DEPTH_MAX   32
#define WEIR_CONNECTIONS_MAX  10000

/* An access token. */
#define WEIR_TOKEN_BYTES_MAX 16384

/* Parallelism of one connection: the service's published limit on concurrent requests. */
#define WEIR_PARALLELISM_MAX 52

/* Before the server has said how many (x-ms-dop-hint). */
#define WEIR_PARALLELISM_UNHINTED 4

/* Lanes (web servers) that one connection may be split into. */
#define WEIR_LANES_MAX 16

/* Callers waiting for a lease at the same time. */
#define WEIR_WAITERS_MAX (1024 * 1024)

/* Retry-After: what is asked for stays within these. */
#define WEIR_RETRY_AFTER_MIN_US (1 * WEIR_US_PER_S)
#define WEIR_RETRY_AFTER_MAX_US (1 * WEIR_US_PER_HOUR)

/* Jitter after a throttle: this, or 5 % of Retry-After if that is less. */
#define WEIR_REOPEN_JITTER_MAX_US (1 * WEIR_US_PER_S)

/* Timers: none is armed for longer, so that a suspended machine is noticed. */
#define WEIR_TIMER_MAX_US (1 * WEIR_US_PER_S)

/* Log lines. */
#define WEIR_LOG_LINE_MAX 4096

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The pool: leases on the connections of several application users.
 *
 * A *connection* is one application user with a quota of its own. A *lease* is the right to have
 * one request in flight on one connection. Acquiring waits until a connection may take a request,
 * and while it waits for a throttle to end it holds nothing. Giving the lease back with the answer
 * is what records it: the tracker learns of throttles, the policy of successes, and the next waiter
 * wakes. There is nothing else to remember to call.
 *
 *     struct weir_lease lease;
 *     do {
 *         if (weir_pool_acquire(pool, NULL, &lease, &err) != WEIR_OK)
 *             return ...;
 *     } while (weir_pool_begin(pool, &lease, &err) != WEIR_OK);   // just before the first byte
 *     ... send, as the application user lease.connection_name ...
 *     weir_answer_read(&http, 0, &answer);
 *     weir_pool_release(pool, &lease, &answer);
 *
 * Every function here may be called from any thread.
 *
 * Web servers. Behind an organisation's address there are several, each with limits of its own, and
 * an answer's ARRAffinity cookie leads to the one that sent it. A policy that tells them apart
 * (Budget) asks for one by lease.server_id. To do as it wishes: when an answer comes, remember the
 * cookie's value under answer.budget.server_id, for each connection apart, the last few of them;
 * when a lease has a server_id that is remembered, send `Cookie: ARRAffinity=` and that value; when
 * it has none, or one that is not remembered, send no cookie at all, and never keep a cookie jar.
 * Who ignores server_id is served as well: the policy sees that requests go elsewhere, and deals
 * with all servers as one. weir_execute() and jobs do all of this by themselves.
 */
#ifndef WEIR_POOL_H
#define WEIR_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "weir/config.h"
#include "weir/error.h"
#include "weir/log.h"
#include "weir/stats.h"
#include "weir/verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_pool;

/* What a lease is wanted for. Zeroed is fine; NULL is the same. */
struct weir_ask {
    uint32_t kind; /* the caller's number for requests that cost alike, as those of one table and
                      operation; jobs leave it 0 */
    uint32_t rows;
    uint64_t bytes;
    int attempt;     /* which try of the same request this is, from 1; 0: not said. For the log */
    int attempt_max; /* how many tries there are; 0: not said. For the log */
    int64_t acquire_timeout_us; /* 0: the pool's AcquireTimeout; -1: none */
    uint64_t cancel_tag;        /* for weir_pool_cancel(); 0: cannot be cancelled */
};

/* One slot of one connection. Plain data; a copy is the same lease, to be given back once. */
struct weir_lease {
    const char *connection_name; /* lives as long as the pool */
    uint32_t connection;         /* its place in the configuration, from 0 */
    uint32_t lane;               /* web server of the connection; 0 unless the policy opens more */
    uint64_t server_id; /* the web server that it is meant for, as weir_budget_headers names
                           them; 0: any. A wish, see above */
    uint64_t epoch;     /* how often the connection's level had been cut when it was sent */
    uint64_t serial;    /* unique in the pool */
    uint32_t slot;
};

/*
 * Make a pool for the connections of `options`, which is not needed afterwards. `sink` is copied
 * and may be NULL; it is called from whichever thread does something worth a record, from several
 * at once if need be, and never under the pool's lock. Its ctx must outlive the pool.
 *   WEIR_E_INVALID  no connection, one without a name, two of one name; a policy or strategy that
 *                   there is not; a number out of its range
 *   WEIR_E_TOO_BIG  too many connections, or too long a name
 */
WEIR_API enum weir_status weir_pool_new(const struct weir_options *options,
                                        const struct weir_log_sink *sink, struct weir_pool **ret,
                                        struct weir_error *err);

/* Refuse everybody who waits (WEIR_E_SHUTDOWN) and everybody who comes. Leases may still come back.
 */
WEIR_API void weir_pool_shutdown(struct weir_pool *pool);

/*
 * Shut down, wait until the last waiter has left, and free. Leases that are still out are void:
 * nobody may use the pool any more. NULL is fine.
 */
WEIR_API void weir_pool_free(struct weir_pool *pool);

/*
 * Wait for a lease. Waiters are served in the order in which they came.
 *   WEIR_E_POOL_EXHAUSTED      no slot came free within AcquireTimeout
 *   WEIR_E_SERVICE_PROTECTION  all connections are throttled for longer than
 *                              MaxRetryAfterTolerance, or MaxThrottlesPerWindow was exceeded; err
 *                              has connection, code and retry-after
 *   WEIR_E_NO_CONNECTION       every connection has been set aside
 *   WEIR_E_TOO_BIG             more wait already than can
 *   WEIR_E_CANCELLED, WEIR_E_SHUTDOWN
 */
WEIR_API enum weir_status weir_pool_acquire(struct weir_pool *pool, const struct weir_ask *ask,
                                            struct weir_lease *ret, struct weir_error *err);

/* The same without waiting: WEIR_E_WOULD_WAIT if nothing is free, with retry_after_us if known. */
WEIR_API enum weir_status weir_pool_try_acquire(struct weir_pool *pool, const struct weir_ask *ask,
                                                struct weir_lease *ret, struct weir_error *err);

/*
 * Make every weir_pool_acquire() that waits with this tag return WEIR_E_CANCELLED. Returns how many
 * there were. One that has been granted its lease at the same moment keeps it; one that has not
 * begun to wait yet is not reached.
 */
WEIR_API uint32_t weir_pool_cancel(struct weir_pool *pool, uint64_t cancel_tag);

/*
 * Say that the request goes out now. WEIR_E_STALE_LEASE: its connection has been throttled or set
 * aside since the lease was granted; the lease has been given back unsent, acquire another.
 */
WEIR_API enum weir_status weir_pool_begin(struct weir_pool *pool, struct weir_lease *lease,
                                          struct weir_error *err);

/*
 * Give a lease back with its answer. A lease that was not used: class WEIR_CLASS_UNSENT.
 * WEIR_E_STALE_LEASE: it had been given back before; nothing happened.
 */
WEIR_API enum weir_status weir_pool_release(struct weir_pool *pool, const struct weir_lease *lease,
                                            const struct weir_answer *answer);

/*
 * Connections by name. WEIR_E_NOT_FOUND: none is called that, and nothing happened.
 */

/* What the server recommends for a connection (x-ms-dop-hint), learned outside of an answer. */
WEIR_API enum weir_status weir_pool_hint(struct weir_pool *pool, const char *connection_name,
                                         int dop_hint);

/* Take a connection out of use, or put it back. Its leases in flight may come home. */
WEIR_API enum weir_status weir_pool_set_aside(struct weir_pool *pool, const char *connection_name);
WEIR_API enum weir_status weir_pool_restore(struct weir_pool *pool, const char *connection_name);

/* Lift the block of a throttle before its time. */
WEIR_API enum weir_status weir_pool_clear_throttle(struct weir_pool *pool,
                                                   const char *connection_name);

/* Start a connection's policy afresh; its total of throttle events stays. */
WEIR_API enum weir_status weir_pool_reset(struct weir_pool *pool, const char *connection_name);

/* Snapshots. WEIR_E_NOT_FOUND: no connection is called that. */
WEIR_API void weir_pool_stats(struct weir_pool *pool, struct weir_pool_stats *ret);
WEIR_API enum weir_status weir_pool_rate_stats(struct weir_pool *pool, const char *connection_name,
                                               struct weir_adaptive_rate_stats *ret);

/* True, and the time until it may be used again, if the connection is throttled now; false, and
 * *ret_remaining_us as it was, if it is not, or none is called that. */
WEIR_API bool weir_pool_is_throttled(struct weir_pool *pool, const char *connection_name,
                                     int64_t *ret_remaining_us);

/*
 * ThrottledConnections: the names of those throttled now, at most `max`, in configuration order;
 * they live as long as the pool. Returns how many were written.
 */
WEIR_API uint32_t weir_pool_throttled_connections(struct weir_pool *pool, const char **names,
                                                  uint32_t max);

/* GetShortestExpiry: the time until the first throttle ends; 0: nothing is throttled. */
WEIR_API int64_t weir_pool_shortest_expiry_us(struct weir_pool *pool);

#ifdef __cplusplus
}
#endif

#endif

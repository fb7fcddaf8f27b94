/* SPDX-License-Identifier: MIT */
/*
 * The pool's core: who gets a lease on which connection, and when. Pure: no clock, no lock, no
 * callback, and the only randomness is the jitter of reopenings, drawn from a seed that it is
 * given. The blocking face (blocking.c), the engine's loop and the laboratory drive the same code.
 *
 *     ask ────▶ leased │ waiting (a ticket) │ refused
 *     begin ──▶ the request goes out now, or the lease is stale and has been given back
 *     settle ─▶ the answer: tracker, policy, breaker and ramp learn; the lease is back
 *     turn ───▶ what time and answers have made possible: grants and refusals for the waiting, in
 *               order; and when to turn again
 *
 * After any call, weir_core_next_us() says when to turn: now, if something may have become
 * possible. `now_us` never runs backwards: an older one is taken as the newest seen.
 *
 * Two kinds of waiting. Somebody *waits for a throttle* when every connection that is in use is
 * closed or paced (or the one that a blind strategy has chosen is): nothing is held, and
 * AcquireTimeout stands still. Otherwise he *waits for a slot*, and AcquireTimeout runs.
 */
#ifndef WEIR_POOL_CORE_H
#define WEIR_POOL_CORE_H

#include "base/map.h"
#include "base/rng.h"
#include "pool/connection.h"
#include "pool/event.h"
#include "pool/lease.h"
#include "pool/waiters.h"
#include "throttle/episodes.h"
#include "throttle/policy.h"
#include "throttle/strategy.h"
#include "throttle/tracker.h"

struct weir_core {
    /* Settled at the beginning. */
    const struct weir_policy *policy;
    const struct weir_strategy *strategy;
    struct weir_pool_options pool;
    struct weir_resilience_options resilience;
    struct weir_adaptive_rate_options adaptive_rate;
    uint32_t in_flight_max;          /* of the whole pool; UINT32_MAX: the sum of the caps */
    enum weir_bound in_flight_bound; /* who says so */
    uint32_t count;
    struct weir_map names;

    /* Connections. */
    struct weir_connection *connections;
    struct weir_lane *lanes; /* connections × lanes of the policy */
    unsigned char *policy_states;
    struct weir_tracker tracker;
    struct weir_episodes episodes;
    struct weir_rng rng;
    uint32_t condition_counts[WEIR_CONDITION_COUNT];

    /* Choosing. */
    struct weir_heap candidates; /* connections by rank */
    struct weir_heap wakes;      /* connections by the time their condition ends */
    int64_t cursor;
    uint64_t leases_granted;
    struct weir_ask last_ask; /* that full and paced connections were asked for */
    bool all_throttled;       /* nobody is open, and that has been noted */

    /* Leases and those who wait for one. */
    struct weir_leases leases;
    struct weir_waiters waiters;
    uint64_t left;         /* requests that are still to be sent; 0: not known */
    int64_t now_us;        /* the newest time seen */
    int64_t slot_clock_us; /* runs only while somebody waits for a slot */
    bool slot_clock_runs;
    bool turn_due; /* something happened that may serve or refuse a waiter */
    bool shut_down;

    uint64_t requests_served;
    struct weir_pool_events events;
};

/* Why somebody was refused; weir_core_explain() makes it an error. */
struct weir_refusal {
    enum weir_status status;
    uint32_t connection;    /* UINT32_MAX: none in particular */
    int64_t retry_after_us; /* -1: not known */
};

struct weir_grant {
    uint64_t ticket;         /* of the waiter; 0 if the ask did not wait */
    enum weir_status status; /* WEIR_OK: leased; WEIR_E_WOULD_WAIT: waiting; else refused */
    struct weir_lease lease;
    struct weir_refusal refusal;
};

/*
 * What `options` says is copied; the policy and the strategy that it names are looked up, unless
 * `policy` is given (the laboratory's own). The core must not be moved afterwards: policies point
 * into it. `events_wanted`: keep events for weir_core_event().
 */
enum weir_status weir_core_init(struct weir_core *core, const struct weir_options *options,
                                const struct weir_policy *policy, uint64_t seed, bool events_wanted,
                                struct weir_error *err);
void weir_core_release(struct weir_core *core);

/*
 * Begin with what another core knows of the same connections, by the same policy: until when they
 * are throttled, who is set aside or tripped, budgets and the server's hints; not with what its
 * policies have learned. `before`: its counts of throttles, one for each connection, that are not
 * this one's affair; NULL: all are.
 */
void weir_core_inherit(struct weir_core *core, const struct weir_core *from,
                       const struct weir_throttle_counts *before, int64_t now_us);

/* Ask for a lease, and wait for it if need be: status WEIR_E_WOULD_WAIT and a ticket. */
void weir_core_ask(struct weir_core *core, const struct weir_ask *ask, int64_t now_us,
                   struct weir_grant *ret);

/* The same without waiting: WEIR_E_WOULD_WAIT, no ticket, refusal.retry_after_us if known. */
void weir_core_try(struct weir_core *core, const struct weir_ask *ask, int64_t now_us,
                   struct weir_grant *ret);

/* Stop waiting. False: the ticket has been served or refused. */
bool weir_core_cancel(struct weir_core *core, uint64_t ticket, int64_t now_us);

/*
 * Serve the waiting, in order. Fills at most `max` grants, *ret_count of them. Returns what
 * weir_core_next_us() says then; that is now if there was no room for more grants.
 */
int64_t weir_core_turn(struct weir_core *core, int64_t now_us, struct weir_grant *grants,
                       uint32_t max, uint32_t *ret_count);

/* When to turn next: a moment that is past or now, a later one, or WEIR_FOREVER. */
int64_t weir_core_next_us(const struct weir_core *core);

/* WEIR_E_STALE_LEASE: throttled or set aside meanwhile, given back unsent; or not out at all. */
enum weir_status weir_core_begin(struct weir_core *core, struct weir_lease *lease, int64_t now_us);

/* For the log: which attempt the lease is for, of one who did not know it when he asked. */
void weir_core_set_attempt(struct weir_core *core, const struct weir_lease *lease, int attempt);

/* WEIR_E_STALE_LEASE: it is not out. */
enum weir_status weir_core_settle(struct weir_core *core, const struct weir_lease *lease,
                                  const struct weir_answer *answer, int64_t now_us);

/* Requests that are still to be sent by whoever uses this core, if that is known; 0: it is not. */
void weir_core_set_left(struct weir_core *core, uint64_t requests);

/* Connections by place in the configuration; weir_core_find() gives the place of a name. */
bool weir_core_find(const struct weir_core *core, const char *name, uint32_t *ret);
void weir_core_hint(struct weir_core *core, uint32_t connection, int dop_hint, int64_t now_us);
void weir_core_set_aside(struct weir_core *core, uint32_t connection, int64_t now_us);
void weir_core_restore(struct weir_core *core, uint32_t connection, int64_t now_us);
void weir_core_clear_throttle(struct weir_core *core, uint32_t connection, int64_t now_us);
void weir_core_reset(struct weir_core *core, uint32_t connection, int64_t now_us);

/* What the policy wants to keep of a connection over a restart, and back; as its save and load. */
size_t weir_core_save(const struct weir_core *core, uint32_t connection, int64_t now_us,
                      void *bytes, size_t bytes_max);
bool weir_core_load(struct weir_core *core, uint32_t connection, const void *bytes, size_t len,
                    int64_t age_us, int64_t now_us);

/* For one who cannot use a lease on this connection: it is passed over as if it were full, until
 * all are considered again. */
void weir_core_pass_over(struct weir_core *core, uint32_t connection, int64_t now_us);
void weir_core_consider_all(struct weir_core *core, int64_t now_us);

/* Breakers that are open let a probe pass in `span_us` at the latest. */
void weir_core_hasten(struct weir_core *core, int64_t span_us, int64_t now_us);

/* From now on everybody is refused. */
void weir_core_shutdown(struct weir_core *core, int64_t now_us);

/*
 * How things stand for a request that was throttled: is a connection open that is not set aside,
 * and if none is, when does the first one reopen (WEIR_FOREVER: never)?
 */
bool weir_core_any_open(struct weir_core *core, int64_t now_us, int64_t *ret_reopening_us);

/* The most that may be in flight on a connection just now, and whether it is throttled. */
uint32_t weir_core_cap(const struct weir_core *core, uint32_t connection, int64_t now_us);
bool weir_core_is_throttled(const struct weir_core *core, uint32_t connection, int64_t now_us);

/* When a connection may be leased again as far as throttles go; in the past or WEIR_NEVER: now. */
int64_t weir_core_reopening_us(const struct weir_core *core, uint32_t connection);

/* How long throttles have kept it closed by now, all its lanes together. */
int64_t weir_core_backoff_us(const struct weir_core *core, uint32_t connection, int64_t now_us);

void weir_core_stats(struct weir_core *core, int64_t now_us, struct weir_pool_stats *ret);
void weir_core_rate_stats(const struct weir_core *core, uint32_t connection, int64_t now_us,
                          struct weir_adaptive_rate_stats *ret);

/* The refusal as an error with all its fields. Returns its status. */
enum weir_status weir_core_explain(const struct weir_core *core, const struct weir_refusal *refusal,
                                   struct weir_error *err);

/* The next event. False: none. */
bool weir_core_event(struct weir_core *core, struct weir_pool_event *ret);

#endif

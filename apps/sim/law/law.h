/* SPDX-License-Identifier: MIT */
/*
 * The law of the simulated service: limits, windows, charging, Retry-After, service times,
 * contention, drift and foreign load, for users × web servers. Pure: no clock, no socket, no
 * thread; all chance comes from the seed. Time is in microseconds from the start of the run; a
 * moment earlier than the latest one seen is taken as that one.
 *
 *     arrive ──► refused: penalty, concurrency, requests or execution time   (429, Retry-After)
 *        └─────► accepted: a ticket; it executes for service_us               … finish
 *
 * The caller ends what was accepted: it calls sim_law_finish() when the service time is over (or
 * earlier or later, if its world is like that: what ran is charged). Foreign requests live inside;
 * they are dealt with in time order whenever a later moment is mentioned, before the caller's event
 * of the same moment.
 *
 * Not thread-safe; one thread owns a law.
 */
#ifndef SIM_LAW_H
#define SIM_LAW_H

#include "base/rng.h"
#include "sim/law/account.h"
#include "sim/law/flights.h"
#include "sim/law/foreign.h"
#include "sim/law/scenario.h"

#define SIM_ANY_SERVER  UINT32_MAX
#define SIM_ANY_SERVICE UINT32_MAX

struct sim_request {
    uint32_t service;          /* an index into scenario.services; SIM_ANY_SERVICE: drawn */
    struct weir_str operation; /* drawn among its entries; empty: among all */
    uint32_t rows;             /* the time is in proportion; 0: the entry's own number */
    uint64_t number;           /* of this request on its connection: what chance depends on, so
                                  that one sent again after a failure needs a new number */
};

struct sim_decision {
    bool accepted;
    uint32_t server; /* the web server that answers */

    /* Accepted: */
    uint32_t ticket;     /* for sim_law_finish() */
    uint32_t service;    /* the entry that was drawn */
    int64_t service_us;  /* server time */
    int64_t ends_us;     /* now + service_us */
    int64_t overhead_us; /* that the client waits on top of it */
    bool fails;          /* answer 503 at the end; it is charged all the same */

    /* Refused: */
    enum sim_throttle kind;
    int64_t retry_after_us; /* exact; who writes whole seconds rounds up */
    int64_t limit;          /* requests, microseconds of execution, or concurrent requests */
    int64_t window_us;
};

/* What the response headers say. */
struct sim_headers {
    int64_t requests_remaining;     /* -1: not sent */
    int64_t execution_remaining_us; /* -1: not sent */
    int64_t dop_hint;               /* 0: not sent */
};

/* What one user did; foreign requests are not in here. */
struct sim_stats {
    uint64_t requests;
    uint64_t accepted;
    uint64_t throttled[SIM_THROTTLE_COUNT]; /* by kind; [SIM_THROTTLE_NONE] stays 0 */
    uint64_t sent_while_throttled;          /* of the throttled: offences */
    int64_t execution_us;                   /* charged; what is accruing is added at its end */
    uint32_t executing;
    uint32_t max_concurrent;
};

struct sim_user {
    uint64_t key;
    uint64_t foreign_key;
    uint64_t foreign_number;
    struct weir_rng balancer;
    struct weir_rng foreign_balancer;
    struct sim_stats stats;
};

struct sim_law {
    struct sim_scenario scenario;
    int64_t now_us;
    struct sim_user *users;
    struct sim_account *accounts; /* users × servers, or users */
    uint32_t account_count;
    uint32_t *executing; /* requests by web server, all users and clients */
    struct sim_flights flights;
    struct sim_foreign foreign;
    struct sim_entry *coming; /* room to look ahead */
    uint32_t coming_capacity;
};

/* The scenario is copied. It must be valid, as sim_scenario_read() makes it. */
void sim_law_init(struct sim_law *law, const struct sim_scenario *scenario, uint64_t seed);
void sim_law_release(struct sim_law *law);

/*
 * A request of `user` (below scenario.connections) arrives. `wanted_server`: what its cookie says,
 * honoured as the scenario's affinity allows; SIM_ANY_SERVER: no cookie.
 */
struct sim_decision sim_law_arrive(struct sim_law *law, uint32_t user, uint32_t wanted_server,
                                   const struct sim_request *request, int64_t now_us);

/* The execution of an accepted request ends; its ticket becomes invalid. */
void sim_law_finish(struct sim_law *law, uint32_t ticket, int64_t now_us);

/* Deal with all that happens inside until `now_us`. */
void sim_law_advance(struct sim_law *law, int64_t now_us);

/* The accepted request with the earliest planned end (ties by ticket). False: none executes. */
bool sim_law_next_end(const struct sim_law *law, uint32_t *ret_ticket, int64_t *ret_ends_us);

/* The headers of an answer that `server` gives to `user` now. */
struct sim_headers sim_law_headers(struct sim_law *law, uint32_t user, uint32_t server,
                                   int64_t now_us);

/* Until when the user is refused on the server; not after now: it is not. */
int64_t sim_law_penalty_until_us(const struct sim_law *law, uint32_t user, uint32_t server);

/* How long the user was in penalty on the server until now. */
int64_t sim_law_penalty_us(struct sim_law *law, uint32_t user, uint32_t server, int64_t now_us);

const struct sim_stats *sim_law_stats(const struct sim_law *law, uint32_t user);

/* What the foreign client did on this user's connection; all 0 without one. */
struct sim_foreign_counts sim_law_foreign(const struct sim_law *law, uint32_t user);

#endif

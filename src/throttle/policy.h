/* SPDX-License-Identifier: MIT */
/*
 * A policy decides how many requests one connection may have in flight, and when.
 *
 * A policy is a constant table of functions over a state of `state_bytes` bytes, one state per
 * connection, owned by the pool. It is pure: it sees events with their time and answers questions;
 * it keeps no clock, no lock and no randomness, and it does not allocate. The pool calls
 *
 *     admit ── may a request like this go now? ──▶ ok (on which lane, how good) | not before t
 *     leased ─ one was granted
 *     sent ─── it left
 *     answered ─ its verdict, durations, budget headers and server; class unsent: it never left
 *     hint ─── the server's recommended degree of parallelism
 *
 * and keeps by itself what every policy needs alike: who is throttled until when (tracker), the
 * ramp after a throttle, how many are in flight. A policy never has to keep a throttled connection
 * from being used; it is told when it reopens so that waiting does not count as idleness.
 *
 * A *lane* is one web server of a connection. Policies that do not tell servers apart have one,
 * number 0. A policy with more says in `admit` which lane a request should take; it is told which
 * lanes cannot take one now.
 *
 * The *epoch* of a connection counts the decreases of its level. A lease carries the epoch of the
 * moment it was sent, so that a policy can tell the answers of requests sent before its last
 * decrease from the later ones.
 */
#ifndef WEIR_THROTTLE_POLICY_H
#define WEIR_THROTTLE_POLICY_H

#include "weir/config.h"
#include "weir/pool.h"
#include "weir/stats.h"
#include "weir/verdict.h"

/* What the pool tells a policy that is asked to admit. */
struct weir_policy_ask {
    const struct weir_ask *ask;
    uint32_t in_flight;  /* on this connection, all lanes */
    uint32_t shut_lanes; /* bit n: lane n is throttled, or its ramp is full */
    double left; /* requests that are still to be sent, this one included, as its share of the job;
                    0: not known */
};

struct weir_admission {
    bool ok;
    bool paced; /* if not ok: time alone will help, as with a throttle; false: it is full */
    int64_t not_before_us;    /* if not ok: ask again then at the latest; may be early, never late.
                                 WEIR_FOREVER: only an answer can change it */
    uint32_t lane;            /* if ok */
    uint64_t server_id;       /* if ok: the web server that it is meant for, as answers name it;
                                 0: any */
    double score;             /* if ok: the larger, the more room; for strategies that compare */
    enum weir_bound bound_by; /* what bounds the connection just now */
};

/* A lease as its policy sees it, from the grant to the answer. */
struct weir_policy_lease {
    uint32_t slot; /* small, and nobody else's until the answer: an index for reservations */
    uint64_t serial;
    uint32_t lane;
    uint64_t server_id; /* that it is meant for; 0: any */
    uint32_t kind;      /* of the ask */
    uint32_t rows;
    uint64_t bytes;
    uint64_t epoch;
    int64_t leased_us;
    int64_t sent_us; /* the time of the grant until it is sent */
};

struct weir_policy {
    const char *name;
    size_t state_bytes;
    uint32_t lanes_max; /* 1 to WEIR_LANES_MAX */
    bool asks_differ;   /* whether to admit depends on kind, rows or bytes of the ask */

    void (*init)(void *state, const struct weir_adaptive_rate_options *options);
    void (*admit)(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                  struct weir_admission *ret);
    void (*leased)(void *state, const struct weir_policy_lease *lease, int64_t now_us);
    void (*sent)(void *state, const struct weir_policy_lease *lease,
                 int64_t now_us); /* NULL: does not care */
    /* `reopens_us`: when the lane may be used again; in the past or WEIR_NEVER if it is not shut.
     */
    void (*answered)(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us);
    void (*hint)(void *state, int dop_hint, int64_t now_us); /* 1 .. WEIR_PARALLELISM_MAX */
    void (*reset)(void *state, int64_t now_us);

    uint64_t (*epoch)(const void *state);
    int (*level)(const void *state); /* requests in flight that it would allow just now */
    /* What is left of its scarcer budget, as a part of the whole. NULL: it keeps no books. */
    double (*headroom)(const void *state, int64_t now_us);
    void (*stats)(const void *state, int64_t now_us, struct weir_adaptive_rate_stats *ret);

    /*
     * What is worth keeping over a restart, as bytes. save returns how many it wrote (0: nothing
     * to keep, or `bytes_max` is too small); load returns false and changes nothing if the bytes
     * are not its own. `age_us` is how long ago they were saved. NULL: it keeps nothing.
     */
    size_t (*save)(const void *state, int64_t now_us, void *bytes, size_t bytes_max);
    bool (*load)(void *state, const void *bytes, size_t len, int64_t age_us, int64_t now_us);
};

/* The policies of the product, by the name that the configuration uses (any case). */
extern const struct weir_policy weir_policy_aimd;
extern const struct weir_policy weir_policy_budget;
extern const struct weir_policy weir_policy_dop;
extern const struct weir_policy weir_policy_fixed;

/* NULL: there is none of that name. */
const struct weir_policy *weir_policy_find(const char *name);

/* The policy that the options ask for: Dop if adaptive rate is switched off. NULL as above. */
const struct weir_policy *weir_policy_choose(const struct weir_adaptive_rate_options *options);

#endif

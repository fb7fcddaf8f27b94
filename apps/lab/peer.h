/* SPDX-License-Identifier: MIT */
/*
 * What the peers have in common: other people's controllers, written anew from their published
 * rules and defaults, as policies of the laboratory. All of them run behind the pool of the
 * product, which keeps Retry-After, the ramp after it and the breaker for everybody; so each is a
 * little better behaved here than it is at home.
 *
 * A peer's state begins with a struct lab_peer.
 *
 *     level   how many may be in flight; WEIR_PARALLELISM_MAX for those that pace instead
 *     gate    those that pace: not before this
 */
#ifndef LAB_PEER_H
#define LAB_PEER_H

#include "throttle/policy.h"

struct lab_peer {
    double level;
    int hint; /* the service's; before it says one, what the product assumes */
    int64_t gate_us;
    uint64_t epoch; /* counts the decreases */
    int successes;
    uint64_t throttles;
    int64_t throttled_us;
    int64_t activity_us;
};

void lab_peer_init(struct lab_peer *peer, double level);

/* Web servers, guessed from the hint: a hint is close to four for each of them. */
int lab_peer_servers(const struct lab_peer *peer);

/* Count an answer for the statistics. True: it was a throttle. */
bool lab_peer_count(struct lab_peer *peer, const struct weir_answer *answer, int64_t now_us);

/* The functions of struct weir_policy, as far as peers are alike. */
void lab_peer_admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                    struct weir_admission *ret);
void lab_peer_leased(void *state, const struct weir_policy_lease *lease, int64_t now_us);
void lab_peer_hint(void *state, int dop_hint, int64_t now_us);
void lab_peer_reset(void *state, int64_t now_us);
uint64_t lab_peer_epoch(const void *state);
int lab_peer_level(const void *state);
void lab_peer_stats(const void *state, int64_t now_us, struct weir_adaptive_rate_stats *ret);

#endif

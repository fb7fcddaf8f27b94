/* SPDX-License-Identifier: MIT */
/* What the peers have in common; see peer.h. */
#include "lab/peer.h"

#include "base/clock.h"
#include "base/limits.h"

void lab_peer_init(struct lab_peer *peer, double level)
{
    *peer = (struct lab_peer){
        .level = level,
        .hint = WEIR_PARALLELISM_UNHINTED,
        .throttled_us = WEIR_NEVER,
        .activity_us = WEIR_NEVER,
    };
}

int lab_peer_servers(const struct lab_peer *peer)
{
    int servers = (peer->hint + 2) / 4;
    return servers > 1 ? servers : 1;
}

bool lab_peer_count(struct lab_peer *peer, const struct weir_answer *answer, int64_t now_us)
{
    enum weir_class class_ = answer->verdict.class_;
    if (class_ == WEIR_CLASS_OK) {
        peer->successes++;
        peer->activity_us = now_us;
    } else if (class_ == WEIR_CLASS_THROTTLE) {
        peer->successes = 0;
        peer->throttles++;
        peer->throttled_us = now_us;
        peer->activity_us = now_us;
    }
    return class_ == WEIR_CLASS_THROTTLE;
}

void lab_peer_admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                    struct weir_admission *ret)
{
    const struct lab_peer *peer = state;
    int level = lab_peer_level(state);
    bool full = ask->in_flight >= (uint32_t)level;
    *ret = (struct weir_admission){
        .ok = !full && now_us >= peer->gate_us,
        .paced = !full,
        .not_before_us = full ? WEIR_FOREVER : peer->gate_us,
        .score = level - (double)ask->in_flight,
        .bound_by = WEIR_BOUND_AIMD,
    };
}

void lab_peer_leased(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    (void)lease;
    struct lab_peer *peer = state;
    peer->activity_us = now_us;
}

void lab_peer_hint(void *state, int dop_hint, int64_t now_us)
{
    (void)now_us;
    struct lab_peer *peer = state;
    peer->hint = dop_hint;
}

void lab_peer_reset(void *state, int64_t now_us)
{
    (void)now_us;
    struct lab_peer *peer = state;
    peer->successes = 0;
}

uint64_t lab_peer_epoch(const void *state)
{
    const struct lab_peer *peer = state;
    return peer->epoch;
}

int lab_peer_level(const void *state)
{
    const struct lab_peer *peer = state;
    if (peer->level >= WEIR_PARALLELISM_MAX)
        return WEIR_PARALLELISM_MAX;
    return peer->level < 1 ? 1 : (int)peer->level;
}

void lab_peer_stats(const void *state, int64_t now_us, struct weir_adaptive_rate_stats *ret)
{
    (void)now_us;
    const struct lab_peer *peer = state;
    ret->current_parallelism = lab_peer_level(state);
    ret->max_parallelism = WEIR_PARALLELISM_MAX;
    ret->last_known_good_parallelism = ret->current_parallelism;
    ret->successes_since_throttle = peer->successes;
    ret->total_throttle_events = peer->throttles;
    ret->last_throttle_time_us = peer->throttled_us;
    ret->last_increase_time_us = WEIR_NEVER;
    ret->last_activity_time_us = peer->activity_us;
    ret->bound_by = WEIR_BOUND_AIMD;
}

/* SPDX-License-Identifier: MIT */
/*
 * cosmos: the congestion control of the Cosmos DB bulk executor (.NET): one in flight at first, one
 * more for each interval that had answers and no throttle; for an interval with a throttle five
 * less, or half of them if that is less, and from then on intervals are a second longer.
 *
 * Simplified: there the partition is what is controlled, here the connection; micro-batches are
 * requests, and time spent waiting for the service is not compared with time spent waiting for a
 * slot.
 */
#include "base/clock.h"
#include "lab/peer.h"
#include "lab/policies.h"

#define DECREASE_MOST 5.0
#define LEVEL_MOST    52.0

struct cosmos {
    struct lab_peer peer;
    int64_t interval_us;
    int64_t since_us;
    uint32_t successes; /* of the interval */
    uint32_t throttles;
};

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    (void)options;
    struct cosmos *cosmos = state;
    *cosmos = (struct cosmos){ .interval_us = WEIR_US_PER_S };
    lab_peer_init(&cosmos->peer, 1);
}

static void close_interval(struct cosmos *cosmos)
{
    double *level = &cosmos->peer.level;
    if (cosmos->throttles) {
        *level -= *level / 2 < DECREASE_MOST ? (double)(int)(*level / 2) : DECREASE_MOST;
        cosmos->interval_us += WEIR_US_PER_S;
        cosmos->peer.epoch++;
    } else if (cosmos->successes && *level < LEVEL_MOST) {
        *level += 1;
    }
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    (void)lease;
    (void)reopens_us;
    struct cosmos *cosmos = state;
    if (lab_peer_count(&cosmos->peer, answer, now_us))
        cosmos->throttles++;
    else if (answer->verdict.class_ == WEIR_CLASS_OK)
        cosmos->successes++;
    if (now_us - cosmos->since_us < cosmos->interval_us)
        return;
    close_interval(cosmos);
    cosmos->since_us = now_us;
    cosmos->successes = 0;
    cosmos->throttles = 0;
}

const struct weir_policy lab_policy_cosmos = {
    .name = "cosmos",
    .state_bytes = sizeof(struct cosmos),
    .lanes_max = 1,
    .init = init,
    .admit = lab_peer_admit,
    .leased = lab_peer_leased,
    .answered = answered,
    .hint = lab_peer_hint,
    .reset = lab_peer_reset,
    .epoch = lab_peer_epoch,
    .level = lab_peer_level,
    .stats = lab_peer_stats,
};

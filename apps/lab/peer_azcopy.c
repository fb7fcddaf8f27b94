/* SPDX-License-Identifier: MIT */
/*
 * azcopy: the automatic pacer of AzCopy, which looks once a second whether it was throttled:
 *
 *     throttled         the rate becomes its peak and falls to 65 %; then 20 s of quiet
 *     below the peak    plus 10 % of the way there
 *     within 5 % of it  plus 0.15 %
 *     above             plus 1.5 %
 *
 * Simplified: it paces requests where AzCopy paces bytes, and starts at 20 a second, the published
 * 6,000 in 300 s, where AzCopy starts at what a page blob is known to take. Fifty-two may be in
 * flight.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "lab/peer.h"
#include "lab/policies.h"

#define START_RATE 20.0
#define LEAST_RATE 0.05
#define QUIET_US   (20 * WEIR_US_PER_S)

struct azcopy {
    struct lab_peer peer;
    double rate; /* a second */
    double peak; /* 0: none yet */
    bool throttled;
    int64_t tick_us;
    int64_t quiet_us; /* until then nothing changes */
};

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    (void)options;
    struct azcopy *azcopy = state;
    *azcopy = (struct azcopy){ .rate = START_RATE };
    lab_peer_init(&azcopy->peer, WEIR_PARALLELISM_MAX);
}

static void cut(struct azcopy *azcopy, int64_t now_us)
{
    azcopy->peak = azcopy->rate;
    azcopy->rate *= 0.65;
    if (azcopy->rate < LEAST_RATE)
        azcopy->rate = LEAST_RATE;
    azcopy->quiet_us = now_us + QUIET_US;
    azcopy->peer.epoch++;
}

static void climb(struct azcopy *azcopy)
{
    double peak = azcopy->peak;
    if (peak > 0 && azcopy->rate < 0.95 * peak)
        azcopy->rate += 0.1 * (peak - azcopy->rate);
    else if (peak > 0 && azcopy->rate < 1.05 * peak)
        azcopy->rate *= 1.0015;
    else
        azcopy->rate *= 1.015;
}

/* What fifty-two in flight can never need is no rate to remember. */
static void tick(struct azcopy *azcopy, int64_t now_us)
{
    for (; now_us - azcopy->tick_us >= WEIR_US_PER_S; azcopy->tick_us += WEIR_US_PER_S) {
        if (azcopy->tick_us < azcopy->quiet_us)
            azcopy->throttled = false;
        else if (azcopy->throttled)
            cut(azcopy, azcopy->tick_us);
        else if (azcopy->rate < 10000)
            climb(azcopy);
        azcopy->throttled = false;
    }
}

static void admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                  struct weir_admission *ret)
{
    tick(state, now_us);
    lab_peer_admit(state, ask, now_us, ret);
}

static void leased(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    struct azcopy *azcopy = state;
    lab_peer_leased(state, lease, now_us);
    int64_t from_us = azcopy->peer.gate_us > now_us ? azcopy->peer.gate_us : now_us;
    azcopy->peer.gate_us = from_us + (int64_t)((double)WEIR_US_PER_S / azcopy->rate);
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    (void)lease;
    (void)reopens_us;
    struct azcopy *azcopy = state;
    tick(azcopy, now_us);
    if (lab_peer_count(&azcopy->peer, answer, now_us))
        azcopy->throttled = true;
}

const struct weir_policy lab_policy_azcopy = {
    .name = "azcopy",
    .state_bytes = sizeof(struct azcopy),
    .lanes_max = 1,
    .init = init,
    .admit = admit,
    .leased = leased,
    .answered = answered,
    .hint = lab_peer_hint,
    .reset = lab_peer_reset,
    .epoch = lab_peer_epoch,
    .level = lab_peer_level,
    .stats = lab_peer_stats,
};

/* SPDX-License-Identifier: MIT */
/*
 * aws: the adaptive mode of the AWS clients, by the published rules of botocore: a token bucket on
 * the rate of sending that is off until the first throttle.
 *
 *     measured   answers a second, in buckets of half a second, smoothed by 0.8
 *     throttle   w_max = measured (or the rate, if that is less); rate = 0.7 × w_max;
 *                K = cube root of (w_max × 0.3 / 0.4), in seconds
 *     success    rate = 0.4 × (t − K)³ + w_max, t since the throttle
 *     always     at most twice what is measured, at least 0.5; the bucket holds a second of it
 *
 * Simplified: no quota of retries and no random back-off, for here the pool honours Retry-After,
 * and items are never given up. Fifty-two may be in flight.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "lab/peer.h"
#include "lab/policies.h"
#include "sim/law/number.h"

#define SCALE     0.4
#define BETA      0.7
#define SMOOTH    0.8
#define LEAST     0.5
#define BUCKET_US (WEIR_US_PER_S / 2)

struct aws {
    struct lab_peer peer;
    bool enabled;
    double rate; /* a second */
    double tokens;
    int64_t filled_us;
    double w_max;
    double k_s;
    int64_t bucket_us; /* the beginning of the running half second */
    uint32_t count;
    double measured;
};

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    (void)options;
    struct aws *aws = state;
    *aws = (struct aws){ .enabled = false };
    lab_peer_init(&aws->peer, WEIR_PARALLELISM_MAX);
}

static double capacity(const struct aws *aws)
{
    return aws->rate > 1 ? aws->rate : 1;
}

static void fill(struct aws *aws, int64_t now_us)
{
    aws->tokens += aws->rate * (double)(now_us - aws->filled_us) / (double)WEIR_US_PER_S;
    if (aws->tokens > capacity(aws))
        aws->tokens = capacity(aws);
    aws->filled_us = now_us;
}

static void admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                  struct weir_admission *ret)
{
    struct aws *aws = state;
    if (aws->enabled) {
        fill(aws, now_us);
        double missing = 1 - aws->tokens;
        aws->peer.gate_us = now_us;
        if (missing > 0)
            aws->peer.gate_us += (int64_t)(missing / aws->rate * (double)WEIR_US_PER_S) + 1;
    }
    lab_peer_admit(state, ask, now_us, ret);
}

static void leased(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    struct aws *aws = state;
    lab_peer_leased(state, lease, now_us);
    if (aws->enabled)
        aws->tokens -= 1;
}

static void measure(struct aws *aws, int64_t now_us)
{
    int64_t bucket_us = now_us - now_us % BUCKET_US;
    aws->count++;
    if (bucket_us <= aws->bucket_us)
        return;
    double now_rate = aws->count * (double)WEIR_US_PER_S / (double)(bucket_us - aws->bucket_us);
    aws->measured = now_rate * SMOOTH + aws->measured * (1 - SMOOTH);
    aws->count = 0;
    aws->bucket_us = bucket_us;
}

static double cut(struct aws *aws, int64_t now_us)
{
    double rate = aws->measured;
    if (aws->enabled && aws->rate < rate)
        rate = aws->rate;
    if (!aws->enabled)
        aws->filled_us = now_us;
    aws->enabled = true;
    aws->peer.epoch++;
    aws->w_max = rate;
    aws->k_s = rate > 0 ? sim_exp(sim_log(rate * (1 - BETA) / SCALE) / 3) : 0;
    return rate * BETA;
}

static double climb(const struct aws *aws, int64_t now_us)
{
    double t = (double)(now_us - aws->peer.throttled_us) / (double)WEIR_US_PER_S - aws->k_s;
    return SCALE * t * t * t + aws->w_max;
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    (void)lease;
    (void)reopens_us;
    struct aws *aws = state;
    if (answer->verdict.class_ == WEIR_CLASS_UNSENT)
        return;
    measure(aws, now_us);
    bool throttled = lab_peer_count(&aws->peer, answer, now_us);
    if (!throttled && !aws->enabled)
        return;
    double rate = throttled ? cut(aws, now_us) : climb(aws, now_us);
    if (rate > 2 * aws->measured)
        rate = 2 * aws->measured;
    fill(aws, now_us);
    aws->rate = rate > LEAST ? rate : LEAST;
    if (aws->tokens > capacity(aws))
        aws->tokens = capacity(aws);
}

const struct weir_policy lab_policy_aws = {
    .name = "aws",
    .state_bytes = sizeof(struct aws),
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

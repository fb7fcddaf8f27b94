/* SPDX-License-Identifier: MIT */
/*
 * token-bucket: the safe one. A bucket of a tenth of the budget that fills at nine tenths of the
 * budget a window never lets more than the budget pass in any window; a full-sized bucket would let
 * twice as much. There is one for each of the two published budgets, 6,000 requests and 1,200 s of
 * execution in 300 s. The tenth is lost for good.
 *
 * What is in flight is counted with the mean of the durations seen so far, what is back with its
 * own.
 *
 * Simplified: one web server is assumed, so it is safe and slow where there are more; latency
 * stands for execution time.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "lab/peer.h"
#include "lab/policies.h"

#define BETA         0.1
#define WINDOW_S     300.0
#define REQUESTS     6000.0
#define EXECUTION_S  1200.0
#define FIRST_S      2.0 /* what a request is taken to need before one was measured */
#define FORGET       0.06
#define COUNT_AT_ALL 16

struct bucket {
    double depth;
    double rate; /* a second */
    double tokens;
};

struct buckets {
    struct lab_peer peer;
    struct bucket requests;
    struct bucket execution;
    int64_t filled_us;
    double mean_s;
    uint32_t count;
    uint32_t in_flight;
};

static struct bucket full_bucket(double budget)
{
    return (struct bucket){ BETA * budget, (1 - BETA) * budget / WINDOW_S, BETA * budget };
}

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    (void)options;
    struct buckets *buckets = state;
    *buckets = (struct buckets){
        .requests = full_bucket(REQUESTS),
        .execution = full_bucket(EXECUTION_S),
        .mean_s = FIRST_S,
    };
    lab_peer_init(&buckets->peer, WEIR_PARALLELISM_MAX);
}

static void fill(struct bucket *bucket, double seconds)
{
    bucket->tokens += bucket->rate * seconds;
    if (bucket->tokens > bucket->depth)
        bucket->tokens = bucket->depth;
}

/* How long until the bucket holds as much as is wanted, or as much as it can. */
static double missing_s(const struct bucket *bucket, double wanted)
{
    double needed = wanted < bucket->depth ? wanted : bucket->depth;
    return bucket->tokens < needed ? (needed - bucket->tokens) / bucket->rate : 0;
}

static void admit(void *state, const struct weir_policy_ask *ask, int64_t now_us,
                  struct weir_admission *ret)
{
    struct buckets *buckets = state;
    double seconds = (double)(now_us - buckets->filled_us) / (double)WEIR_US_PER_S;
    fill(&buckets->requests, seconds);
    fill(&buckets->execution, seconds);
    buckets->filled_us = now_us;
    double wait_s = missing_s(&buckets->requests, 1);
    double longer_s = missing_s(&buckets->execution, (buckets->in_flight + 1) * buckets->mean_s);
    if (longer_s > wait_s)
        wait_s = longer_s;
    buckets->peer.gate_us = now_us;
    if (wait_s > 0)
        buckets->peer.gate_us += (int64_t)(wait_s * (double)WEIR_US_PER_S) + 1;
    lab_peer_admit(state, ask, now_us, ret);
}

static void leased(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    struct buckets *buckets = state;
    lab_peer_leased(state, lease, now_us);
    buckets->requests.tokens -= 1;
    buckets->in_flight++;
}

static void learn(struct buckets *buckets, double seconds)
{
    buckets->count++;
    double weight = buckets->count < COUNT_AT_ALL ? 1.0 / buckets->count : FORGET;
    buckets->mean_s += (seconds - buckets->mean_s) * weight;
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    (void)lease;
    (void)reopens_us;
    struct buckets *buckets = state;
    buckets->in_flight--;
    if (lab_peer_count(&buckets->peer, answer, now_us) ||
        answer->verdict.class_ == WEIR_CLASS_UNSENT)
        return; /* it was not executed */
    double seconds = (double)answer->duration_us / (double)WEIR_US_PER_S;
    learn(buckets, seconds);
    buckets->execution.tokens -= seconds;
}

const struct weir_policy lab_policy_token_bucket = {
    .name = "token-bucket",
    .state_bytes = sizeof(struct buckets),
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

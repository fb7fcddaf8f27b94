/* SPDX-License-Identifier: MIT */
/*
 * gradient2: the limit of Netflix/concurrency-limits that compares a short average of latency with
 * a long one, with its published defaults:
 *
 *     short      mean latency of a window of at least a second and ten answers
 *     long       moving average of those over 600, the first ten plainly; times 0.95 while it is
 *                more than twice the short one
 *     gradient   1.5 × long/short, at least 0.5, at most 1
 *     limit      0.8 × limit + 0.2 × (limit × gradient + 4), from 20 up; left alone while less than
 *                half of it is in use
 *
 * Drops are ignored, as there: a throttle comes back at once and counts as a quick answer. The
 * limit is at most 52 and not 200.
 *
 * Simplified: the window is always at least a second, whatever the latency.
 */
#include "base/clock.h"
#include "lab/peer.h"
#include "lab/policies.h"

#define INITIAL       20.0
#define QUEUE         4.0
#define SMOOTHING     0.2
#define TOLERANCE     1.5
#define LONG_WINDOW   600
#define LONG_WARM_UP  10
#define WINDOW_US     WEIR_US_PER_S
#define WINDOW_COUNT  10
#define LIMIT_AT_MOST 52.0

struct gradient2 {
    struct lab_peer peer;
    uint32_t in_flight;
    uint32_t in_flight_most; /* of the window */
    int64_t window_us;       /* its beginning */
    uint32_t count;
    double sum_s;
    double long_s;
    uint32_t long_count;
};

static void init(void *state, const struct weir_adaptive_rate_options *options)
{
    (void)options;
    struct gradient2 *gradient = state;
    *gradient = (struct gradient2){ .in_flight = 0 };
    lab_peer_init(&gradient->peer, INITIAL);
}

static void leased(void *state, const struct weir_policy_lease *lease, int64_t now_us)
{
    struct gradient2 *gradient = state;
    lab_peer_leased(state, lease, now_us);
    gradient->in_flight++;
    if (gradient->in_flight > gradient->in_flight_most)
        gradient->in_flight_most = gradient->in_flight;
}

static double long_average(struct gradient2 *gradient, double short_s)
{
    gradient->long_count++;
    if (gradient->long_count <= LONG_WARM_UP)
        gradient->long_s += (short_s - gradient->long_s) / gradient->long_count;
    else
        gradient->long_s += (short_s - gradient->long_s) * 2 / (LONG_WINDOW + 1);
    double average = gradient->long_s;
    if (short_s > 0 && average / short_s > 2)
        gradient->long_s *= 0.95;
    return average;
}

static void update(struct gradient2 *gradient)
{
    double limit = gradient->peer.level;
    double short_s = gradient->sum_s / gradient->count;
    double long_s = long_average(gradient, short_s);
    if (gradient->in_flight_most < limit / 2)
        return;
    double slope = short_s > 0 ? TOLERANCE * long_s / short_s : 1;
    slope = slope < 0.5 ? 0.5 : slope > 1 ? 1 : slope;
    limit = limit * (1 - SMOOTHING) + (limit * slope + QUEUE) * SMOOTHING;
    limit = limit < INITIAL ? INITIAL : limit > LIMIT_AT_MOST ? LIMIT_AT_MOST : limit;
    gradient->peer.level = limit;
}

static void answered(void *state, const struct weir_policy_lease *lease,
                     const struct weir_answer *answer, int64_t reopens_us, int64_t now_us)
{
    (void)reopens_us;
    struct gradient2 *gradient = state;
    gradient->in_flight--;
    if (answer->verdict.class_ == WEIR_CLASS_UNSENT)
        return;
    lab_peer_count(&gradient->peer, answer, now_us);
    gradient->count++;
    gradient->sum_s += (double)(now_us - lease->sent_us) / (double)WEIR_US_PER_S;
    if (gradient->count < WINDOW_COUNT || now_us - gradient->window_us < WINDOW_US)
        return;
    update(gradient);
    gradient->window_us = now_us;
    gradient->count = 0;
    gradient->sum_s = 0;
    gradient->in_flight_most = gradient->in_flight;
}

const struct weir_policy lab_policy_gradient2 = {
    .name = "gradient2",
    .state_bytes = sizeof(struct gradient2),
    .lanes_max = 1,
    .init = init,
    .admit = lab_peer_admit,
    .leased = leased,
    .answered = answered,
    .hint = lab_peer_hint,
    .reset = lab_peer_reset,
    .epoch = lab_peer_epoch,
    .level = lab_peer_level,
    .stats = lab_peer_stats,
};

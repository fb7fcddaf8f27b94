/* SPDX-License-Identifier: MIT */
/*
 * How much of one budget (requests, or execution time) of one web server is ours.
 *
 * A header sample is `ours = remaining + own use`: the limit minus what others use, whatever the
 * limit is. What is missing to the limit is *foreign*: another client, or what we did before a
 * restart. It counts as it is now, and as it may become while what we use stays in the window:
 *
 *     foreign ▲   ________ highest of the last window: it will not be more than that …
 *             │  ╱╲    ╱┈┈
 *             │ ╱  ╲__╱ ◀ … and will not rise faster than it ever did within as much time
 *             │╱     now
 *             └────────────────▶ time
 *
 * In the first window it is taken to go on as fast as it has begun. What was there at the first
 * sample is expected to drain within a window.
 */
#ifndef WEIR_THROTTLE_POLICY_BUDGET_QUOTA_H
#define WEIR_THROTTLE_POLICY_BUDGET_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "throttle/policy_budget_rhythm.h"

#define WEIR_QUOTA_SPANS 32 /* in a window, that the foreign use is kept by */
#define WEIR_QUOTA_RISES 6  /* within 1, 2, 4, 8, 16 and 32 spans */

struct weir_quota {
    double limit;      /* believed */
    double doubt;      /* part of it that our own use may be off by: not a higher limit yet */
    double foreign;    /* at the last sample */
    double lately[2];  /* the most of it in this short span and in the one before */
    int64_t lately_no; /* number of this short span */
    int64_t sample_us; /* the time of the last sample */
    double first;      /* foreign at the first sample */
    int64_t first_us;  /* its time; WEIR_NEVER: no sample yet */
    bool drains;   /* others have to show first that it is a lower limit, and not use that drains */
    bool unbacked; /* what was there at first is not taken to drain unless a sample says so */
    int64_t above_us; /* since when samples are above the limit; WEIR_NEVER: they are not */
    double above;     /* the least of them */
    int64_t span;     /* number of the newest span */
    double highest[WEIR_QUOTA_SPANS + 1]; /* foreign use in the last spans, the newest first */
    double lowest[WEIR_QUOTA_SPANS + 1];
    double most;                    /* of the spans that are over */
    double rises[WEIR_QUOTA_RISES]; /* the most that it grew by within so many spans */
    struct weir_rhythm rhythm;      /* of the foreign use */
    double ghost;                   /* foreign use inferred from a throttle, draining */
    int64_t ghost_us;
};

void weir_quota_init(struct weir_quota *quota, double limit);

/* The service named its limit, or the configuration did. */
void weir_quota_set_limit(struct weir_quota *quota, double limit);

/* What was seen of others holds no more: another limit, or another window. */
void weir_quota_forget(struct weir_quota *quota);

/*
 * A header: `remaining`, with `used` of our own in the window. `noise`: what a sample may be off.
 * `exact`: it is off to one side only, because what we sent while the answer was on its way is in
 * our books and not in the header. Of the samples of a short span the one with the least for us is
 * true then: the most that is foreign is kept (`lately`).
 */
void weir_quota_sample(struct weir_quota *quota, double remaining, double used, double noise,
                       bool trusted, bool exact, int64_t window_us, int64_t now_us);

/* Of what was there at the first sample, what is expected to be there still. */
double weir_quota_draining(const struct weir_quota *quota, int64_t window_us, int64_t now_us);

/* A throttle that our own use does not explain. */
void weir_quota_haunt(struct weir_quota *quota, double missing, int64_t now_us);

/* What is left by now of what such throttles told. */
double weir_quota_ghost(const struct weir_quota *quota, int64_t window_us, int64_t now_us);

/* What others may use by now; what comes is the forecast's. `waits`: nothing is in flight that
 * would bring a sample. */
double weir_quota_foreign(const struct weir_quota *quota, double noise, bool waits,
                          int64_t window_us, int64_t now_us);

/* By how much foreign use has moved within the last window. */
double weir_quota_swing(const struct weir_quota *quota);

/* Of the limit, what is left beside that. */
double weir_quota_beside(const struct weir_quota *quota, double foreign);

#endif

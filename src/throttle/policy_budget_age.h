/* SPDX-License-Identifier: MIT */
/*
 * Whether a service's headers are as of now, or old: told by the header that counts requests.
 *
 * How old the execution header is, charging has to guess from noisy sums. Of requests it is known
 * when each was sent, so between two answers of one server its header falls by as many as were sent
 * to it meanwhile, less those that left the window; or as were in a span that began and ended some
 * seconds earlier. Where the two differ, each such step is a vote for one of them; steps that
 * neither explains (somebody else's burst, a limit that is changed) are none. Both headers are
 * taken to be of the same age.
 */
#ifndef WEIR_THROTTLE_POLICY_BUDGET_AGE_H
#define WEIR_THROTTLE_POLICY_BUDGET_AGE_H

#include <stdbool.h>
#include <stdint.h>

/* What a server said of requests, and what our books have of ours in its window. */
struct weir_age_sample {
    bool known;
    int64_t at_us;
    double remaining;
    double used;       /* now */
    double used_early; /* as of when old headers would be from */
};

/* Votes, old ones fading. */
struct weir_age {
    double current;
    double old;
};

/* Whether `last` is long enough ago for `now_us` to be the next step. */
bool weir_age_is_due(const struct weir_age_sample *last, int64_t old_us, int64_t now_us);

/* A step of one server, from `last` to `sample`. */
void weir_age_step(struct weir_age *age, const struct weir_age_sample *last,
                   const struct weir_age_sample *sample);

/* Headers are clearly not old. */
bool weir_age_is_current(const struct weir_age *age);

#endif

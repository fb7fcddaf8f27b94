/* SPDX-License-Identifier: MIT */
/* The age of headers; see policy_budget_age.h. */
#include "throttle/policy_budget_age.h"

#include <math.h>

#define STEPS   2    /* in the time that headers may be old by */
#define FADES   0.95 /* a vote, when the next one comes */
#define CLEAR   0.5  /* a guess gets a vote if it is off by less than this part of the other, … */
#define FEWER   1    /* … and by one request less: chance moves single ones */
#define VOTES   1.5  /* two votes say that headers are not old, … */
#define AGAINST 0.5  /* … unless half as many say that they are */

bool weir_age_is_due(const struct weir_age_sample *last, int64_t old_us, int64_t now_us)
{
    return !last->known || now_us - last->at_us >= old_us / STEPS;
}

void weir_age_step(struct weir_age *age, const struct weir_age_sample *last,
                   const struct weir_age_sample *sample)
{
    double fell = last->remaining - sample->remaining;
    double off_current = fabs(fell - (sample->used - last->used));
    double off_old = fabs(fell - (sample->used_early - last->used_early));
    bool current = off_current < CLEAR * off_old - FEWER;
    bool old = off_old < CLEAR * off_current - FEWER;
    if (!current && !old)
        return; /* nothing is said, and nothing forgotten */
    age->current = FADES * age->current + current;
    age->old = FADES * age->old + old;
}

bool weir_age_is_current(const struct weir_age *age)
{
    return age->current > VOTES && age->old < AGAINST * age->current;
}

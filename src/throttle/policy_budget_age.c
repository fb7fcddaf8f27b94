/* SPDX-License-Identifier: MIT */
/* The age of headers; see policy_budget_age.h. */
#include "throttle/policy_budget_age.h"

#include <math.h>

#define STEPS   2    /* in the time that headers may be old by */
#define FADES   0.95 /* a step */
#define CLEAR   0.5  /* of what one of the two leaves unexplained the other may, and … */
#define FEWER   1    /* … so many requests less than that */
#define VOTES   1.5  /* for headers of now, to be believed, … */
#define AGAINST 0.5  /* … with at most so many times as many against it */

bool weir_age_is_due(const struct weir_age_sample *last, int64_t old_us, int64_t now_us)
{
    return !last->known || now_us - last->at_us >= old_us / STEPS;
}

void weir_age_step(struct weir_age *age, const struct weir_age_sample *last,
                   const struct weir_age_sample *sample)
{
    double fell = last->remaining - sample->remaining;
    double off_current = fabs(fell - (sample->sent - last->sent));
    double off_old = fabs(fell - (sample->sent_early - last->sent_early));
    age->current = FADES * age->current + (off_current < CLEAR * off_old - FEWER);
    age->old = FADES * age->old + (off_old < CLEAR * off_current - FEWER);
}

bool weir_age_is_current(const struct weir_age *age)
{
    return age->current > VOTES && age->old < AGAINST * age->current;
}

/* SPDX-License-Identifier: MIT */
/*
 * A job that is known to be short, because what is left of it fits into what is free with some to
 * spare, does not have to make anything last: as many go at once as the service bears. The end of
 * every job is one.
 *
 *     overdraft   the last requests of any job may take the window beyond its limit: each is let in
 *                 as long as the limit is not used up, whatever is in flight, and nobody comes
 *                 after them who would meet it. So a job does not wait for the next window with a
 *                 hundredth of its work. A twentieth of the limit, where our books are exact or a
 *                 coarse window keeps only what is ours; an eighth where no header tells, and a
 *                 refusal costs no more than the wait would.
 *     finishing   beside somebody whose next minutes are not known, what is left goes if it fits
 *                 beside him as he has begun; a job that goes on is more careful with his chances
 */
#ifndef WEIR_THROTTLE_POLICY_BUDGET_SHORT_H
#define WEIR_THROTTLE_POLICY_BUDGET_SHORT_H

#include "throttle/policy_budget_flying.h"

/* How many of a short job may go at once on each server: as many as the service bears, on all of
 * them together as long as they may have one account. 0: it is not short. Sets `finishing`. */
double weir_budget_rush(struct weir_budget *budget, const struct weir_budget_flying *loads,
                        double left, double expected_us, int64_t now_us);

/* What the last `left` requests of a job on a lane may take beyond `limit`; 0: nothing, or they are
 * not the last ones. */
double weir_budget_overdraft(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                             const struct weir_budget_flying *load, double left, double expected_us,
                             double limit, int64_t now_us);

/* As long as it is only assumed what requests take, a short job begins with a part of what
 * the service bears; with all of it if there are no two such waves of work, or a hint tells of
 * three servers. */
double weir_budget_first_wave(const struct weir_budget *budget, double left);

#endif

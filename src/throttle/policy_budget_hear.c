/* SPDX-License-Identifier: MIT */
/*
 * Budget: what the headers of an answer say, set against our own books.
 *
 * Three things are learned besides the quotas themselves: how execution time is charged
 * (policy_budget_charging.c), whether all servers draw on one account, and whether the window is
 * coarse.
 */
#include <math.h>

#include "base/clock.h"
#include "throttle/policy_budget_state.h"

#define COARSE        0.75 /* part of what should have left the window that has not */
#define COARSE_FADES  0.97
#define PROBE_FOUND   3.0 /* requests that a probe has to find room for to go on */
#define UNTOLD        5   /* answers with one budget header from which the other has no limit */
#define UNLIMITED     1e15
#define SHARING_STEP  3.0   /* requests to others between two answers of a server, to look at */
#define SHARING_MOVED 100.0 /* in all, to be believed */
#define SHARED        0.25  /* of what separate accounts leave unexplained */

double weir_budget_noise(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                         int which)
{
    double spread = budget->lane_count > 1 && !budget->pinned ? 3.0 : 0;
    double one = which == WEIR_BUDGET_EXECUTION ? weir_budget_rho(budget) * budget->average_us : 1;
    return 0.01 * lane->quotas[which].limit + (3 + spread) * one;
}

/* What is in flight towards a lane, under one way of charging, as of a moment. */
static double flying_us(const struct weir_budget *budget, uint32_t lane, struct weir_guess guess,
                        int64_t at_us)
{
    double sum = 0;
    double part = 1.0 / budget->lane_count;
    for (uint32_t i = 0; i < budget->flight_count; i++) {
        const struct weir_budget_flight *flight = &budget->flights[i];
        double elapsed = (double)(at_us - flight->sent_us);
        if (elapsed < 0)
            continue;
        double share = part;
        if (budget->pinned && flight->lane != WEIR_BUDGET_ANY)
            share = flight->lane == lane;
        if (guess.series == WEIR_SERIES_ACCRUED)
            sum += share * elapsed;
        else if (guess.series == WEIR_SERIES_AT_BEGIN)
            sum += share * (elapsed > flight->expected_us ? elapsed : flight->expected_us);
    }
    return sum;
}

double weir_budget_used_under(const struct weir_budget *budget, uint32_t lane,
                              struct weir_guess guess, int64_t now_us)
{
    int64_t at_us = now_us - guess.lag_us;
    return flying_us(budget, lane, guess, at_us) +
           weir_ledger_measure(&budget->lanes[lane].ledger, guess.series, at_us - budget->window_us,
                               at_us);
}

bool weir_budget_is_coarse(const struct weir_budget *budget, const struct weir_budget_lane *lane)
{
    return budget->charging.trusted && lane->left_xx > 0 && lane->left_xy > COARSE * lane->left_xx;
}

/* Of what left our window since the last header, how much seems to be foreign use now? */
static void learn_coarseness(struct weir_budget *budget, struct weir_budget_lane *lane,
                             double foreign_before, int64_t now_us)
{
    struct weir_guess guess = weir_charging_guess(budget->charging.best);
    int64_t since_us = lane->heard_us - guess.lag_us - budget->window_us;
    int64_t until_us = now_us - guess.lag_us - budget->window_us;
    if (lane->heard_us == WEIR_NEVER)
        return;
    double left = weir_budget_rho(budget) *
                  weir_ledger_measure(&lane->ledger, guess.series, since_us, until_us);
    double stayed = lane->quotas[WEIR_BUDGET_EXECUTION].foreign - foreign_before;
    if (stayed < -PROBE_FOUND * weir_budget_rho(budget) * budget->average_us)
        lane->probe_gap_us = 0;
    if (left <= 0)
        return;
    stayed = stayed < 0 ? 0 : stayed > 2 * left ? 2 * left : stayed;
    lane->left_xx = lane->left_xx * COARSE_FADES + left * left;
    lane->left_xy = lane->left_xy * COARSE_FADES + left * stayed;
}

/* It is known which server each request went to. */
static bool is_exact(const struct weir_budget *budget)
{
    return budget->charging.trusted && (budget->lane_count == 1 || budget->pinned);
}

static void hear_execution(struct weir_budget *budget, uint32_t lane, double remaining,
                           int64_t now_us)
{
    struct weir_budget_lane *it = &budget->lanes[lane];
    struct weir_quota *quota = &it->quotas[WEIR_BUDGET_EXECUTION];
    double used[WEIR_CHARGING_GUESSES];
    double foreign_before = quota->foreign;
    for (uint32_t i = 0; i < WEIR_CHARGING_GUESSES; i++)
        used[i] = weir_budget_used_under(budget, lane, weir_charging_guess(i), now_us);
    bool trusted = budget->charging.trusted;
    weir_charging_hear(&budget->charging, &it->heard, remaining, used, quota->limit,
                       budget->window_us, now_us);
    if (trusted && !budget->charging.trusted)
        budget->blind_rho = budget->charging.rho; /* it is still the best that is known */
    weir_quota_sample(quota, remaining, weir_budget_rho(budget) * used[budget->charging.best],
                      weir_budget_noise(budget, it, WEIR_BUDGET_EXECUTION),
                      budget->charging.trusted, is_exact(budget), budget->window_us, now_us);
    it->heard_own = weir_budget_rho(budget) * used[budget->charging.best];
    learn_coarseness(budget, it, foreign_before, now_us);
}

/* Requests on a lane by our books; of those in flight their share. */
double weir_budget_requests_on(const struct weir_budget *budget, uint32_t lane, int64_t at_us)
{
    double used = weir_ledger_measure(&budget->lanes[lane].ledger, WEIR_SERIES_REQUESTS,
                                      at_us - budget->window_us, at_us);
    for (uint32_t i = 0; i < budget->flight_count; i++) {
        const struct weir_budget_flight *flight = &budget->flights[i];
        if (flight->sent_us > at_us)
            continue;
        bool tied = budget->pinned && flight->lane != WEIR_BUDGET_ANY;
        used += tied ? flight->lane == lane : 1.0 / budget->lane_count;
    }
    return used;
}

/* Do all servers draw on one account? Then what is left on one of them moves with the requests to
 * all, and not with those to itself. Requests tell it best: each is one. */
static void learn_sharing(struct weir_budget *budget, struct weir_budget_lane *lane,
                          double remaining, double own, double total)
{
    struct weir_requests_heard last = lane->requests_heard;
    double to_it = own - last.own;
    double to_all = total - last.total;
    double fell = last.remaining - remaining;
    lane->requests_heard = (struct weir_requests_heard){ remaining > 0, remaining, own, total };
    if (!last.known || remaining <= 0 || fabs(to_all - to_it) < SHARING_STEP)
        return;
    budget->sharing_moved += fabs(to_all - to_it);
    budget->missed_shared += (fell - to_all) * (fell - to_all);
    budget->missed_alone += (fell - to_it) * (fell - to_it);
    if (budget->sharing_moved < SHARING_MOVED)
        return;
    budget->shared = budget->missed_shared < SHARED * budget->missed_alone;
    budget->sharing_moved /= 2;
    budget->missed_shared /= 2;
    budget->missed_alone /= 2;
}

static void hear_requests(struct weir_budget *budget, uint32_t lane, double remaining,
                          int64_t now_us)
{
    struct weir_budget_lane *it = &budget->lanes[lane];
    int64_t at_us = now_us - weir_charging_guess(budget->charging.best).lag_us;
    double used = weir_budget_requests_on(budget, lane, at_us);
    weir_quota_sample(&it->quotas[WEIR_BUDGET_REQUESTS], remaining, used,
                      weir_budget_noise(budget, it, WEIR_BUDGET_REQUESTS), budget->charging.trusted,
                      is_exact(budget), budget->window_us, now_us);
    if (budget->lane_count == 1)
        return;
    double total = 0;
    for (uint32_t i = 0; i < budget->lane_count; i++)
        total += weir_budget_requests_on(budget, i, at_us);
    learn_sharing(budget, it, remaining, used, total);
}

/* All servers draw on one account: one ledger for all. */
static void merge_lanes(struct weir_budget *budget)
{
    struct weir_ledger *one = &budget->lanes[0].ledger;
    for (uint32_t i = 1; i < budget->lane_count; i++) {
        struct weir_ledger *other = &budget->lanes[i].ledger;
        weir_ledger_advance(other, one->head * one->bucket_us);
        for (int series = 0; series < WEIR_SERIES_COUNT; series++) {
            for (uint32_t b = 0; b < WEIR_LEDGER_BUCKETS; b++)
                one->totals[series][b] += other->totals[series][b];
        }
    }
    budget->lane_count = 1;
    budget->pinned = false;
    budget->lanes[0].heard = (struct weir_heard){ 0 };
    for (uint32_t i = 0; i < budget->flight_count; i++)
        budget->flights[i].lane = WEIR_BUDGET_ANY;
}

void weir_budget_listen(struct weir_budget *budget, uint32_t lane,
                        const struct weir_budget_headers *said, int64_t now_us)
{
    if (said->execution_known)
        hear_execution(budget, lane, (double)said->execution_remaining_us, now_us);
    if (said->requests_known && !said->execution_known && ++budget->lanes[lane].untold == UNTOLD)
        weir_quota_set_limit(&budget->lanes[lane].quotas[WEIR_BUDGET_EXECUTION], UNLIMITED);
    if (said->requests_known)
        hear_requests(budget, lane, (double)said->requests_remaining, now_us);
    if (said->execution_known || said->requests_known)
        budget->lanes[lane].heard_us = now_us;
    if (budget->lane_count > 1 && budget->shared)
        merge_lanes(budget);
}

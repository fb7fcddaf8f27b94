/* SPDX-License-Identifier: MIT */
/*
 * Budget: what is left of the budgets, and until when.
 *
 * The forecast goes on as now: as many in flight as there are, as many requests a second as in the
 * last moments, what others use as it was said last, and what leaves the window meanwhile gone. It
 * is what would happen if the policy did not hold back; as long as it does, there is none.
 */
#include "base/clock.h"
#include "throttle/policy_budget_state.h"

#define STEPS  64 /* that a window is looked ahead in */
#define RECENT 30 /* part of a window that the rate of requests is taken from */

double weir_budget_used(const struct weir_budget *budget, uint32_t lane, int which, int64_t now_us)
{
    if (which == WEIR_BUDGET_REQUESTS)
        return weir_budget_requests_on(budget, lane, now_us);
    struct weir_guess guess = weir_charging_guess(budget->charging.best);
    return weir_budget_rho(budget) * weir_budget_used_under(budget, lane, guess, now_us);
}

static double lane_headroom(const struct weir_budget *budget, uint32_t lane, int64_t now_us)
{
    double least = 1;
    for (int which = 0; which < WEIR_BUDGET_COUNT; which++) {
        double used = weir_budget_used(budget, lane, which, now_us);
        double room = 1 - used / budget->lanes[lane].quotas[which].limit;
        least = room < least ? room : least;
    }
    return least;
}

double weir_budget_headroom(const void *state, int64_t now_us)
{
    const struct weir_budget *budget = state;
    double most = lane_headroom(budget, 0, now_us);
    for (uint32_t i = 1; i < budget->lane_count; i++) {
        double room = lane_headroom(budget, i, now_us);
        most = room > most ? room : most;
    }
    return most;
}

/* What is spent on a lane in a microsecond, as things are now. */
static double rate_of(const struct weir_budget *budget, uint32_t lane, int which, int64_t now_us)
{
    if (which == WEIR_BUDGET_EXECUTION)
        return weir_budget_rho(budget) * budget->flight_count / budget->lane_count;
    int64_t recent_us = budget->window_us / RECENT;
    return weir_ledger_measure(&budget->lanes[lane].ledger, WEIR_SERIES_REQUESTS,
                               now_us - recent_us, now_us) /
           (double)recent_us;
}

static int64_t full_in_us(const struct weir_budget *budget, uint32_t lane, int which,
                          int64_t now_us)
{
    const struct weir_budget_lane *it = &budget->lanes[lane];
    bool execution = which == WEIR_BUDGET_EXECUTION;
    enum weir_series series = execution ? weir_budget_series(budget) : WEIR_SERIES_REQUESTS;
    double share = execution ? weir_budget_rho(budget) : 1;
    double limit = it->quotas[which].limit - it->quotas[which].foreign;
    double used = weir_budget_used(budget, lane, which, now_us);
    double rate = rate_of(budget, lane, which, now_us);
    int64_t tail_us = now_us - budget->window_us;
    for (int i = 0; i <= STEPS; i++) {
        int64_t ahead_us = budget->window_us / STEPS * i;
        double left = share * weir_ledger_measure(&it->ledger, series, tail_us, tail_us + ahead_us);
        if (used + rate * (double)ahead_us - left >= limit)
            return ahead_us;
    }
    return -1;
}

int64_t weir_budget_throttle_in_us(const struct weir_budget *budget, int64_t now_us)
{
    int64_t first = -1;
    for (uint32_t lane = 0; lane < budget->lane_count; lane++) {
        for (int which = 0; which < WEIR_BUDGET_COUNT; which++) {
            int64_t in_us = full_in_us(budget, lane, which, now_us);
            if (in_us >= 0 && (first < 0 || in_us < first))
                first = in_us;
        }
    }
    return first;
}

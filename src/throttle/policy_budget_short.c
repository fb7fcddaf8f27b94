/* SPDX-License-Identifier: MIT */
/* A short job; see policy_budget_short.h. */
#include "throttle/policy_budget_short.h"

#include <math.h>

#include "base/clock.h"

#define SHORT_TIMES  1.3  /* that what is left of a short job has room */
#define OVERDRAFT    0.05 /* of the limit, that the last requests of a job may take beyond it */
#define BLIND_MOST   0.12 /* the same, where no header tells what the limit is worth */
#define WAVES        2    /* of all that the service bears: a shorter job does not learn first */
#define FIRST_WAVE   0.6  /* of what it bears, as long as nothing is known, … */
#define FIRST_HINTED 0.8  /* … or, as a hint says, it has several servers, and … */
#define HINTED       8    /* … recommends as much as two of them bear for long; … */
#define HINTED_MORE  12   /* … all that one bears, if it is three */
#define HINT_OF_ONE  4.0  /* that the service recommends for one server */
#define FOUND_AFTER  8    /* requests per known server to any, that find no other one */
#define BESIDE       0.8  /* of it, where somebody else may have some in flight */
#define MANY         0.02 /* requests, of the limit */

/* How often what is left of a job has to have room for it to be short: once as long as nothing is
 * known, and once it hurries and its requests have not been seen to slow each other. */
static double short_times(const struct weir_budget *budget)
{
    const struct weir_guard *guard = &budget->guard;
    bool hurries = guard->hurried && guard->started && !guard->fallen;
    return budget->average_us > 0 && !hurries ? SHORT_TIMES : 1;
}

/* What is left of a job, as much of it as a server is to get, fits on it with some to spare. */
static bool is_short_for(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                         const struct weir_budget_flying *load, double left, double expected_us,
                         int64_t now_us)
{
    bool idle = load->count <= 0;
    double more = short_times(budget) * left;
    double sent = weir_budget_requests_at(budget, lane, idle, 0, now_us) + load->count;
    double used =
        weir_budget_execution_at(budget, lane, idle, load->elapsed_us + load->rest_us, 0, now_us);
    return sent + more <= weir_budget_ours(budget, lane, load, WEIR_BUDGET_REQUESTS, now_us) &&
           used + weir_budget_rho(budget) * expected_us * more <=
               weir_budget_ours(budget, lane, load, WEIR_BUDGET_EXECUTION, now_us);
}

/* No request is missing that is not ours; many are if the limit is lower, or some were used before.
 */
static bool is_alone(const struct weir_budget *budget, double elsewhere)
{
    double astray = weir_budget_astray(budget) + elsewhere;
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        const struct weir_quota *requests = &budget->lanes[i].quotas[WEIR_BUDGET_REQUESTS];
        if (requests->foreign > astray && requests->foreign < MANY * requests->limit)
            return false;
    }
    return true;
}

/* The part of the limit that the last requests of a job may take beyond it. Where no header tells,
 * a throttle costs no more than the wait for the next window would. */
static double overdraft_of(const struct weir_budget *budget, const struct weir_budget_lane *lane)
{
    bool placed = budget->lane_count == 1 || budget->pinned;
    if (!budget->charging.trusted && !lane->moves)
        return BLIND_MOST;
    bool exact = weir_budget_is_exact(budget, lane, WEIR_BUDGET_EXECUTION);
    if (!budget->charging.later || !(exact || (placed && weir_budget_keeps_ours(budget, lane))))
        return 0;
    return OVERDRAFT;
}

double weir_budget_overdraft(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                             const struct weir_budget_flying *load, double left, double expected_us,
                             double limit, int64_t now_us)
{
    double bears = fmin(budget->concurrent, budget->guard.cap);
    double part = overdraft_of(budget, lane);
    if (left <= 0 || part <= 0 || load->count + left > bears)
        return 0;
    double flying = load->elapsed_us + load->rest_us;
    double used = weir_budget_execution_at(budget, lane, load->count <= 0, flying, 0, now_us);
    double all = used + weir_budget_rho(budget) * expected_us * left;
    return all <= (1 + part) * limit ? part * limit : 0;
}

/* They are the last ones, and may go though they do not fit. */
static bool is_last(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                    const struct weir_budget_flying *load, double left, double expected_us,
                    int64_t now_us)
{
    double sent = weir_budget_requests_at(budget, lane, load->count <= 0, 0, now_us) + load->count;
    if (sent + left > weir_budget_ours(budget, lane, load, WEIR_BUDGET_REQUESTS, now_us))
        return false;
    double limit = weir_budget_ours(budget, lane, load, WEIR_BUDGET_EXECUTION, now_us);
    return weir_budget_overdraft(budget, lane, load, left, expected_us, limit, now_us) > 0;
}

/* Servers that there seem to be: those that are known and, as long as others may be found, as many
 * as the hint stands for. */
static double servers_of(const struct weir_budget *budget)
{
    double hinted = floor(budget->hinted / HINT_OF_ONE);
    bool all = budget->shared || budget->searched >= FOUND_AFTER * budget->lane_count;
    return all ? budget->lane_count : fmax(hinted, budget->lane_count);
}

static bool is_short(const struct weir_budget *budget, const struct weir_budget_flying *loads,
                     double left, double expected_us, int64_t now_us)
{
    double each = left / servers_of(budget);
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        const struct weir_budget_lane *lane = &budget->lanes[i];
        if (!is_last(budget, lane, &loads[i], each, expected_us, now_us) &&
            !is_short_for(budget, lane, &loads[i], each, expected_us, now_us))
            return false;
    }
    return true;
}

/* What others will use by the end of the first window is foreseen only as long as it lasts. */
static bool is_first_window(const struct weir_budget *budget, int64_t now_us)
{
    return budget->begun_us != WEIR_NEVER && now_us - budget->begun_us < budget->window_us;
}

double weir_budget_rush(struct weir_budget *budget, const struct weir_budget_flying *loads,
                        double left, double expected_us, int64_t now_us)
{
    budget->finishing = false;
    if (left <= 0)
        return 0;
    bool is_now = is_short(budget, loads, left, expected_us, now_us);
    if (!is_now && is_first_window(budget, now_us)) {
        budget->finishing = true;
        budget->finishing = is_short(budget, loads, left, expected_us, now_us);
    }
    if (!is_now && !budget->finishing)
        return 0;
    bool apart = budget->lane_count == 1 || weir_budget_is_apart(budget);
    /* What is missing may be ours on other servers; if all of it fits, that does not matter. */
    bool fits = is_short_for(budget, &budget->lanes[0], &loads[0], left, expected_us, now_us);
    double elsewhere = fits ? budget->elsewhere : 0;
    double most = (is_alone(budget, elsewhere) ? 1 : BESIDE) * budget->concurrent;
    return fmax(1, apart ? most : most / budget->lane_count);
}

double weir_budget_first_wave(const struct weir_budget *budget, double left)
{
    double bears = budget->concurrent;
    if (left < WAVES * bears)
        return fmin(left, bears);
    if (budget->hinted >= HINTED_MORE)
        return bears;
    return (budget->hinted >= HINTED ? FIRST_HINTED : FIRST_WAVE) * bears;
}

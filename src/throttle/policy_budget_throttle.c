/* SPDX-License-Identifier: MIT */
/*
 * Budget: what a throttle says, and what is tried until one comes.
 *
 * A throttle names a limit, or it says that our books are wrong: others use more than we know of, a
 * larger share of the time is charged, or all servers draw on one account. Headers know better;
 * where there are none, smaller shares and, by option, higher limits are tried.
 */
#include <math.h>

#include "base/clock.h"
#include "throttle/policy_budget_state.h"

#define CONCURRENT_WINDOWS 12 /* until one more at a time is tried again */
#define CONCURRENT_AGAIN   0.85
#define A_FEW              0.5 /* of what may be sent at a time */
#define CAUTION_STEP       0.01
#define CAUTION_MAX        0.10
#define CAUTION_FADES      0.7  /* in a clean window */
#define CREEP              0.7  /* of the blind share, each time that it is tried */
#define TRIES              4    /* of it in a window */
#define EXPLAINED          0.8  /* of the limit that own use has to make up to be what tripped it */
#define EXPLAINED_TRIED    0.6  /* the same, where a smaller share has just been tried */
#define ONE_OF_MANY        0.7  /* of the limit that a server has at most, … */
#define LEAST_TOGETHER     0.9  /* … and all of them have together, … */
#define MOST_TOGETHER      1.15 /* … if they draw on one account, and … */
#define SHARED_THROTTLES   2    /* … how often that is to be seen, … */
#define MOMENTS            100  /* … not twice in a hundredth of a window */
#define EXPLORE_STEP       1.25
#define EXPLORES           8  /* in a window */
#define EXPLORE_REST       12 /* windows after a throttle */
#define LIMIT_DIFFERS      0.01

/* --- throttles -------------------------------------------------------------------------------- */

static void set_window(struct weir_budget *budget, int64_t window_us, int64_t now_us)
{
    double change = (double)window_us / (double)budget->window_us - 1;
    if (!weir_budget_is_window(window_us) || (change < LIMIT_DIFFERS && change > -LIMIT_DIFFERS))
        return;
    budget->window_us = window_us;
    weir_charging_init(&budget->charging);
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        struct weir_budget_lane *lane = &budget->lanes[i];
        weir_ledger_set_window(&lane->ledger, window_us, now_us);
        lane->heard = (struct weir_heard){ 0 };
        lane->age_sample.known = false;
        for (int which = 0; which < WEIR_BUDGET_COUNT; which++)
            weir_quota_forget(&lane->quotas[which]);
    }
}

/* There are headers, and they do not always say the same. */
static bool is_told(const struct weir_budget *budget)
{
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        if (budget->lanes[i].moves)
            return true;
    }
    return false;
}

/* Where no header tells: a throttle that our use of one server does not explain, and that of all
 * servers together does. A second one, which is not of the same moment, is no chance any more. */
static void vote_shared(struct weir_budget *budget, double alone, double together, double limit,
                        int64_t now_us)
{
    if (alone > ONE_OF_MANY * limit)
        budget->blamed = 0;
    if (budget->lane_count == 1 || is_told(budget) || alone > ONE_OF_MANY * limit ||
        together < LEAST_TOGETHER * limit || together > MOST_TOGETHER * limit)
        return;
    if (budget->blamed && now_us - budget->blamed_us < budget->window_us / MOMENTS)
        return;
    budget->blamed_us = now_us;
    budget->shared = ++budget->blamed >= SHARED_THROTTLES;
}

/* In the first window there may be what was used before us. */
static void learn_sharing_blindly(struct weir_budget *budget, uint32_t lane, int which,
                                  int64_t now_us)
{
    if (budget->begun_us == WEIR_NEVER || now_us - budget->begun_us < budget->window_us)
        return;
    double total = 0;
    for (uint32_t i = 0; i < budget->lane_count; i++)
        total += weir_budget_used(budget, i, which, now_us);
    vote_shared(budget, weir_budget_used(budget, lane, which, now_us), total,
                budget->lanes[lane].quotas[which].limit, now_us);
}

/* A smaller share than may be charged has been tried lately. */
static bool is_trying(const struct weir_budget *budget, int64_t now_us)
{
    return budget->tried_us != WEIR_NEVER && !budget->blind_failed &&
           now_us - budget->tried_us < budget->window_us;
}

/* Nobody tells what is left, and less was left than the books say. */
static void learn_blindly(struct weir_budget *budget, uint32_t lane, int which, int64_t now_us)
{
    struct weir_quota *quota = &budget->lanes[lane].quotas[which];
    double used = weir_budget_used(budget, lane, which, now_us);
    learn_sharing_blindly(budget, lane, which, now_us);
    if (budget->shared && budget->lane_count > 1)
        return; /* it is explained */
    bool tried = which == WEIR_BUDGET_EXECUTION && is_trying(budget, now_us);
    double explained = tried ? EXPLAINED_TRIED : EXPLAINED;
    if (used < explained * quota->limit) {
        weir_quota_haunt(quota, quota->limit - used, now_us);
    } else if (which == WEIR_BUDGET_EXECUTION && used > 0) {
        budget->blind_rho *= quota->limit / used;
        budget->blind_failed = true;
    }
}

/* Smaller shares were tried without a throttle because the limit is higher than it was taken for:
 * it is what our use has come to now. */
static void take_back_share(struct weir_budget *budget, uint32_t lane, double limit, int64_t now_us)
{
    double used = weir_budget_used(budget, lane, WEIR_BUDGET_EXECUTION, now_us);
    if (budget->tried_us == WEIR_NEVER || used <= 0 || used > EXPLAINED * limit)
        return;
    double rho = budget->blind_rho * limit / used;
    budget->blind_rho = rho < 1 ? rho : 1;
    budget->blind_failed = true;
}

static void learn_limit(struct weir_budget *budget, uint32_t lane, int which,
                        const struct weir_named_limit *named, int64_t now_us)
{
    double unit = which == WEIR_BUDGET_EXECUTION ? (double)WEIR_US_PER_MS : 1;
    double limit = (double)named->value * unit;
    struct weir_quota *quota = &budget->lanes[lane].quotas[which];
    double change = limit / quota->limit - 1;
    set_window(budget, named->window_us, now_us);
    if (weir_budget_is_limit(which, limit) && (change > LIMIT_DIFFERS || change < -LIMIT_DIFFERS)) {
        for (uint32_t i = 0; i < budget->lane_count; i++) {
            weir_quota_set_limit(&budget->lanes[i].quotas[which], limit);
            if (which == WEIR_BUDGET_REQUESTS)
                budget->lanes[i].left_out = 0;
        }
        if (which == WEIR_BUDGET_EXECUTION)
            take_back_share(budget, lane, limit, now_us);
        return;
    }
    if (budget->caution < CAUTION_MAX)
        budget->caution += CAUTION_STEP;
    if (!budget->charging.trusted)
        learn_blindly(budget, lane, which, now_us);
}

/* As many as the service says, or fewer than there were on the server. A few that were sent while
 * another throttle held are not too many: they are refused for that one. */
static void learn_concurrency(struct weir_budget *budget, const struct weir_budget_flight *flight,
                              const struct weir_named_limit *named, int64_t now_us)
{
    if (flight->sent_us < budget->reopens_us && flight->beside < A_FEW * budget->concurrent)
        return;
    double fewer = ceil(flight->beside) - 1;
    if (named->value > 0)
        fewer = (double)named->value;
    if (named->value > 0 && fewer >= budget->concurrent) /* not the first time: others are there */
        fewer = CONCURRENT_AGAIN * budget->concurrent;
    if (fewer < budget->concurrent)
        budget->concurrent = fewer > 1 ? fewer : 1;
    budget->concurrent_us = now_us;
}

void weir_budget_throttled(struct weir_budget *budget, uint32_t lane,
                           const struct weir_budget_flight *flight,
                           const struct weir_policy_lease *lease,
                           const struct weir_verdict *verdict, int64_t now_us)
{
    budget->throttle_events++;
    budget->throttled_us = now_us;
    budget->successes = 0;
    if (lease->epoch != budget->epoch)
        return;
    budget->epoch++;
    budget->clean_us = now_us;
    budget->was_bound = false;
    if (verdict->throttle == WEIR_THROTTLE_REQUESTS)
        learn_limit(budget, lane, WEIR_BUDGET_REQUESTS, &verdict->limit, now_us);
    else if (verdict->throttle == WEIR_THROTTLE_EXECUTION_TIME)
        learn_limit(budget, lane, WEIR_BUDGET_EXECUTION, &verdict->limit, now_us);
    else
        learn_concurrency(budget, flight, &verdict->limit, now_us);
    if (verdict->throttle == WEIR_THROTTLE_CONCURRENCY && verdict->limit.value > 0)
        vote_shared(budget, flight->beside, flight->together, (double)verdict->limit.value, now_us);
}

/* --- trying ---------------------------------------------------------------------------------- */

/* Where nobody says what share of the time is charged, a smaller one is tried until a throttle. */
static void try_share(struct weir_budget *budget, int64_t now_us)
{
    if (budget->charging.trusted || budget->blind_failed || !budget->was_bound)
        return;
    budget->blind_rho *= CREEP;
    budget->tried_us = now_us;
    budget->was_bound = false;
}

/* A whole window without a throttle. */
static void end_window(struct weir_budget *budget, int64_t now_us)
{
    if (budget->clean_us == WEIR_NEVER || now_us - budget->clean_us < budget->window_us)
        return;
    budget->clean_us = now_us;
    budget->caution *= CAUTION_FADES;
    budget->blamed = 0;
    if (budget->concurrent < WEIR_BUDGET_AT_A_TIME &&
        now_us - budget->concurrent_us > CONCURRENT_WINDOWS * budget->window_us)
        budget->concurrent += 1;
    try_share(budget, now_us);
    budget->was_bound = false;
}

/* After a clean window, and where there are no headers that tell anything, what is tried shows as
 * soon as it is used up. */
static void go_on_trying(struct weir_budget *budget, int64_t now_us)
{
    if (!is_told(budget) && budget->tried_us > budget->throttled_us &&
        now_us - budget->tried_us > budget->window_us / TRIES)
        try_share(budget, now_us);
}

/* By option: where nobody says what the limits are, see whether they are higher. */
static void explore(struct weir_budget *budget, int64_t now_us)
{
    if (!budget->options->budget.explore || budget->charging.trusted || !budget->was_bound ||
        budget->clean_us == WEIR_NEVER)
        return;
    int64_t since_us =
        budget->explored_us > budget->clean_us ? budget->explored_us : budget->clean_us;
    bool failed = budget->throttled_us != WEIR_NEVER &&
                  now_us - budget->throttled_us < EXPLORE_REST * budget->window_us;
    if (failed || now_us - since_us < budget->window_us / EXPLORES)
        return;
    budget->explored_us = now_us;
    budget->was_bound = false;
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        for (int which = 0; which < WEIR_BUDGET_COUNT; which++)
            budget->lanes[i].quotas[which].limit *= EXPLORE_STEP;
    }
}

void weir_budget_try(struct weir_budget *budget, int64_t now_us)
{
    explore(budget, now_us);
    go_on_trying(budget, now_us);
    end_window(budget, now_us);
}

/* SPDX-License-Identifier: MIT */
/*
 * Budget: how much of the budgets is ours beside others, and when we would be throttled.
 *
 * What is ours (weir_budget_beside) is what others leave of the limit, now and for as long as what
 * we have in the window stays there:
 *
 *     first window   they go on as fast as they have begun, but for what chance may add
 *     later          they do not rise faster than they ever did, nor above their highest of the
 *                    last window, but for what chance may add; meanwhile ours leaves
 *     in a rhythm    that both budgets show: what came one period ago comes again, and what came
 *                    one window ago goes; it counts if that leaves us more (weir_budget_foresee)
 *
 * When we would be throttled (weir_budget_throttle_in_us, PredictedThrottle) decides nothing; it is
 * shown. All goes on as now: as many in flight as there are, as many requests a second as in the
 * last moments, what others use as it was said last, and what leaves the window meanwhile gone. It
 * is what would happen if the policy did not hold back; as long as it does, there is none.
 */
#include <math.h>

#include "base/clock.h"
#include "throttle/policy_budget_state.h"

#define STEPS  64 /* that a window is looked ahead in */
#define RECENT 30 /* part of a window that the rate of requests is taken from */

/* Deviations by which others may use more than foretold: in the first window, later, if their
 * rhythm is known, and if it is on several servers, of which nobody knows the next one; and more
 * each time that there are twice as many servers to choose from: one of them has most. */
#define FIRST_DOUBT    3.0
#define DOUBT          2.5
#define RHYTHM_DOUBT   2.0
#define SPREAD_DOUBT   3.0
#define DOUBLED_DOUBT  0.5
#define DOUBT_MOST     0.1  /* of the limit: beyond that a throttle from time to time is cheaper */
#define FIRST_MOST     0.7  /* of the limit: who begins with more overruns it alone, or rests */
#define FINISHING_MOST 0.5  /* the same, beside the last requests of a short job */
#define SOMEBODY       3    /* requests that tell of another client */
#define OF_OURS        0.02 /* requests of another client, of ours, that do not matter */
#define YOUNG          1.05 /* times the most that was seen, in the second window */
#define EARLY          1.0  /* span of a rhythm by which they may come sooner */
#define FORESEEN       2    /* buckets of the ledger for which what is foreseen holds */
#define STAYS          0.15 /* of the limit: more than a coarse window keeps of ours at its best */

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

/* --- what others may use ---------------------------------------------------------------------- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* What one request of theirs moves a sum of many by: the mean square over the mean. They are taken
 * to be like ours. */
static double grain_of(const struct weir_budget *budget, int which)
{
    if (which == WEIR_BUDGET_REQUESTS || budget->average_us <= 0)
        return 1;
    if (budget->guard.y <= 0)
        return weir_budget_rho(budget) * budget->average_us;
    return weir_budget_rho(budget) * budget->guard.yy / budget->guard.y;
}

static double of_several(const struct weir_budget *budget, double doubt)
{
    for (uint32_t servers = budget->lane_count; budget->pinned && servers > 1; servers /= 2)
        doubt += DOUBLED_DOUBT;
    return doubt;
}

/* The most that their use grew by within a time, by what was seen within 1, 2, 4 … spans. */
static double grown_within(const struct weir_quota *quota, double spans)
{
    double grown = 0;
    double from = 0;
    double to = 1;
    for (int i = 0; i < WEIR_QUOTA_RISES && spans > from; i++, to *= 2) {
        double part = spans < to ? (spans - from) / (to - from) : 1;
        grown += part * (quota->rises[i] - grown);
        from = to;
    }
    return grown;
}

bool weir_budget_sees_others(const struct weir_budget *budget, const struct weir_budget_lane *lane)
{
    const struct weir_quota *requests = &lane->quotas[WEIR_BUDGET_REQUESTS];
    return requests->foreign >
           requests->first + SOMEBODY + budget->elsewhere + weir_budget_astray(budget);
}

/* Somebody is there: his requests can be counted, the time that they take may be our mistake. */
static bool is_somebody(const struct weir_budget *budget, const struct weir_budget_lane *lane)
{
    const struct weir_quota *requests = &lane->quotas[WEIR_BUDGET_REQUESTS];
    return requests->first_us == WEIR_NEVER || weir_budget_sees_others(budget, lane);
}

/* Nobody was there in the last window: if time was missing and hardly a request, that is what our
 * books are off by, and it does not grow. On one server each request is known; what leaves both
 * windows at once may seem to be missing for a moment. */
static bool was_alone(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                      int64_t now_us)
{
    const struct weir_quota *requests = &lane->quotas[WEIR_BUDGET_REQUESTS];
    double few = SOMEBODY + OF_OURS * weir_budget_requests_on(budget, 0, now_us);
    return budget->lane_count == 1 && requests->first_us != WEIR_NEVER &&
           larger(requests->most, requests->highest[0]) <= few;
}

/*
 * In the first window: as much in a second as so far, and what chance may add to that. Requests
 * that come by chance, n of them in a time T, foretell those of the time t after it with a
 * deviation of √(n·t·(T + t)) / T; to be safe, one more is counted. Not more than he could go on
 * with for a whole window and leave us anything (FIRST_MOST). 0: nobody is there. Beside a job that
 * is over soon, not more than half of it, and not what chance may add: what it has left matters
 * less to him than waiting for the next window does to the job.
 */
static double by_the_end_of_the_first(const struct weir_budget *budget,
                                      const struct weir_quota *quota, double grain, double noise,
                                      bool waits, int64_t now_us)
{
    double window = (double)budget->window_us;
    double draining = quota->first * (1 - (double)(now_us - quota->first_us) / window);
    double seen = quota->foreign - draining;
    if (seen < noise)
        return 0;
    /* While nothing is out that will tell, silence counts: so one goes from time to time. */
    int64_t until_us = waits ? now_us : quota->sample_us;
    double age = larger((double)(until_us - quota->first_us), window / 100);
    if (budget->finishing)
        return fmin(draining + seen * window / age, FINISHING_MOST * quota->limit);
    double left = window - age;
    double more = left / age * (seen + grain) +
                  FIRST_DOUBT * sqrt((seen + grain) * grain * left * window) / age;
    more = larger(more, grown_within(quota, left / window * WEIR_QUOTA_SPANS));
    return fmin(draining + seen + more, FIRST_MOST * quota->limit);
}

/* What leaves our window within a time. */
static double leaves(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                     int which, double ahead_us, int64_t now_us)
{
    int64_t tail_us = now_us - budget->window_us;
    enum weir_series series =
        which == WEIR_BUDGET_EXECUTION ? weir_budget_series(budget) : WEIR_SERIES_REQUESTS;
    double share = which == WEIR_BUDGET_EXECUTION ? weir_budget_rho(budget) : 1;
    return share * weir_ledger_measure(&lane->ledger, series, tail_us, tail_us + (int64_t)ahead_us);
}

/* Later on: it does not rise faster than it did, nor above its highest of the last window, but for
 * what chance may add; meanwhile ours leaves. */
static double beside_later(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                           int which, double now, double grain, int64_t now_us)
{
    static const double spans[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 };
    const struct weir_quota *quota = &lane->quotas[which];
    double most = larger(quota->most, quota->highest[0]);
    bool young = now_us - quota->first_us < 2 * budget->window_us;
    double highest = larger(young ? YOUNG * most : most, now);
    double doubt = of_several(budget, DOUBT);
    double chance = fmin(doubt * sqrt(most * grain), DOUBT_MOST * quota->limit);
    double least = quota->limit;
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        double part = spans[i] / WEIR_QUOTA_SPANS;
        double then = now + grown_within(quota, spans[i]);
        then = (then < highest ? then : highest) + chance * sqrt(part);
        double ours = weir_quota_beside(quota, then) +
                      leaves(budget, lane, which, part * (double)budget->window_us, now_us);
        least = ours < least ? ours : least;
    }
    return least;
}

/* Spans of a rhythm since the newest sample. */
static double passed_since(const struct weir_budget *budget, const struct weir_quota *quota,
                           int64_t now_us)
{
    double span_us = (double)budget->window_us / WEIR_RHYTHM_SPANS;
    return (double)(now_us - quota->sample_us) / span_us;
}

/* In a rhythm: what came one period ago comes again, and what came one window ago goes. */
static double beside_in_rhythm(const struct weir_budget *budget,
                               const struct weir_budget_lane *lane, int which, double grain,
                               int64_t now_us)
{
    const struct weir_quota *quota = &lane->quotas[which];
    const struct weir_rhythm *rhythm = &quota->rhythm;
    double doubt = budget->lane_count > 1 ? of_several(budget, SPREAD_DOUBT) : RHYTHM_DOUBT;
    double span_us = (double)budget->window_us / WEIR_RHYTHM_SPANS;
    double passed = passed_since(budget, quota, now_us);
    double ghost = weir_quota_ghost(quota, budget->window_us, now_us);
    double least = weir_quota_beside(quota, ghost);
    for (double ahead = passed; ahead <= passed + WEIR_RHYTHM_SPANS; ahead++) {
        double comes = weir_rhythm_comes(rhythm, ahead + EARLY);
        double chance = fmin(doubt * sqrt(comes * grain), DOUBT_MOST * quota->limit);
        double then = larger(0, quota->foreign + comes - weir_rhythm_goes(rhythm, ahead)) + chance;
        double ahead_us = (ahead - passed) * span_us;
        double ours =
            weir_quota_beside(quota, then) + leaves(budget, lane, which, ahead_us, now_us);
        least = ours < least ? ours : least;
    }
    return least;
}

/* Time is missing and no requests: that is our mistake, and not one that grows. It may be ours from
 * before, or what left our books, if headers are old; or from another server, as long as all of
 * them may have one account. A job that has time is careful all the same.
 */
static bool is_alone(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                     double noise)
{
    return budget->guard.hurried && !is_somebody(budget, lane) &&
           (budget->elsewhere > 0 || lane->quotas[WEIR_BUDGET_EXECUTION].first < noise);
}

bool weir_budget_is_shared(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                           int which)
{
    const struct weir_quota *quota = &lane->quotas[which];
    double much = larger(weir_budget_noise(budget, lane, which), STAYS * quota->limit);
    bool seen = false;
    for (int i = 0; i <= WEIR_QUOTA_SPANS / 2; i++) {
        seen |= quota->lowest[i] >= 0;
        if (quota->lowest[i] >= 0 && quota->lowest[i] < much)
            return false;
    }
    return seen;
}

bool weir_budget_keeps_ours(const struct weir_budget *budget, const struct weir_budget_lane *lane)
{
    return weir_budget_is_coarse(budget) &&
           !weir_budget_is_shared(budget, lane, WEIR_BUDGET_EXECUTION);
}

/* A rhythm of others in both budgets is known, and not of so long ago that it does not reach a
 * window ahead. */
static bool has_rhythm(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                       int64_t now_us)
{
    for (int which = 0; which < WEIR_BUDGET_COUNT; which++) {
        const struct weir_quota *quota = &lane->quotas[which];
        double passed = passed_since(budget, quota, now_us);
        bool first = quota->first_us == WEIR_NEVER || now_us - quota->first_us < budget->window_us;
        if (first || !weir_rhythm_can_tell(&quota->rhythm, passed + WEIR_RHYTHM_SPANS + EARLY))
            return false;
    }
    return !weir_budget_keeps_ours(budget, lane) && budget->elsewhere <= 0;
}

void weir_budget_forget_counts(struct weir_budget *budget)
{
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        for (int which = 0; which < WEIR_BUDGET_COUNT; which++)
            weir_rhythm_forget(&budget->lanes[i].quotas[which].rhythm);
        budget->lanes[i].age_sample.known = false;
        budget->lanes[i].foreseen_no = -1;
    }
}

void weir_budget_foresee(struct weir_budget *budget, struct weir_budget_lane *lane, int64_t now_us)
{
    int64_t number = now_us / (FORESEEN * lane->ledger.bucket_us);
    if (lane->foreseen_no == number)
        return;
    lane->foreseen_no = number;
    bool known = has_rhythm(budget, lane, now_us);
    for (int which = 0; which < WEIR_BUDGET_COUNT; which++)
        lane->foreseen[which] =
            known ? beside_in_rhythm(budget, lane, which, grain_of(budget, which), now_us) : -1;
}

double weir_budget_beside(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                          int which, bool coarse, bool waits, int64_t now_us)
{
    const struct weir_quota *quota = &lane->quotas[which];
    double noise = weir_budget_noise(budget, lane, which);
    if (coarse && !weir_budget_is_shared(budget, lane, which))
        noise = quota->limit; /* what seems to be foreign is ours, not yet forgotten */
    bool first = quota->first_us != WEIR_NEVER && now_us - quota->first_us < budget->window_us;
    bool nobody = which == WEIR_BUDGET_EXECUTION &&
                  (first ? is_alone(budget, lane, noise) : was_alone(budget, lane, now_us));
    double now =
        weir_quota_foreign(quota, nobody ? quota->limit : noise, waits, budget->window_us, now_us);
    double least = weir_quota_beside(quota, now);
    if (quota->first_us == WEIR_NEVER || noise >= quota->limit)
        return least;
    double grain = grain_of(budget, which);
    double then = quota->limit;
    if (first && is_somebody(budget, lane))
        then = weir_quota_beside(
            quota, by_the_end_of_the_first(budget, quota, grain, noise, waits, now_us));
    else if (!first && !nobody && larger(quota->most, quota->highest[0]) > noise)
        then = beside_later(budget, lane, which, now, grain, now_us);
    least = fmin(least, then);
    return first ? least : larger(least, lane->foreseen[which]);
}

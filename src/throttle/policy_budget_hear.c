/* SPDX-License-Identifier: MIT */
/*
 * Budget: what the headers of an answer say, set against our own books.
 *
 * Five things are learned besides the quotas themselves: how execution time is charged
 * (policy_budget_charging.c), how old headers are (policy_budget_age.c), whether all servers draw
 * on one account, whether the window is coarse (policy_budget_coarse.c), and whether others come
 * and go in a rhythm (policy_budget_rhythm.c).
 */
#include <math.h>

#include "base/clock.h"
#include "throttle/policy_budget_state.h"

#define MISPLACED     1.0 /* half a request, at twice the deviation of their number */
#define ASTRAY        3.0 /* deviations of the number that chance brings to a server */
#define SPREAD        3.0 /* requests on another server than our books have them on, … */
#define SCATTER       9.0 /* … where it is known that they land on any, and a request is at most … */
#define SCATTER_MOST  0.01 /* … of the limit: a few long ones of somebody else look like chance */
#define BEGINNING     20   /* part of a window */
#define LOCKSTEP      0.03 /* of what requests take: they differ by less, and say little */
#define FEW_MISSING   1    /* requests at the first sample: as good as none */
#define WOULD_SHOW    2    /* times what a sample may be off */
#define RESTARTED     0.1  /* of the limit that others have to have used */
#define OVERDRAWN     0.01 /* of the limit that may be missing where none is left */
#define UNTOLD        5    /* answers with one budget header from which the other has no limit */
#define UNLIMITED     1e15
#define TOLD_FROM     20   /* requests by which it shows whether a header goes by them, … */
#define TOLD_SHARE    0.5  /* … of which so many have to be missing then */
#define BLURS         400  /* in a window: for so long an answer may be on its way */
#define WORTH         0.06 /* of all that a window holds: what a rhythm moves to be followed */
#define UNSEEN_SPANS  4    /* in a window */
#define SHARING_STEP  3.0  /* requests to others between two answers of a server, to look at … */
#define SHARING_STEPS 8    /* … so often, to be believed */
#define BLUR_US       (WEIR_US_PER_S / 4) /* that a header may be off, and … */
#define SHARING_BURST 8                   /* … times the mean of requests, in that time */
#define SHARING_AFTER 1.5                 /* times a request, since the last server was found */
#define SHARING_CLEAR 0.5                 /* of what one guess leaves unexplained the other may */
#define SHARING_SURE  0.2 /* … for one account: on all servers, others look alike */
#define SHARING_FADES 0.95
#define AS_SAID       0.01 /* of the limit that may be missing at first, where it is as believed */
#define SHARED        0.8  /* of those that are clear */

double weir_budget_noise(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                         int which)
{
    double limit = lane->quotas[which].limit;
    double one = which == WEIR_BUDGET_EXECUTION ? weir_budget_rho(budget) * budget->average_us : 1;
    double spread = budget->lane_count > 1 && !budget->pinned ? SPREAD * one : 0;
    if (weir_budget_is_scattered(budget, lane))
        spread = SCATTER * one;
    return 0.01 * limit + 3 * one + spread;
}

double weir_budget_missed(const struct weir_budget *budget)
{
    if (budget->lane_count == 1 || !budget->pinned || budget->tries <= budget->hits)
        return 0;
    double rate = 1 - budget->hits / budget->tries;
    double missed = rate * budget->flight_count / (budget->lane_count - 1);
    return missed + ASTRAY * sqrt(missed);
}

double weir_budget_astray(const struct weir_budget *budget)
{
    double any = budget->pinned ? budget->any_count : budget->flight_count;
    double even = 1.0 / budget->lane_count;
    return weir_budget_missed(budget) + ASTRAY * sqrt(any * even * (1 - even));
}

bool weir_budget_is_scattered(const struct weir_budget *budget, const struct weir_budget_lane *lane)
{
    double one = weir_budget_rho(budget) * budget->average_us;
    return budget->lane_count > 1 && !budget->pinned && budget->tries >= WEIR_BUDGET_TRIES &&
           one <= SCATTER_MOST * lane->quotas[WEIR_BUDGET_EXECUTION].limit &&
           !weir_budget_sees_others(budget, lane);
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

/* It is known which server each request goes to. */
static bool is_placed(const struct weir_budget *budget)
{
    return budget->lane_count == 1 || budget->pinned;
}

/* Many requests were missing at the first answer. Each is one: whether they drain, and the limit is
 * not lower, is seen at them sooner and better than at their time. */
static bool seems_restarted(const struct weir_budget_lane *lane)
{
    const struct weir_quota *requests = &lane->quotas[WEIR_BUDGET_REQUESTS];
    return requests->first_us != WEIR_NEVER && requests->first > RESTARTED * requests->limit;
}

/* Of what our books have in flight towards a server, what may be on another one. */
static double misplaced_us(const struct weir_budget *budget)
{
    double count = (double)budget->flight_count / budget->lane_count;
    return is_placed(budget) ? 0 : MISPLACED * sqrt(count) * budget->average_us;
}

/* Requests that our books have and the server had not when it answered: they were sent while its
 * answer was on the way. Whatever else is missing does not change so quickly. */
static double count_unseen(struct weir_budget *budget, uint32_t lane, double remaining,
                           int64_t now_us)
{
    struct weir_unseen *unseen = &budget->lanes[lane].unseen;
    double missing = -remaining - weir_budget_requests_on(budget, lane, now_us);
    int64_t number = now_us / (budget->window_us / UNSEEN_SPANS + 1);
    if (number != unseen->number) {
        unseen->most[1] = number == unseen->number + 1 ? unseen->most[0] : missing;
        unseen->most[0] = missing;
        unseen->number = number;
    }
    unseen->most[0] = missing > unseen->most[0] ? missing : unseen->most[0];
    double most = unseen->most[0] > unseen->most[1] ? unseen->most[0] : unseen->most[1];
    return most - missing;
}

/* What was sent to a server so lately that its answer may have been on the way: so many at most. */
static double blurred_us(const struct weir_budget *budget, uint32_t lane, double count,
                         int64_t now_us)
{
    double sum = 0;
    uint32_t late = 0;
    for (uint32_t i = 0; i < budget->flight_count; i++) {
        const struct weir_budget_flight *flight = &budget->flights[i];
        bool may_be = flight->lane == lane || !budget->pinned;
        if (!may_be || now_us - flight->sent_us >= budget->window_us / BLURS)
            continue;
        sum += flight->expected_us;
        late++;
    }
    return count < late ? sum * count / late : sum;
}

/* What is about to leave the window, by our books: it may have left the server's, which counts in
 * finer steps. */
static double leaving_us(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                         int64_t now_us)
{
    int64_t tail_us = now_us - budget->window_us;
    return weir_ledger_measure(&lane->ledger, weir_budget_series(budget), tail_us,
                               tail_us + lane->ledger.bucket_us);
}

/* What has left our books since the last header. */
static double left_since(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                         struct weir_guess guess, int64_t now_us)
{
    int64_t lag_us = guess.lag_us + budget->window_us;
    return weir_ledger_measure(&lane->ledger, guess.series, lane->heard_us - lag_us,
                               now_us - lag_us);
}

/* `unseen`: requests that were on their way when it answered; -1: not known. */
static void hear_execution(struct weir_budget *budget, uint32_t lane, double remaining,
                           double unseen, int64_t now_us)
{
    struct weir_budget_lane *it = &budget->lanes[lane];
    struct weir_quota *quota = &it->quotas[WEIR_BUDGET_EXECUTION];
    double used[WEIR_CHARGING_GUESSES];
    double foreign_before = quota->foreign;
    for (uint32_t i = 0; i < WEIR_CHARGING_GUESSES; i++)
        used[i] = weir_budget_used_under(budget, lane, weir_charging_guess(i), now_us);
    double blur = blurred_us(budget, lane, unseen < 0 ? INFINITY : unseen, now_us);
    if (unseen >= 0)
        used[WEIR_SERIES_AT_BEGIN] -= blur;
    bool trusted = budget->charging.trusted;
    bool at_begin = weir_budget_series(budget) == WEIR_SERIES_AT_BEGIN;
    double doubt = unseen < 0 ? weir_budget_rho(budget) * blur : 0;
    struct weir_setting setting = {
        .budget = quota->limit,
        .window_us = budget->window_us,
        .told =
            it->whole && remaining <= quota->limit && now_us - budget->begun_us < budget->window_us,
        .noise = misplaced_us(budget) + (at_begin ? doubt : 0) +
                 weir_budget_rho(budget) * leaving_us(budget, it, now_us),
        .scattered = weir_budget_is_scattered(budget, it),
        .current = weir_age_is_current(&budget->age),
        .draining = quota->drains ? weir_quota_draining(quota, budget->window_us, now_us) : 0,
    };
    if (!weir_budget_is_fine(budget) && it->heard_us != WEIR_NEVER) {
        setting.coarse = weir_budget_is_coarse(budget);
        setting.kept = setting.coarse ? quota->foreign : 0;
        for (uint32_t i = 0; i < WEIR_CHARGING_GUESSES; i++)
            setting.gone[i] = left_since(budget, it, weir_charging_guess(i), now_us);
    }
    uint32_t best = budget->charging.best;
    weir_charging_hear(&budget->charging, &it->heard, remaining, used, &setting, now_us);
    if (best != budget->charging.best && quota->unbacked &&
        now_us - quota->first_us < budget->window_us / BEGINNING)
        quota->first_us = WEIR_NEVER; /* what seemed to be missing was ours, charged otherwise */
    if (budget->wide_us < LOCKSTEP * budget->average_us)
        budget->charging.at_begin = true; /* all answers of a wave come at once, and tell little */
    quota->drains = seems_restarted(it);
    if (trusted && !budget->charging.trusted)
        budget->blind_rho = budget->charging.rho; /* it is still the best that is known */
    if (remaining <= 0)
        remaining = -OVERDRAWN * quota->limit;
    weir_quota_sample(quota, remaining, weir_budget_rho(budget) * used[budget->charging.best],
                      weir_budget_noise(budget, it, WEIR_BUDGET_EXECUTION),
                      budget->charging.trusted, is_placed(budget), budget->window_us, now_us);
    if (it->heard_us == WEIR_NEVER) /* what is in flight may be charged already */
        it->whole = quota->foreign <=
                    weir_budget_noise(budget, it, WEIR_BUDGET_EXECUTION) +
                        flying_us(budget, lane, weir_charging_guess(WEIR_SERIES_AT_BEGIN), now_us);
    it->heard_own = weir_budget_rho(budget) * used[budget->charging.best];
    weir_budget_learn_coarseness(budget, it, foreign_before, now_us);
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

/* Requests that may be sent, or leave the window, within a short time. */
static double sent_within(const struct weir_budget *budget, double total, int64_t span_us)
{
    double average_us = budget->average_us > 1 ? budget->average_us : 1;
    double sends = budget->flight_count / average_us;
    double leaves = SHARING_BURST * total / (double)budget->window_us;
    return (sends > leaves ? sends : leaves) * (double)span_us;
}

/* What one step of a server says: 1 for one account, -1 for one of its own, 0 for neither. */
static int vote(double fell, double to_it, double to_all)
{
    double missed_shared = fabs(fell - to_all);
    double missed_alone = fabs(fell - to_it);
    return (missed_shared < SHARING_SURE * missed_alone) -
           (missed_alone < SHARING_CLEAR * missed_shared);
}

/* Do all servers draw on one account? Then what is left on one of them moves with the requests to
 * all, and not with those to itself. Requests tell it best: each is one. What was missing at the
 * first answer leaves by and by, or the limit is lower and nothing leaves: a step has to say the
 * same either way. */
static void learn_sharing(struct weir_budget *budget, struct weir_budget_lane *lane,
                          struct weir_requests_heard heard)
{
    struct weir_requests_heard last = lane->requests_heard;
    double to_it = heard.own - last.own;
    double to_all = heard.total - last.total;
    double step = SHARING_STEP + sent_within(budget, heard.total, BLUR_US);
    heard.known = heard.left > 0;
    if (last.known && heard.known && fabs(to_all - to_it) < step)
        return; /* not yet */
    lane->requests_heard = heard;
    if (!last.known || !heard.known)
        return;
    double fell = last.left - heard.left;
    double drained = last.draining - heard.draining;
    int says = vote(fell, to_it, to_all);
    if (vote(fell + drained, to_it, to_all) != says)
        says = 0;
    budget->says_shared = SHARING_FADES * budget->says_shared + (says > 0);
    budget->says_alone = SHARING_FADES * budget->says_alone + (says < 0);
    double all = budget->says_shared + budget->says_alone;
    budget->shared = all > SHARING_STEPS && budget->says_shared > SHARED * all;
}

/* The limit on requests is lower than believed, and nothing drains: so it is with their time. The
 * share that is charged was read with a draining that there is not. */
static void lower_execution(struct weir_budget *budget, struct weir_budget_lane *lane)
{
    struct weir_quota *quota = &lane->quotas[WEIR_BUDGET_EXECUTION];
    bool held = quota->first_us != WEIR_NEVER && quota->drains;
    if (!held || quota->first <= weir_budget_noise(budget, lane, WEIR_BUDGET_EXECUTION))
        return;
    weir_quota_set_limit(quota, quota->limit - quota->first);
    budget->charging.rho = 1;
    for (uint32_t i = 0; i < budget->lane_count; i++)
        budget->lanes[i].heard.trend = (struct weir_trend){ 0 };
}

/* Something of ours has left the window lately. */
static bool has_left(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                     int64_t at_us)
{
    int64_t tail_us = at_us - budget->window_us;
    return weir_ledger_measure(&lane->ledger, WEIR_SERIES_REQUESTS, tail_us - budget->window_us / 2,
                               tail_us) > 0;
}

/* One account for all servers has all that we have sent: whoever misses less than that has one of
 * its own. That is seen at once, while it takes long to see that there is only one. Until then,
 * what is missing may be ours if it is no more than that; and if it is more, that much of it,
 * unless many were missing at the very first answer: then the limit is lower. */
static void learn_apart(struct weir_budget *budget, double missing, int64_t at_us)
{
    if (weir_budget_is_apart(budget))
        return;
    double before = 0;
    double sent = 0;
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        before += weir_budget_requests_on(budget, i, at_us - BLUR_US);
        sent += weir_budget_requests_on(budget, i, at_us);
    }
    budget->apart = missing + SHARING_STEP < before ? budget->apart + 1 : 0;
    const struct weir_quota *first = &budget->lanes[0].quotas[WEIR_BUDGET_REQUESTS];
    bool as_said = first->first <= AS_SAID * first->limit;
    bool ours = !weir_budget_is_apart(budget) && (missing <= sent + SHARING_STEP || as_said);
    budget->elsewhere = ours ? sent : 0;
    if (weir_budget_is_apart(budget))
        weir_budget_forget_counts(budget);
}

/* Where execution time is not told of, what is left of requests is believed by itself once it has
 * gone by what we send. */
static bool is_told_of_requests(struct weir_budget_lane *lane, double remaining, double used)
{
    if (lane->untold == 1)
        lane->told_first = remaining + used;
    if (lane->untold >= UNTOLD && used >= TOLD_FROM)
        lane->told |= lane->told_first - remaining > TOLD_SHARE * used;
    return lane->told;
}

/* A higher limit than was believed has shown: what is left and what we have sent. What was sent
 * while the answer was on its way need not be in it, and what is in flight may be on another
 * server; they would look like another client's from then on. So they are left out, until in the
 * first window, with nothing else in flight, what is left and what was sent are exact. */
static void correct_limit(struct weir_budget *budget, uint32_t lane, double limit_before,
                          double remaining, double used, bool trusted, int64_t at_us)
{
    struct weir_budget_lane *it = &budget->lanes[lane];
    struct weir_quota *quota = &it->quotas[WEIR_BUDGET_REQUESTS];
    if (remaining > limit_before && quota->limit > limit_before) {
        int64_t blur_us = budget->window_us / BLURS < BLUR_US ? budget->window_us / BLURS : BLUR_US;
        double late = used - weir_budget_requests_on(budget, lane, at_us - blur_us);
        it->left_out = fmin(fmax(late, 0) + weir_budget_astray(budget), used);
        quota->limit -= it->left_out;
        return;
    }
    bool first = at_us - budget->begun_us < budget->window_us;
    double more = remaining + used - quota->limit;
    if (it->left_out <= 0 || !trusted || !first || budget->flight_count || more <= 0)
        return;
    quota->limit += fmin(more, it->left_out);
    it->left_out = 0;
}

/* Others use more of a budget at times, by enough to be worth following and not to be our mistake.
 */
static bool comes_and_goes(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                           int which, double own)
{
    const struct weir_quota *quota = &lane->quotas[which];
    double least = fmax(weir_budget_noise(budget, lane, which), WORTH * (own + quota->foreign));
    return weir_quota_swing(quota) >= least;
}

static void hear_requests(struct weir_budget *budget, uint32_t lane, double remaining,
                          int64_t now_us)
{
    struct weir_budget_lane *it = &budget->lanes[lane];
    int64_t at_us = now_us - weir_charging_guess(budget->charging.best).lag_us;
    double used = weir_budget_requests_on(budget, lane, at_us);
    struct weir_quota *quota = &it->quotas[WEIR_BUDGET_REQUESTS];
    double limit = quota->limit;
    bool trusted = budget->charging.trusted || is_told_of_requests(it, remaining, used);
    double noise = weir_budget_noise(budget, it, WEIR_BUDGET_REQUESTS);
    weir_quota_sample(quota, remaining, used, noise, trusted, is_placed(budget), budget->window_us,
                      now_us);
    bool moves = comes_and_goes(budget, it, WEIR_BUDGET_REQUESTS, used) &&
                 comes_and_goes(budget, it, WEIR_BUDGET_EXECUTION, it->heard_own);
    weir_rhythm_seek(&quota->rhythm, moves);
    weir_rhythm_follow(&it->quotas[WEIR_BUDGET_EXECUTION].rhythm, quota->rhythm.period);
    if (quota->limit < limit) {
        it->left_out = 0;
        lower_execution(budget, it);
    }
    correct_limit(budget, lane, limit, remaining, used, trusted, at_us);
    if (budget->lane_count == 1)
        return;
    learn_apart(budget, quota->limit + it->left_out - remaining, at_us);
    int64_t after_us = (int64_t)(SHARING_AFTER * budget->average_us);
    bool unsure =
        now_us - budget->found_us < after_us || /* where what is in flight went, … */
        (!weir_budget_is_fine(budget) && has_left(budget, it, at_us)); /* … what is gone */
    if (unsure) {
        it->requests_heard.known = false;
        return;
    }
    struct weir_requests_heard heard = {
        .left = remaining,
        .draining = weir_quota_draining(quota, budget->window_us, now_us),
        .own = used,
    };
    for (uint32_t i = 0; i < budget->lane_count; i++)
        heard.total += weir_budget_requests_on(budget, i, at_us);
    learn_sharing(budget, it, heard);
}

/* What seemed foreign was ours, but for what there was when the first server answered, before any
 * other did: it goes on draining, and what has come since has come since then. What came longer
 * ago than half a window is not looked back at: it would be taken to have come more slowly than
 * it did. */
static void begin_quota_anew(struct weir_quota *quota, int64_t window_us, int64_t now_us)
{
    int64_t since_us = now_us - window_us / 2;
    double draining = weir_quota_draining(quota, window_us, now_us);
    int64_t first_us = quota->first_us;
    double first = quota->first;
    if (first_us != WEIR_NEVER && first_us < since_us) {
        first_us = since_us;
        first = 2 * draining; /* half of which has gone since then */
    }
    weir_quota_forget(quota);
    quota->first_us = first_us;
    quota->first = first;
    quota->ghost = 0;
}

/* All servers draw on one account: one ledger for all. */
static void merge_lanes(struct weir_budget *budget, int64_t now_us)
{
    struct weir_ledger *one = &budget->lanes[0].ledger;
    for (uint32_t i = 1; i < budget->lane_count; i++) {
        struct weir_ledger *other = &budget->lanes[i].ledger;
        weir_ledger_advance(other, one->head * one->bucket_us);
        for (int series = 0; series < WEIR_SERIES_COUNT; series++) {
            for (uint32_t b = 0; b < WEIR_LEDGER_BUCKETS; b++)
                one->totals[series][b] += other->totals[series][b];
        }
        budget->lanes[0].moves |= budget->lanes[i].moves;
    }
    budget->lane_count = 1;
    budget->elsewhere = 0;
    budget->pinned = false;
    budget->lanes[0].heard = (struct weir_heard){ 0 };
    budget->lanes[0].unseen = (struct weir_unseen){ 0 };
    weir_charging_forget(&budget->charging); /* it was learned by a part of what we use */
    budget->lanes[0].left_out = 0;
    budget->lanes[0].foreseen_no = -1;
    for (int which = 0; which < WEIR_BUDGET_COUNT; which++) {
        begin_quota_anew(&budget->lanes[0].quotas[which], budget->window_us, now_us);
        budget->lanes[0].said[which] = -1; /* by one server; the next may be told by another */
    }
    for (uint32_t i = 0; i < budget->flight_count; i++)
        budget->flights[i].lane = WEIR_BUDGET_ANY;
    budget->any_count = budget->flight_count;
}

/* Time was missing at the first sample and no requests were: nobody has used it, who would have
 * needed some for it, so it is not taken on trust that it drains. Requests were missing and not the
 * time that they take: their limit is lower. */
static void compare_first(const struct weir_budget *budget, struct weir_budget_lane *lane,
                          int64_t now_us)
{
    struct weir_quota *requests = &lane->quotas[WEIR_BUDGET_REQUESTS];
    struct weir_quota *execution = &lane->quotas[WEIR_BUDGET_EXECUTION];
    if (requests->first_us != now_us || execution->first_us != now_us)
        return;
    double few = FEW_MISSING + weir_budget_astray(budget) + budget->elsewhere;
    execution->unbacked = requests->first <= few;
    double noise = weir_budget_noise(budget, lane, WEIR_BUDGET_REQUESTS);
    double noise_us = weir_budget_noise(budget, lane, WEIR_BUDGET_EXECUTION);
    double took_us = weir_budget_rho(budget) * budget->average_us * requests->first;
    double flying = budget->flight_count; /* they may be on other servers: correct_limit() */
    double limit = requests->limit - requests->first - flying;
    if (requests->first > few + noise && execution->first <= noise_us &&
        took_us > WOULD_SHOW * noise_us && weir_budget_is_limit(WEIR_BUDGET_REQUESTS, limit)) {
        lane->left_out = flying;
        weir_quota_set_limit(requests, limit);
    }
}

/* A header that says the same whatever is sent tells nothing. */
static void watch(struct weir_budget_lane *lane, int which, double remaining)
{
    lane->moves |= lane->said[which] >= 0 && remaining != lane->said[which];
    lane->said[which] = remaining;
}

static void step_age(struct weir_budget *budget, uint32_t lane, double remaining, int64_t now_us)
{
    struct weir_age_sample *last = &budget->lanes[lane].age_sample;
    struct weir_age_sample sample = {
        .known = remaining > 0, /* none left: it may be less than none */
        .at_us = now_us,
        .remaining = remaining,
        .used = weir_budget_requests_on(budget, lane, now_us),
        .used_early = weir_budget_requests_on(budget, lane, now_us - WEIR_CHARGING_LAG_US),
    };
    bool own_account = budget->lane_count == 1 || weir_budget_is_apart(budget);
    if (last->known && sample.known && own_account)
        weir_age_step(&budget->age, last, &sample);
    *last = sample;
}

/* As long as servers may have one account, what a header counts need not be on this server; and
 * what has left our books may still be in a coarse window. */
static void learn_age(struct weir_budget *budget, uint32_t lane, double remaining, int64_t now_us)
{
    struct weir_age_sample *last = &budget->lanes[lane].age_sample;
    if (!weir_budget_is_fine(budget) && has_left(budget, &budget->lanes[lane], now_us))
        last->known = false;
    else if (weir_age_is_due(last, WEIR_CHARGING_LAG_US, now_us))
        step_age(budget, lane, remaining, now_us);
}

void weir_budget_listen(struct weir_budget *budget, uint32_t lane,
                        const struct weir_budget_headers *said, int64_t now_us)
{
    double unseen = -1;
    if (said->requests_known && is_placed(budget))
        unseen = count_unseen(budget, lane, (double)said->requests_remaining, now_us);
    if (said->requests_known)
        learn_age(budget, lane, (double)said->requests_remaining, now_us);
    if (said->execution_known)
        hear_execution(budget, lane, (double)said->execution_remaining_us, unseen, now_us);
    if (said->requests_known && !said->execution_known && ++budget->lanes[lane].untold == UNTOLD)
        weir_quota_set_limit(&budget->lanes[lane].quotas[WEIR_BUDGET_EXECUTION], UNLIMITED);
    if (said->requests_known)
        hear_requests(budget, lane, (double)said->requests_remaining, now_us);
    if (said->requests_known && said->execution_known)
        compare_first(budget, &budget->lanes[lane], now_us);
    if (said->execution_known)
        watch(&budget->lanes[lane], WEIR_BUDGET_EXECUTION, (double)said->execution_remaining_us);
    if (said->requests_known)
        watch(&budget->lanes[lane], WEIR_BUDGET_REQUESTS, (double)said->requests_remaining);
    if (said->execution_known || said->requests_known)
        budget->lanes[lane].heard_us = now_us;
    if (budget->lane_count > 1 && budget->shared)
        merge_lanes(budget, now_us);
}

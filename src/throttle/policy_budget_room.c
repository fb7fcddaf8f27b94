/* SPDX-License-Identifier: MIT */
/*
 * Budget: may a request go now, and on which lane?
 *
 * A request fits a lane if the server's sum, as the ledger mirrors it, stays within what is ours:
 * now, when it is half through, and when it ends; with all that is in flight going on for as long
 * as it is still expected to, and with what leaves the window meanwhile gone. So nothing in flight
 * is counted twice, and a window that empties as fast as it fills is used to the brim. The last
 * requests of a job may end beyond it (policy_budget_short.h).
 *
 * Besides, no more may be in flight than would use up, within a *horizon*, what is free and what
 * becomes free meanwhile. How long that is of a window W is the lane's *haste*:
 *
 *     W/8    as a rule: a fresh window is spent early, which is what finishes a job early, and yet
 *            not within seconds
 *     W/3    beside somebody else, unless it is known when he comes and goes
 *     W/7    beside somebody else who does not come and go, and the end of the job is known
 *     W/24   nobody else is there, and the end of the job is known; up to W/8 where the window
 *            moves in steps: see haste_of()
 *
 * The guard may say less.
 *
 * A job that is *short* does not have to make anything last (policy_budget_short.h).
 *
 * Some requests go for what they will tell:
 *
 *     searching   to any server, to find those that are not known yet; where it fits on all of them
 *     listening   to the server that was heard longest ago, of those on which somebody else comes
 *                 and goes, room or not, when nothing has been on its way for a while (listen_to)
 *     silence     after a whole window without any, room or not: has_been_silent()
 */
#include <math.h>

#include "base/clock.h"
#include "throttle/policy_budget_flying.h"
#include "throttle/policy_budget_short.h"

#define HORIZONS         8 /* in a window, … */
#define HORIZONS_CROWDED 3 /* … if somebody else seems to use it, in no rhythm that is known, … */
#define HORIZONS_END     24   /* … and of a job whose end is known, … */
#define HORIZONS_BOTH    7    /* … beside somebody who does not come and go */
#define STEADY           0.02 /* of the limit, that he uses: less may be our mistake */
#define LISTENS          32   /* times in a window that one goes to hear of somebody else, … */
#define LISTENS_EVERY    5    /* … so many times what it takes apart at least */
#define TAIL             2.0  /* times the floor, that may be in flight to the last … */
#define TAIL_ROOM        2    /* … if there is room for so many times as many, … */
#define TAIL_END         4.0  /* … and of a job whose end is known */
#define TAIL_ROOM_END    1
#define PACE_SLACK       1.25 /* what is allowed in flight above what would be spent evenly */
#define SEARCH_TIMES     8    /* requests per known server for any server, to find another */
#define SEARCH_EVERY     64   /* afterwards, one in so many */
#define SPARE            1.5  /* requests that there has to be room for now, whatever leaves, … */
#define SPARE_SCATTERED  1.0  /* … and on each server, where all have to have it */
#define SPARE_REQUESTS   1
#define MEAN_DOUBT       0.5 /* of their deviation, that those in flight take longer than most */
#define CHANCE           3.5 /* times the root of those in flight: more than its share on a server; … */
#define CHANCE_HURRIED   3.0   /* … a short job does not try its luck for as long */
#define PROBES           3     /* requests, … */
#define PROBES_MOST      0.004 /* … or less than that of the limit */

struct room {
    bool fits;
    double cap; /* in flight */
    double score;
    enum weir_bound bound_by;
};

/* What is left for seeing whether a window that may be coarse has moved on. */
static double for_probes(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                         double cost)
{
    if (weir_budget_is_fine(budget))
        return 0;
    double most = PROBES_MOST * lane->quotas[WEIR_BUDGET_EXECUTION].limit;
    return PROBES * cost < most ? PROBES * cost : most;
}

static bool execution_fits(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                           const struct weir_budget_flying *load, double left, double expected_us,
                           double limit, int64_t now_us)
{
    double cost = weir_budget_rho(budget) * expected_us;
    bool idle = load->count <= 0;
    double over = weir_budget_overdraft(budget, lane, load, left, expected_us, limit, now_us);
    if (weir_budget_is_settled(budget, lane, load, WEIR_BUDGET_EXECUTION)) {
        double used = weir_budget_execution_at(budget, lane, true, 0, 0, now_us);
        bool fits = used + cost + for_probes(budget, lane, cost) <= limit;
        if (over <= 0 || (fits && left <= 1)) /* or it is not worth the last drop */
            return fits;
    }
    double now_flying = load->elapsed_us;
    double doubt_us = 0;                          /* what one in flight may be off by */
    if (budget->charging.at_begin && over <= 0) { /* where there is an overdraft it is not */
        now_flying += load->rest_us;              /* charged already, or it may be */
        now_flying += MEAN_DOUBT * budget->wide_us * load->count;
        doubt_us = 2 * budget->wide_us;
    }
    bool scattered = weir_budget_is_scattered(budget, lane);
    if (budget->lane_count > 1 && !budget->pinned && !scattered)
        doubt_us += expected_us / 2; /* it may be on another server */
    double spare = scattered ? SPARE_SCATTERED : SPARE;
    now_flying += 2 * doubt_us * sqrt(load->count + 1) + spare * expected_us;
    double half = load->elapsed_us + load->half_us;
    double all = load->elapsed_us + load->rest_us;
    return weir_budget_execution_at(budget, lane, idle, now_flying, 0, now_us) < limit &&
           weir_budget_execution_at(budget, lane, idle, half, expected_us / 2, now_us) + cost / 2 <=
               limit + over &&
           weir_budget_execution_at(budget, lane, idle, all, expected_us, now_us) + cost <=
               limit + over;
}

/* What may be in flight for one budget to be spent within a horizon. `per_us`: what one request in
 * flight spends a microsecond. */
static double pace(double limit, double used, double used_later, double per_us, int64_t horizon_us)
{
    double free = limit > used ? limit - used : 0;
    double spend = free + used - used_later;
    return PACE_SLACK * spend / (double)horizon_us / per_us + 1;
}

/* Somebody else sends requests, and it is not what a coarse window keeps of ours. */
static bool is_crowded(const struct weir_budget *budget, const struct weir_budget_lane *lane)
{
    return !weir_budget_keeps_ours(budget, lane) && weir_budget_sees_others(budget, lane);
}

/* In flight on one lane that just use its budget up. */
static double floor_of(const struct weir_budget *budget, double expected_us)
{
    const struct weir_quota *quotas = budget->lanes[0].quotas;
    double window = (double)budget->window_us;
    double by_execution = quotas[WEIR_BUDGET_EXECUTION].limit / window / weir_budget_rho(budget);
    double by_requests = quotas[WEIR_BUDGET_REQUESTS].limit / window * expected_us;
    return ceil(0.97 * (by_execution < by_requests ? by_execution : by_requests));
}

/* The tail of a window is not drawn out for longer than its last requests take: as many may go as
 * there is room for several times. */
static double at_least(double pace, double room, double most)
{
    double tail = room < most ? room : most;
    return pace > tail ? pace : tail;
}

/* How quickly what is free is spent, and how that ends. */
struct haste {
    int64_t horizon_us;
    double tail; /* times the floor, that may be in flight to the last; 0: it peters out */
    double room; /* for so many times as many, that there has to be then */
};

/* Of a window whose end is known. One that moves in steps comes free no sooner than it moves. */
static int64_t end_horizon_us(const struct weir_budget *budget)
{
    int64_t least_us = budget->window_us / HORIZONS_END;
    int64_t most_us = budget->window_us / HORIZONS;
    int64_t late_us = budget->coarse.late_us;
    if (!weir_budget_is_coarse(budget) || (late_us > 0 && late_us < least_us))
        return least_us;
    return late_us > 0 && late_us < most_us ? late_us : most_us;
}

/*
 * What a window with many requests at its beginning got done comes free at the beginning of the
 * next one, and so on: a job that ends is over the sooner for it. It takes a server that is known,
 * or nothing but chance that is not, and requests that do not slow each other, and that every
 * request is booked as it runs; charged otherwise, or where no header tells, there is no tail, and
 * it has to be known from the beginning what the whole is.
 */
static struct haste haste_of(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                             double left, bool crowded)
{
    /* Beside somebody whose next minutes are known there is no need to spread it. Either
     * budget tells that: both are foreseen, or none. */
    bool guess = crowded && lane->foreseen[WEIR_BUDGET_EXECUTION] < 0;
    const struct weir_quota *execution = &lane->quotas[WEIR_BUDGET_EXECUTION];
    bool steady = left > 0 && !lane->quotas[WEIR_BUDGET_REQUESTS].rhythm.uneven &&
                  execution->foreign > STEADY * execution->limit;
    int crowded_horizons = steady ? HORIZONS_BOTH : HORIZONS_CROWDED;
    struct haste haste = { .horizon_us =
                               budget->window_us / (guess ? crowded_horizons : HORIZONS) };
    if (crowded)
        return haste;
    bool alone = budget->lane_count == 1;
    bool placed = alone || budget->pinned;
    bool even = placed || weir_budget_is_scattered(budget, lane);
    bool ends = left > 0 && even && !budget->guard.fallen;
    bool slides = budget->charging.trusted && !weir_budget_is_coarse(budget);
    bool accrued = weir_budget_series(budget) == WEIR_SERIES_ACCRUED;
    if (ends && slides && accrued)
        return (struct haste){ .horizon_us = end_horizon_us(budget),
                               .tail = TAIL_END,
                               .room = TAIL_ROOM_END };
    if (ends && placed && (alone || weir_budget_is_coarse(budget)) && (lane->whole || !slides))
        haste.horizon_us = end_horizon_us(budget);
    else if (alone && slides)
        haste = (struct haste){ haste.horizon_us, TAIL, TAIL_ROOM };
    return haste;
}

/* What one more adds to those in flight on a server, for the cap of the guard and what a server
 * bears: a part, if it may go to any of several. As long as the guard starts, it may well be the
 * one that is too many. The pace is for each server, whose tail would last for longer with a part.
 */
static double one_more(const struct weir_budget *budget)
{
    if (budget->pinned || !budget->guard.started)
        return 1;
    return 1.0 / budget->lane_count;
}

static struct room look(const struct weir_budget *budget, const struct weir_budget_lane *lane,
                        const struct weir_budget_flying *load, double hurry, double left,
                        double expected_us, int64_t now_us)
{
    struct haste haste = haste_of(budget, lane, left, is_crowded(budget, lane));
    int64_t horizon_us = haste.horizon_us;
    double rho = weir_budget_rho(budget);
    double requests = weir_budget_ours(budget, lane, load, WEIR_BUDGET_REQUESTS, now_us);
    bool idle = load->count <= 0;
    double sent = weir_budget_requests_at(budget, lane, idle, 0, now_us);
    double sent_later = weir_budget_requests_at(budget, lane, idle, horizon_us, now_us);
    double execution = weir_budget_ours(budget, lane, load, WEIR_BUDGET_EXECUTION, now_us);
    double used = weir_budget_execution_at(budget, lane, idle, load->elapsed_us, 0, now_us);
    double used_later =
        weir_budget_execution_at(budget, lane, idle, load->elapsed_us, (double)horizon_us, now_us);
    bool settled = weir_budget_is_settled(budget, lane, load, WEIR_BUDGET_REQUESTS);
    double spare = settled ? 0 : SPARE_REQUESTS;
    bool requests_fit = sent + load->count + 1 + spare <= requests;
    bool execution_fit = execution_fits(budget, lane, load, left / budget->lane_count, expected_us,
                                        execution, now_us);
    double by_requests = pace(requests, sent + load->count, sent_later + load->count,
                              1 / (expected_us > 1 ? expected_us : 1), horizon_us);
    double by_execution = pace(execution, used, used_later, rho, horizon_us);
    double requests_free = 1 - (sent + load->count) / lane->quotas[WEIR_BUDGET_REQUESTS].limit;
    double execution_free = 1 - used / lane->quotas[WEIR_BUDGET_EXECUTION].limit;
    if (haste.tail > 0) {
        double most = haste.tail * floor_of(budget, expected_us);
        double each_us = rho * (expected_us + 2 * budget->spread_us);
        by_requests = at_least(by_requests, (requests - sent - load->count) / haste.room, most);
        by_execution = at_least(by_execution, (execution - used) / haste.room / each_us, most);
    }
    if (hurry > 0)
        by_requests = by_execution = hurry;
    struct room room = {
        .fits = requests_fit && execution_fit,
        .cap = by_requests < by_execution ? by_requests : by_execution,
        .score = requests_free < execution_free ? requests_free : execution_free,
        .bound_by = WEIR_BOUND_PACING,
    };
    if (!execution_fit)
        room.bound_by = WEIR_BOUND_BUDGET_EXECUTION;
    if (!requests_fit)
        room.bound_by = WEIR_BOUND_BUDGET_REQUESTS;
    bool paced = load->count + 1 > room.cap;
    double after = load->count + one_more(budget);
    double bears = budget->concurrent;
    if (budget->elsewhere > 0) /* they may have one account */
        bears = fmax(1, bears / budget->lane_count);
    if (room.cap > budget->guard.cap && budget->guard.cap < bears) {
        room.cap = budget->guard.cap;
        if (room.fits && (!paced || after > room.cap))
            room.bound_by = WEIR_BOUND_GUARD;
    }
    if (room.cap > bears) {
        room.cap = bears;
        if (room.fits)
            room.bound_by = WEIR_BOUND_CONCURRENCY;
    }
    double deviations = hurry > 0 ? CHANCE_HURRIED : CHANCE;
    double others = 1 - 1.0 / budget->lane_count;
    double chance =
        budget->pinned ? weir_budget_missed(budget) : deviations * sqrt(load->count * others);
    if (paced || after > room.cap || load->count + 1 + chance > budget->concurrent)
        room.fits = false;
    return room;
}

static void turn_guard(struct weir_budget *budget, double hurry, double left, double expected_us,
                       int64_t now_us)
{
    bool known = budget->average_us > 0;
    double floor = floor_of(budget, expected_us);
    if (hurry > 0)
        hurry = known ? budget->concurrent : weir_budget_first_wave(budget, left);
    if (!budget->guard.started || budget->guard.hurried)
        weir_guard_hurry(&budget->guard, hurry, floor, budget->lane_count > 1, now_us);
    int64_t round_us = budget->window_us / 150;
    if (round_us < (int64_t)(1.5 * expected_us))
        round_us = (int64_t)(1.5 * expected_us);
    weir_guard_await(&budget->guard, weir_budget_oldest_us(budget, now_us));
    weir_guard_turn(&budget->guard, floor, hurry > 0 && known, budget->concurrent, round_us,
                    budget->window_us, now_us);
}

/* Whether the next request is to go to any server, to find those that are not known yet. */
static bool is_search(const struct weir_budget *budget)
{
    if (budget->lane_count == 1)
        return true;
    bool new_ones = budget->searched < SEARCH_TIMES * budget->lane_count;
    return budget->leases - budget->search_lease >= (new_ones ? 2 : SEARCH_EVERY);
}

static void refuse(const struct weir_budget *budget, enum weir_bound bound_by, int64_t now_us,
                   struct weir_admission *ret)
{
    int64_t bucket_us = budget->lanes[0].ledger.bucket_us;
    ret->paced = bound_by != WEIR_BOUND_CONCURRENCY && bound_by != WEIR_BOUND_GUARD;
    ret->not_before_us = (now_us / bucket_us + 1) * bucket_us;
}

static bool is_shut(const struct weir_budget *budget, const struct weir_policy_ask *ask,
                    uint32_t lane, int64_t now_us)
{
    return ask->shut_lanes >> lane & 1 || now_us < budget->lanes[lane].shut_us;
}

/* The one with most room; as long as it is not known that requests get where they are sent, the one
 * that fewest were sent to: if they do, none has too many. */
static bool is_better(const struct weir_budget *budget, const struct weir_budget_flying *loads,
                      uint32_t lane, double score, uint32_t best, double best_score)
{
    if (best == WEIR_BUDGET_ANY)
        return true;
    if (!budget->pinned && loads[lane].meant != loads[best].meant)
        return loads[lane].meant < loads[best].meant;
    return score > best_score;
}

/* Somebody else comes and goes on a server. After a throttle that is taken for his it is waited,
 * unless his rhythm is known (either budget tells that): it may be a lower limit. Whether he comes
 * and goes is seen in his requests: they are counted, his time is estimated. */
static bool is_worth_listening(const struct weir_budget *budget,
                               const struct weir_budget_lane *lane, int64_t now_us)
{
    bool known = lane->foreseen[WEIR_BUDGET_REQUESTS] >= 0;
    int64_t rest_us = known ? budget->window_us / LISTENS : budget->window_us;
    return lane->quotas[WEIR_BUDGET_REQUESTS].rhythm.uneven && is_crowded(budget, lane) &&
           (budget->throttled_us == WEIR_NEVER || now_us - budget->throttled_us > rest_us);
}

/* The server, of those on which somebody else comes and goes, that has been silent for longest,
 * once nothing is out that would tell when. WEIR_BUDGET_ANY: none. */
static uint32_t listen_to(const struct weir_budget *budget, const struct weir_policy_ask *ask,
                          double expected_us, int64_t now_us)
{
    uint32_t longest = WEIR_BUDGET_ANY;
    if (budget->flight_count > 0 || budget->activity_us == WEIR_NEVER ||
        now_us <= budget->reopens_us)
        return longest;
    int64_t silent_us = now_us - budget->activity_us;
    if (silent_us <= budget->window_us / LISTENS ||
        (double)silent_us <= LISTENS_EVERY * expected_us)
        return longest;
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        const struct weir_budget_lane *lane = &budget->lanes[i];
        bool shut = budget->pinned && is_shut(budget, ask, i, now_us);
        bool longer =
            longest == WEIR_BUDGET_ANY || lane->heard_us < budget->lanes[longest].heard_us;
        if (!shut && longer && is_worth_listening(budget, lane, now_us))
            longest = i;
    }
    return longest;
}

/* For a whole window nothing was sent, nothing came back and no Retry-After held: whatever we used
 * has left it. If there is no room even so, the books are mistaken, and only an answer can tell:
 * one goes. */
static bool has_been_silent(const struct weir_budget *budget, int64_t now_us)
{
    int64_t since_us =
        budget->reopens_us > budget->activity_us ? budget->reopens_us : budget->activity_us;
    return budget->flight_count == 0 && since_us != WEIR_NEVER &&
           now_us - since_us > budget->window_us;
}

void weir_budget_admit(struct weir_budget *budget, const struct weir_policy_ask *ask,
                       int64_t now_us, struct weir_admission *ret)
{
    double expected_us = weir_budget_expected_us(budget, ask->ask->kind, now_us);
    struct weir_budget_flying loads[WEIR_LANES_MAX];
    struct room worst = { .fits = true, .score = 2 };
    double level = 0;
    uint32_t best = WEIR_BUDGET_ANY;
    double best_score = -2;
    bool all_fit = true;

    for (uint32_t i = 0; i < budget->lane_count; i++) {
        weir_ledger_advance(&budget->lanes[i].ledger, now_us);
        weir_budget_foresee(budget, &budget->lanes[i], now_us);
    }
    weir_budget_weigh(budget, expected_us, now_us, loads);
    double hurry = weir_budget_rush(budget, loads, ask->left, expected_us, now_us);
    turn_guard(budget, hurry, ask->left, expected_us, now_us);
    for (uint32_t i = 0; i < budget->lane_count; i++) {
        struct weir_budget_lane *lane = &budget->lanes[i];
        struct room room = look(budget, lane, &loads[i], hurry, ask->left, expected_us, now_us);
        level += room.cap;
        if (loads[i].count + one_more(budget) > budget->guard.cap)
            budget->guard.reached = true;
        all_fit = all_fit && room.fits && !(budget->pinned && is_shut(budget, ask, i, now_us));
        if (room.score < worst.score)
            worst = room;
        bool open = !budget->pinned || !is_shut(budget, ask, i, now_us);
        if (open && room.fits && is_better(budget, loads, i, room.score, best, best_score)) {
            best = i;
            best_score = room.score;
        }
    }
    if (worst.bound_by == WEIR_BOUND_BUDGET_EXECUTION)
        budget->was_bound = true;
    budget->bound_by = worst.bound_by;
    budget->level = (int)ceil(level);
    if (budget->level > WEIR_BUDGET_FLIGHTS_MAX)
        budget->level = WEIR_BUDGET_FLIGHTS_MAX;

    *ret = (struct weir_admission){ .bound_by = worst.bound_by, .score = best_score };
    bool search = is_search(budget);
    bool ok = budget->pinned && !search ? best != WEIR_BUDGET_ANY : all_fit;
    if (search && budget->pinned && !all_fit) {
        search = false;
        ok = best != WEIR_BUDGET_ANY;
    }
    if (budget->flight_count >= WEIR_BUDGET_FLIGHTS_MAX)
        ok = false;
    uint32_t silent = ok ? WEIR_BUDGET_ANY : listen_to(budget, ask, expected_us, now_us);
    if (silent != WEIR_BUDGET_ANY) {
        ok = true;
        search = false;
        best = silent;
    }
    if (!ok && !has_been_silent(budget, now_us)) {
        refuse(budget, worst.bound_by, now_us, ret);
        return;
    }
    ret->ok = true;
    ret->lane = budget->pinned && best != WEIR_BUDGET_ANY ? best : 0;
    if (!search && best != WEIR_BUDGET_ANY)
        ret->server_id = budget->lanes[best].server_id;
}
